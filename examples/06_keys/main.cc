// Keys: a configuration that changes as a whole, a counter without a lock, and services that can be found while they live.
//
//   06_keys    one replica in this process, in a temporary directory
#include <coordkit/coordkit.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace coordkit;
namespace fs = std::filesystem;

int report(const absl::Status& status) {
  std::cerr << "06_keys: " << status << "\n";
  return 1;
}

// Two settings that belong together: no reader sees one without the other, and nothing changes if another process was first.
absl::StatusOr<bool> reconfigure(Kv kv, Revision seen) {
  const auto result = Txn(kv)
                          .when(Compare::modified("config/primary", Compare::Relation::Equal, seen))
                          .then(PutOperation{.key = "config/primary", .value = "db-2"})
                          .then(PutOperation{.key = "config/standby", .value = "db-1"})
                          .commit();
  if (!result.ok()) return result.status();
  return result->succeeded;
}

// Compare and set: read, compute, write if no one else did, otherwise again.
absl::StatusOr<int> sell_one(Kv kv) {
  for (;;) {
    const absl::StatusOr<GetResult> stock = kv.get("stock");
    if (!stock.ok()) return stock.status();
    const int left = std::stoi(stock->entry->value) - 1;
    const auto sold = Txn(kv)
                          .when(Compare::modified("stock", Compare::Relation::Equal, stock->entry->mod))
                          .then(PutOperation{.key = "stock", .value = std::to_string(left)})
                          .commit();
    if (!sold.ok()) return sold.status();
    if (sold->succeeded) return left;
  }
}

// A service registers under a key that goes with its session, however it dies.
absl::Status announce(Kv kv, const Session& session, std::string address) {
  return kv
      .put({.key = "services/web/", .value = std::move(address), .lease = LeaseId(session.id().value()), .sequential = true})
      .status();
}

absl::Status show(const Kv& kv) {
  const absl::StatusOr<RangeResult> services = kv.range(RangeOperation::prefix("services/web/"));
  if (!services.ok()) return services.status();
  std::cout << services->entries.size() << " at revision " << services->revision.value() << ":";
  for (const KeyValue& service : services->entries) std::cout << " " << service.value;
  std::cout << "\n";
  return absl::OkStatus();
}

int run(const fs::path& directory) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000);
  absl::StatusOr<std::unique_ptr<Replica>> replica =
      Replica::open({.id = 1, .cluster = "shop", .data_dir = directory, .members = {{1, address}}, .security = PlainText{}});
  if (!replica.ok()) return report(replica.status());
  if (const absl::Status ready = (*replica)->wait_ready(30s); !ready.ok()) return report(ready);
  Kv kv(**replica);

  const auto primary = kv.put("config/primary", "db-1");
  if (!primary.ok()) return report(primary.status());
  const auto first = reconfigure(kv, primary->revision), late = reconfigure(kv, primary->revision);
  if (!first.ok()) return report(first.status());
  if (!late.ok()) return report(late.status());
  std::cout << "reconfigured: " << *first << ", and by one who had seen the old one: " << *late << "\n";

  if (const auto stock = kv.put("stock", "3"); !stock.ok()) return report(stock.status());
  const auto left = sell_one(kv);
  if (!left.ok()) return report(left.status());
  std::cout << "stock left: " << *left << "\n";

  Session web_1 = (*replica)->open_session().value(), web_2 = (*replica)->open_session().value();
  if (const absl::Status status = announce(kv, web_1, "10.0.0.1:80"); !status.ok()) return report(status);
  if (const absl::Status status = announce(kv, web_2, "10.0.0.2:80"); !status.ok()) return report(status);
  if (const absl::Status status = show(kv); !status.ok()) return report(status);
  if (const absl::Status dead = web_1.close(); !dead.ok()) return report(dead);
  if (const absl::Status status = show(kv); !status.ok()) return report(status);

  // The old value still exists, until it is compacted.
  const auto before = kv.range({.key = "config/primary", .revision = primary->revision});
  if (!before.ok()) return report(before.status());
  std::cout << "the primary was " << before->entries.at(0).value << "\n";
  return *first && !*late && *left == 2 && before->entries.at(0).value == "db-1" ? 0 : 1;
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "06_keys-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const int code = run(directory);
  fs::remove_all(directory);
  return code;
}
