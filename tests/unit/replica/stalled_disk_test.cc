// Replicas in this process whose disks stop answering in the middle of a sync, for as long as the test wants.
#include <array>
#include <condition_variable>
#include <mutex>

#include "tests/unit/replica/asking_files.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

// Syncs wait here while it is shut.
class Gate {
 public:
  void shut() { set(true); }
  void open() { set(false); }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !shut_; });
    --waiting_;
  }
  void wait_for_any() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  void set(bool shut) {
    const std::lock_guard lock(mutex_);
    shut_ = shut;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
  int waiting_ = 0;
};

// Whichever of them leads: the loop's own thread hangs in the sync, and its callers are answered all the same.
// Covers: FLT_P11
TEST(StalledDiskTest, CallersAreAnsweredWhileASyncOfTheirReplicaNeverEnds) {
  std::array<Gate, 3> gates;
  Cluster cluster;
  for (uint64_t id = 1; id <= 3; ++id) {
    ReplicaOptions options = cluster.options(id);
    options.parts.log_files = log_files_that_ask([&gate = gates[id - 1]] {
      gate.pass();
      return absl::OkStatus();
    });
    ASSERT_NO_FATAL_FAILURE(cluster.open(std::move(options)));
  }
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster[id].wait_ready(kPatience), IsOk());
  const auto put = [&](uint64_t id, const std::string& value) {
    return cluster[id].put("key", value, {.timeout = kPatience}).status();
  };
  for (uint64_t id = 1; id <= 3; ++id) {
    for (int i = 0; i < 40; ++i) ASSERT_THAT(put(id, "quick"), IsOk());  // so that the disks are known to be fast
    gates[id - 1].shut();
    EXPECT_THAT(put(id, "from behind the disk"), IsOk());
    gates[id - 1].wait_for_any();
    for (uint64_t other = 1; other <= 3; ++other) EXPECT_THAT(put(other, "meanwhile"), IsOk()) << id << " stands still";
    EXPECT_NE(cluster[id].health().state, ReplicaState::Halted);
    gates[id - 1].open();
    ASSERT_TRUE(eventually([&] { return cluster[id].health().state == ReplicaState::Ready; }));
  }
}

}  // namespace
}  // namespace coordkit::testkit
