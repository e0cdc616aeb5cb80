#include "client/sessions/lifecycle.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "base/random.h"

namespace coordkit::client {
namespace {

using enum SessionPhase;
using enum SessionEvent;

constexpr SessionPhase kPhases[] = {Valid, Jeopardy, Lost};
constexpr SessionEvent kEvents[] = {DeadlineReached, Gap, RenewalConfirmed, Ended, Closed, GivenUp};

// The table of docs/semantics.md S-45, written down a second time by hand.
// Covers: S-45
TEST(LifecycleTest, EveryTransitionIsTheOneOfTheTable) {
  const std::map<std::pair<SessionPhase, SessionEvent>, SessionPhase> table = {
      {{Valid, DeadlineReached}, Jeopardy},
      {{Valid, Gap}, Jeopardy},
      {{Valid, RenewalConfirmed}, Valid},
      {{Valid, Ended}, Lost},
      {{Valid, Closed}, Lost},
      {{Valid, GivenUp}, Valid},
      {{Jeopardy, DeadlineReached}, Jeopardy},
      {{Jeopardy, Gap}, Jeopardy},
      {{Jeopardy, RenewalConfirmed}, Valid},
      {{Jeopardy, Ended}, Lost},
      {{Jeopardy, Closed}, Lost},
      {{Jeopardy, GivenUp}, Lost},
      {{Lost, DeadlineReached}, Lost},
      {{Lost, Gap}, Lost},
      {{Lost, RenewalConfirmed}, Lost},
      {{Lost, Ended}, Lost},
      {{Lost, Closed}, Lost},
      {{Lost, GivenUp}, Lost},
  };
  for (const SessionPhase from : kPhases) {
    for (const SessionEvent event : kEvents) EXPECT_EQ(next_phase(from, event), (table.at({from, event})));
  }
}

// Covers: REG_F78
TEST(LifecycleTest, NoPathLeadsOutOfLost) {
  Random random(1);
  for (int path = 0; path < 1000; ++path) {
    SessionPhase phase = kPhases[random.below(3)];
    bool lost = phase == Lost;
    for (int step = 0; step < 50; ++step) {
      phase = next_phase(phase, kEvents[random.below(6)]);
      if (lost) {
        ASSERT_EQ(phase, Lost);
      }
      lost = phase == Lost;
    }
  }
}

// Covers: LT-8
TEST(LifecycleTest, AHandleInvalidatedByItsOwnerIsNeverMadeValidAgain) {
  SessionState state(SessionId(1), std::chrono::seconds(1));
  const LeadingTime later = LeadingTime(std::chrono::milliseconds(900));
  SessionWriter::set(state, Valid, later);
  EXPECT_TRUE(state.valid(LeadingTime{}));
  state.invalidate();
  SessionWriter::set(state, Valid, later);
  EXPECT_FALSE(state.valid(LeadingTime{}));
  EXPECT_EQ(state.phase(), Lost);
}

}  // namespace
}  // namespace coordkit::client
