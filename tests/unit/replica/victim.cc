#include "tests/unit/replica/victim.h"

#include <unistd.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "coordkit/coordkit.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

constexpr int kWorkers = 3;      // with locks of their own; one more takes turns with the other processes
constexpr int kKeptMax = 20;     // locks kept forever, per round
constexpr auto kKeptTtl = 300s;  // beyond any round: restarts reset it

// One write per line: lines of several threads do not mix, and a line cut by a kill has no end.
template <typename... Words>
void say(const Words&... words) {
  std::string line = absl::StrCat(words...);
  line += '\n';
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(1);
}

class Victim {
 public:
  explicit Victim(const std::vector<std::string>& arguments) : id_(arguments.at(0)) {
    ReplicaOptions options{.id = std::stoull(id_), .cluster = "victims", .data_dir = arguments.at(1)};
    for (size_t i = 2; i < arguments.size(); ++i) options.members.push_back({i - 1, arguments[i]});
    options.security = PlainText{};
    options.segment_bytes = 256 << 10;  // many segments, many checkpoints
    options.checkpoint_entries = 100;
    options.on_halt = [](const absl::Status& why) { say("failed halted: ", why.ToString()); };
    auto replica = Replica::open(std::move(options));
    opened_ = replica.status();
    if (opened_.ok()) replica_ = *std::move(replica);
  }

  int run() {
    if (!opened_.ok()) return fail("open", opened_);
    if (const absl::Status ready = replica_->wait_ready(60s); !ready.ok()) return fail("wait_ready", ready);
    say("ready");
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string command;
      std::string what;
      words >> command >> what;
      if (command == "go") go(what);
      if (command == "get") get(what);
      if (command == "holder") holder(what);
    }
    _exit(0);  // the parent has gone
  }

 private:
  int fail(const std::string& what, const absl::Status& status) {
    say("failed ", what, ": ", status.ToString());
    return 1;
  }

  void get(const std::string& key) {
    const absl::StatusOr<GetResult> got = replica_->get(key);
    if (!got.ok()) return void(fail("get", got.status()));
    say("value ", key, " ", got->entry ? got->entry->value : "0");
  }

  void holder(const std::string& lock) {
    const absl::StatusOr<LockInfo> info = replica_->holders(lock);
    if (!info.ok()) return void(fail("holders", info.status()));
    if (info->holders.empty()) return say("holder ", lock, " 0 0");
    say("holder ", lock, " ", info->holders[0].token.value(), " ", info->holders[0].session.value());
  }

  void go(const std::string& round) {
    threads_.emplace_back([this, round] { keep(round); });
    for (int worker = 0; worker < kWorkers; ++worker) {
      const std::string name = absl::StrCat(id_, "-", worker);
      threads_.emplace_back(
          [this, round, name] { take_turns(absl::StrCat("own-", name, "-", round), absl::StrCat("key-", name)); });
    }
    threads_.emplace_back([this] { take_turns("shared", "key-" + id_ + "-shared"); });
  }

  // Calls may fail on the way (leaders change); only success is reported, and only reports are checked.
  void keep(const std::string& round) {
    absl::StatusOr<Session> session = replica_->open_session({.ttl = kKeptTtl});
    if (!session.ok()) return;
    std::vector<Grant> kept;
    for (int i = 0; i < kKeptMax; ++i) {
      absl::StatusOr<Grant> grant = session->acquire(absl::StrCat("kept-", id_, "-", round, "-", i));
      if (!grant.ok()) continue;
      say("G ", grant->name(), " ", grant->token().value(), " ", session->id().value(), " kept");
      kept.push_back(*std::move(grant));
    }
    while (true) pause();
  }

  void take_turns(const std::string& lock, const std::string& key) {
    const absl::StatusOr<GetResult> last = replica_->get(key);
    if (!last.ok()) return;
    uint64_t number = last->entry ? std::stoull(last->entry->value) : 0;
    Session session;
    while (true) {
      if (session.phase() == SessionPhase::Lost) {
        absl::StatusOr<Session> opened = replica_->open_session({.ttl = 400ms});
        if (!opened.ok()) continue;
        session = *std::move(opened);
      }
      absl::StatusOr<Grant> grant = session.acquire(lock, {.timeout = 10s});
      if (!grant.ok()) continue;
      const uint64_t token = grant->token().value();
      say("G ", lock, " ", token, " ", session.id().value(), " passed");
      say("p ", key, " ", ++number);
      if (replica_->put(key, std::to_string(number)).ok()) say("P ", key, " ", number);
      say("r ", lock, " ", token);
      if (grant->release().ok()) say("R ", lock, " ", token);
    }
  }

  const std::string id_;
  std::unique_ptr<Replica> replica_;
  absl::Status opened_;
  std::vector<std::thread> threads_;
};

}  // namespace

int run_victim(const std::vector<std::string>& arguments) { return Victim(arguments).run(); }

}  // namespace coordkit::testkit
