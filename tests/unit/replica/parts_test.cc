// Door 1 with the host's own parts, one at a time and together.
#include "coordkit/ports/parts.h"

#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "coordkit/asio/asio_executor.h"
#include "coordkit/coordkit.h"
#include "coordkit/storage/data_directory.h"
#include "coordkit/storage/memory_stores.h"
#include "coordkit/storage/segmented_log_store.h"
#include "coordkit/transport/loopback_transport.h"
#include "coordkit/transport/tcp_transport.h"
#include "tests/unit/replica/asking_files.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::HasSubstr;

std::string sentence(const absl::Status& status) { return std::string(status.message()); }

// A lock that each of the three takes in turn, with a token above the previous one.
void take_turns(Cluster& cluster) {
  Token last;
  for (uint64_t id = 1; id <= 3; ++id) {
    Session me = cluster.session(id);
    absl::StatusOr<Grant> grant = me.acquire("jobs", {.timeout = kPatience});
    ASSERT_THAT(grant.status(), IsOk());
    EXPECT_GT(grant->token(), last);
    last = grant->token();
    ASSERT_THAT(cluster[id].put("last", std::to_string(id), {.timeout = kPatience, .fence = fenced_by(*grant)}).status(),
                IsOk());
    EXPECT_THAT(grant->release(), IsOk());
  }
  const absl::StatusOr<GetResult> read = cluster[1].get("last");
  ASSERT_THAT(read.status(), IsOk());
  EXPECT_EQ(read->entry->value, "3");
}

class PartsTest : public ::testing::Test {
 protected:
  // Every replica with the same parts.
  void open_all(const Parts& parts) {
    for (uint64_t id = 1; id <= 3; ++id) {
      ReplicaOptions options = cluster_.options(id);
      options.parts = parts;
      ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(options)));
    }
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  }
  absl::Status open_alone(Parts parts) {
    ReplicaOptions options = cluster_.options(1);
    options.parts = std::move(parts);
    return Replica::open(std::move(options)).status();
  }

  Cluster cluster_;
};

TEST_F(PartsTest, InMemoryNeedsNoDirectoryNoAddressAndNoSecurity) {
  LoopbackHub hub;
  std::vector<std::unique_ptr<Replica>> replicas;
  for (uint64_t id = 1; id <= 3; ++id) {
    auto replica =
        Replica::open({.id = id, .cluster = "unit", .members = {{1, ""}, {2, ""}, {3, ""}}, .parts = in_memory(hub)});
    ASSERT_THAT(replica.status(), IsOk());
    replicas.push_back(*std::move(replica));
  }
  for (const auto& replica : replicas) ASSERT_THAT(replica->wait_ready(kPatience), IsOk());
  absl::StatusOr<Session> me = replicas[2]->open_session({.ttl = 10s, .timeout = kPatience});
  ASSERT_THAT(me.status(), IsOk());
  absl::StatusOr<Grant> grant = me->acquire("jobs", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_TRUE(grant->valid());
}

TEST_F(PartsTest, StoresOfOnesOwnOverTheTcpTransport) {
  ASSERT_NO_FATAL_FAILURE(open_all(memory_stores()));
  take_turns(cluster_);
}

TEST_F(PartsTest, AStoreThatForgotIsNotTakenForTheOneBefore) {
  ASSERT_NO_FATAL_FAILURE(open_all(memory_stores()));
  take_turns(cluster_);
  cluster_.close(2);
  ReplicaOptions again = cluster_.options(2);
  again.parts = memory_stores();
  again.data_dir = "";  // otherwise the directory would say that it is the same store
  ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(again)));
  const absl::Status ready = cluster_[2].wait_ready(2s);
  EXPECT_FALSE(ready.ok()) << "a blank disk must be invited";
  ASSERT_THAT(cluster_[1].put("k", "v").status(), IsOk());
}

// An executor of four threads, as a service might have.
class Pool {
 public:
  Pool() {
    for (int i = 0; i < 4; ++i) {
      threads_.emplace_back([this] {
        const auto work = boost::asio::make_work_guard(io_);
        io_.run();
      });
    }
  }
  ~Pool() {
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
  }
  std::shared_ptr<Executor> executor() { return asio_executor(io_.get_executor()); }

 private:
  boost::asio::io_context io_;
  std::vector<std::thread> threads_;
};

TEST_F(PartsTest, TheTurnsRunOnTheHostsExecutor) {
  Pool pool;
  ASSERT_NO_FATAL_FAILURE(open_all({.executor = pool.executor()}));
  take_turns(cluster_);
  std::optional<Reason> refused;
  std::promise<void> answered;
  cluster_[1].get_async("last", {}, [&](const absl::StatusOr<GetResult>&) {
    refused = reason_of(cluster_[1].get("last").status());
    answered.set_value();
  });
  answered.get_future().wait();
  EXPECT_EQ(refused, Reason::InCallback) << "the executor's thread is the engine's while it runs a turn";
  cluster_.close(1);
  EXPECT_THAT(cluster_[2].put("after", "close", {.timeout = kPatience}).status(), IsOk());
  for (uint64_t id = 2; id <= 3; ++id) cluster_.close(id);
}

// The system's clock, with the leading reading shifted forward.
class ShiftedClock final : public Clock {
 public:
  Now now() const noexcept override {
    Now now = system_clock().now();
    now.leading += Duration(shift.load());
    return now;
  }
  std::atomic<int64_t> shift{0};
};

