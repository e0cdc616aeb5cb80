#include "engine/calls/proposals.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"
#include "tests/unit/engine/lagging_time.h"

namespace coordkit::engine {
namespace {

using namespace std::chrono_literals;
using Stage = ApplyOutput::Stage;
using Route = Proposals::Route;

constexpr Origin kOwnOrigin{ReplicaId(1), StoreId(11), BootCounter(3)};

struct ProposalsTest : ::testing::Test {
  EngineOptions options{.window = 8};
  Proposals proposals{options, kOwnOrigin};
  std::vector<Completion> completions;

  void submit(uint64_t ticket, Duration deadline = 10s, Urgency urgency = Urgency::Normal) {
    proposals.submit({.ticket = Ticket(ticket),
                      .command = SharedBytes("c" + std::to_string(ticket)),
                      .deadline = at(deadline),
                      .urgency = urgency},
                     completions);
  }
  std::vector<Proposals::Dispatch> handed(Duration now, bool registered = true) {
    std::vector<Proposals::Dispatch> out;
    proposals.collect(at(now), registered, out);
    return out;
  }
  // The requests that are handed over, as "sequence:payload".
  std::vector<std::string> words(Duration now) {
    std::vector<std::string> seen;
    payloads.clear();
    for (const auto& one : handed(now)) {
      payloads.push_back(one.payload);
      const auto request = std::get<Request>(*decode_command(payloads.back().view()));
      EXPECT_EQ(request.id, (RequestId{kOwnOrigin, one.sequence}));
      seen.push_back(std::to_string(one.sequence.value()) + ":" + std::string(request.payload));
      lowest = request.lowest_unanswered.value();
    }
    return seen;
  }
  void answer(uint64_t sequence, Stage stage = Stage::Final, std::optional<Reason> refused = {}) {
    proposals.answered({{kOwnOrigin, Sequence(sequence)}, stage, refused, SharedBytes("answer"), Index(7)}, completions);
  }
  std::vector<uint64_t> ended() {
    std::vector<uint64_t> tickets;
    for (const Completion& one : std::exchange(completions, {})) tickets.push_back(one.ticket.value());
    return tickets;
  }

