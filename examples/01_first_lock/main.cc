// A lock among the replicas of one service, from beginning to end.
//
//   01_first_lock [DIRECTORY]     the replicas keep their data below DIRECTORY; without one, in a temporary directory
//
// In a real service each replica is a process of its own on a machine of its own. Here all three live in this one, so that
// there is nothing to set up; the code that uses the lock is the same.
#include <coordkit/coordkit.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// What the lock protects: rows that are accepted only from the newest holder.
class Table {
 public:
  void write_row(const std::string& row, coordkit::Token token) {
    if (const absl::Status admitted = gate_.admit(token); !admitted.ok()) {
      std::cout << "  refused: " << admitted << "\n";
    } else {
      std::cout << "  wrote " << row << " with token " << token.value() << "\n";
    }
  }

 private:
  coordkit::FenceGate gate_;
};

Table table;
int rows = 0;

bool work_left() { return rows < 3; }
std::string next() { return "invoice " + std::to_string(++rows); }
void write_row(const std::string& row, coordkit::Token token) { table.write_row(row, token); }

int report(const absl::Status& status) {
  std::cerr << "01_first_lock: " << status << "\n";
  return 1;
}

// Ports that differ from process to process, so that two of these can run side by side.
std::string address(uint64_t id) { return "127.0.0.1:" + std::to_string(20'000 + getpid() % 3'000 * 4 + static_cast<int>(id)); }

absl::StatusOr<std::unique_ptr<coordkit::Replica>> open_replica(uint64_t id, const fs::path& directory) {
  return coordkit::Replica::open({
      .id = id,
      .cluster = "orders",
      .data_dir = directory / ("replica-" + std::to_string(id)),
      .members = {{1, address(1)}, {2, address(2)}, {3, address(3)}},
      .security = coordkit::PlainText{},
  });
}

int use_locks(coordkit::Replica* replica) {
  coordkit::Session me = replica->open_session({.ttl = 5s}).value();

  auto grant = me.acquire("billing", {.timeout = 2s});
  if (!grant.ok()) return report(grant.status());
  while (work_left() && grant->valid()) write_row(next(), grant->token());
  grant->release().IgnoreError();  // or let it go out of scope

  coordkit::Mutex mutex(me, "billing");  // the same lock, std style
  if (std::unique_lock lock(mutex, 250ms); lock.owns_lock()) write_row(next(), mutex.token());
  return 0;
}

fs::path fresh_directory() {
  std::string name = fs::temp_directory_path() / "01_first_lock-XXXXXX";
  return mkdtemp(name.data());
}

int run(const fs::path& directory) {
  std::vector<std::unique_ptr<coordkit::Replica>> replicas;
  for (uint64_t id = 1; id <= 3; ++id) {
    auto replica = open_replica(id, directory);
    if (!replica.ok()) return report(replica.status());
    replicas.push_back(*std::move(replica));
  }
  for (const auto& replica : replicas) {
    if (const absl::Status ready = replica->wait_ready(30s); !ready.ok()) return report(ready);
  }
  std::cout << "three replicas are ready; replica " << replicas[0]->health().leader.value() << " leads\n";
  return use_locks(replicas[0].get());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    fs::create_directories(argv[1]);
    return run(argv[1]);
  }
  const fs::path directory = fresh_directory();
  const int code = run(directory);
  fs::remove_all(directory);
  return code;
}
