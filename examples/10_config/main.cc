// Settings that a running service follows: two that belong together are never seen apart, and invalid ones change nothing.
//
//   10_config    one replica in this process, in a temporary directory
#include <coordkit/coordkit.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace coordkit;
namespace fs = std::filesystem;

struct Limits {
  int requests = 100;  // defaults, for missing keys
  int burst = 200;
};

absl::StatusOr<Limits> decode(const MirrorEntries& entries) {
  Limits limits;
  for (const auto& [key, entry] : entries) {
    int& field = key == "limits/requests" ? limits.requests : limits.burst;
    const std::string& text = entry.value;
    if (std::from_chars(text.data(), text.data() + text.size(), field).ec != std::errc()) {
      return absl::InvalidArgumentError(key + " is no number: " + text);
    }
  }
  if (limits.burst < limits.requests) return absl::InvalidArgumentError("burst must not be below requests");
  return limits;
}

// What the limits are for. `limits` is the last member: it is destroyed first, which waits for a call under way, so that no
// call uses the others after that.
struct Shop {
  explicit Shop(const Replica& replica)
      : limits(replica, MirrorOptions::prefix("limits/"), decode, [this](const Limits& now) { changed(now); }) {}
  void changed(const Limits& now) {
    std::cout << ++changes << ": requests " << now.requests << ", burst " << now.burst << std::endl;
  }

  int changes = 0;  // used by the callback alone
  Config<Limits> limits;
};

absl::Status set(Kv kv, std::string requests, std::string burst) {
  return Txn(std::move(kv))
      .then(PutOperation{.key = "limits/requests", .value = std::move(requests)})
      .then(PutOperation{.key = "limits/burst", .value = std::move(burst)})
      .commit()
      .status();
}

absl::Status run(const fs::path& directory) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000);
  absl::StatusOr<std::unique_ptr<Replica>> replica =
      Replica::open({.id = 1, .cluster = "shop", .data_dir = directory, .members = {{1, address}}, .security = PlainText{}});
  if (!replica.ok()) return replica.status();
  const Shop shop(**replica);
  const Config<Limits>& config = shop.limits;
  if (absl::Status ready = config.wait_ready(30s); !ready.ok()) return ready;
  const std::shared_ptr<const Limits> at_first = config.current();

  const Kv kv(**replica);
  if (absl::Status done = set(kv, "500", "800"); !done.ok()) return done;
  if (absl::Status done = set(kv, "a lot", "800"); !done.ok()) return done;  // a typo
  while (config.problem().ok()) std::this_thread::sleep_for(1ms);
  std::cout << "not taken over: " << config.problem().message() << std::endl;
  if (config.current()->requests != 500) return absl::InternalError("nonsense was taken over");
  if (at_first->requests != 100) return absl::InternalError("what was handed out has changed");
  return absl::OkStatus();
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "10_config-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const absl::Status status = run(directory);
  fs::remove_all(directory);
  if (!status.ok()) std::cerr << "10_config: " << status << "\n";
  return status.ok() ? 0 : 1;
}
