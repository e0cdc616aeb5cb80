#include "tests/proof/allocation/sweep.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordkit/coordkit.h"
#include "coordkit/operate/backup.h"
#include "coordkit/operate/tls.h"
#include "tests/proof/allocation/failing_malloc.h"
#include "tests/unit/replica/replica_cluster.h"
#include "tools/certificates/folder.h"
#include "tools/support/loopback.h"

namespace coordkit::testkit {
namespace {

using Steady = std::chrono::steady_clock;

constexpr uint64_t kReplicas = 3;
constexpr auto kStepMax = 60s;    // nothing takes so long but a hang
constexpr auto kSettleMax = 30s;  // until a cluster that lost a replica is whole again
constexpr size_t kReportsMax = 64;

// The reports of the child; the parent reads them after the child's death, too.
struct Board {
  struct Report {
    char kind;  // 'l': loss, 'w': wrong
    char text[1024];
  };
  std::atomic<uint64_t> beat;
  char step[256];
  std::atomic<uint64_t> halts;
  std::atomic<uint64_t> reports;
  Report report[kReportsMax];
  std::atomic<bool> complete;
};

std::string describe(const FailedAllocation& failure) {
  std::string out = absl::StrCat("allocation ", failure.number, " of ", failure.bytes, " bytes on ", failure.thread, ":");
  for (int i = 0; i < failure.frames; ++i) absl::StrAppendFormat(&out, " %#x", failure.stack[i]);
  return out;
}

class Run {
 public:
  Run(Board& board, const SweepOrder& order, Steady::time_point end) : board_(board), order_(order), end_(end) {
    support::make_certificates(certificates_);
  }

  void run() {
    for (uint64_t id = 1; id <= kReplicas; ++id) open(id);
    settle();
    uint64_t quiet = 0;
    for (cycle_ = 1; quiet < 2 && Steady::now() < end_; ++cycle_) {
      const uint64_t before = failures();
      cycle();
      quiet = failures() == before ? quiet + 1 : 0;
    }
    board_.complete = quiet >= 2;
    disarm_failures();
    for (auto& one : replicas_) one.reset();
  }

 private:
  struct Acked {
    std::string value;
  };

  // ---- reports

  void report(char kind, const std::string& text) {
    const uint64_t at = board_.reports.fetch_add(1);
    if (at >= kReportsMax) return;
    board_.report[at].kind = kind;
    const std::string whole = absl::StrCat("cycle ", cycle_, ", ", board_.step, ": ", text, "; ", describe(last_failure()));
    std::strncpy(board_.report[at].text, whole.c_str(), sizeof board_.report[at].text - 1);
  }
  void step(const std::string& what) {
    std::strncpy(board_.step, what.c_str(), sizeof board_.step - 1);
    board_.beat.fetch_add(1);
  }

  // ---- replicas

  ReplicaOptions options(uint64_t id) {
    ReplicaOptions options{.id = id, .cluster = "test", .data_dir = folder_.path() / std::to_string(id)};
    for (size_t i = 0; i < kReplicas; ++i) options.members.push_back({i + 1, addresses_[i]});
    options.security = support::tls_of(certificates_.folder, id);
    options.election_timeout = 150ms;
    options.heartbeat_interval = 30ms;
    options.segment_bytes = 256 << 10;
    options.checkpoint_entries = 16;
    options.log_retained_bytes = 1;
    options.log_pinned_bytes = 1;  // a member that was away is sent a state
    options.digest_entries = 128;
    options.drain = Duration::zero();
    options.admin_socket = folder_.path() / ("admin-" + std::to_string(id));
    options.on_event = [](const ReplicaEvent&) {};
    options.on_error = [](const absl::Status&) {};
    options.on_leadership = [](const raft::Leadership&) {};
    options.on_halt = [halted = halted_[id]](const absl::Status&) { *halted = true; };
    return options;
  }

  // An open may fail, because a thread that begins finds no memory; the next one does not.
  void open(uint64_t id) {
    step(absl::StrCat("open of ", id));
    absl::Status last;
    for (int tries = 0; tries < 50; ++tries) {
      halted_[id] = std::make_shared<std::atomic<bool>>(false);
      auto opened = Replica::open(options(id));
      if (opened.ok()) {
        replicas_[id] = *std::move(opened);
        watches_[id] = Watch(*replicas_[id], WatchOptions::prefix("k/"), [](const WatchBatch&) {});
        return;
      }
      last = opened.status();
      std::this_thread::sleep_for(10ms);
    }
    report('w', absl::StrCat("replica ", id, " does not open again: ", last.ToString()));
    _exit(3);
  }
  void close(uint64_t id) {
    step(absl::StrCat("close of ", id));
    watches_[id] = Watch();
    replicas_[id].reset();
  }