  uint64_t lowest = 0;  // unanswered, according to the last collected request
  std::vector<SharedBytes> payloads;
};

using Words = std::vector<std::string>;
using Tickets = std::vector<uint64_t>;

// Covers: S-42
TEST_F(ProposalsTest, TheRegistrationComesFirstAndAlone) {
  submit(1);
  auto out = handed(0ms, false);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_FALSE(out[0].sequence);
  EXPECT_EQ(std::get<RegisterOrigin>(*decode_command(out[0].payload.view())).origin, kOwnOrigin);
  EXPECT_TRUE(handed(1ms, false).empty());
  EXPECT_EQ(proposals.next_deadline(Route::Unregistered), at(options.raft.election_timeout));
  EXPECT_EQ(handed(options.raft.election_timeout, false).size(), 1u);
  EXPECT_EQ(words(options.raft.election_timeout), (Words{"1:c1"}));
}

// Covers: S-43
TEST_F(ProposalsTest, ACallNamesTheOneItComesAfterUntilThatIsAnswered) {
  submit(1, 10s, Urgency::Reserved);
  proposals.submit({.ticket = Ticket(2), .command = SharedBytes("c2"), .deadline = at(10s), .after = Ticket(1)}, completions);
  const auto after = [this](Duration now) {
    std::map<uint64_t, uint64_t> named;
    for (const auto& one : handed(now)) {
      const auto request = std::get<Request>(*decode_command(one.payload.view()));
      named[one.sequence.value()] = request.after.value();
    }
    return named;
  };
  using Named = std::map<uint64_t, uint64_t>;
  EXPECT_EQ(after(0ms), (Named{{1, 0}, {2, 1}}));
  proposals.leadership_changed();
  answer(1);
  EXPECT_EQ(after(1ms), (Named{{2, 0}})) << "that one is over";
}

// Covers: S-43
TEST_F(ProposalsTest, AnExpiredCallInFrontOfTheOneThatACallComesAfterDoesNotTurnTheTwoRound) {
  submit(1, 1s, Urgency::Reserved);
  submit(2, 10s, Urgency::Reserved);
  proposals.submit({.ticket = Ticket(3), .command = SharedBytes("c3"), .deadline = at(10s), .after = Ticket(2)}, completions);
  EXPECT_EQ(words(1s), Words{}) << "in the turn in which it expires";
  proposals.expire(at(1s), Route::NoLeader, completions);
  EXPECT_EQ(ended(), Tickets{1});
  EXPECT_EQ(proposals.next_deadline(Route::Open), LaggingTime::min());
  EXPECT_EQ(words(1s), (Words{"1:c2", "2:c3"}));
}

// Covers: S-43
TEST_F(ProposalsTest, ACallThatOvertookIsHandedOverAgainAtOnce) {
  submit(1);
  submit(2);
  EXPECT_EQ(words(0ms), (Words{"1:c1", "2:c2"}));
  proposals.postpone(Sequence(2), LaggingTime::max());
  proposals.overtook({kOwnOrigin, Sequence(2)});
  proposals.overtook({Origin{ReplicaId(2), StoreId(1), BootCounter(1)}, Sequence(1)});
  EXPECT_EQ(proposals.next_deadline(Route::Open), LaggingTime::min());
  EXPECT_EQ(words(1ms), (Words{"2:c2"}));
  answer(2);
  proposals.overtook({kOwnOrigin, Sequence(2)});
  EXPECT_EQ(words(2ms), Words{}) << "it is answered";
}

// Covers: S-41
TEST_F(ProposalsTest, SequencesStartAtOneAndRise) {
  for (uint64_t ticket = 10; ticket <= 12; ++ticket) submit(ticket);
  EXPECT_EQ(words(0ms), (Words{"1:c10", "2:c11", "3:c12"}));
  EXPECT_EQ(lowest, 1u);
}

// Covers: FLT_P21
TEST_F(ProposalsTest, WhatADisplacedOriginHadHandedOverEndsAsUnknownAndIsNeverHandedAgain) {
  proposals.known_as_origin(true, completions);
  for (uint64_t ticket = 1; ticket <= 3; ++ticket) submit(ticket);
  words(0ms);
  answer(2, Stage::Queued);
  completions.clear();
  submit(4);
  proposals.known_as_origin(false, completions);
  ASSERT_EQ(completions.size(), 3u);
  for (const Completion& one : completions) {
    EXPECT_EQ(reason_of(one.status), Reason::UnknownOrigin);
    EXPECT_EQ(outcome_of(one.status), Outcome::Unknown);
  }
  completions.clear();
  proposals.known_as_origin(false, completions);
  EXPECT_TRUE(completions.empty()) << "once";
  const auto again = handed(1s, false);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(std::get<RegisterOrigin>(*decode_command(again[0].payload.view())).lowest_unanswered, Sequence(4));
  proposals.known_as_origin(true, completions);
  EXPECT_EQ(words(2s), (Words{"4:c4"}));
}

// The second was handed over and the first was not. A copy of the second must be below the registration.
// Covers: S-42
TEST_F(ProposalsTest, ADisplacedOriginNumbersWhatIsLeftAboveEverythingThatItHandedOver) {
  proposals.known_as_origin(true, completions);
  for (uint64_t ticket = 1; ticket <= 12; ++ticket) submit(ticket);
  submit(13, 10s, Urgency::Reserved);
  EXPECT_EQ(words(0ms).size(), 8u);
  for (const uint64_t sequence : {2, 5}) {
    proposals.refused(Sequence(sequence), Proposals::Handing::First, at(1s));
  }
  proposals.known_as_origin(false, completions);
  EXPECT_EQ(completions.size(), 6u);
  const auto again = handed(1s, false);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(std::get<RegisterOrigin>(*decode_command(again[0].payload.view())).lowest_unanswered, Sequence(9));
  proposals.known_as_origin(true, completions);
  EXPECT_EQ(words(2s), (Words{"9:c1", "10:c4", "11:c8", "12:c9", "13:c10", "14:c11", "15:c12"})) << "in their order";
}

TEST_F(ProposalsTest, AnAnswerCompletesItsCallOnce) {
  submit(1);
  words(0ms);
  answer(1);
  answer(1);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].ticket, Ticket(1));
  EXPECT_TRUE(completions[0].status.ok());
  EXPECT_EQ(completions[0].bytes, "answer");
  EXPECT_EQ(completions[0].index, Index(7));
  EXPECT_EQ(completions[0].request, (RequestId{kOwnOrigin, Sequence(1)}));
  EXPECT_EQ(proposals.size(), 0u);
}

