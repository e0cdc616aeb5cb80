// Callers without a replica, on real sockets: three replicas that serve remotes, and remotes of this process.
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <future>
#include <mutex>
#include <thread>

#include "coordkit/asio/asio_executor.h"
#include "coordkit/coordkit.h"
#include "coordkit/remote.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::HasSubstr;

constexpr char kMembers[] = "the secret of the members";
constexpr char kRemotes[] = "the secret of the remotes";

class RemoteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_NO_FATAL_FAILURE(cluster_.open(options(id)));
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  }

  ReplicaOptions options(uint64_t id) {
    ReplicaOptions options = cluster_.options(id);
    options.security = SharedSecret{kMembers};
    options.remotes = {.listen = gateways_[id - 1], .security = SharedSecret{kRemotes}};
    return options;
  }
  RemoteOptions remote_options() const {
    return {.cluster = "test", .gateways = gateways_, .security = SharedSecret{kRemotes}, .silence = 1s};
  }
  std::unique_ptr<Remote> open() { return open(remote_options()); }
  static std::unique_ptr<Remote> open(RemoteOptions options) {
    auto remote = Remote::open(std::move(options));
    EXPECT_THAT(remote.status(), IsOk());
    if (remote.ok()) {
      EXPECT_THAT((*remote)->wait_ready(kPatience), IsOk());
    }
    return remote.ok() ? *std::move(remote) : nullptr;
  }
  static Session session(Remote& remote, Duration ttl = 10s) {
    auto session = remote.open_session({.ttl = ttl, .timeout = kPatience});
    EXPECT_THAT(session.status(), IsOk());
    return session.ok() ? *session : Session();
  }
  // The replica that serves it.
  uint64_t gateway_of(const Remote& remote) const {
    const std::string address = remote.link().gateway;
    return static_cast<uint64_t>(std::ranges::find(gateways_, address) - gateways_.begin()) + 1;
  }
  size_t linked() {
    size_t all = 0;
    for (uint64_t id = 1; id <= 3; ++id) all += cluster_[id].metrics()->remotes->linked;
    return all;
  }
  uint64_t closed_for(CloseReason reason) {
    uint64_t all = 0;
    for (uint64_t id = 1; id <= 3; ++id) all += cluster_[id].metrics()->remotes->tcp.closed_for(reason);
    return all;
  }

  Cluster cluster_;
  const std::vector<std::string> gateways_ = support::free_loopback_addresses(3);
};