  // After a failure: a replica that has halted has said so, and is opened again. All come back, and take writes.
  void settle() {
    const auto late = Steady::now() + kSettleMax;
    for (bool whole = false; !whole;) {
      whole = true;
      for (uint64_t id = 1; id <= kReplicas; ++id) {
        step(absl::StrCat("health of ", id));
        const Health health = replicas_[id]->health();
        if (health.state == ReplicaState::Halted) {
          whole = false;
          if (health.reason.empty()) report('w', "halted without a reason");
          step(absl::StrCat("on_halt of ", id));
          const auto told = Steady::now() + 5s;
          while (!*halted_[id] && Steady::now() < told) std::this_thread::sleep_for(1ms);
          if (!*halted_[id]) report('w', absl::StrCat("on_halt was not called: ", health.reason));
          board_.halts.fetch_add(1);
          close(id);
          open(id);
          continue;
        }
        step(absl::StrCat("wait_ready of ", id));
        const absl::Status ready = replicas_[id]->wait_ready(1s);
        whole = whole && ready.ok();
        if (!ready.ok() && Steady::now() > late) return stuck(absl::StrCat("replica ", id, " is not ready"), ready);
      }
      if (whole) whole = write_everywhere(late);
    }
    arm();
  }

  void arm(std::string_view first = {}) {
    if (order_.time_max.count() == 0 || Steady::now() < end_) arm_failures(order_.also, first);
  }

  bool write_everywhere(Steady::time_point late) {
    for (uint64_t id = 1; id <= kReplicas; ++id) {
      step(absl::StrCat("put after a failure at ", id));
      const absl::Status put = replicas_[id]->put("after", std::to_string(id), {.timeout = 3s}).status();
      if (put.ok()) continue;
      if (Steady::now() > late) stuck(absl::StrCat("no put at ", id), put);
      return false;
    }
    return true;
  }

  // Everything that is left of this child is closed, so that another one finds it in order.
  void stuck(const std::string& what, const absl::Status& why) {
    std::string health;
    for (uint64_t id = 1; id <= kReplicas; ++id) {
      const Health now = replicas_[id]->health();
      absl::StrAppend(&health, " [", id, ": ", std::string(name_of(now.state)), " ", now.reason);
      absl::StrAppend(&health, " leader ", now.leader.value(), " commit ", now.commit.value(), " durable ", now.durable.value(),
                      "]");
    }
    report('w', absl::StrCat("stuck: ", what, ": ", why.ToString(), health));
    for (uint64_t id = 1; id <= kReplicas; ++id) close(id);
    _exit(3);
  }

  // An operation may be refused or end without an outcome if something failed during it, and only then.
  template <typename Operation>
  bool attempt(const std::string& what, Operation operation) {
    absl::Status last;
    for (int undisturbed = 0; undisturbed < 20;) {
      const uint64_t before = failures();
      step(what);
      last = operation();
      const bool disturbed = failures() != before || !failures_armed();
      if (!failures_armed() || !last.ok()) settle();  // a replica may halt late: at the next use of what failed
      if (last.ok()) return true;
      undisturbed += disturbed ? 0 : 1;
      if (undisturbed > 5) std::this_thread::sleep_for(50ms);  // the end of an election
    }
    report('w', absl::StrCat("not done in 20 attempts without a failure: ", last.ToString()));
    return false;
  }

  // ---- what callers do

  void put(uint64_t id, const std::string& key, const std::string& value) {
    const bool done =
        attempt(absl::StrCat("put at ", id), [&] { return replicas_[id]->put(key, value, {.timeout = 3s}).status(); });
    if (done) acked_[key] = value;
  }

  void lock(uint64_t id) {
    attempt(absl::StrCat("lock at ", id), [&]() -> absl::Status {
      absl::StatusOr<Session> session =
          replicas_[id]->open_session({.ttl = 2s, .timeout = 3s, .on_phase = [](SessionPhase) {}});
      if (!session.ok()) return session.status();
      absl::StatusOr<Grant> grant = session->acquire("lock", {.timeout = 5s, .max_hold = 20ms});
      if (!grant.ok()) return grant.status();
      if (grant->token() <= token_) report('l', absl::StrCat("token ", grant->token().value(), " after ", token_.value()));
      token_ = std::max(token_, grant->token());
      return absl::OkStatus();
    });
  }

