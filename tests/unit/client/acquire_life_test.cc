// The life of an acquire, as a table of all states and events, and the paths through it that matter.
#include "client/locks/acquire_life.h"

#include <gtest/gtest.h>

#include <vector>

namespace coordkit::client {
namespace {

using S = AcquireState;
using E = AcquireEvent;
using A = AcquireAction;

constexpr S kStates[] = {S::Entered,    S::InLine,    S::Submitted, S::Unwanted, S::Queued,
                         S::Cancelling, S::Cancelled, S::Orphaned,  S::Done};

// A row for each event, a column for each state in the order of kStates.
TEST(AcquireLifeTest, EveryStateHasAnAnswerToEveryEvent) {
  struct Row {
    E event;
    std::vector<AcquireStep> next;
  };
  const Row rows[] = {
      {E::Joined,
       {{S::InLine},
        {S::InLine},
        {S::Submitted},
        {S::Unwanted},
        {S::Queued},
        {S::Cancelling},
        {S::Cancelled},
        {S::Orphaned},
        {S::Done}}},
      {E::Sent,
       {{S::Submitted},
        {S::Submitted},
        {S::Submitted},
        {S::Unwanted},
        {S::Queued},
        {S::Cancelling},
        {S::Cancelled},
        {S::Orphaned},
        {S::Done}}},
      {E::Waits,
       {{S::Entered},
        {S::InLine},
        {S::Queued},
        {S::Cancelling, A::PostCancel},
        {S::Queued},
        {S::Cancelling},
        {S::Cancelled},
        {S::Orphaned},
        {S::Done}}},
      {E::Ended, {{S::Done}, {S::Done}, {S::Done}, {S::Done}, {S::Done}, {S::Done}, {S::Done}, {S::Orphaned}, {S::Done}}},
      {E::OutcomeUnknown,
       {{S::Entered},
        {S::InLine},
        {S::Orphaned, A::PostCancel},
        {S::Orphaned, A::PostCancel},
        {S::Orphaned, A::PostCancel},
        {S::Orphaned},
        {S::Orphaned, A::PostCancel},
        {S::Orphaned},
        {S::Done}}},
      {E::CallerLeaves,
       {{S::Done},
        {S::Done},
        {S::Unwanted},
        {S::Unwanted},
        {S::Cancelling, A::PostCancel},
        {S::Cancelling},
        {S::Cancelled},
        {S::Orphaned},
        {S::Done}}},
      {E::CancelAnswered,
       {{S::Entered},
        {S::InLine},
        {S::Submitted},
        {S::Unwanted},
        {S::Queued},
        {S::Cancelled},
        {S::Cancelled},
        {S::Done},
        {S::Done}}},
      {E::CancelUnanswered,
       {{S::Entered},
        {S::InLine},
        {S::Submitted},
        {S::Unwanted},
        {S::Queued},
        {S::Cancelling, A::RepeatCancel},
        {S::Cancelled},
        {S::Orphaned, A::RepeatCancel},
        {S::Done}}},
  };
  for (const Row& row : rows) {
    ASSERT_EQ(row.next.size(), std::size(kStates));
    for (size_t i = 0; i < std::size(kStates); ++i) {
      EXPECT_EQ(step(kStates[i], row.event), row.next[i]) << static_cast<int>(row.event) << ' ' << i;
    }
  }
}

struct Path {
  S end;
  std::vector<A> actions;
  friend bool operator==(const Path&, const Path&) = default;
};

Path follow(const std::vector<E>& events) {
  Path path{S::Entered, {}};
  for (const E event : events) {
    const AcquireStep taken = step(path.end, event);
    path.end = taken.next;
    if (taken.action != A::None) path.actions.push_back(taken.action);
  }
  return path;
}

TEST(AcquireLifeTest, ACallerThatLeavesIsFollowedByOneCancel) {
  const Path one{S::Done, {A::PostCancel}};
  EXPECT_EQ(follow({E::Sent, E::Waits, E::CallerLeaves, E::CallerLeaves, E::Ended}), one);
  EXPECT_EQ(follow({E::Joined, E::Sent, E::CallerLeaves, E::Waits, E::CallerLeaves, E::CancelAnswered, E::Ended}), one);
  EXPECT_EQ(follow({E::Sent, E::CallerLeaves, E::Ended}), (Path{S::Done, {}}))
      << "the first answer is final: nothing to cancel";
  EXPECT_EQ(follow({E::Joined, E::CallerLeaves}), (Path{S::Done, {}})) << "it never left this process";
}

TEST(AcquireLifeTest, AnUnknownOutcomeIsFoundOutByACancelThatIsRepeatedUntilItIsAnswered) {
  EXPECT_EQ(follow({E::Sent, E::OutcomeUnknown, E::CancelUnanswered, E::CancelUnanswered, E::CancelAnswered}),
            (Path{S::Done, {A::PostCancel, A::RepeatCancel, A::RepeatCancel}}));
  EXPECT_EQ(follow({E::Sent, E::Waits, E::CallerLeaves, E::OutcomeUnknown, E::CancelAnswered}),
            (Path{S::Done, {A::PostCancel}}))
      << "the cancel that is on its way is enough";
}

// Its own answer was to count, and is lost after the answer to the cancel.
TEST(AcquireLifeTest, AnOutcomeThatIsLostAfterTheCancelWasAnsweredIsFoundOutOnceMore) {
  EXPECT_EQ(follow({E::Sent, E::Waits, E::CallerLeaves, E::CancelAnswered, E::OutcomeUnknown, E::CancelAnswered}),
            (Path{S::Done, {A::PostCancel, A::PostCancel}}));
}

}  // namespace
}  // namespace coordkit::client