TEST_F(ProposalsTest, AnswersOfOtherOriginsAreNotOurs) {
  submit(1);
  words(0ms);
  Origin previous = kOwnOrigin;
  previous.boot = previous.boot.previous();
  proposals.answered({{previous, Sequence(1)}, Stage::Final, {}, SharedBytes("answer"), Index(7)}, completions);
  EXPECT_TRUE(completions.empty());
}

TEST_F(ProposalsTest, ARefusalOfTheRouterIsTheAnswer) {
  submit(1);
  words(0ms);
  answer(1, Stage::Final, Reason::TooManyInFlight);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(reason_of(completions[0].status), Reason::TooManyInFlight);
  EXPECT_EQ(outcome_of(completions[0].status), Outcome::NoEffect);
}

// Covers: S-43
TEST_F(ProposalsTest, TheWindowHoldsBackWhatWouldExceedIt) {
  for (uint64_t ticket = 1; ticket <= 10; ++ticket) submit(ticket);
  EXPECT_EQ(words(0ms).size(), 8u);
  EXPECT_EQ(words(1ms), Words{});
  EXPECT_NE(proposals.next_deadline(Route::Open), LaggingTime::min());
  answer(2);  // in the middle: the window counts from the lowest unanswered
  EXPECT_EQ(words(2ms), Words{});
  answer(1);
  EXPECT_EQ(proposals.next_deadline(Route::Open), LaggingTime::min());
  EXPECT_EQ(words(3ms), (Words{"9:c9", "10:c10"}));
  EXPECT_EQ(lowest, 3u);
}

// Covers: S-43
TEST_F(ProposalsTest, ReleasesHaveAQuarterOfTheWindowToThemselves) {
  for (uint64_t ticket = 1; ticket <= 10; ++ticket) submit(ticket);
  words(0ms);
  for (uint64_t ticket = 20; ticket <= 29; ++ticket) submit(ticket, 10s, Urgency::Reserved);
  EXPECT_EQ(proposals.next_deadline(Route::Open), LaggingTime::min());
  EXPECT_EQ(words(1ms), (Words{"9:c20", "10:c21", "11:c22"}));
  for (uint64_t sequence = 1; sequence <= 11; ++sequence) answer(sequence);
  EXPECT_EQ(words(2ms), (Words{"12:c23", "13:c24", "14:c25", "15:c26", "16:c27", "17:c28", "18:c29", "19:c9"}));
}

// Covers: S-43
TEST_F(ProposalsTest, CallsAreHeldBackWhileTooManyBytesOfAnswersAreKept) {
  for (uint64_t ticket = 1; ticket <= 3; ++ticket) submit(ticket);
  words(0ms);
  proposals.answered({{kOwnOrigin, Sequence(2)},
                      Stage::Final,
                      {},
                      SharedBytes(std::string(SequenceWindow::kAnswerBytesMax + 1, 'x')),
                      Index(7)},
                     completions);
  submit(4);
  submit(5, 10s, Urgency::Reserved);
  EXPECT_EQ(words(1ms), (Words{"4:c5"}));
  EXPECT_NE(proposals.next_deadline(Route::Open), LaggingTime::min());
  answer(1);  // from here on the answers to 1 and 2 are not kept
  EXPECT_EQ(proposals.next_deadline(Route::Open), LaggingTime::min());
  EXPECT_EQ(words(2ms), (Words{"5:c4"}));
  EXPECT_EQ(lowest, 3u);
}

// Covers: S-43
TEST_F(ProposalsTest, NoMoreIsUnderWayThanMayBeKeptWhateverIsAnswered) {
  options.window = 1024;
  for (uint64_t ticket = 1; ticket <= 1024; ++ticket) submit(ticket);
  const size_t under_way = handed(0ms).size();
  EXPECT_EQ(under_way * kResultBytesMax, SequenceWindow::kAnswerBytesEver);
  EXPECT_NE(proposals.next_deadline(Route::Open), LaggingTime::min());
  for (uint64_t sequence = 1; sequence <= under_way; ++sequence) answer(sequence);
  EXPECT_EQ(handed(1ms).size(), under_way);
}

