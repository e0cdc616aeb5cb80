// The replica of a fake service: code that takes a Replica& works with it, in virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/coordkit.h"
#include "coordkit/testing/fake_session.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

// Code under test, as anyone might write it: follows a setting and its peers.
struct Worker {
  explicit Worker(Replica& replica)
      : limit(replica, MirrorOptions::prefix("limit"),
              [](const MirrorEntries& all) -> absl::StatusOr<int> {
                if (all.empty()) return absl::NotFoundError("no limit is set");
                return std::stoi(all.begin()->second.value);
              }),
        peers(
            Registry(replica, "workers/").observe([this](const MirrorSeen&, const MirrorEntries& all) { seen = all.size(); })) {
  }

  Config<int> limit;
  size_t seen = 0;
  Mirror peers;
};

TEST(FakeReplicaTest, SettingsAndPeersAreFollowedAsTimePasses) {
  FakeService service;
  Replica& replica = service.replica();
  ASSERT_TRUE(replica.put("limit", "3").ok());
  Worker worker(replica);
  ASSERT_TRUE(worker.limit.wait_ready().ok()) << worker.limit.problem();
  EXPECT_EQ(*worker.limit.current(), 3);
  ASSERT_TRUE(replica.put("limit", "4").ok());
  EXPECT_EQ(*worker.limit.current(), 4);

  Session peer = service.open_session({.ttl = 2s});
  ASSERT_TRUE(worker.peers.wait_ready().ok());
  ASSERT_TRUE(Registry(replica, "workers/").join(peer, "a").ok());
  EXPECT_EQ(worker.seen, 1u);
  service.lose(peer);
  service.advance(1ms);
  EXPECT_EQ(worker.seen, 0u);
  worker.limit.end();
  EXPECT_EQ(reason_of(worker.limit.problem()), Reason::Closed);
}

TEST(FakeReplicaTest, AWaitForSettingsThatNobodyMakesTakesVirtualTimeOnly) {
  FakeService service;
  service.outage();
  const Mirror keys(service.replica(), MirrorOptions::prefix("k"));
  EXPECT_EQ(reason_of(keys.wait_ready(20min)), Reason::CallTimeout);
  EXPECT_EQ(service.now(), 20min);
  service.at(service.now() + 5s, [&] { service.recover(); });
  EXPECT_TRUE(keys.wait_ready(1min).ok());
  EXPECT_LT(service.now(), 20min + 10s);
}

TEST(FakeReplicaTest, KeysTransactionsAndFencesAreThoseOfAReplica) {
  FakeService service;
  Kv kv(service.replica());
  ASSERT_TRUE(kv.put("a", "1").ok());
  EXPECT_EQ(kv.get("a")->entry->value, "1");
  EXPECT_EQ(kv.range(RangeOperation::prefix("a"))->count, 1u);
  EXPECT_TRUE(Txn(kv).when(Compare::exists("a")).then(PutOperation{.key = "b", .value = "2"}).commit()->succeeded);
  const auto doubled = run_stm(kv, [](Stm& stm) {
    stm.put("b", stm.get("b")->value() + stm.get("b")->value());
    return absl::OkStatus();
  });
  EXPECT_TRUE(doubled.ok()) << doubled.status();
  EXPECT_EQ(service.replica().get("b")->entry->value, "22");

  Session me = service.open_session();
  Grant grant = me.acquire("billing").value();
  const Fence fence = fenced_by(grant);
  EXPECT_TRUE(kv.put("c", "3", {.fence = fence}).ok());
  EXPECT_TRUE(grant.release().ok());
  EXPECT_EQ(reason_of(kv.put("c", "4", {.fence = fence}).status()), Reason::Fenced);
  EXPECT_EQ(kv.erase("a")->deleted, 1u);
  EXPECT_EQ(IdAllocator(service.replica(), "ids").next().value(), 1);
  const KeyLease lease = Leases(service.replica()).keep({.ttl = 2s}).value();
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(service.replica().holders("billing")->holders.size(), 0u);
}

TEST(FakeReplicaTest, AWatchIsReadInVirtualTime) {
  FakeService service;
  Watch watch(service.replica(), {.key = "k"});
  EXPECT_EQ(watch.next(1s)->what, WatchBatch::What::Created);
  EXPECT_EQ(reason_of(watch.next(5min).status()), Reason::CallTimeout);
  EXPECT_EQ(service.now(), 5min);
  service.at(service.now() + 5s, [&] { service.replica().put_async("k", "v", {}, [](const absl::StatusOr<PutResult>&) {}); });
  const absl::StatusOr<WatchBatch> batch = watch.next(1min);
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(batch->events[0].entry.value, "v");
  EXPECT_EQ(service.now(), 5min + 5s);
}

TEST(FakeReplicaTest, HealthSaysWhatTheTestDoes) {
  FakeService service;
  Replica& replica = service.replica();
  EXPECT_TRUE(replica.wait_ready(1s).ok());
  EXPECT_EQ(replica.health().state, ReplicaState::Ready);
  EXPECT_EQ(replica.members().members.size(), 1u);
  service.cut_off();
  EXPECT_EQ(replica.health().state, ReplicaState::Starting);
  EXPECT_FALSE(replica.health().leader);
  EXPECT_EQ(reason_of(replica.wait_ready(5s)), Reason::CallTimeout);
  EXPECT_EQ(service.now(), 5s);
  absl::Status ready = absl::UnknownError("not answered");
  replica.wait_ready_async(1min, [&](const absl::Status& answer) { ready = answer; });
  service.at(8s, [&] { service.mend(); });
  service.advance(4s);
  EXPECT_TRUE(ready.ok()) << ready;
  Session me = service.open_session();
  EXPECT_TRUE(me.acquire("x").ok());
  EXPECT_GE(replica.metrics()->locks.grants, 1u);
}

TEST(FakeReplicaTest, WhatOneMemberCannotShowIsSaid) {
  FakeService service;
  Replica& replica = service.replica();
  EXPECT_EQ(reason_of(replica.transfer_leadership()), Reason::Unsupported);
  EXPECT_EQ(reason_of(replica.change_membership(MembershipChange().remove(1)).status()), Reason::Unsupported);
  EXPECT_EQ(reason_of(replica.reload_tls()), Reason::Unsupported);
  EXPECT_EQ(reason_of(replica.propose(MachineId(16), "x").status()), Reason::Unsupported);
}

TEST(FakeReplicaTest, ClosedItIsAClosedReplica) {
  FakeService service;
  Session me = service.open_session();
  absl::Status closed = absl::UnknownError("not answered");
  service.replica().close_async([&](const absl::Status& answer) { closed = answer; });
  service.advance(0s);
  EXPECT_TRUE(closed.ok()) << closed;
  EXPECT_TRUE(service.replica().close().ok()) << "again";
  EXPECT_EQ(service.replica().put("k", "v").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(me.phase(), SessionPhase::Lost);
  EXPECT_EQ(service.replica().health().state, ReplicaState::Halted);
}

}  // namespace
}  // namespace coordkit::testkit
