// One member of the spoiled-files experiment: a replica that writes what it is told to and reports the results. It obeys
// lines of its standard input and ends with an exit status of its own choice: 0 closed, 3 refused to open, 4 halted.
#include <atomic>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "coordkit/replica.h"
#include "tools/experiment/roles.h"
#include "tools/support/report.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

class SpoiledNode {
 public:
  explicit SpoiledNode(const SpoiledNodeOptions& options) : options_(options) {}

  int run() {
    auto replica = Replica::open(replica_options());
    if (!replica.ok()) {
      report_("refused", {{"sentence", replica.status().ToString()}});
      return kRefused;
    }
    replica_ = *std::move(replica);
    report_("opened");
    std::thread watcher([this] { watch(); });
    for (std::string line; std::getline(std::cin, line);) obey(line);
    over_ = true;
    watcher.join();
    const absl::Status closed = replica_->close();
    report_("bye", {{"sentence", closed.ToString()}});
    return halted_ ? kHalted : 0;
  }

 private:
  static constexpr int kRefused = 3;
  static constexpr int kHalted = 4;

  ReplicaOptions replica_options() {
    ReplicaOptions options{.id = static_cast<uint64_t>(options_.id), .cluster = "spoiled", .data_dir = options_.data_dir};
    for (size_t i = 0; i < options_.addresses.size(); ++i) options.members.push_back({i + 1, options_.addresses[i]});
    options.security = PlainText{};
    options.election_timeout = 200ms;
    options.heartbeat_interval = 40ms;
    options.segment_bytes = 256 << 10;
    options.checkpoint_entries = 64;
    options.log_retained_bytes = 64 << 10;
    options.scrub_every = {};
    options.scrub_bytes_per_second = uint64_t{1} << 30;
    options.on_halt = [this](const absl::Status& why) {
      halted_ = true;
      report_("halted", {{"sentence", std::string(why.message())}});
    };
    return options;
  }

  // Reports changes of state, and warnings.
  void watch() {
    std::string reported;
    while (!over_) {
      const Health health = replica_->health();
      nlohmann::json now{{"state", static_cast<int>(health.state)}, {"sentence", health.reason}, {"warnings", health.warnings}};
      now["ready"] = health.state == ReplicaState::Ready;
      now["quarantined"] = health.state == ReplicaState::Quarantine;
      now["removed"] = health.state == ReplicaState::Removed;
      if (std::exchange(reported, now.dump()) != now.dump()) report_("health", now);
      std::this_thread::sleep_for(20ms);
    }
  }

  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string what, key, value;
    words >> what >> key >> value;
    if (what == "put") {
      const auto put = replica_->put(key, value + std::string(300, '.'), {.timeout = 10s});
      report_("put", {{"key", key}, {"value", value}, {"ok", put.ok()}, {"sentence", put.status().ToString()}});
    } else if (what == "get") {
      const auto got = replica_->get(key, {});
      const bool found = got.ok() && got->entry.has_value();
      const std::string stored = found ? got->entry->value.substr(0, got->entry->value.find('.')) : std::string();
      report_("got", {{"key", key}, {"value", stored}, {"ok", got.ok()}, {"sentence", got.status().ToString()}});
    } else if (what == "scrub") {
      report_("scrubbed", {{"sentence", replica_->scrub_now().ToString()}});
    } else if (what == "replace") {
      const uint64_t id = std::stoull(key);
      const auto index =
          replica_->change_membership(MembershipChange().replace(id, id, options_.addresses.at(id - 1)), {.timeout = 30s});
      report_("replaced", {{"ok", index.ok()}, {"sentence", index.status().ToString()}});
    }
  }

  const SpoiledNodeOptions options_;
  support::Reporter report_;
  std::atomic<bool> over_{false};
  std::atomic<bool> halted_{false};
  std::unique_ptr<Replica> replica_;
};

}  // namespace

int run_spoiled_node(const SpoiledNodeOptions& options) { return SpoiledNode(options).run(); }

}  // namespace coordkit::experiment
