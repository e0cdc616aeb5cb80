// One process of the remotes experiment with many remotes. They share one thread as their executor, and have three threads
// each. The process obeys lines of its standard input.
//
//   open        opens its remotes; "opened" when all are served
//   sessions    each opens its sessions; "sessions" when all are open
//   work        each watches the key of the next one, some take a lock, and all put numbers
//   rest        no more puts; "rested" when each is answered, or a minute later with the number of those that are not
//   fan N       each watches one key N times; "watching" when all have begun
//   put N       the first one puts this number to that key; "put" when that is answered
//   state       reports "state"
//   final       its first remote reads the keys of all; "written" when they and all of the trace are in the file
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "coordkit/asio/asio_executor.h"
#include "coordkit/keys/kv.h"
#include "tools/experiment/crowd_remote.h"
#include "tools/experiment/roles.h"
#include "tools/support/report.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

class CrowdProcess {
 public:
  explicit CrowdProcess(const CrowdProcessOptions& options) : options_(options), trace_(options.file) {}

  int run() {
    std::thread turns([this] { io_.run(); });
    std::thread putter([this] { put_numbers(); });
    for (std::string line; std::getline(std::cin, line);) obey(line);
    over_ = true;
    putter.join();
    remotes_.clear();
    work_.reset();
    turns.join();
    trace_.flush();
    report_("bye");
    return 0;
  }

 private:
  static constexpr auto kTick = 2ms;
  static constexpr uint64_t kLocksEvery = 5;  // one remote in so many holds a lock

  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    uint64_t number = 0;
    words >> what >> number;
    if (what == "open") return open();
    if (what == "sessions") return open_sessions();
    if (what == "work") return work();
    if (what == "rest") return rest();
    if (what == "fan") return watch_fan(number);
    if (what == "put") return put_to_fan(number);
    if (what == "state") return report_state("state");
    if (what == "final") return write_final();
  }

  template <typename Condition>
  static bool until(Condition condition, std::chrono::seconds limit = 60s) {
    const support::Deadline end = support::in(limit);
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
    return condition();
  }
  template <typename Of>
  uint64_t sum(Of of) const {
    uint64_t sum = 0;
    for (const CrowdRemote& remote : remotes_) sum += static_cast<uint64_t>((remote.*of)());
    return sum;
  }

  void open() {
    const auto executor = asio_executor(io_.get_executor());
    for (uint64_t i = 0; i < options_.remotes; ++i) {
      CrowdRemote& remote = remotes_.emplace_back(options_.first + i, trace_, fan_);
      if (const absl::Status status = remote.open(options_.gateways, executor); !status.ok()) return fail(status.ToString());
    }
    if (!until([this] { return sum(&CrowdRemote::serving) == remotes_.size(); })) return fail("not all remotes are served");
    report_state("opened");
  }

  void open_sessions() {
    for (CrowdRemote& remote : remotes_) {
      for (uint64_t i = 0; i < options_.sessions; ++i) remote.open_session();
    }
    const uint64_t all = remotes_.size() * options_.sessions;
    if (!until([&] { return sum(&CrowdRemote::sessions) == all; })) return fail("not all sessions were opened");
    report_state("sessions");
  }

  void work() {
    for (uint64_t i = 0; i < remotes_.size(); ++i) {
      remotes_[i].watch_key_of(options_.first + (i + 1) % remotes_.size());
      if (i % kLocksEvery == 0) remotes_[i].take_lock();
    }
    const auto holds = [this] { return sum(&CrowdRemote::holds) == (remotes_.size() + kLocksEvery - 1) / kLocksEvery; };
    if (!until(holds)) return fail("not all locks were granted");
    puts_ = true;
    report_state("works");
  }

  void rest() {
    puts_ = false;
    until([this] { return sum(&CrowdRemote::calling) == 0; });
    report_state("rested");
  }

  // Each remote in its turn, at the rate of the options. One that still waits for an answer misses its turn.
  void put_numbers() {
    auto next = std::chrono::steady_clock::now();
    const auto pause = std::chrono::nanoseconds(1'000'000'000 / std::max<uint64_t>(options_.puts, 1));
    for (uint64_t turn = 0; !over_;) {
      std::this_thread::sleep_for(kTick);
      const auto now = std::chrono::steady_clock::now();
      if (!puts_) next = now;
      for (; next < now; next += pause) remotes_[turn++ % remotes_.size()].put();
    }
  }

  void watch_fan(uint64_t each) {
    fan_watches_ = each * remotes_.size();
    for (CrowdRemote& remote : remotes_) remote.watch_fan(each);
    if (!until([this] { return fan_.watching() == fan_watches_; })) return fail("not all watches have begun");
    report_("watching", {{"watches", fan_.watching()}});
  }

  void put_to_fan(uint64_t number) {
    const int64_t called = support::machine_time_ns();
    remotes_.front().remote().put_async(kCrowdFanKey, std::to_string(number), {.timeout = 60s},
                                        [this, called](const absl::StatusOr<PutResult>& result) {
                                          report_("put", {{"ok", result.ok()}, {"called", called}});
                                        });
  }

  void report_state(const char* event) {
    const CrowdFan::Count fan = fan_.newest();
    report_(event, {{"serving", sum(&CrowdRemote::serving)},
                    {"sessions", sum(&CrowdRemote::sessions)},
                    {"valid", sum(&CrowdRemote::valid_sessions)},
                    {"holds", sum(&CrowdRemote::holds)},
                    {"calling", sum(&CrowdRemote::calling)},
                    {"fan_number", fan.number},
                    {"fan_watches", fan.watches},
                    {"fan_last", fan.last_ns}});
  }

  // Its own keys, by a linearizable read. A watch that lags has half a minute to be given what is there.
  void write_final() {
    Kv kv(remotes_.front().remote());
    for (uint64_t i = 0; i < remotes_.size(); ++i) {
      const uint64_t number = options_.first + i;
      const auto read = kv.get(crowd_key(number), {.timeout = 60s});
      if (!read.ok()) return fail("a final read: " + read.status().ToString());
      if (!read->entry) continue;
      trace_("final", number, read->entry->version, read->entry->value);
      const CrowdRemote& watcher = remotes_[(i + remotes_.size() - 1) % remotes_.size()];
      until([&] { return watcher.seen() >= read->entry->version; }, 30s);
    }
    trace_.flush();
    report_("written");
  }

  void fail(const std::string& what) { report_("error", {{"what", what}}); }

  const CrowdProcessOptions options_;
  support::Reporter report_;
  CrowdTrace trace_;
  CrowdFan fan_;
  uint64_t fan_watches_ = 0;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  std::deque<CrowdRemote> remotes_;
  std::atomic<bool> puts_{false}, over_{false};
};

}  // namespace

int run_crowd_process(const CrowdProcessOptions& options) { return CrowdProcess(options).run(); }

}  // namespace coordkit::experiment
