// One member of the history experiment, or a process without a replica: a replica or a remote, and its callers. They read and
// write a few keys, take a few locks and watch, as fast as they are answered. All that they see goes into a file of this life
// of the member, a line before each call and one after it, so that a killed process leaves what it had asked for. A line
// "transfer ID" of its standard input asks it to hand leadership over; it ends when that input does. All that the replica tells
// its operator is reported.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "coordkit/error.h"
#include "coordkit/keys/kv.h"
#include "coordkit/keys/watch.h"
#include "coordkit/operate/replica_event.h"
#include "coordkit/remote.h"
#include "coordkit/replica.h"
#include "tools/experiment/roles.h"
#include "tools/experiment/through_doors.h"
#include "tools/support/report.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr auto kCallMax = 2s;
constexpr auto kRemoteSilence = 400ms;  // two fifths of the sessions' TTL

// Writes what callers see, in the words of docs/format-history.md. Threads: any.
class Scribe {
 public:
  explicit Scribe(const std::string& path)
      : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {  // NOLINT: variadic
    if (file_.get() < 0) throw std::runtime_error("cannot make " + path);
  }

  // A call that is about to be made.
  uint64_t begin(json line) {
    const uint64_t number = ++last_;
    line["call"] = support::machine_time_ns();
    write({{"begin", number}, {"line", std::move(line)}});
    return number;
  }
  // That call was answered.
  void end(uint64_t number, const absl::Status& status, json out = json::object()) {
    const int64_t now = support::machine_time_ns();
    json more{{"outcome", "ok"}, {"return", now}, {"out", std::move(out)}};
    if (!status.ok()) more = {{"outcome", outcome_of(status) == Outcome::Unknown ? "unknown" : "refused"}};
    write({{"end", number}, {"more", std::move(more)}, {"at", now}});
    if (status.ok()) ++answered_;
  }
  // The hold that this acquire was granted was still trusted at that moment.
  void trusted(uint64_t acquire, int64_t at) { write({{"trusted", acquire}, {"at", at}}); }
  // A watch that began in this life was given this change.
  void changed(const WatchEvent& event) {
    json change{{"revision", event.entry.mod.value()}, {"key", event.entry.key}};
    if (!event.deleted()) change["value"] = event.entry.value;
    write({{"changed", std::move(change)}, {"at", support::machine_time_ns()}});
  }
  uint64_t answered() const { return answered_; }

 private:
  void write(const json& record) {
    const std::string line = record.dump() + "\n";
    if (::write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(1);  // in one piece, or not
  }

  support::Descriptor file_;
  std::atomic<uint64_t> last_{0};
  std::atomic<uint64_t> answered_{0};
};

json shown(const std::optional<KeyValue>& entry) {
  if (!entry) return {{"value", nullptr}};
  return {{"value", entry->value}, {"create", entry->create.value()}, {"mod", entry->mod.value()}, {"version", entry->version}};
}

// The belongings of every caller: a number of its own, dice, and a name for what it writes.
class Caller {
 public:
  Caller(const HistoryNodeOptions& options, int number)
      : random_(((options.seed * 10 + static_cast<uint64_t>(options.id)) * 1000 + static_cast<uint64_t>(options.life)) * 100 +
                static_cast<uint64_t>(number)),
        name_("n" + std::to_string(options.id) + "." + std::to_string(options.life) + "." + std::to_string(number)) {}

  const std::string& name() const { return name_; }
  uint64_t below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_); }
  std::string next_value() { return name_ + "-" + std::to_string(++values_); }
  std::string any_key() { return "key-" + std::to_string(below(kKeys)); }

 private:
  static constexpr uint64_t kKeys = 3;  // few, so that callers meet

  std::mt19937_64 random_;
  const std::string name_;
  uint64_t values_ = 0;
};

// Reads and writes keys.
class KeyCaller {
 public:
  KeyCaller(const Service& service, Scribe& scribe, Caller caller)
      : kv_(service), scribe_(scribe), caller_(std::move(caller)) {}