TEST_F(ProposalsTest, ACommandThatIsTooLargeIsRefusedAtTheEntrance) {
  options.request_bytes_max = 4;
  for (const size_t size : {4, 5}) {
    proposals.submit({.ticket = Ticket(size), .command = SharedBytes(std::string(size, 'x')), .deadline = at(1s)}, completions);
  }
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].ticket, Ticket(5));
  EXPECT_EQ(reason_of(completions[0].status), Reason::RequestTooLarge);
  EXPECT_EQ(outcome_of(completions[0].status), Outcome::NoEffect);
  EXPECT_EQ(proposals.size(), 1u);
}

TEST_F(ProposalsTest, ADeadlineBeforeTheHandOverMeansNoEffect) {
  submit(1, 5ms);
  proposals.expire(at(5ms - 1ns), Route::NoLeader, completions);
  EXPECT_TRUE(completions.empty());
  proposals.expire(at(5ms), Route::NoLeader, completions);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(outcome_of(completions[0].status), Outcome::NoEffect);
  EXPECT_EQ(reason_of(completions[0].status), Reason::NoLeader);
  EXPECT_EQ(completions[0].request, RequestId{});
  EXPECT_EQ(words(6ms), Words{});
}

TEST_F(ProposalsTest, ADeadlineInTheLineForTheWindowMeansNoEffectAndDoesNotBlameAMissingLeader) {
  for (uint64_t ticket = 1; ticket <= 9; ++ticket) submit(ticket, ticket == 9 ? 5ms : 10s);
  words(0ms);
  proposals.expire(at(5ms), Route::Open, completions);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(outcome_of(completions[0].status), Outcome::NoEffect);
  EXPECT_EQ(reason_of(completions[0].status), Reason::CallTimeout);
  EXPECT_EQ(sentence_of(completions[0].status),
            "the leader did not take this call before its deadline, while 9 calls of this replica were under way; nothing was "
            "done: make fewer calls at a time, or give them more time");
}

TEST_F(ProposalsTest, ADeadlineAfterTheHandOverMeansUnknown) {
  submit(1, 5ms);
  words(0ms);
  proposals.expire(at(5ms), Route::NoLeader, completions);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(outcome_of(completions[0].status), Outcome::Unknown);
  EXPECT_EQ(reason_of(completions[0].status), Reason::CallTimeout);
  EXPECT_EQ(completions[0].request, (RequestId{kOwnOrigin, Sequence(1)}));
  answer(1);  // it took effect after all: no caller is left
  EXPECT_EQ(completions.size(), 1u);
}

TEST_F(ProposalsTest, WhatTheLogRefusedWhenFirstHandedOverCertainlyHadNoEffect) {
  submit(1, 5ms);
  const auto first = handed(0ms);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].handing, Proposals::Handing::First);
  proposals.refused(first[0].sequence, first[0].handing, at(2ms));
  EXPECT_TRUE(handed(1ms).empty());
  proposals.expire(at(5ms), Route::NoLeader, completions);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(outcome_of(completions[0].status), Outcome::NoEffect);
}

TEST_F(ProposalsTest, ARefusalAfterAnEarlierHandOverLeavesTheOutcomeUnknown) {
  submit(1, 5ms);
  handed(0ms);  // to a leader that never answered
  proposals.leadership_changed();
  const auto second = handed(1ms);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].handing, Proposals::Handing::Repeated);
  proposals.refused(second[0].sequence, second[0].handing, at(2ms));
  proposals.expire(at(5ms), Route::NoLeader, completions);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(outcome_of(completions[0].status), Outcome::Unknown);
}

// Covers: FLT_O01
TEST_F(ProposalsTest, ACallWhoseTimeIsOverIsNotHandedOver) {
  submit(1, 5ms);
  words(0ms);
  submit(2, 5ms);  // these two come too late for the turn at 0 ms
  submit(3);
  proposals.leadership_changed();
  EXPECT_EQ(words(5ms), Words{}) << "one ends in this turn, and the other waits behind it";
  EXPECT_FALSE(proposals.expire(at(5ms), Route::NoLeader, completions));
  EXPECT_EQ(ended(), (Tickets{1, 2}));
  EXPECT_EQ(words(5ms), (Words{"2:c3"}));
}

