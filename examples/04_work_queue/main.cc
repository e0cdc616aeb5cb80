// Work that several processes share: each item is done by one of them, and a dead worker's item goes to the next.
//
//   04_work_queue    one replica in this process, in a temporary directory
#include <coordkit/coordkit.h>
#include <coordkit/objects/claim_queue.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

int report(const absl::Status& status) {
  std::cerr << "04_work_queue: " << status << "\n";
  return 1;
}

// Takes items, most urgent first, until there are none left.
absl::StatusOr<int> work(coordkit::Session me) {
  coordkit::ClaimQueue queue(me, "invoices");
  int done = 0;
  for (;;) {
    absl::StatusOr<coordkit::WorkItem> item = queue.claim({.timeout = 0s, .term = 1min});
    if (coordkit::reason_of(item.status()) == coordkit::Reason::Held) return done;  // nothing to do
    if (!item.ok()) return item.status();
    std::cout << "  " << item->value << ", attempt " << item->deliveries + 1 << "\n";
    if (absl::Status ended = queue.acknowledge(*item); !ended.ok()) return ended;
    ++done;
  }
}

int run(const fs::path& directory) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000);
  absl::StatusOr<std::unique_ptr<coordkit::Replica>> replica = coordkit::Replica::open(
      {.id = 1, .cluster = "billing", .data_dir = directory, .members = {{1, address}}, .security = coordkit::PlainText{}});
  if (!replica.ok()) return report(replica.status());
  if (const absl::Status ready = (*replica)->wait_ready(30s); !ready.ok()) return report(ready);

  coordkit::Session producer = (*replica)->open_session().value();
  coordkit::ClaimQueue queue(producer, "invoices");
  for (const char* invoice : {"invoice 1", "invoice 2", "invoice 3"}) {
    if (const auto item = queue.enqueue(invoice, 10); !item.ok()) return report(item.status());
  }
  if (const auto item = queue.enqueue("reminder, overdue", 1); !item.ok()) return report(item.status());

  // A worker takes the most urgent item and dies with it: its session ends, and the item returns to its place.
  coordkit::Session unlucky = (*replica)->open_session().value();
  const auto in_hand = coordkit::ClaimQueue(unlucky, "invoices").claim();
  if (!in_hand.ok()) return report(in_hand.status());
  if (const absl::Status dead = unlucky.close(); !dead.ok()) return report(dead);

  const auto done = work((*replica)->open_session().value());
  if (!done.ok()) return report(done.status());
  std::cout << *done << " items are done\n";
  return *done == 4 ? 0 : 1;
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "04_work_queue-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const int code = run(directory);
  fs::remove_all(directory);
  return code;
}