  void call_once() {
    switch (caller_.below(6)) {
      case 0:
      case 1: return put();
      case 2: return erase();
      case 3: return get(Consistency::Linearizable);
      case 4: return get(Consistency::Lease);
      default: return commit();
    }
  }

 private:
  uint64_t begin(const char* op, const std::string& key, json in = json::object()) {
    return scribe_.begin({{"model", "kv"}, {"op", op}, {"key", key}, {"client", caller_.name()}, {"in", std::move(in)}});
  }

  void put() {
    const std::string key = caller_.any_key(), value = caller_.next_value();
    const uint64_t call = begin("put", key, {{"value", value}});
    const auto result = kv_.put(key, value, {.timeout = kCallMax});
    scribe_.end(call, result.status(), result.ok() ? json{{"revision", result->revision.value()}} : json());
  }

  void erase() {
    const std::string key = caller_.any_key();
    const uint64_t call = begin("delete", key);
    const auto result = kv_.erase(key, {.timeout = kCallMax});
    json out;
    if (result.ok()) out = {{"deleted", result->deleted}, {"revision", result->revision.value()}};
    scribe_.end(call, result.status(), std::move(out));
  }

  void get(Consistency consistency) {
    const std::string key = caller_.any_key();
    const uint64_t call = begin("get", key);
    const auto result = kv_.get(key, {.timeout = kCallMax, .read = consistency});
    json out;
    if (result.ok()) {
      out = shown(result->entry);
      out["revision"] = result->revision.value();
    }
    scribe_.end(call, result.status(), std::move(out));
  }

  // The present value of one key decides which of two is written.
  void commit() {
    const std::string from = caller_.any_key(), to = caller_.any_key();
    const std::string value = caller_.next_value(), other = caller_.next_value();
    const auto seen = kv_.get(from, {.read = Consistency::Local});
    if (!seen.ok()) return;
    const uint64_t mod = seen->entry ? seen->entry->mod.value() : 0;
    const json compare{{"key", from}, {"target", "mod"}, {"is", "="}, {"value", mod}};
    json in{{"compare", {compare}},
            {"then", {{{"op", "put"}, {"key", to}, {"value", value}}, {{"op", "get"}, {"key", from}}}},
            {"else", {{{"op", "put"}, {"key", from}, {"value", other}}, {{"op", "get"}, {"key", to}}}}};
    const uint64_t call =
        scribe_.begin({{"model", "transaction"}, {"op", "txn"}, {"client", caller_.name()}, {"in", std::move(in)}});
    const auto result = kv_.commit({{Compare::modified(from, Compare::Relation::Equal, Revision(mod))},
                                    {PutOperation{.key = to, .value = value}, RangeOperation::of(from)},
                                    {PutOperation{.key = from, .value = other}, RangeOperation::of(to)}},
                                   {.timeout = kCallMax});
    json out;
    if (result.ok()) {
      json results = json::array();
      for (const OperationReply& reply : result->replies) results.push_back(result_of(reply));
      out = {{"succeeded", result->succeeded}, {"results", std::move(results)}, {"revision", result->revision.value()}};
    }
    scribe_.end(call, result.status(), std::move(out));
  }

  static json result_of(const OperationReply& reply) {
    const auto* range = std::get_if<RangeReply>(&reply.body);
    if (range == nullptr) return json::object();
    return shown(range->entries.empty() ? std::optional<KeyValue>() : range->entries.front());
  }

  Kv kv_;
  Scribe& scribe_;
  Caller caller_;
};

// The session of all callers of this life, another one once it is lost. Threads: any.
class CommonSession {
 public:
  explicit CommonSession(Service& service) : service_(service) {}
  std::optional<Session> get() {
    const std::lock_guard lock(mutex_);
    if (session_.phase() != SessionPhase::Lost) return session_;
    auto opened = service_.open_session({.ttl = 1s, .timeout = kCallMax});
    if (!opened.ok()) return std::nullopt;
    return session_ = *std::move(opened);
  }

