// One member of the soak experiment, or a process without a replica: a replica or a remote, and callers who play scenes
// (soak_caller.h). It obeys lines of its standard input and ends when that does.
//
//   work      callers play one scene after the other
//   rest      they end the scene they are in, give up what is left of others, and "rested" is reported
//   compact   gives up the history of the keys, all of it, and reports "compacted"
//   measure   reports what the cluster still has, and what this process holds
#include <dirent.h>
#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "coordkit/keys/key_lease.h"
#include "coordkit/remote.h"
#include "coordkit/replica.h"
#include "tools/experiment/live_objects.h"
#include "tools/experiment/roles.h"
#include "tools/experiment/soak_caller.h"
#include "tools/support/report.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

uint64_t entries_of(const std::string& directory) {
  uint64_t count = 0;
  DIR* const open = opendir(directory.c_str());
  if (open == nullptr) throw std::runtime_error("cannot read " + directory);
  while (readdir(open) != nullptr) ++count;
  closedir(open);
  return count;
}

// As the disk counts: files may have holes.
uint64_t bytes_below(const std::filesystem::path& directory) {
  uint64_t bytes = 0;
  std::error_code gone;  // files come and go meanwhile
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, gone)) {
    struct stat info {};
    if (stat(entry.path().c_str(), &info) == 0 && S_ISREG(info.st_mode)) bytes += static_cast<uint64_t>(info.st_blocks) * 512;
  }
  return bytes;
}

class SoakNode {
 public:
  explicit SoakNode(const SoakNodeOptions& options) : options_(options) {}

  int run() {
    const absl::Status opened = options_.gateways.empty() ? open_replica() : open_remote();
    if (!opened.ok()) return fail("open: " + opened.ToString());
    for (int i = 0; i < kSoakCallers; ++i) {
      const std::string name = std::to_string(options_.id) + "." + std::to_string(i);
      const uint64_t seed = options_.seed * 100 + static_cast<uint64_t>(options_.id * 10 + i);
      callers_.emplace_back([this, name, seed] { play(SoakCaller(*service_, name, seed, options_.careless)); });
    }
    report_("opened");
    for (std::string line; std::getline(std::cin, line);) obey(line);
    set(Order::End);
    for (std::thread& caller : callers_) caller.join();
    if (const absl::Status closed = service_->close(); !closed.ok()) return fail("close: " + closed.ToString());
    report_("bye");
    return 0;
  }

 private:
  enum class Order : uint8_t { Rest, Work, End };
  static constexpr int kSweeps = 300;

  absl::Status open_replica() {
    auto replica = Replica::open(replica_options());
    if (!replica.ok()) return replica.status();
    replica_ = *std::move(replica);
    service_ = replica_.get();
    return absl::OkStatus();
  }
  absl::Status open_remote() {
    auto remote = Remote::open({.cluster = "soak", .gateways = options_.gateways, .security = PlainText{}, .silence = 400ms});
    if (!remote.ok()) return remote.status();
    remote_ = *std::move(remote);
    service_ = remote_.get();
    return absl::OkStatus();
  }

  ReplicaOptions replica_options() {
    ReplicaOptions options{.id = static_cast<uint64_t>(options_.id), .cluster = "soak", .data_dir = options_.data_dir};
    for (size_t i = 0; i < options_.addresses.size(); ++i) options.members.push_back({i + 1, options_.addresses[i]});
    options.security = PlainText{};
    if (!options_.remotes.empty()) options.remotes = {.listen = options_.remotes, .security = PlainText{}};
    options.leader_leases = true;
    options.segment_bytes = 256 << 10;  // a round has many checkpoints, and little of the log is kept: all of it is objects
    options.checkpoint_entries = 100;
    options.log_retained_bytes = 16 << 10;
    options.digest_entries = 128;
    options.sticky.idle_max = 2;
    options.on_halt = [this](const absl::Status& why) { fail("halted: " + why.ToString()); };
    options.on_divergence = [this](const Divergence&) { fail("states differ"); };
    return options;
  }

  void obey(const std::string& line) {
    if (line == "work") return set(Order::Work);
    if (line == "compact") return compact();
    if (line == "measure") return measure();
    if (line != "rest") return;
    set(Order::Rest);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return resting_ == kSoakCallers; });
    report_("rested", {{"scenes", scenes_.load()}, {"refused", refused_.load()}});
  }

  void set(Order order) {
    const std::lock_guard lock(mutex_);
    order_ = order;
    if (order == Order::Rest) resting_ = 0;
    changed_.notify_all();
  }

  void play(SoakCaller caller) {
    for (bool owes = true; order_ != Order::End;) {
      if (order_ == Order::Work) {
        caller.act() ? ++scenes_ : ++refused_;
        owes = true;
        continue;
      }
      if (owes) {
        if (const std::string left = caller.tidy(); !left.empty()) fail(left);
      }
      std::unique_lock lock(mutex_);
      if (owes) ++resting_;
      owes = false;
      changed_.notify_all();
      changed_.wait(lock, [this] { return order_ != Order::Rest; });
    }
  }

  // Compacted history goes little by little, with every entry that comes; an erase of nothing makes no history of its own.
  void compact() {
    Kv kv(*service_);
    const auto now = kv.erase("nothing");
    if (now.ok() && now->revision.value() > 0) static_cast<void>(kv.compact(now->revision));  // it may be compacted already
    for (int i = 0; i < kSweeps; ++i) static_cast<void>(kv.erase("nothing"));
    report_("compacted");
  }

  void measure() {
    RangeOperation all = RangeOperation::all();
    all.count_only = true;
    const auto keys = Kv(*service_).range(all);
    const auto leases = Leases(*service_).list();
    const auto sessions = service_->sessions();
    if (!keys.ok() || !leases.ok() || !sessions.ok()) return report_("measured");  // no leader; there will be another time
    report_("measured", {{"keys", keys->count},
                         {"leases", leases->leases.size()},
                         {"sessions", sessions->sessions.size()},
                         {"objects", live_objects()},
                         {"descriptors", entries_of("/proc/self/fd")},
                         {"threads", entries_of("/proc/self/task")},
                         {"disk", replica_ ? bytes_below(options_.data_dir) : 0}});
  }

  int fail(const std::string& what) {
    report_("error", {{"what", what}});
    return 1;
  }

  const SoakNodeOptions options_;
  support::Reporter report_;
  std::unique_ptr<Replica> replica_;  // one of these two
  std::unique_ptr<Remote> remote_;
  Service* service_ = nullptr;  // it
  std::vector<std::thread> callers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<Order> order_{Order::Rest};
  int resting_ = 0;
  std::atomic<uint64_t> scenes_{0}, refused_{0};
};

}  // namespace

int run_soak_node(const SoakNodeOptions& options) { return SoakNode(options).run(); }

}  // namespace coordkit::experiment
