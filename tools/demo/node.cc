// One process of the service: a replica, a session, and a worker that acquires the lock and writes rows while it holds it.
//
// Commands come a line each on standard input. "hold N", "rotate N", "rest N" set what the worker does (N is returned in
// "resting"). "late" writes with the last token it was given, valid or not. There are "queue" and "status". A worker at rest
// may "leave" (closes its session, which takes a majority) and then "quit".
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <stop_token>
#include <thread>

#include "coordkit/replica.h"
#include "tools/demo/ledger_client.h"
#include "tools/demo/parts.h"
#include "tools/demo/roles.h"
#include "tools/support/report.h"

namespace coordkit::demo {
namespace {

using namespace std::chrono_literals;
using support::machine_time_ns;

constexpr char kLock[] = "ledger";
constexpr int kRowsPerTurn = 3;  // of a worker that rotates
constexpr auto kBetweenRows = 4ms;

enum class Mode { Rest, Hold, Rotate, Quit };

class Node {
 public:
  explicit Node(const NodeOptions& options) : options_(options), ledger_(options.id, options.resource_port) {}

  int run() {
    auto replica = Replica::open(replica_options());
    if (!replica.ok()) return fail("open", replica.status());
    replica_ = *std::move(replica);
    if (const absl::Status status = replica_->wait_ready(60s); !status.ok()) return fail("wait_ready", status);
    report_("ready");
    worker_ = std::thread([this] { work(); });
    for (std::string line; std::getline(std::cin, line) && line != "quit";) command(line);
    set_mode(Mode::Quit, 0);
    worker_.join();
    const absl::Status closed = replica_->close();
    if (!closed.ok()) return fail("close", closed);
    report_("bye");
    return 0;
  }

 private:
  ReplicaOptions replica_options() {
    ReplicaOptions options{.id = static_cast<uint64_t>(options_.id), .cluster = "demo", .data_dir = options_.data_dir};
    for (size_t i = 0; i < options_.addresses.size(); ++i) options.members.push_back({i + 1, options_.addresses[i]});
    options.security = PlainText{};
    options.parts = parts_of_a_node();
    const std::string socket = options_.data_dir + ".admin";
    if (socket.size() < 108) options.admin_socket = socket;  // the kernel's bound; the story does not need it
    options.segment_bytes = 4 << 20;
    options.checkpoint_entries = 64;  // the story is short, and a restart should find a checkpoint
    options.on_leadership = [this](const raft::Leadership& now) {
      report_("leadership",
              {{"term", now.term.value()}, {"leader", now.leader.value()}, {"leads", now.role == raft::Role::Leader}});
    };
    options.on_halt = [this](const absl::Status& why) { report_("error", {{"what", "halted: " + why.ToString()}}); };
    return options;
  }

  int fail(const std::string& what, const absl::Status& status) {
    report_("error", {{"what", what + ": " + status.ToString()}});
    return 1;
  }

  // ---- commands

  void command(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    uint64_t number = 0;
    words >> name >> number;
    if (name == "hold") set_mode(Mode::Hold, number);
    if (name == "rotate") set_mode(Mode::Rotate, number);
    if (name == "rest") set_mode(Mode::Rest, number);
    if (name == "late") late_write();
    if (name == "queue") report_queue();
    if (name == "status") report_status();
    if (name == "leave") leave();
  }

  void late_write() {
    const uint64_t token = last_token_.load();
    const std::optional<bool> taken = ledger_.write_row(token, 0);
    report_("late_write", {{"token", token}, {"taken", taken.value_or(false)}});
  }

  void leave() {
    const absl::Status status = session_copy().close();
    report_("left", {{"ok", status.ok()}});
  }

  void report_queue() {
    const absl::StatusOr<QueueInfo> queue = replica_->queue(kLock);
    report_("queue", {{"waiters", queue.ok() ? queue->waiters.size() : 0}});
  }