 private:
  Service& service_;
  std::mutex mutex_;
  Session session_;
};

// Takes locks and trusts them for as long as they say.
class LockCaller {
 public:
  LockCaller(Service& service, std::shared_ptr<CommonSession> sessions, Scribe& scribe, Caller caller, bool check)
      : service_(service), sessions_(std::move(sessions)), scribe_(scribe), caller_(std::move(caller)), check_(check) {}

  void call_once() {
    std::optional<Session> session = sessions_->get();
    if (!session) return;
    caller_.below(8) == 0 ? look() : hold(*session);
  }

 private:
  static constexpr auto kHoldMax = 20ms;
  static constexpr const char* kPlain[] = {"lock-0", "lock-1"};

  uint64_t begin(const char* op, const std::string& lock, json in = json::object()) {
    return scribe_.begin(
        {{"model", "fenced-mutex"}, {"op", op}, {"key", lock}, {"client", caller_.name()}, {"in", std::move(in)}});
  }

  void look() {
    const std::string lock = kPlain[caller_.below(2)];
    const uint64_t call = begin("holder", lock);
    const auto result = service_.holders(lock);
    json out;
    if (result.ok()) out["token"] = result->holders.empty() ? json() : json(result->holders.front().token.value());
    scribe_.end(call, result.status(), std::move(out));
  }

  void hold(Session& session) {
    const bool sticky = caller_.below(3) == 0;
    const std::string lock = sticky ? "sticky" : kPlain[caller_.below(2)];
    const uint64_t call = begin("acquire", lock);
    absl::StatusOr<Grant> grant =
        session.acquire(lock, {.timeout = caller_.below(4) == 0 ? 0s : kCallMax, .owner = caller_.name(), .sticky = sticky});
    scribe_.end(call, grant.status(), grant.ok() ? json{{"token", grant->token().value()}} : json());
    if (!grant.ok()) return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(caller_.below(kHoldMax.count()));
    do {
      const int64_t now = support::machine_time_ns();
      if (check_ && !grant->valid()) return;
      scribe_.trusted(call, now);
      std::this_thread::sleep_for(std::chrono::milliseconds(1 + caller_.below(4)));
    } while (std::chrono::steady_clock::now() < until);
    if (caller_.below(4) == 0) return;  // released, and nobody waits for it
    // A local hold's release is answered here (S-58), also once its session is not valid any more. Such an OK says that the
    // hold is over, not that it lasted until now.
    if (check_ && sticky && !grant->valid()) return;
    const uint64_t release = begin("release", lock, {{"token", grant->token().value()}});
    scribe_.end(release, grant->release());
  }

  Service& service_;
  const std::shared_ptr<CommonSession> sessions_;
  Scribe& scribe_;
  Caller caller_;
  const bool check_;
};

class HistoryNode {
  static constexpr int kRefused = 3;  // exit status: the directory was not opened

 public:
  explicit HistoryNode(const HistoryNodeOptions& options) : options_(options), scribe_(options.file) {}

  int run() {
    if (const absl::Status opened = options_.gateways.empty() ? open_replica() : open_remote(); !opened.ok()) {
      report_("refused", {{"what", "open: " + opened.ToString()}});
      return kRefused;
    }
    begin_callers();
    callers_.emplace_back([this] { report_health(); });
    for (std::string line; std::getline(std::cin, line);) obey(line);
    over_ = true;
    const absl::Status closed = service_->close();  // ends what callers wait for
    for (std::thread& caller : callers_) caller.join();
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
    auto remote =
        Remote::open({.cluster = "history", .gateways = options_.gateways, .security = PlainText{}, .silence = kRemoteSilence});
    if (!remote.ok()) return remote.status();
    remote_ = *std::move(remote);
    service_ = remote_.get();
    return absl::OkStatus();
  }

