// One process of the service: a replica or a remote, a session, and a worker that reads the counter, works, and writes it back,
// all under the lock. Ends when its standard input does.
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "coordkit/remote.h"
#include "coordkit/replica.h"
#include "tools/experiment/counter_client.h"
#include "tools/experiment/roles.h"
#include "tools/support/report.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

class Node {
 public:
  explicit Node(const NodeOptions& options)
      : options_(options), counter_(options.counter_port), random_(static_cast<unsigned>(options.id)) {}

  int run() {
    const absl::Status opened = options_.gateways.empty() ? open_replica() : open_remote();
    if (!opened.ok()) return fail("open", opened);
    if (const absl::Status status = service_->wait_ready(60s); !status.ok()) return fail("wait_ready", status);
    report_("ready");
    std::thread worker([this] { work(); });
    std::thread reporter([this] { report_health(); });
    for (std::string line; std::getline(std::cin, line);) {
    }
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    const absl::Status closed = service_->close();  // ends the worker's waits
    worker.join();
    reporter.join();
    if (!closed.ok()) return fail("close", closed);
    report_("bye");
    return 0;
  }

 private:
  absl::Status open_replica() {
    auto replica = Replica::open(replica_options());
    if (!replica.ok()) return replica.status();
    replica_ = *std::move(replica);
    service_ = replica_.get();
    return absl::OkStatus();
  }
  absl::Status open_remote() {
    RemoteOptions options{.cluster = "experiment", .gateways = options_.gateways, .security = PlainText{}};
    if (!options_.remotes_secret.empty()) options.security = SharedSecret{options_.remotes_secret};
    auto remote = Remote::open(std::move(options));
    if (!remote.ok()) return remote.status();
    remote_ = *std::move(remote);
    service_ = remote_.get();
    return absl::OkStatus();
  }

  ReplicaOptions replica_options() {
    ReplicaOptions options{.id = static_cast<uint64_t>(options_.id), .cluster = "experiment", .data_dir = options_.data_dir};
    for (size_t i = 0; i < options_.addresses.size(); ++i) options.members.push_back({i + 1, options_.addresses[i]});
    options.security = PlainText{};
    if (!options_.secret.empty()) options.security = SharedSecret{options_.secret};
    if (!options_.remotes.empty()) options.remotes = {.listen = options_.remotes, .security = PlainText{}};
    if (!options_.remotes_secret.empty()) options.remotes.security = SharedSecret{options_.remotes_secret};
    options.segment_bytes = 4 << 20;
    options.on_halt = [this](const absl::Status& why) { fail("halted", why); };
    return options;
  }

  int fail(const std::string& what, const absl::Status& status) {
    report_("error", {{"what", what + ": " + status.ToString()}});
    return 1;
  }

  bool over() {
    const std::lock_guard lock(mutex_);
    return over_;
  }
  // By the clock of this process; a stopped process is late.
  void pass(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [this] { return over_; });
  }
  std::chrono::milliseconds up_to(std::chrono::milliseconds longest) {
    return std::chrono::milliseconds(std::uniform_int_distribution<int64_t>(0, longest.count())(random_));
  }

  void report_health() {
    while (options_.reports && !over()) {
      const Health health = service_->health();
      uint64_t voters = 0;
      for (const MemberInfo& member : health.members.members) voters += member.role == MemberInfo::Role::Voter ? 1 : 0;
      report_("health", {{"term", health.term.value()},
                         {"leader", health.leader.value()},
                         {"voters", voters},
                         {"warning", health.warnings.empty() ? std::string() : health.warnings.front()}});
      pass(500ms);
    }
  }

  void work() {
    Session session;
    while (!over()) {
      if (session.phase() == SessionPhase::Lost) {
        auto opened = service_->open_session({.ttl = kTtl, .timeout = 5s});
        if (!opened.ok()) continue;
        session = *std::move(opened);
      }
      absl::StatusOr<Grant> grant = session.acquire("counter", {.timeout = 20s});
      if (grant.ok()) update(*grant);
    }
  }

  void update(Grant& grant) {
    const uint64_t token = grant.token().value();
    report_("granted", {{"token", token}});
    const std::optional<uint64_t> seen = counter_.read(token);
    if (!seen) return report_("ended", {{"token", token}, {"how", "refused"}});
    pass(up_to(options_.section));
    if (options_.check && !grant.valid()) return report_("ended", {{"token", token}, {"how", "stopped"}});
    const bool written = counter_.write(token, *seen);
    report_("ended", {{"token", token}, {"how", written ? "written" : "refused"}});
  }

  const NodeOptions options_;
  support::Reporter report_;
  CounterClient counter_;
  std::mt19937 random_;
  std::unique_ptr<Replica> replica_;  // one of these two
  std::unique_ptr<Remote> remote_;
  Service* service_ = nullptr;  // it
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
};

}  // namespace

int run_node(const NodeOptions& options) { return Node(options).run(); }

}  // namespace coordkit::experiment
