// A fleet of workers that share two licences: never are more than two at work, and a dead worker's licence is available
// again when its session has expired.
//
//   18_semaphore_fleet    three replicas in this process, in a temporary directory
#include <coordkit/coordkit.h>
#include <coordkit/objects/semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace coordkit;
namespace fs = std::filesystem;

constexpr uint64_t kLicences = 2;
constexpr PermitsWanted kOne{.timeout = 60s, .initial_limit = kLicences};

// What the workers share, and counters to check that they keep the rule.
struct Fleet {
  std::atomic<int> jobs{160};
  std::mutex mutex;  // guards the next two
  uint64_t at_work = 0, most_at_work = 0;
  std::atomic<bool> failed{false};

  void note(int change) {
    const std::lock_guard lock(mutex);
    at_work += static_cast<uint64_t>(change);
    most_at_work = std::max(most_at_work, at_work);
  }
};

absl::Status work(Replica& replica, Fleet& fleet) {
  absl::StatusOr<Session> me = replica.open_session({.ttl = 2s});
  if (!me.ok()) return me.status();
  Semaphore licences(*me, "licences");
  while (fleet.jobs-- > 0) {
    absl::StatusOr<Grant> licence = licences.acquire(kOne);
    if (!licence.ok()) return licence.status();
    fleet.note(+1);
    std::this_thread::sleep_for(20ms);  // the job; a longer one would ask licence->valid() in between
    fleet.note(-1);
    if (absl::Status given_back = licence->release(); !given_back.ok()) return given_back;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Replica>> open(const fs::path& directory, uint64_t id) {
  const auto address = [](int n) { return "127.0.0.1:" + std::to_string(20'000 + getpid() % 3'000 * 4 + n); };
  return Replica::open({.id = id,
                        .cluster = "fleet",
                        .data_dir = directory / std::to_string(id),
                        .members = {{1, address(1)}, {2, address(2)}, {3, address(3)}},
                        .security = PlainText{}});
}

absl::Status run(const fs::path& directory) {
  std::unique_ptr<Replica> replicas[3];
  for (uint64_t id = 1; id <= 3; ++id) {
    auto opened = open(directory, id);
    if (!opened.ok()) return opened.status();
    replicas[id - 1] = *std::move(opened);
  }
  for (const auto& replica : replicas) {
    if (absl::Status ready = replica->wait_ready(60s); !ready.ok()) return ready;
  }

  // A worker takes a licence, and its process dies: nothing is released or reported. (Its session still exists when the
  // replica goes, otherwise it would be closed.)
  Session unlucky = replicas[2]->open_session({.ttl = 2s}).value();
  const Grant lost = Semaphore(unlucky, "licences").acquire(kOne).value();
  replicas[2].reset();
  std::cout << "a worker has died with a licence" << std::endl;

  Fleet fleet;
  std::vector<std::thread> workers;
  for (int i = 0; i < 6; ++i) {
    workers.emplace_back([&fleet, &replica = *replicas[i % 2]] {
      const absl::Status status = work(replica, fleet);
      if (!status.ok()) std::cerr << "18_semaphore_fleet: " << status << "\n", fleet.failed = true;
    });
  }
  for (std::thread& worker : workers) worker.join();
  if (fleet.failed) return absl::InternalError("a worker has failed");
  std::cout << "all jobs are done, at most " << fleet.most_at_work << " at once" << std::endl;
  if (fleet.most_at_work > kLicences) return absl::InternalError("more workers than licences");

  // All licences together are only available once the dead worker's is back.
  Session me = replicas[0]->open_session().value();
  const absl::StatusOr<Grant> all = Semaphore(me, "licences").acquire({.permits = kLicences, .timeout = 60s});
  if (all.ok()) std::cout << "the dead worker's licence is back" << std::endl;
  return all.status();
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "18_semaphore_fleet-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const absl::Status status = run(directory);
  fs::remove_all(directory);
  if (!status.ok()) std::cerr << "18_semaphore_fleet: " << status << "\n";
  return status.ok() ? 0 : 1;
}