  ReplicaOptions replica_options() {
    ReplicaOptions options{.id = static_cast<uint64_t>(options_.id), .cluster = "history", .data_dir = options_.data_dir};
    for (size_t i = 0; i < options_.addresses.size(); ++i) options.members.push_back({i + 1, options_.addresses[i]});
    options.listen = options_.listen;
    if (!options_.remotes.empty()) options.remotes = {.listen = options_.remotes, .security = PlainText{}};
    if (!options_.doors.empty()) options.parts.transport = through_doors(options_.doors);
    options.security = PlainText{};
    options.election_timeout = 200ms;
    options.heartbeat_interval = 40ms;
    options.leader_leases = true;
    options.segment_bytes = 256 << 10;  // so that logs are cut, and members that were away get a state
    options.checkpoint_entries = 500;
    options.log_retained_bytes = 256 << 10;
    options.digest_entries = 128;
    options.on_event = [this](const ReplicaEvent& event) {
      if (event.severity < Severity::Warning) return;
      report_("told", {{"kind", std::string(name_of(event.kind))},
                       {"severity", std::string(name_of(event.severity))},
                       {"sentence", event.sentence}});
    };
    return options;
  }

  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    uint64_t target = 0;
    words >> what >> target;
    if (what != "transfer" || !replica_) return;
    replica_->transfer_leadership_async(target, kCallMax, [this](const absl::Status& status) {
      report_("transferred", {{"ok", status.ok()}, {"sentence", status.ToString()}});
    });
  }

  void begin_callers() {
    int number = 0;
    const auto sessions = std::make_shared<CommonSession>(*service_);
    for (int i = 0; i < 2; ++i) {
      auto keys = std::make_shared<KeyCaller>(*service_, scribe_, Caller(options_, ++number));
      auto locks = std::make_shared<LockCaller>(*service_, sessions, scribe_, Caller(options_, ++number), options_.check);
      callers_.emplace_back([this, keys] { keep_calling([&] { keys->call_once(); }); });
      callers_.emplace_back([this, locks] { keep_calling([&] { locks->call_once(); }); });
    }
    callers_.emplace_back([this] { watch(); });
  }

  void keep_calling(const std::function<void()>& call_once) {
    while (!over_) {
      call_once();
      std::this_thread::sleep_for(1ms);
    }
  }

  void watch() {
    Watch watch(*service_, WatchOptions::prefix("key-"));
    while (!over_) {
      const absl::StatusOr<WatchBatch> batch = watch.next(500ms);
      if (!batch.ok() && !over_ && reason_of(batch.status()) != Reason::CallTimeout) fail("watch", batch.status());
      if (!batch.ok() || batch->what != WatchBatch::What::Events) continue;
      for (const WatchEvent& event : batch->events) scribe_.changed(event);
    }
  }

  void report_health() {
    while (!over_) {
      const Health health = service_->health();
      report_("health", {{"leads", health.role == raft::Role::Leader},
                         {"leader", health.leader.value()},
                         {"term", health.term.value()},
                         {"state", std::string(name_of(health.state))},
                         {"answered", scribe_.answered()}});
      std::this_thread::sleep_for(50ms);
    }
  }

  // Not an "error", which would end the experiment: whether it may be is for the conductor to say.
  int fail(const std::string& what, const absl::Status& status) {
    report_("failed", {{"what", what + ": " + status.ToString()}});
    return 1;
  }

  const HistoryNodeOptions options_;
  support::Reporter report_;
  Scribe scribe_;
  std::atomic<bool> over_{false};
  std::unique_ptr<Replica> replica_;  // one of these two
  std::unique_ptr<Remote> remote_;
  Service* service_ = nullptr;  // it
  std::vector<std::thread> callers_;
};

}  // namespace

int run_history_node(const HistoryNodeOptions& options) { return HistoryNode(options).run(); }

}  // namespace coordkit::experiment
