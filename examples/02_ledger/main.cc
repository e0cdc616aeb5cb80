// Your own state machine beside coordkit's: a ledger in which only the holder of the lock "cashier" may move money.
//
//   02_ledger [DIRECTORY]     the replicas keep their data below DIRECTORY; without one, in a temporary directory
//
// The cashier falls asleep and another one takes over. What the first one still sends is refused in the log itself, identically
// on every replica: no separate lock service could do that.
#include <coordkit/coordkit.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "ledger.h"

namespace {

using namespace std::chrono_literals;
using example::kLedger;
using example::Ledger;
namespace fs = std::filesystem;

std::string address(uint64_t id) { return "127.0.0.1:" + std::to_string(20'000 + getpid() % 3'000 * 4 + static_cast<int>(id)); }

absl::StatusOr<std::unique_ptr<coordkit::Replica>> open_replica(uint64_t id, const fs::path& directory) {
  return coordkit::Replica::open({
      .id = id,
      .cluster = "bank",
      .data_dir = directory / ("replica-" + std::to_string(id)),
      .members = {{1, address(1)}, {2, address(2)}, {3, address(3)}},
      .security = coordkit::PlainText{},
      .machines = {{.id = kLedger, .make = [] { return std::make_unique<Ledger>(); }}},
  });
}

int failed(const std::string& what) {
  std::cerr << "02_ledger: " << what << "\n";
  return 1;
}

int keep_accounts(coordkit::Replica& here, coordkit::Replica& there) {
  here.propose(kLedger, "deposit anna 100").value();

  coordkit::Session me = here.open_session().value();
  coordkit::Grant cashier = me.acquire("cashier").value();
  auto paid = here.propose(kLedger, "move anna ben 30", {.fence = fenced_by(cashier)});
  if (!paid.ok()) return failed(paid.status().ToString());
  std::cout << "anna has " << paid->bytes << " left, decided by entry " << paid->index.value() << "\n";

  const coordkit::Fence old = fenced_by(cashier);  // a command still in flight when the next cashier begins
  cashier.release().IgnoreError();
  coordkit::Session other = there.open_session().value();
  coordkit::Grant next = other.acquire("cashier").value();

  const auto late = here.propose(kLedger, "move anna ben 30", {.fence = old});
  if (coordkit::reason_of(late.status()) != coordkit::Reason::Fenced) return failed("the old cashier was not stopped");
  std::cout << "the old cashier: " << late.status() << "\n";
  there.propose(kLedger, "move anna ben 20", {.fence = fenced_by(next)}).value();

  const std::string anna = here.query(kLedger, "anna")->bytes, ben = here.query(kLedger, "ben")->bytes;
  std::cout << "anna has " << anna << ", ben has " << ben << "\n";
  return anna == "50" && ben == "50" ? 0 : failed("money was lost");
}

int run(const fs::path& directory) {
  std::vector<std::unique_ptr<coordkit::Replica>> replicas;
  for (uint64_t id = 1; id <= 3; ++id) {
    auto replica = open_replica(id, directory);
    if (!replica.ok()) return failed(replica.status().ToString());
    replicas.push_back(*std::move(replica));
  }
  for (const auto& replica : replicas) {
    if (const absl::Status ready = replica->wait_ready(30s); !ready.ok()) return failed(ready.ToString());
  }
  return keep_accounts(*replicas[0], *replicas[1]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    fs::create_directories(argv[1]);
    return run(argv[1]);
  }
  std::string name = fs::temp_directory_path() / "02_ledger-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const int code = run(directory);
  fs::remove_all(directory);
  return code;
}
