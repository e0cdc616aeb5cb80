// Twenty processes without a replica, and three replicas that serve them. The workers share an account behind a lock, and its
// fence turns late writers away. One of them is elected, and reports what all others do, which it watches.
//
//   23_workers                     the replicas, which start the workers and check the result
//   23_workers worker N ADDRESS... one worker; the addresses are those at which replicas listen for remotes
#include <coordkit/coordkit.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

extern char** environ;  // NOLINT: posix_spawn wants it

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int kWorkers = 20;
constexpr int kRounds = 5;
constexpr char kSecret[] = "openssl rand -hex 32 makes a better one";  // of the remotes; members have another

int report(const absl::Status& status) {
  std::cerr << "23_workers: " << status << "\n";
  return 1;
}

// ---- a worker

// One more on the account, if the lock is still held when the write's turn comes.
absl::Status deposit(coordkit::Remote& remote, coordkit::Session& me) {
  absl::StatusOr<coordkit::Grant> lock = me.acquire("account", {.timeout = 60s});
  if (!lock.ok()) return lock.status();
  const absl::StatusOr<coordkit::GetResult> before = remote.get("account");
  if (!before.ok()) return before.status();
  const int balance = before->entry ? std::stoi(before->entry->value) : 0;
  const coordkit::ProposeOptions fenced{.timeout = 60s, .fence = coordkit::fenced_by(*lock)};
  return remote.put("account", std::to_string(balance + 1), fenced).status();
}

// The elected worker counts the others as they finish.
absl::Status count_finished(coordkit::Remote& remote) {
  coordkit::WatchOptions from_the_start = coordkit::WatchOptions::prefix("finished/");
  from_the_start.from = coordkit::Revision(1);
  coordkit::Watch finished(remote, from_the_start);
  for (int seen = 0; seen < kWorkers;) {
    const absl::StatusOr<coordkit::WatchBatch> batch = finished.next(60s);
    if (!batch.ok()) return batch.status();
    seen += static_cast<int>(batch->events.size());
  }
  return remote.put("report", std::to_string(kWorkers) + " workers have finished").status();
}

absl::Status work(const std::string& name, std::vector<std::string> gateways) {
  auto opened = coordkit::Remote::open(
      {.cluster = "workers", .gateways = std::move(gateways), .security = coordkit::SharedSecret{kSecret}});
  if (!opened.ok()) return opened.status();
  coordkit::Remote& remote = **opened;
  absl::StatusOr<coordkit::Session> me = remote.open_session({.ttl = 5s, .metadata = name, .timeout = 60s});
  if (!me.ok()) return me.status();
  coordkit::Election election(*me, "reporter");
  const absl::StatusOr<coordkit::Grant> reports = election.campaign(name, 0s);  // one of them is
  for (int round = 0; round < kRounds; ++round) {
    if (absl::Status done = deposit(remote, *me); !done.ok()) return done;
  }
  if (absl::Status done = remote.put("finished/" + name, "").status(); !done.ok()) return done;
  return reports.ok() ? count_finished(remote) : absl::OkStatus();
}

// ---- the replicas

std::string address(int n) { return "127.0.0.1:" + std::to_string(20'000 + getpid() % 6'000 * 2 + n); }

absl::StatusOr<std::vector<std::unique_ptr<coordkit::Replica>>> open_replicas(const fs::path& directory) {
  std::vector<std::unique_ptr<coordkit::Replica>> replicas;
  for (int id = 1; id <= 3; ++id) {
    coordkit::ReplicaOptions options{.id = static_cast<uint64_t>(id),
                                     .cluster = "workers",
                                     .data_dir = directory / std::to_string(id),
                                     .members = {{1, address(1)}, {2, address(2)}, {3, address(3)}},
                                     .security = coordkit::PlainText{}};
    options.remotes = {.listen = address(3 + id), .security = coordkit::SharedSecret{kSecret}};
    auto replica = coordkit::Replica::open(std::move(options));
    if (!replica.ok()) return replica.status();
    replicas.push_back(*std::move(replica));
  }
  return replicas;
}

pid_t start_worker(const char* program, int n) {
  std::vector<std::string> words = {program, "worker", std::to_string(n), address(4), address(5), address(6)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  return posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) == 0 ? child : -1;
}

bool all_succeed(const std::vector<pid_t>& workers) {
  bool good = true;
  for (const pid_t worker : workers) {
    int status = 0;
    good = worker > 0 && waitpid(worker, &status, 0) == worker && status == 0 && good;
  }
  return good;
}

int run(const char* program, const fs::path& directory) {
  auto replicas = open_replicas(directory);
  if (!replicas.ok()) return report(replicas.status());
  if (absl::Status ready = replicas->front()->wait_ready(60s); !ready.ok()) return report(ready);
  std::vector<pid_t> workers;
  for (int n = 1; n <= kWorkers; ++n) workers.push_back(start_worker(program, n));
  if (!all_succeed(workers)) return report(absl::UnknownError("a worker has failed"));
  const auto account = replicas->front()->get("account");
  const auto says = replicas->front()->get("report");
  if (!account.ok() || !says.ok()) return report(account.ok() ? says.status() : account.status());
  if (!account->entry || !says->entry) return report(absl::UnknownError("the workers left nothing"));
  std::cout << says->entry->value << ", and the account has " << account->entry->value << "\n";
  return account->entry->value == std::to_string(kWorkers * kRounds) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::string(argv[1]) == "worker") {
    const absl::Status done = work(std::string("worker-") + argv[2], {argv + 3, argv + argc});
    return done.ok() ? 0 : report(done);
  }
  std::string pattern = fs::temp_directory_path() / "coordkit-workers.XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return report(absl::UnavailableError("no temporary directory"));
  const int result = run(argv[0], pattern);
  std::error_code ignored;
  fs::remove_all(pattern, ignored);
  return result;
}