  // Holds until their longest time is over and they have said so.
  void outlive(uint64_t id) {
    attempt(absl::StrCat("lost holds at ", id), [&]() -> absl::Status {
      absl::StatusOr<Session> session = replicas_[id]->open_session({.ttl = 2s, .timeout = 3s});
      if (!session.ok()) return session.status();
      std::vector<Grant> grants;
      for (int i = 0; i < 80; ++i) {
        absl::StatusOr<Grant> grant = session->acquire(absl::StrCat("short/", i), {.timeout = 5s, .max_hold = 30ms});
        if (!grant.ok()) return grant.status();
        grants.push_back(*std::move(grant));
      }
      const auto all_lost = [&] { return std::ranges::all_of(grants, [](Grant& one) { return one.lost().stop_requested(); }); };
      const auto late = Steady::now() + 5s;
      while (!all_lost() && Steady::now() < late) std::this_thread::sleep_for(1ms);
      return all_lost() ? absl::OkStatus() : absl::UnavailableError("a hold is over and does not say so");
    });
  }

  void watch(uint64_t id) {
    attempt(absl::StrCat("watch at ", id), [&]() -> absl::Status {
      Watch watch(*replicas_[id], WatchOptions::prefix("w/"));
      if (const auto made = watch.next(5s); !made.ok()) return made.status();
      if (const auto put = replicas_[id]->put("w/1", "x", {.timeout = 3s}); !put.ok()) return put.status();
      return watch.next(5s).status();
    });
  }

  // Writes until the log behind it is gone, so that it is sent a state.
  void restart(uint64_t id) {
    close(id);
    const uint64_t other = id % kReplicas + 1;
    for (int i = 0; i < 24; ++i) put_while_closed(id, other, absl::StrCat("k/big/", i), std::string(24 << 10, 'b'));
    open(id);
    arm("coordkit/views");  // it works only now, and another thread may have had the failure
    attempt(absl::StrCat("state for ", id), [&] { return replicas_[id]->wait_ready(5s); });
  }
  void put_while_closed(uint64_t closed, uint64_t id, const std::string& key, const std::string& value) {
    step(absl::StrCat("put at ", id, " while ", closed, " is closed"));
    if (!failures_armed()) return;  // a second one may have halted
    if (replicas_[id]->put(key, value, {.timeout = 3s}).ok()) acked_[key] = value;
  }

  void backup(uint64_t id) {
    const std::string file = folder_.path() / "backup";
    attempt(absl::StrCat("backup at ", id), [&] {
      std::filesystem::remove(file);
      return replicas_[id]->backup(file, {.timeout = 10s}).status();
    });
  }

  void admin(uint64_t id) {
    attempt(absl::StrCat("admin socket of ", id), [&]() -> absl::Status {
      const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      const std::string path = folder_.path() / ("admin-" + std::to_string(id));
      std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
      std::string heard;
      if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        const timeval patience{5, 0};
        ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::send(socket, "status\n", 7, MSG_NOSIGNAL);
        char bytes[4096];
        for (ssize_t got = 1; got > 0 && !heard.ends_with("\nok\n");) {
          got = ::recv(socket, bytes, sizeof bytes, 0);
          if (got > 0) heard.append(bytes, static_cast<size_t>(got));
        }
      }
      ::close(socket);
      return heard.ends_with("\nok\n") ? absl::OkStatus() : absl::UnavailableError("no answer: " + heard);
    });
  }

  void verify(uint64_t id) {
    for (const auto& [key, value] : acked_) {
      absl::StatusOr<GetResult> got = absl::UnknownError("not asked");
      attempt(absl::StrCat("get at ", id), [&, &name = key] {
        got = replicas_[id]->get(name);
        return got.status();
      });
      if (got.ok() && (!got->entry || got->entry->value != value)) report('l', absl::StrCat(key, " is not what was answered"));
    }
  }