  void report_status() {
    const Health health = replica_->health();
    report_("status", {{"applied", health.applied.value()}, {"digest", health.digest}, {"commit", health.commit.value()}});
  }

  // ---- the worker

  void set_mode(Mode mode, uint64_t number) {
    const std::lock_guard lock(mutex_);
    mode_ = mode;
    number_ = number;
    changed_.notify_all();
  }

  Mode mode() {
    const std::lock_guard lock(mutex_);
    return mode_;
  }

  Session session_copy() {
    const std::lock_guard lock(mutex_);
    return session_;
  }

  void work() {
    while (wait_for_work()) {
      if (!ensure_session()) continue;
      report_("waiting");
      absl::StatusOr<Grant> grant = session_copy().acquire(kLock, {.timeout = 20s});
      if (grant.ok()) {
        hold(*grant, machine_time_ns());
      } else {
        report_("not_granted", {{"why", grant.status().ToString()}});
      }
    }
  }

  bool wait_for_work() {
    std::unique_lock lock(mutex_);
    while (mode_ == Mode::Rest) {
      report_("resting", {{"number", number_}});
      changed_.wait(lock, [this, number = number_] { return number_ != number; });
    }
    return mode_ != Mode::Quit;
  }

  bool ensure_session() {
    if (session_copy().phase() != SessionPhase::Lost) return true;
    auto session = replica_->open_session({.ttl = std::chrono::milliseconds(kTtlMs), .timeout = 5s});
    if (!session.ok()) {
      report_("no_session", {{"why", session.status().ToString()}});
      return false;
    }
    const std::lock_guard lock(mutex_);
    session_ = *std::move(session);
    return true;
  }

  void hold(Grant& grant, int64_t known_at) {
    const uint64_t token = grant.token().value();
    last_token_ = token;
    report_.at(known_at, "granted", {{"token", token}});
    std::promise<void> lost;
    const std::stop_callback on_lost(grant.lost(), [&, token] {
      report_("lost", {{"token", token}, {"valid", grant.valid()}});
      lost.set_value();
    });
    for (int rows = 1; write_row(grant, token, rows); ++rows) {
      if (done(rows)) return release(grant, token);
    }
    lost.get_future().wait_for(5s);  // announced by another thread, a moment after this one saw it
  }

  // Every holder should do this: check right before the use, and let the resource check the token as well. The readings of the
  // clock are taken before the questions, so that "valid at" is never later than the moment it was true.
  bool write_row(Grant& grant, uint64_t token, int row) {
    const int64_t before = machine_time_ns();
    if (!grant.valid()) {
      report_("invalid", {{"token", token}});
      return false;
    }
    const std::optional<bool> taken = ledger_.write_row(token, static_cast<uint64_t>(row));
    const int64_t after = machine_time_ns();
    const bool still = grant.valid();
    report_("wrote", {{"token", token}, {"valid_at", still ? after : before}, {"taken", taken.value_or(false)}});
    return taken.value_or(false);
  }

  bool done(int rows) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kBetweenRows, [this, number = number_] { return number_ != number; });
    return mode_ == Mode::Rest || mode_ == Mode::Quit || (mode_ == Mode::Rotate && rows >= kRowsPerTurn);
  }

  void release(Grant& grant, uint64_t token) {
    report_("releasing", {{"token", token}});
    const absl::Status status = grant.release();
    report_("released", {{"token", token}, {"ok", status.ok()}, {"why", status.ToString()}});
  }

  const NodeOptions options_;
  support::Reporter report_;
  LedgerClient ledger_;
  std::unique_ptr<Replica> replica_;
  std::atomic<uint64_t> last_token_{0};

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  Mode mode_ = Mode::Rest;
  uint64_t number_ = 0;  // of the command that set the mode
  Session session_;
  std::thread worker_;
};

}  // namespace

int run_node(const NodeOptions& options) { return Node(options).run(); }

}  // namespace coordkit::demo