TEST_F(PartsTest, AnotherClockDecidesWhatIsValid) {
  ShiftedClock clock;
  ASSERT_NO_FATAL_FAILURE(open_all({.clock = &clock}));
  Session me = cluster_.session(1, 30s);
  absl::StatusOr<Grant> grant = me.acquire("jobs", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_TRUE(grant->valid());
  clock.shift = Duration(60s).count();  // as if the machine had been suspended for a minute
  EXPECT_FALSE(grant->valid());
  grant = absl::UnknownError("");
  for (uint64_t id = 1; id <= 3; ++id) cluster_.close(id);
}

TEST_F(PartsTest, TheLogLivesOnTheHostsFileSystem) {
  std::atomic<bool> broken{false};
  std::atomic<int> made{0};
  ReplicaOptions own = cluster_.options(1);
  const auto asked = log_files_that_ask([&broken] {
    return broken ? make_error(Reason::StorageFailed, "the device under the test was pulled") : absl::OkStatus();
  });
  own.parts.log_files = [&](const PartContext& part) {
    ++made;
    return asked(part);
  };
  std::promise<absl::Status> halted;
  own.on_halt = [&](const absl::Status& why) { halted.set_value(why); };
  ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(own)));
  for (uint64_t id = 2; id <= 3; ++id) ASSERT_NO_FATAL_FAILURE(cluster_.open(id));
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  EXPECT_EQ(made, 2);
  take_turns(cluster_);
  broken = true;
  cluster_[2].put("k", "v", {.timeout = kPatience}).IgnoreError();
  EXPECT_THAT(sentence(halted.get_future().get()), HasSubstr("pulled"));
  EXPECT_THAT(cluster_[2].put("k", "w", {.timeout = kPatience}).status(), IsOk());
  cluster_.close(1);  // before the objects its parts refer to
}

TEST_F(PartsTest, ATransportOfOnesOwnKnowsForWhomItIs) {
  std::mutex mutex;
  std::vector<PartContext> seen;
  Parts parts{.transport = [&](const PartContext& part) {
    const std::lock_guard lock(mutex);
    seen.push_back(part);
    return std::make_unique<TcpTransport>(TcpOptions{.listen = part.address});
  }};
  ASSERT_NO_FATAL_FAILURE(open_all(parts));
  take_turns(cluster_);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[1].replica, ReplicaId(2));
  EXPECT_EQ(seen[1].cluster, "test");
  EXPECT_EQ(seen[1].address, cluster_.options(2).members[1].address);
  EXPECT_EQ(seen[1].store, seen[1].directory()->store());
  seen.clear();  // the directories stay locked as long as they are referenced
}

TEST_F(PartsTest, AFactoryThatWantsADirectoryWhereThereIsNoneFailsTheOpening) {
  LoopbackHub hub;
  Parts parts = in_memory(hub);
  parts.log_store = [](const PartContext& part) -> absl::StatusOr<std::unique_ptr<LogStore>> {
    return std::make_unique<SegmentedLogStore>(part.directory());
  };
  const absl::Status refused = Replica::open({.id = 1, .cluster = "test", .members = {{1, "one"}}, .parts = parts}).status();
  EXPECT_THAT(refused, Is(Reason::InvalidArgument));
  EXPECT_THAT(std::string(sentence_of(refused)), HasSubstr("data_dir is empty"));
}

TEST_F(PartsTest, AFactoryThatFailsFailsTheOpeningAndLeavesNothingBehind) {
  const auto log_of = [](PartFactory<LogStore> make) { return Parts{.log_store = std::move(make)}; };
  EXPECT_THAT(sentence(open_alone(log_of([](const PartContext&) { return nullptr; }))),
              HasSubstr("log store failed: it returned null"));
  EXPECT_THAT(sentence(open_alone(
                  log_of([](const PartContext&) -> std::unique_ptr<LogStore> { throw std::runtime_error("no such volume"); }))),
              HasSubstr("no such volume"));
  EXPECT_EQ(reason_of(open_alone(log_of([](const PartContext&) { return make_error(Reason::NoSpace, "the volume is full"); }))),
            Reason::NoSpace);
  EXPECT_THAT(open_alone({}), IsOk()) << "the directory and the port are free";
}

TEST_F(PartsTest, ALogStoreWithoutAnIdentityIsRefused) {
  const absl::Status status =
      open_alone({.log_store = [](const PartContext&) { return std::make_unique<MemoryLogStore>(StoreId()); }});
  EXPECT_THAT(sentence(status), HasSubstr("no identity"));
}

TEST_F(PartsTest, OptionsThatAPartWouldIgnoreAreRefused) {
  LoopbackHub hub;
  ReplicaOptions options = cluster_.options(1);
  options.security = SharedSecret{std::string(32, 's')};
  options.parts.transport = loopback(hub);
  EXPECT_THAT(sentence(options.validate()), HasSubstr("only the TCP transport"));
  options = cluster_.options(1);
  options.parts = memory_stores();
  options.parts.log_files = [](const PartContext&) { return nullptr; };
  EXPECT_THAT(sentence(options.validate()), HasSubstr("log_files has no use"));
  options = cluster_.options(1);
  options.parts.state_store = memory_stores().state_store;
  options.data_dir = "";
  EXPECT_THAT(sentence(options.validate()), HasSubstr("data_dir is empty"));
}

}  // namespace
}  // namespace coordkit::testkit