  void cycle() {
    const uint64_t turn = cycle_ % kReplicas + 1;
    for (uint64_t id = 1; id <= kReplicas; ++id) {
      put(id, absl::StrCat("k/small/", id), std::to_string(cycle_));
      put(id, absl::StrCat("k/large/", id), std::string(64 << 10, static_cast<char>('a' + cycle_ % 26)));
      lock(id);
    }
    outlive(turn);
    watch(turn);
    admin(turn);
    backup(turn);
    attempt("scrub", [&] { return replicas_[turn]->scrub_now(); });
    attempt("reload_tls", [&] { return replicas_[turn]->reload_tls(); });
    attempt("transfer", [&] {
      const absl::Status moved = replicas_[turn]->transfer_leadership({}, 2s);
      return absl::IsFailedPrecondition(moved) ? absl::OkStatus() : moved;
    });
    settle();
    restart(turn);
    settle();
    verify(turn);
  }

  Board& board_;
  const SweepOrder order_;
  const Steady::time_point end_;
  Folder folder_;
  support::FolderOrder certificates_{.folder = folder_.path(), .cluster = "test"};
  const std::vector<std::string> addresses_ = support::free_loopback_addresses(kReplicas);
  uint64_t cycle_ = 0;
  std::shared_ptr<std::atomic<bool>> halted_[kReplicas + 1];
  std::unique_ptr<Replica> replicas_[kReplicas + 1];
  Watch watches_[kReplicas + 1];
  std::map<std::string, std::string> acked_;
  Token token_;
};

[[noreturn]] void child(Board& board, const SweepOrder& order, Steady::time_point end) {
  ::signal(SIGPIPE, SIG_IGN);
  never_fail_here();
  Run(board, order, end).run();
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace

std::string describe(const SweepResult& result) {
  std::string out =
      absl::StrCat(result.tally, result.failed, " allocations failed", result.complete ? ", all there are" : "", "; ",
                   result.halts, " halts, ", result.deaths.size(), " deaths, ", result.hangs.size(), " hangs, ");
  absl::StrAppend(&out, result.losses.size(), " losses, ", result.wrong.size(), " other faults\n");
  for (const std::string& one : result.deaths) absl::StrAppend(&out, "DEATH ", one, "\n");
  for (const std::string& one : result.hangs) absl::StrAppend(&out, "HANG ", one, "\n");
  for (const std::string& one : result.losses) absl::StrAppend(&out, "LOSS ", one, "\n");
  for (const std::string& one : result.wrong) absl::StrAppend(&out, "WRONG ", one, "\n");
  return out;
}

SweepResult sweep_allocations(const SweepOrder& order) {
  share_failures();
  set_stack_depth(order.stack_depth);
  set_part(order.part, order.parts);
  void* const memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  Board& board = *new (memory) Board();
  SweepResult result;
  const Steady::time_point end = Steady::now() + order.time_max;
  while (!board.complete && (Steady::now() < end || board.beat == 0)) {
    const pid_t pid = ::fork();
    if (pid == 0) child(board, order, end);
    uint64_t beat = board.beat;
    Steady::time_point late = Steady::now() + kStepMax;
    int status = 0;
    bool hung = false;
    while (::waitpid(pid, &status, WNOHANG) == 0) {
      std::this_thread::sleep_for(5ms);
      if (std::exchange(beat, board.beat) != beat) late = Steady::now() + kStepMax;
      if (Steady::now() < late) continue;
      hung = true;
      if (std::getenv("COORDKIT_KEEP_HUNG") != nullptr) ::pause();
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      break;
    }
    const std::string where = absl::StrCat(board.step, "; ", describe(last_failure()));
    if (hung) {
      result.hangs.push_back(where);
    } else if (WIFSIGNALED(status)) {
      result.deaths.push_back(absl::StrCat("signal ", WTERMSIG(status), " in ", where));
    } else if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3) {
      result.deaths.push_back(absl::StrCat("exit ", WEXITSTATUS(status), " in ", where));
    }
    if (result.hangs.size() + result.deaths.size() >= kReportsMax) break;
  }
  disarm_failures();
  for (uint64_t i = 0; i < std::min<uint64_t>(board.reports, kReportsMax); ++i) {
    (board.report[i].kind == 'l' ? result.losses : result.wrong).push_back(board.report[i].text);
  }
  result.failed = failures();
  result.complete = board.complete;
  result.halts = board.halts;
  for (const ThreadTally& thread : thread_tallies()) {
    absl::StrAppendFormat(&result.tally, "%-16s %9d allocations, %6d of them failed\n", thread.name, thread.allocations,
                          thread.failed);
  }
  ::munmap(memory, sizeof(Board));
  return result;
}

}  // namespace coordkit::testkit
