// One member of the experiments with load (catch-up, restart): a replica that writes values to keys at a given rate, and
// reports twice a second how it is. It obeys lines of its standard input and ends when that does.
//
//   fill KEYS BYTES   writes each key once and reports "filled"
//   keys KEYS BYTES   another member has filled them
//   load RATE         from now on writes random keys of those, RATE bytes a second; 0: stop
//   probe             from now on puts one small value after the other and reports how long each took
#include <atomic>
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "coordkit/replica.h"
#include "tools/experiment/roles.h"
#include "tools/support/report.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

constexpr size_t kInFlightBytesMax = 16 << 20;
constexpr uint64_t kRevisionsKept = 1000;

class LoadNode {
 public:
  explicit LoadNode(const LoadNodeOptions& options) : options_(options), random_(static_cast<unsigned>(options.id)) {}

  int run() {
    auto replica = Replica::open(replica_options());
    if (!replica.ok()) {
      report_("error", {{"what", replica.status().ToString()}});
      return 1;
    }
    replica_ = *std::move(replica);
    report_("opened");
    std::thread watcher([this] { watch(); });
    std::thread writer([this] { write_load(); });
    std::thread prober([this] { probe(); });
    for (std::string line; std::getline(std::cin, line);) obey(line);
    over_ = true;
    const absl::Status closed = replica_->close();
    for (std::thread* thread : {&watcher, &writer, &prober}) thread->join();
    report_("bye", {{"sentence", closed.ToString()}});
    return closed.ok() ? 0 : 1;
  }

 private:
  ReplicaOptions replica_options() {
    ReplicaOptions options{.id = static_cast<uint64_t>(options_.id), .cluster = "load", .data_dir = options_.data_dir};
    for (size_t i = 0; i < options_.addresses.size(); ++i) options.members.push_back({i + 1, options_.addresses[i]});
    options.security = PlainText{};
    options.compaction.revisions = kRevisionsKept;
    options.log_retained_bytes = options_.log_retained_mb << 20;
    options.on_halt = [this](const absl::Status& why) { report_("error", {{"what", "halted: " + why.ToString()}}); };
    return options;
  }

  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "fill") {
      uint64_t keys = 0;
      size_t bytes = 0;
      words >> keys >> bytes;
      fill(keys, bytes);
    } else if (what == "keys") {
      uint64_t keys = 0;
      size_t bytes = 0;
      words >> keys >> bytes;
      keys_ = keys;
      bytes_ = bytes;
    } else if (what == "load") {
      uint64_t rate = 0;
      words >> rate;
      rate_ = rate;
    } else if (what == "probe") {
      probing_ = true;
    }
  }

  void fill(uint64_t keys, size_t bytes) {
    keys_ = keys;
    bytes_ = bytes;
    for (uint64_t key = 0; key < keys && !over_; ++key) put(key, 60s);
    {
      std::unique_lock lock(mutex_);
      answered_.wait(lock, [this] { return in_flight_ == 0; });
    }
    report_("filled", {{"refused", refused_.load()}});
  }

  static std::string name_of(uint64_t key) { return "key-" + std::to_string(key); }

  // Waits while too much is in progress.
  void put(uint64_t key, Duration timeout) {
    std::string value(bytes_, static_cast<char>('a' + key % 26));
    const std::string number = std::to_string(++written_);
    value.replace(0, std::min(number.size(), value.size()), number);
    const size_t bytes = value.size();
    {
      std::unique_lock lock(mutex_);
      answered_.wait(lock, [&] { return in_flight_ == 0 || in_flight_ + bytes <= kInFlightBytesMax; });
      in_flight_ += bytes;
    }
    replica_->put_async(name_of(key), std::move(value), {.timeout = timeout},
                        [this, bytes](const absl::StatusOr<PutResult>& result) {
                          if (result.ok()) {
                            done_bytes_ += bytes;
                          } else {
                            ++refused_;
                          }
                          const std::lock_guard lock(mutex_);
                          in_flight_ -= bytes;
                          answered_.notify_all();
                        });
  }

  void write_load() {
    auto next = std::chrono::steady_clock::now();
    while (!over_) {
      const uint64_t rate = rate_;
      const auto now = std::chrono::steady_clock::now();
      if (rate == 0 || keys_ == 0 || next < now - 1s) next = now;
      if (rate == 0 || keys_ == 0 || next > now) {
        std::this_thread::sleep_for(2ms);
        continue;
      }
      put(std::uniform_int_distribution<uint64_t>(0, keys_ - 1)(random_), 10s);
      next += std::chrono::nanoseconds(1'000'000'000 * bytes_ / rate);
    }
  }

  void probe() {
    while (!over_) {
      std::this_thread::sleep_for(200ms);
      if (!probing_) continue;
      const auto begun = std::chrono::steady_clock::now();
      const absl::StatusOr<PutResult> result = replica_->put("probe-" + std::to_string(options_.id), "x", {.timeout = 2s});
      const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
      report_("probed", {{"ok", result.ok()}, {"ms", took.count()}, {"sentence", result.status().ToString()}});
    }
  }

  void watch() {
    while (!over_) {
      const Health health = replica_->health();
      report_("health", {{"state", name_of(health.state)},
                         {"sentence", health.reason},
                         {"term", health.term.value()},
                         {"leader", health.leader.value()},
                         {"applied", health.applied.value()},
                         {"commit", health.commit.value()},
                         {"written", done_bytes_.load()},
                         {"refused", refused_.load()}});
      std::this_thread::sleep_for(200ms);
    }
  }
  static std::string name_of(ReplicaState state) { return std::string(coordkit::name_of(state)); }

  const LoadNodeOptions options_;
  support::Reporter report_;
  std::mt19937_64 random_;
  std::unique_ptr<Replica> replica_;
  std::atomic<bool> over_{false};
  std::atomic<bool> probing_{false};
  std::atomic<uint64_t> rate_{0};
  std::atomic<uint64_t> keys_{0};
  std::atomic<size_t> bytes_{0};
  std::atomic<uint64_t> written_{0};
  std::atomic<uint64_t> done_bytes_{0};
  std::atomic<uint64_t> refused_{0};
  std::mutex mutex_;
  std::condition_variable answered_;
  size_t in_flight_ = 0;
};

}  // namespace

int run_load_node(const LoadNodeOptions& options) { return LoadNode(options).run(); }

}  // namespace coordkit::experiment
