#include "engine/transfer/state_sender.h"

#include <gtest/gtest.h>

namespace coordkit::engine {
namespace {

using namespace std::chrono_literals;

struct StateSenderTest : ::testing::Test {
  static constexpr Term kTerm{7};
  EngineOptions options;
  StateSender sender{options};
  LaggingTime now{1s};
  std::vector<ReplicaId> behind{ReplicaId(3)};
  Index base{50};
  std::vector<ViewOrder> orders;
  std::vector<Outbound> sends;

  void collect() {
    orders.clear();
    sends.clear();
    sender.behind(behind, now);
    sender.collect(kTerm, base, now, orders, sends);
  }
  template <typename Order>
  const Order* order() const {
    for (const ViewOrder& one : orders) {
      if (const auto* found = std::get_if<Order>(&one)) return found;
    }
    return nullptr;
  }
  template <typename M>
  const M* sent(uint64_t to) const {
    for (const Outbound& one : sends) {
      if (one.to.value() == to && std::holds_alternative<M>(one.message)) return &std::get<M>(one.message);
    }
    return nullptr;
  }
  Position at(uint64_t index) { return {Index(index), Term(5)}; }
  void open(uint64_t index = 60) {
    collect();
    const auto* wanted = order<ViewOpen>();
    ASSERT_TRUE(wanted);
    ASSERT_TRUE(sender.opened({wanted->view, ViewFacts{at(index), 99}}, now).ok());
    collect();
  }
  void ask(uint64_t from, uint64_t index = 60) {
    sender.asked(ReplicaId(from), {kTerm, at(index), {"k", ""}, 5}, now);
    collect();
  }
  // The current read ends with this many bytes of rows.
  void done(const ViewRead& read, size_t bytes = 10) {
    StateRows rows{.range = read.range, .sum = 1, .rows = {{"key", std::string(bytes - 3, 'x')}}};
    sends.clear();
    ViewWasRead answer{read.view, read.ticket, std::move(rows)};
    ASSERT_TRUE(sender.read(answer, kTerm, now, sends).ok());
  }
};

TEST_F(StateSenderTest, OffersAtACalmPaceUntilItIsAsked) {
  open();
  ASSERT_TRUE(sent<StateOffer>(3));
  EXPECT_EQ(sent<StateOffer>(3)->at, at(60));
  EXPECT_EQ(sent<StateOffer>(3)->digest, 99u);
  collect();
  EXPECT_FALSE(sent<StateOffer>(3)) << "not twice at once";
  now += options.raft.election_timeout;
  collect();
  EXPECT_TRUE(sent<StateOffer>(3));
  ask(3);
  now += options.raft.election_timeout;
  collect();
  EXPECT_FALSE(sent<StateOffer>(3)) << "it is being served";
}

TEST_F(StateSenderTest, ReadsWhatIsAskedOneAtATimeForEachPeer) {
  behind = {ReplicaId(3), ReplicaId(4)};
  open();
  ask(3);
  const ViewRead first = *order<ViewRead>();
  EXPECT_EQ(first.range, (KeyRange{"k", ""}));
  EXPECT_EQ(first.sum, 5u);
  EXPECT_EQ(first.bytes_max, options.state_chunk_bytes);
  ask(3);
  EXPECT_FALSE(order<ViewRead>());
  ask(4);
  EXPECT_TRUE(order<ViewRead>()) << "a slow peer slows no other";
  done(first);
  ASSERT_TRUE(sent<StateChunk>(3));
  EXPECT_EQ(sent<StateChunk>(3)->at, at(60));
  now += 1ms;  // the time the rate takes for so little
  ask(3);
  EXPECT_TRUE(order<ViewRead>());
}

// Covers: FLT_N08
TEST_F(StateSenderTest, TheRateLeavesRoomForOthers) {
  options.state_bytes_per_second = 1000;
  open();
  ask(3);
  done(*order<ViewRead>(), 500);
  ask(3);
  EXPECT_FALSE(order<ViewRead>());
  EXPECT_LE(sender.next_deadline(), now + 500ms);
  now += 500ms;
  collect();
  EXPECT_TRUE(order<ViewRead>());
}

TEST_F(StateSenderTest, AViewThatNobodyReadsOrThatIsOldGivesWayToANewOne) {
  open();
  now += options.state_view_idle;
  collect();
  EXPECT_TRUE(order<ViewClose>());
  ASSERT_TRUE(order<ViewOpen>()) << "a peer is still behind";
  ASSERT_TRUE(sender.opened({order<ViewOpen>()->view, ViewFacts{at(80), 1}}, now).ok());
  for (LaggingTime end = now + options.state_view_max; now < end; now += options.state_view_idle / 2) {
    ask(3, 80);
    EXPECT_FALSE(order<ViewClose>());
    if (const auto* read = order<ViewRead>()) done(*read);
  }
  collect();
  EXPECT_TRUE(order<ViewClose>()) << "however busy";
}

TEST_F(StateSenderTest, AViewWhoseNextEntriesAreGoneIsOfNoUse) {
  open();
  base = Index(61);
  collect();
  EXPECT_TRUE(order<ViewClose>());
  EXPECT_TRUE(order<ViewOpen>());
}

TEST_F(StateSenderTest, WhoAsksForAnotherStateIsOfferedThisOne) {
  open();
  ask(3, 40);
  EXPECT_FALSE(order<ViewRead>());
  EXPECT_TRUE(sent<StateOffer>(3));
}

// Covers: REG_R72
TEST_F(StateSenderTest, APeerThatLoadsAStatePinsTheLogAndIsOfferedNoOther) {
  open();
  EXPECT_EQ(sender.pinned(), Index(60));
  for (int i = 0; i < 100; ++i, now += options.raft.election_timeout) {
    sender.loading(ReplicaId(3), {kTerm, at(60)}, now);
    collect();
    EXPECT_FALSE(sent<StateOffer>(3));
    EXPECT_EQ(sender.pinned(), Index(60));
  }
  now += 10 * options.raft.election_timeout;
  collect();
  EXPECT_TRUE(order<ViewOpen>()) << "it went away";
}

TEST_F(StateSenderTest, APeerThatHasCaughtUpReleasesTheViewAndTheLog) {
  open();
  behind.clear();
  now += options.raft.election_timeout;
  collect();
  EXPECT_FALSE(order<ViewClose>()) << "a new connection is probed first";
  now += 4 * options.raft.election_timeout;
  collect();
  EXPECT_TRUE(order<ViewClose>());
  EXPECT_EQ(sender.pinned(), Index());
  EXPECT_EQ(sender.next_deadline(), LaggingTime::max());
}

// Covers: FLT_D08
TEST_F(StateSenderTest, ARottenRowIsReportedAndNotSent) {
  open();
  ask(3);
  const ViewRead read = *order<ViewRead>();
  ViewWasRead rotten{read.view, read.ticket, absl::DataLossError("rot")};
  sends.clear();
  EXPECT_TRUE(absl::IsDataLoss(sender.read(rotten, kTerm, now, sends)));
  EXPECT_TRUE(sends.empty());
  EXPECT_TRUE(absl::IsDataLoss(StateSender(options).opened({ViewId(1), absl::DataLossError("rot")}, now)) == false)
      << "of a view that was not requested";
}

TEST_F(StateSenderTest, AFailedReadIsTriedAgainWithANewView) {
  open();
  ask(3);
  const ViewRead read = *order<ViewRead>();
  ViewWasRead failed{read.view, read.ticket, absl::UnavailableError("busy")};
  EXPECT_TRUE(sender.read(failed, kTerm, now, sends).ok());
  EXPECT_EQ(sender.unsent(), "busy");
  collect();
  EXPECT_TRUE(order<ViewClose>());
  EXPECT_FALSE(order<ViewOpen>()) << "not in a circle";
  now += options.raft.election_timeout;
  open();
  ask(3);
  done(*order<ViewRead>());
  EXPECT_EQ(sender.unsent(), "");
}

TEST_F(StateSenderTest, WhoStopsLeadingClosesItsView) {
  open();
  ask(3);
  const ViewRead read = *order<ViewRead>();
  orders.clear();
  sender.stop(orders);
  EXPECT_TRUE(order<ViewClose>());
  done(read);
  EXPECT_TRUE(sends.empty()) << "of another reign";
  ViewWasRead failed{read.view, read.ticket, absl::UnavailableError("no such view")};
  EXPECT_TRUE(sender.read(failed, kTerm, now, sends).ok());
  EXPECT_EQ(sender.unsent(), "") << "nobody is sent anything from here";
  orders.clear();
  sender.stop(orders);
  EXPECT_TRUE(orders.empty());
}

}  // namespace
}  // namespace coordkit::engine