// Covers: S-67
TEST_F(RemoteTest, ARemoteHasSessionsLocksAndFences) {
  const auto remote = open();
  Session here = session(*remote);
  Session there = cluster_.session(1);
  auto held = here.acquire("m");
  ASSERT_THAT(held.status(), IsOk());
  EXPECT_TRUE(held->valid());
  EXPECT_GT(held->remaining(), 5s);
  EXPECT_THAT(there.try_acquire("m").status(), Is(Reason::Held));
  const Fence fence = fenced_by(*held);
  const auto seen = remote->holders("m");
  ASSERT_THAT(seen.status(), IsOk());
  ASSERT_EQ(seen->holders.size(), 1u);
  EXPECT_EQ(seen->holders.front().token, held->token());
  EXPECT_THAT(remote->put("k", "v", ProposeOptions{.fence = fence}).status(), IsOk());
  EXPECT_THAT(held->release(), IsOk());
  EXPECT_THAT(there.try_acquire("m").status(), IsOk());
  EXPECT_THAT(remote->put("k", "w", ProposeOptions{.fence = fence}).status(), HasCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(cluster_[2].get("k")->entry->value, "v");
  EXPECT_THAT(here.close(), IsOk());
}

TEST_F(RemoteTest, ALockIsHandedFromARemoteToAReplicaAndBack) {
  const auto remote = open();
  Session here = session(*remote);
  Session there = cluster_.session(3);
  for (int round = 0; round < 20; ++round) {
    auto first = here.acquire("m");
    ASSERT_THAT(first.status(), IsOk());
    auto waits = std::async(std::launch::async, [&] { return there.acquire("m"); });
    ASSERT_TRUE(eventually([&] { return remote->queue("m")->waiters.size() == 1; }));
    EXPECT_THAT(first->release(), IsOk());
    auto second = waits.get();
    ASSERT_THAT(second.status(), IsOk());
    EXPECT_GT(second->token(), first->token());
    auto back = std::async(std::launch::async, [&] { return here.acquire("m"); });
    ASSERT_TRUE(eventually([&] { return remote->queue("m")->waiters.size() == 1; }));
    EXPECT_THAT(second->release(), IsOk());
    auto third = back.get();
    ASSERT_THAT(third.status(), IsOk());
    EXPECT_THAT(third->release(), IsOk());
  }
}

// Covers: S-67
TEST_F(RemoteTest, KeysObjectsAndElectionsWorkWithoutAReplica) {
  const auto remote = open();
  Kv kv(*remote);
  ASSERT_THAT(kv.put("a/1", "x").status(), IsOk());
  ASSERT_THAT(kv.put("a/2", "y").status(), IsOk());
  const auto range = kv.range(RangeOperation::prefix("a/"));
  ASSERT_THAT(range.status(), IsOk());
  EXPECT_EQ(range->entries.size(), 2u);
  EXPECT_EQ(remote->get("a/1", Consistency::Local)->entry->value, "x");
  Session here = session(*remote);
  Counter counter(here, "c");
  EXPECT_EQ(*counter.add(3), 3);
  Semaphore semaphore(here, "s");
  ASSERT_THAT(semaphore.set_limit(2), IsOk());
  auto permits = semaphore.acquire({.permits = 2});
  ASSERT_THAT(permits.status(), IsOk());
  EXPECT_THAT(semaphore.try_acquire().status(), Is(Reason::Held));
  Election election(here, "e");
  auto leads = election.campaign("remote");
  ASSERT_THAT(leads.status(), IsOk());
  EXPECT_EQ(Election(cluster_.session(2), "e").leader()->value().value, "remote");
}

// Covers: S-68
TEST_F(RemoteTest, CallsSessionsAndHoldsSurviveTheEndOfTheGateway) {
  const auto remote = open();
  Session here = session(*remote, 5s);
  auto held = here.acquire("m");
  ASSERT_THAT(held.status(), IsOk());
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> puts{0};
  std::thread caller([&] {
    while (!stop) {
      ASSERT_THAT(remote->put("n", std::to_string(puts + 1), {.timeout = kPatience}).status(), IsOk());
      ++puts;
    }
  });
  for (int moves = 0; moves < 3; ++moves) {
    const uint64_t gateway = gateway_of(*remote);
    const uint64_t before = puts;
    cluster_.close(gateway);
    EXPECT_TRUE(eventually([&] { return gateway_of(*remote) != gateway && puts > before + 10; }));
    ASSERT_NO_FATAL_FAILURE(cluster_.open(options(gateway)));
    ASSERT_THAT(cluster_[gateway].wait_ready(kPatience), IsOk());
  }
  stop = true;
  caller.join();
  EXPECT_TRUE(held->valid());
  EXPECT_EQ(here.phase(), SessionPhase::Valid);
  // Each put ran once.
  EXPECT_EQ(remote->get("n")->entry->version, puts);
  EXPECT_EQ(remote->get("n")->entry->value, std::to_string(puts));
  EXPECT_THAT(held->release(), IsOk());
}

// Covers: S-28 S-68
TEST_F(RemoteTest, AWatchAndAMirrorMissNothingWhenTheirGatewayEnds) {
  const auto remote = open();
  WatchOptions from_here = WatchOptions::prefix("w/");
  from_here.from = Revision(remote->put("w/first", "0")->revision.value() + 1);
  Watch watch(*remote, from_here);
  const Mirror mirror(*remote, MirrorOptions::prefix("w/"));
  ASSERT_THAT(mirror.wait_ready(kPatience), IsOk());
  std::vector<std::string> seen;
  const auto read = [&](size_t until) {
    while (seen.size() < until) {
      const auto batch = watch.next(kPatience);
      ASSERT_THAT(batch.status(), IsOk());
      for (const WatchEvent& event : batch->events) seen.push_back(event.entry.value);
    }
  };
  for (int n = 0; n < 60; ++n) {
    if (n == 20 || n == 40) {
      const uint64_t gateway = gateway_of(*remote);
      cluster_.close(gateway);
      ASSERT_NO_FATAL_FAILURE(cluster_.open(options(gateway)));
      ASSERT_THAT(cluster_[gateway].wait_ready(kPatience), IsOk());
    }
    ASSERT_THAT(cluster_[1].put("w/" + std::to_string(n % 5), std::to_string(n), {.timeout = kPatience}).status(), IsOk());
    if (n % 20 == 10) {
      ASSERT_NO_FATAL_FAILURE(read(static_cast<size_t>(n) + 1));
    }
  }
  ASSERT_NO_FATAL_FAILURE(read(60));
  for (int n = 0; n < 60; ++n) EXPECT_EQ(seen[static_cast<size_t>(n)], std::to_string(n));
  EXPECT_TRUE(eventually([&] { return mirror.get("w/4").has_value() && mirror.get("w/4")->value == "59"; }));
}

// Covers: S-45
TEST_F(RemoteTest, ASessionIsTakenOverWithItsLocks) {
  auto former = open();
  Session session = RemoteTest::session(*former, 2s);
  auto held = session.acquire("m");
  ASSERT_THAT(held.status(), IsOk());
  const auto later = open();
  auto resumed = later->resume_session(session.id(), session.secret(), {.timeout = kPatience});
  ASSERT_THAT(resumed.status(), IsOk());
  ASSERT_EQ(resumed->grants.size(), 1u);
  EXPECT_TRUE(eventually([&] { return resumed->grants.front().valid(); }));
  EXPECT_TRUE(eventually([&] { return !held->valid(); }));
  EXPECT_THAT(resumed->grants.front().release(), IsOk());
}

// Covers: S-68
TEST_F(RemoteTest, ARemoteComesBackAfterAllReplicasWereAway) {
  const auto remote = open();
  ASSERT_THAT(remote->put("k", "v").status(), IsOk());
  for (uint64_t id = 1; id <= 3; ++id) cluster_.close(id);
  ASSERT_TRUE(eventually([&] { return remote->link().kind == LinkState::Kind::Dialing && !remote->link().why.empty(); }));
  EXPECT_THAT(remote->put("k", "w", {.timeout = 100ms}).status(), Is(Reason::NoLeader));
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_NO_FATAL_FAILURE(cluster_.open(options(id)));
  EXPECT_THAT(remote->wait_ready(kPatience), IsOk());
  EXPECT_EQ(remote->get("k")->entry->value, "v");
}

TEST_F(RemoteTest, ARemoteThatIsDestroyedFreesItsLocks) {
  auto remote = open();
  auto held = session(*remote, 1s).acquire("m");
  ASSERT_THAT(held.status(), IsOk());
  remote.reset();
  EXPECT_FALSE(held->valid());
  EXPECT_TRUE(eventually([&] { return linked() == 0; }));
  *held = Grant();
  auto other = cluster_.session(1).acquire("m", {.timeout = kPatience});
  EXPECT_THAT(other.status(), IsOk());
}

// Covers: S-69
TEST_F(RemoteTest, AWrongSecretIsRefusedCountedAndSaid) {
  for (const char* secret : {kMembers, "a secret of somebody else"}) {
    RemoteOptions options = remote_options();
    options.security = SharedSecret{secret};
    auto remote = Remote::open(std::move(options));
    ASSERT_THAT(remote.status(), IsOk());
    // The end that notices it first says goodbye to the other.
    EXPECT_TRUE(
        eventually([&] { return closed_for(CloseReason::RefusedByPeer) + closed_for(CloseReason::SecretDiffers) > 0; }));
    EXPECT_TRUE(eventually([&] { return (*remote)->link().why.find("secret") != std::string::npos; })) << (*remote)->link().why;
    EXPECT_THAT((*remote)->health().reason, HasSubstr("secret"));
    EXPECT_THAT((*remote)->wait_ready(10ms), Is(Reason::CallTimeout));
  }
  EXPECT_EQ(linked(), 0u);
}

TEST_F(RemoteTest, AnotherClusterNameIsRefused) {
  RemoteOptions options = remote_options();
  options.cluster = "other";
  auto remote = Remote::open(std::move(options));
  ASSERT_THAT(remote.status(), IsOk());
  EXPECT_TRUE(eventually([&] { return (*remote)->link().why.find("cluster") != std::string::npos; })) << (*remote)->link().why;
}

// Covers: S-69
TEST_F(RemoteTest, ThePortOfTheMembersAdmitsNoRemote) {
  RemoteOptions options = remote_options();
  options.gateways.clear();
  for (const MemberAddress& member : cluster_.options(1).members) options.gateways.push_back(member.address);
  for (const char* secret : {kMembers, kRemotes}) {
    options.security = SharedSecret{secret};
    auto remote = Remote::open(options);
    ASSERT_THAT(remote.status(), IsOk());
    EXPECT_TRUE(eventually([&] { return !(*remote)->link().why.empty(); }));
    EXPECT_THAT((*remote)->put("k", "v", {.timeout = 300ms}).status(), Is(Reason::NoLeader));
  }
}

TEST_F(RemoteTest, ARemoteRunsOnAnExecutorOfTheProgram) {
  boost::asio::io_context context;
  auto work = boost::asio::make_work_guard(context);
  std::thread runs([&] { context.run(); });
  {
    RemoteOptions options = remote_options();
    options.executor = asio_executor(context.get_executor());
    const auto remote = open(std::move(options));
    auto held = session(*remote).acquire("m");
    EXPECT_THAT(held.status(), IsOk());
  }
  work.reset();
  runs.join();
}

TEST_F(RemoteTest, EachChangeOfTheLinkIsSaidOnce) {
  std::mutex mutex;
  std::vector<LinkState> seen;
  RemoteOptions wanted = remote_options();
  wanted.on_link = [&](const LinkState& state) {
    const std::lock_guard lock(mutex);
    seen.push_back(state);
  };
  auto remote = open(std::move(wanted));
  const uint64_t first = gateway_of(*remote);
  cluster_.close(first);
  EXPECT_TRUE(eventually([&] { return gateway_of(*remote) != first && remote->link().kind == LinkState::Kind::Serving; }));
  remote.reset();
  ASSERT_GE(seen.size(), 4u);
  EXPECT_EQ(seen[0].kind, LinkState::Kind::Waiting);
  EXPECT_EQ(seen[1].kind, LinkState::Kind::Serving);
  EXPECT_EQ(seen[2].kind, LinkState::Kind::Dialing);
  EXPECT_EQ(seen.back().kind, LinkState::Kind::Serving);
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_NE(seen[i], seen[i - 1]);
  ASSERT_NO_FATAL_FAILURE(cluster_.open(options(first)));
}

// Covers: S-70 S-72 S-75 S-76
TEST_F(RemoteTest, ARemoteDoesWhatTheListOfItsNameSaysAndNoMore) {
  RemoteOptions options = remote_options();
  options.name = "billing";
  const auto remote = open(std::move(options));
  const auto plain = open();
  const auto& replica = &cluster_[1];
  ASSERT_THAT(Kv(*replica).put("stock/1", "v").status(), IsOk());
  Permissions permissions(*replica);
  const auto set = permissions.set("billing", {{"orders/", Right::Read}, {"orders/", Right::Lock}});
  ASSERT_THAT(set.status(), IsOk());
  ASSERT_THAT(permissions.set("", {}).status(), IsOk());

  Kv kv(*remote);
  EXPECT_THAT(kv.get("orders/1").status(), IsOk());
  const auto denied = kv.get("stock/1");
  EXPECT_TRUE(absl::IsPermissionDenied(denied.status()));
  EXPECT_THAT(denied.status().message(), HasSubstr("remote \"billing\" has no right to read \"stock/1\""));
  EXPECT_THAT(kv.put("orders/1", "v").status(), Is(Reason::PermissionDenied));
  EXPECT_THAT(kv.range(RangeOperation::all()).status(), Is(Reason::PermissionDenied));
  Session mine = session(*remote);
  EXPECT_THAT(mine.acquire("orders/l").status(), IsOk());
  EXPECT_THAT(mine.acquire("stock/l").status(), Is(Reason::PermissionDenied));
  EXPECT_THAT(mine.try_acquire("stock/l").status(), Is(Reason::PermissionDenied));
  EXPECT_THAT(Kv(*plain).get("orders/1").status(), Is(Reason::PermissionDenied)) << "the list of all others";
  EXPECT_THAT(remote->kill_session(mine.id()), Is(Reason::PermissionDenied));
  EXPECT_THAT(Permissions(*remote).list().status(), Is(Reason::PermissionDenied));

  const auto lists = permissions.list();
  ASSERT_THAT(lists.status(), IsOk());
  ASSERT_EQ(lists->size(), 2u);
  EXPECT_EQ((*lists)[1].list.size(), 2u);
  EXPECT_THAT(permissions.remove("billing").status(), IsOk());
  EXPECT_THAT(permissions.remove("billing").status(), Is(Reason::NotFound));
  EXPECT_THAT(kv.get("orders/1").status(), Is(Reason::PermissionDenied));
}

// Covers: S-72 S-76
TEST_F(RemoteTest, AMirrorOrAWatchOfARangeThatIsPartlyCoveredEnds) {
  RemoteOptions options = remote_options();
  options.name = "billing";
  const auto remote = open(std::move(options));
  ASSERT_THAT(Permissions(cluster_[1]).set("billing", {{"orders/", Right::Read}}).status(), IsOk());
  std::promise<absl::Status> ended;
  Mirror mirror(*remote, {.key = "orders/", .end = "orders1"}, [&](const MirrorSeen& seen, const MirrorEntries& all) {
    EXPECT_TRUE(all.empty());
    if (seen.what == MirrorSeen::What::Ended) ended.set_value(seen.why);
  });
  auto end = ended.get_future();
  ASSERT_EQ(end.wait_for(kPatience), std::future_status::ready);
  EXPECT_THAT(end.get(), Is(Reason::PermissionDenied));
  Watch watch(*remote, {.key = "orders/", .end = "orders1"});
  absl::StatusOr<WatchBatch> batch = watch.next(kPatience);
  while (batch.ok() && batch->what == WatchBatch::What::Created) batch = watch.next(kPatience);
  EXPECT_THAT(batch.status(), Is(Reason::PermissionDenied));
}

// Covers: S-77
TEST_F(RemoteTest, TheEventsOfAReplicaSayWhatARemoteWithANameDid) {
  std::mutex mutex;
  std::vector<ReplicaEvent> events;
  ReplicaOptions listening = this->options(2);
  listening.on_event = [&](const ReplicaEvent& event) {
    const std::lock_guard lock(mutex);
    if (event.kind == ReplicaEventKind::RemoteActed) events.push_back(event);
  };
  cluster_.close(2);
  ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(listening)));
  ASSERT_THAT(cluster_[2].wait_ready(kPatience), IsOk());
  RemoteOptions options = remote_options();
  options.name = "billing";
  const auto remote = open(std::move(options));
  const auto put = Kv(*remote).put("orders/1", "secret");
  ASSERT_THAT(put.status(), IsOk());
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(events, [](const ReplicaEvent& event) {
      return event.remote == "billing" && event.sentence.ends_with("put \"orders/1\": Ok");
    });
  }));
  cluster_.close(2);  // and with it the callback
  for (const ReplicaEvent& event : events) EXPECT_THAT(to_string(event), testing::Not(HasSubstr("secret")));
}

