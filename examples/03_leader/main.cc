// One of several processes does what only one may do, and all others know which one.
//
//   03_leader        one replica in this process, in a temporary directory; two candidates
//
// In a real service each candidate is a process of its own, beside a replica or as one.
#include <coordkit/coordkit.h>
#include <coordkit/objects/election.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

int report(const absl::Status& status) {
  std::cerr << "03_leader: " << status << "\n";
  return 1;
}

std::mutex out;
void say(const std::string& text) {
  const std::lock_guard lock(out);
  std::cout << text << "\n";
}

// Shows who leads, for as long as it lives. The observation is the last member: it is destroyed first, which waits for a call
// under way, so that no call uses the others after that.
class Board {
 public:
  explicit Board(const coordkit::Election& election)
      : watching_(election.observe([this](const coordkit::LeaderSeen& seen) { show(seen); })) {}

 private:
  void show(const coordkit::LeaderSeen& seen) {
    const std::string line = "  leader " + std::to_string(++shown_) + ": ";
    say(seen.leader ? line + seen.leader->value + ", token " + std::to_string(seen.leader->token.value()) : line + "nobody");
  }

  int shown_ = 0;  // used by the observer alone
  coordkit::Observation watching_;
};

// A candidate leads for a while and steps down. A leader works only while valid() returns true.
absl::Status lead_once(coordkit::Replica& replica, const std::string& name) {
  absl::StatusOr<coordkit::Session> me = replica.open_session({.ttl = 5s});
  if (!me.ok()) return me.status();
  coordkit::Election election(*me, "scheduler");
  absl::StatusOr<coordkit::Grant> leadership = election.campaign(name + " starting");
  if (!leadership.ok()) return leadership.status();
  if (absl::Status proclaimed = election.proclaim(*leadership, name + " ready"); !proclaimed.ok()) return proclaimed;
  for (int job = 1; job <= 2 && leadership->valid(); ++job) say(name + " runs job " + std::to_string(job));
  return election.resign(*std::move(leadership));
}

int run(const fs::path& directory) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000);
  absl::StatusOr<std::unique_ptr<coordkit::Replica>> replica = coordkit::Replica::open(
      {.id = 1, .cluster = "jobs", .data_dir = directory, .members = {{1, address}}, .security = coordkit::PlainText{}});
  if (!replica.ok()) return report(replica.status());
  if (const absl::Status ready = (*replica)->wait_ready(30s); !ready.ok()) return report(ready);

  coordkit::Session onlooker = (*replica)->open_session().value();
  const coordkit::Election election(onlooker, "scheduler");
  const Board board(election);

  absl::Status first, second;
  std::thread a([&] { first = lead_once(**replica, "a"); });
  std::thread b([&] { second = lead_once(**replica, "b"); });
  a.join();
  b.join();
  if (!first.ok()) return report(first);
  if (!second.ok()) return report(second);
  const auto leader = election.leader();
  if (!leader.ok()) return report(leader.status());
  say(*leader ? "somebody still leads" : "nobody leads any more");
  return leader->has_value() ? 1 : 0;
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "03_leader-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const int code = run(directory);
  fs::remove_all(directory);
  return code;
}