// Covers: FLT_O01
TEST_F(ProposalsTest, OfCallsWhoseTimeIsOverATurnEndsNoMoreThanItsShare) {
  for (uint64_t ticket = 1; ticket <= 2 * kExpiredOfATurn + 1; ++ticket) submit(ticket, 5ms);
  for (const bool more : {true, true, false}) {
    EXPECT_EQ(proposals.expire(at(5ms), Route::NoLeader, completions), more);
    EXPECT_EQ(ended().size(), more ? kExpiredOfATurn : 1);
    EXPECT_EQ(proposals.next_deadline(Route::NoLeader), more ? at(5ms) : LaggingTime::max()) << "the next turn comes at once";
  }
}

// Covers: S-41
TEST_F(ProposalsTest, AChangeOfLeadershipHandsEverythingUnansweredOverAgainUnderTheSameIds) {
  for (uint64_t ticket = 1; ticket <= 3; ++ticket) submit(ticket);
  words(0ms);
  answer(2);
  proposals.postpone(Sequence(1), LaggingTime::max());  // appended by the leader at that time
  proposals.leadership_changed();
  EXPECT_EQ(proposals.next_deadline(Route::Open), LaggingTime::min());
  EXPECT_EQ(proposals.next_deadline(Route::NoLeader), at(10s));
  EXPECT_EQ(words(1ms), (Words{"1:c1", "3:c3"}));
}

TEST_F(ProposalsTest, WhatIsNotAnsweredIsHandedOverAgainAfterAWhile) {
  submit(1);
  words(0ms);
  const Duration again = options.raft.election_timeout;
  EXPECT_EQ(proposals.next_deadline(Route::Open), at(again));
  EXPECT_EQ(words(again - 1ns), Words{});
  EXPECT_EQ(words(again), (Words{"1:c1"}));
}

// Covers: S-43
TEST_F(ProposalsTest, AQueuedCallCompletesTwiceAndFreesItsSequence) {
  submit(1);
  submit(2);
  words(0ms);
  answer(1, Stage::Queued);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].stage, Stage::Queued);
  EXPECT_EQ(proposals.size(), 2u);
  proposals.leadership_changed();
  EXPECT_EQ(words(1ms), (Words{"2:c2"}));  // the accepted one is not handed over again
  EXPECT_EQ(lowest, 2u);
  answer(1, Stage::Queued);                          // a repeat
  answer(1, Stage::Final, Reason::SequenceRetired);  // a late copy
  EXPECT_EQ(completions.size(), 1u);
  answer(1);
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[1].ticket, Ticket(1));
  EXPECT_EQ(completions[1].stage, Stage::Final);
  EXPECT_EQ(proposals.size(), 1u);
}

TEST_F(ProposalsTest, AQueuedCallMayTimeOutWithUnknownOutcome) {
  submit(1, 5ms);
  words(0ms);
  answer(1, Stage::Queued);
  proposals.expire(at(5ms), Route::NoLeader, completions);
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(outcome_of(completions[1].status), Outcome::Unknown);
  answer(1);
  EXPECT_EQ(completions.size(), 2u);
}

TEST_F(ProposalsTest, AForgottenCallIsNeverCompletedAndItsSequenceIsGivenUp) {
  for (uint64_t ticket = 1; ticket <= 3; ++ticket) submit(ticket, 5ms);
  words(0ms);
  answer(2, Stage::Queued);
  ended();
  proposals.forget(Ticket(1));
  proposals.forget(Ticket(2));
  proposals.forget(Ticket(77));
  answer(1);
  answer(2);
  EXPECT_EQ(ended(), Tickets{});
  proposals.leadership_changed();
  EXPECT_EQ(words(1ms), (Words{"3:c3"}));
  EXPECT_EQ(lowest, 3u);
  proposals.expire(at(5ms), Route::NoLeader, completions);
  EXPECT_EQ(ended(), Tickets{3});
  submit(4);
  EXPECT_EQ(words(6ms), (Words{"4:c4"}));
  EXPECT_EQ(lowest, 4u);
}

