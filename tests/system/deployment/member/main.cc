// One replica of a deployment under test: a process that opens it, and obeys commands in lines.
//
//   deployment_member ID DIRECTORY SOCKET [--NAME=NUMBER...] ADDRESS...   the members 1, 2, ... listen at these addresses
//
// The names: election-ms, heartbeat-ms, ttl-ms (of sessions), retained-bytes (of the log).
// Prints "opened", or "refused SENTENCE" and ends. Then, one answer for each line, "failed SENTENCE" if a call failed:
//
//   put KEY VALUE     done                                    hold NAME   holds TOKEN
//   get KEY           value VALUE, or none                    valid       valid, lost, or none: of what it holds
//   fill KEY COUNT    done: COUNT values of 64 KiB            quit        bye
//   locks COUNT       took COUNT MEDIAN P99 MAX: microseconds of as many acquires, each released
//   reads COUNT       the same of linearizable reads
//   load PREFIX       loading: load.h, until "unload", which answers "loaded" with its report
#include <atomic>
#include <iostream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "coordkit/coordkit.h"
#include "coordkit/operate/log_to_stderr.h"
#include "tests/system/deployment/member/load.h"

namespace {

using namespace std::chrono_literals;
using namespace coordkit;
using coordkit::testkit::Load;
using coordkit::testkit::Times;
using Clock = std::chrono::steady_clock;

constexpr size_t kFillBytes = size_t{64} * 1024;
constexpr uint64_t kFillAtOnce = 16;

void say(const std::string& line) { std::cout << line << std::endl; }

std::string failed(const absl::Status& why) { return "failed " + std::string(why.message()); }

class Member {
 public:
  Member(Replica& replica, Duration ttl) : replica_(replica), ttl_(ttl) {}

  std::string obey(const std::string& line) {
    std::istringstream words(line);
    std::string what, name, value;
    words >> what >> name >> value;
    if (what == "put") return put(name, value);
    if (what == "get") return get(name);
    if (what == "fill") return fill(name, std::stoull(value));
    if (what == "hold") return hold(name);
    if (what == "valid") return !grant_ ? "none" : grant_->valid() ? "valid" : "lost";
    if (what == "locks") return locks(std::stoull(name));
    if (what == "reads") return reads(std::stoull(name));
    if (what == "load") return load(name);
    if (what == "unload") return unload();
    return "failed nobody knows '" + what + "'";
  }

 private:
  std::string put(const std::string& key, const std::string& value) {
    const auto result = replica_.put(key, value, {.timeout = 30s});
    return result.ok() ? "done" : failed(result.status());
  }

  std::string get(const std::string& key) {
    const absl::StatusOr<GetResult> result = replica_.get(key);
    if (!result.ok()) return failed(result.status());
    return result->entry ? "value " + result->entry->value : "none";
  }

  // Several at a time, for speed.
  std::string fill(const std::string& key, uint64_t count) {
    std::string why;
    std::atomic<uint64_t> next = 0;
    std::mutex mutex;
    const auto work = [&] {
      for (uint64_t i = next++; i < count; i = next++) {
        const std::string done = put(key + std::to_string(i), std::string(kFillBytes, static_cast<char>('a' + i % 26)));
        const std::lock_guard lock(mutex);
        if (done != "done") why = done;
      }
    };
    std::vector<std::jthread> threads;
    for (uint64_t i = 0; i < kFillAtOnce; ++i) threads.emplace_back(work);
    threads.clear();
    return why.empty() ? "done" : why;
  }

  // Holds the lock until the process ends.
  std::string hold(const std::string& name) {
    if (const absl::Status opened = open_session(); !opened.ok()) return failed(opened);
    absl::StatusOr<Grant> got = session_->acquire(name, {.timeout = 30s});
    if (!got.ok()) return failed(got.status());
    grant_ = *std::move(got);
    return "holds " + std::to_string(grant_->token().value());
  }

  absl::Status open_session() {
    if (session_) return absl::OkStatus();
    absl::StatusOr<Session> opened = replica_.open_session({.ttl = ttl_, .timeout = 30s});
    if (!opened.ok()) return opened.status();
    session_ = *std::move(opened);
    return absl::OkStatus();
  }

  std::string locks(uint64_t count) {
    if (const absl::Status opened = open_session(); !opened.ok()) return failed(opened);
    Times times;
    for (uint64_t i = 0; i < count; ++i) {
      const Clock::time_point before = Clock::now();
      absl::StatusOr<Grant> got = session_->acquire("own-" + std::to_string(session_->id().value()), {.timeout = 30s});
      if (!got.ok()) return failed(got.status());
      times.add(Clock::now() - before);
      if (const absl::Status released = got->release(); !released.ok()) return failed(released);
    }
    return "took " + times.summary();
  }

  std::string reads(uint64_t count) {
    Times times;
    for (uint64_t i = 0; i < count; ++i) {
      const Clock::time_point before = Clock::now();
      if (const auto got = replica_.get("read"); !got.ok()) return failed(got.status());
      times.add(Clock::now() - before);
    }
    return "took " + times.summary();
  }

  std::string load(const std::string& prefix) {
    load_.emplace(replica_, prefix);
    return "loading";
  }

  std::string unload() {
    if (!load_) return "failed there is no load";
    load_->stop();
    const std::string report = load_->report();
    load_.reset();
    return "loaded " + report;
  }

  Replica& replica_;
  const Duration ttl_;
  std::optional<Session> session_;
  std::optional<Grant> grant_;
  std::optional<Load> load_;
};

// False: there is no option of this name.
bool set(const std::string& name, uint64_t number, ReplicaOptions& options, Duration& ttl) {
  if (name == "election-ms")
    options.election_timeout = std::chrono::milliseconds(number);
  else if (name == "heartbeat-ms")
    options.heartbeat_interval = std::chrono::milliseconds(number);
  else if (name == "ttl-ms")
    ttl = std::chrono::milliseconds(number);
  else if (name == "retained-bytes")
    options.log_retained_bytes = number;
  else
    return false;
  return true;
}

int run(int argc, char** argv) {
  ReplicaOptions options{.id = std::stoul(argv[1]), .cluster = "deployment", .data_dir = argv[2]};
  Duration ttl = 30s;
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (!word.starts_with("--")) {
      options.members.push_back({options.members.size() + 1, word});
    } else if (equals == std::string::npos ||
               !set(word.substr(2, equals - 2), std::stoull(word.substr(equals + 1)), options, ttl)) {
      std::cerr << "deployment_member: no such option: " << word << "\n";
      return 2;
    }
  }
  options.security = SharedSecret{"a secret that the deployment shares"};
  options.segment_bytes = 1 << 20;
  options.checkpoint_entries = 64;
  options.admin_socket = argv[3];
  options.on_event = log_to_stderr();
  auto replica = Replica::open(std::move(options));
  if (!replica.ok()) {
    say("refused " + std::string(replica.status().message()));
    return 3;
  }
  say("opened");
  {
    Member member(**replica, ttl);
    for (std::string line; std::getline(std::cin, line) && line != "quit";) say(member.obey(line));
  }
  const absl::Status closed = (*replica)->close();
  say(closed.ok() ? "bye" : failed(closed));
  return closed.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "deployment_member: " << error.what() << "\n";
    return 1;
  }
}