TEST(RemoteOptionsTest, EveryProblemIsListed) {
  const absl::Status none = RemoteOptions().validate();
  EXPECT_THAT(none, Is(Reason::InvalidArgument));
  for (const char* name : {"cluster", "gateways", "security"}) EXPECT_THAT(none.message(), HasSubstr(name));
  RemoteOptions wrong{.cluster = "c", .gateways = {"here"}, .security = SharedSecret{"short"}};
  wrong.silence = 1ms;
  wrong.rate_error_ppm = 500'001;
  wrong.drain = -1ms;
  wrong.busy_poll = 1s;
  wrong.name = "two words";
  const absl::Status all = wrong.validate();
  for (const char* name : {"gateway 'here'", "security", "silence", "rate_error_ppm", "drain", "busy_poll", "name"}) {
    EXPECT_THAT(all.message(), HasSubstr(name));
  }
  EXPECT_THAT(Remote::open(wrong).status(), Is(Reason::InvalidArgument));
}

TEST(RemotesOptionsTest, AListenerWithoutSecurityIsRefused) {
  Cluster cluster(1);
  ReplicaOptions options = cluster.options(1);
  options.remotes.listen = "nowhere";
  options.remotes.remotes_max = 0;
  const absl::Status wrong = options.validate();
  for (const char* name : {"remotes.listen", "remotes.security", "remotes.remotes_max"}) {
    EXPECT_THAT(wrong.message(), HasSubstr(name));
  }
}

}  // namespace
}  // namespace coordkit::testkit