// Covers: REG_R75
TEST_F(ProposalsTest, CallsThatTimedOutWithoutALeaderLeaveNothingBehind) {
  for (uint64_t ticket = 1; ticket <= 10'000; ++ticket) {
    submit(ticket, 1ms, ticket % 2 == 0 ? Urgency::Normal : Urgency::Reserved);
    proposals.expire(at(1ms), Route::NoLeader, completions);
  }
  EXPECT_EQ(ended().size(), 10'000u);
  EXPECT_EQ(proposals.size(), 0u);
  EXPECT_EQ(proposals.next_deadline(Route::Open), LaggingTime::max());  // no call is in line either
  EXPECT_EQ(words(2ms), Words{});
}

// Covers: REG_R76
TEST_F(ProposalsTest, TheEndCompletesEachCallOnce) {
  for (uint64_t ticket = 1; ticket <= 12; ++ticket) submit(ticket, ticket == 12 ? Duration::max() : 10s);
  words(0ms);
  answer(1, Stage::Queued);
  answer(2);
  ended();
  proposals.fail_all(Reason::ReplicaFailed, "the end", completions);
  std::map<uint64_t, Outcome> outcomes;
  for (const Completion& one : completions) {
    EXPECT_TRUE(outcomes.emplace(one.ticket.value(), outcome_of(one.status)).second);
    EXPECT_EQ(reason_of(one.status), Reason::ReplicaFailed);
  }
  EXPECT_EQ(outcomes.size(), 11u);
  EXPECT_EQ(outcomes.at(1), Outcome::Unknown);
  EXPECT_EQ(outcomes.at(8), Outcome::Unknown);
  EXPECT_EQ(outcomes.at(9), Outcome::NoEffect);  // did not fit the window
  completions.clear();
  proposals.fail_all(Reason::ReplicaFailed, "the end", completions);
  answer(3);
  proposals.expire(LaggingTime::max(), Route::NoLeader, completions);
  EXPECT_EQ(ended(), Tickets{});
}

// Random calls, answers, losses and leaders: every call ends exactly once with stage Final (or was forgotten), and the lowest
// unanswered sequence never falls.
TEST_F(ProposalsTest, EveryAcceptedCallEndsExactlyOnceWhateverHappens) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Proposals calls(options, kOwnOrigin);
    std::set<Ticket> open;
    std::vector<Sequence> known;
    Sequence lowest_seen;
    Duration now{};
    uint64_t next = 0;
    std::vector<Completion> out;
    const auto check_completions = [&] {
      for (const Completion& one : std::exchange(out, {})) {
        ASSERT_TRUE(open.contains(one.ticket));
        if (one.stage == Stage::Final) open.erase(one.ticket);
      }
      ASSERT_EQ(calls.size(), open.size());
    };
    for (int step = 0; step < 400; ++step) {
      now += std::chrono::milliseconds(random.below(20));
      switch (random.below(7)) {
        case 0:
        case 1:
          open.insert(Ticket(++next));
          calls.submit({.ticket = Ticket(next),
                        .deadline = at(now + std::chrono::milliseconds(random.below(2000))),
                        .urgency = random.below(4) == 0 ? Urgency::Reserved : Urgency::Normal},
                       out);
          break;
        case 2:
        case 3: {
          std::vector<Proposals::Dispatch> dispatches;
          calls.collect(at(now), random.below(10) != 0, dispatches);
          for (const auto& one : dispatches) {
            if (!one.sequence) continue;
            known.push_back(one.sequence);
            const Sequence lowest = std::get<Request>(*decode_command(one.payload.view())).lowest_unanswered;
            ASSERT_GE(lowest, lowest_seen);
            ASSERT_LE(one.sequence - lowest, options.window + options.window / 4);
            lowest_seen = lowest;
            if (random.below(4) == 0) calls.refused(one.sequence, one.handing, at(now + 5ms));
          }
          break;
        }
        case 4:
          if (known.empty()) break;
          calls.answered({{kOwnOrigin, known[random.below(known.size())]},
                          random.below(3) == 0 ? Stage::Queued : Stage::Final,
                          {},
                          {},
                          Index(1)},
                         out);
          break;
        case 5: calls.expire(at(now), Route::NoLeader, out); break;
        default:
          if (random.below(2) == 0) calls.leadership_changed();
          if (open.empty() || random.below(3) != 0) break;
          calls.forget(*open.begin());
          open.erase(open.begin());
      }
      check_completions();
      if (HasFatalFailure()) return;
    }
    calls.fail_all(Reason::Stopped, "the end", out);
    check_completions();
    ASSERT_TRUE(open.empty());
  }
}

}  // namespace
}  // namespace coordkit::engine
