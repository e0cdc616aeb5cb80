#include "coordkit/testing/fake_session.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "coordkit/coordination_machine.h"
#include "coordkit/storage/memory_stores.h"
#include "coordkit/store_events.h"
#include "machine/command.h"
#include "replica/resumed_handles.h"
#include "replica/session_handle.h"
#include "replica/waiting.h"
#include "testing/scripted_engine.h"

namespace coordkit::testing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ReplicaId kSelf{1};
constexpr Duration kPatience = hours(1);
// For another client's session: a TTL class of its own, so that the renewals of the process under test never name it.
constexpr Duration kOthersTtl = hours(24 * 365) + Duration(1);
constexpr Duration kElection = milliseconds(500);
constexpr int kTurnsAtOnceMax = 100'000;  // without time passing
constexpr char kOthersSecret[] = "somebody else's secret";

EngineOptions engine_options(uint64_t start) {
  EngineOptions options;
  options.raft.self = kSelf;
  options.raft.election_timeout = milliseconds(300);
  options.raft.heartbeat_interval = milliseconds(60);
  options.raft.seed = 1;
  options.members = {{kSelf, "here"}};
  options.new_cluster = ClusterId(1);
  options.token_base = uint64_t{1} << 31;
  options.start = start;
  return options;
}

template <typename T>
T opened(absl::StatusOr<T> value, const char* what) {
  COORDKIT_CHECK_MSG(value.ok(), std::string(what) + ": " + value.status().ToString());
  return *std::move(value);
}

}  // namespace

// The host of the fake: turns run inside the call that needs something, until nothing more is due at this time.
class FakeService::Rep final : public CallRunner, public Clock, private StoreEvents {
 public:
  Rep();
  ~Rep() override { stop(); }

  // CallRunner, Clock
  void call(Call call) override;
  bool on_engine_thread() const override { return in_turn_; }
  const Clock& clock() const override { return *this; }
  std::string owner_tag() override { return "owner-" + std::to_string(++owners_); }
  void before_waiting(absl::FunctionRef<bool()> answered) override;
  Now now() const noexcept override { return now_; }

  void run_until_idle();
  void advance(Duration by);
  void pause(Duration by);
  void at(Duration when, std::function<void()> act) { script_.emplace(std::max(when, elapsed()), std::move(act)); }
  Duration elapsed() const { return now_.lagging - began_; }
  void stop();
  bool stopped() const { return stopped_; }
  ScriptedEngine& engine() { return *engine_; }

  void restart();
  void command(const machine::Request& request, std::function<void(const machine::Result&)> done);
  void take(const std::string& lock, LockMode mode);
  bool has(const std::string& lock) const;
  void give_back(const std::string& lock);
  void outage();
  void recover();
  void change_leader();

 private:
  void post_event(EngineInput input) override { engine_->post(std::move(input)); }

  void boot();
  void acquire_for_other(const std::string& lock, LockMode mode);
  void one_turn();
  void carry_out();
  void run_callbacks();
  void jump(Duration by);
  std::optional<Duration> next_event() const;  // from now; nullopt: nothing is awaited
  bool step(Duration at_most);                 // to the next event unless it is further away
  void own_completion(const Completion& completion);

  LaggingTime began_{hours(1)};
  Now now_{began_, LeadingTime(hours(2))};
  MemoryLogStore log_{StoreId(1)};
  MemoryStateStore state_;
  std::unique_ptr<ScriptedEngine> engine_;
  std::unique_ptr<Client> client_;
  EngineEffects effects_;
  std::vector<Call> calls_;
  std::deque<absl::AnyInvocable<void()>> callbacks_;
  std::multimap<Duration, std::function<void()>> script_;
  bool in_turn_ = false;
  bool paused_ = false;  // the client; its replica, which stands for a remote cluster, is not
  bool stopped_ = false;
  uint64_t outages_ = 0;
  uint64_t owners_ = 0;
  uint64_t boots_ = 0;
  uint64_t secrets_ = 0;

  uint64_t last_ticket_ = 0;
  std::map<Ticket, std::function<void(const machine::Result&)>> commands_;
  SessionId other_;  // another client's session
  struct Wanted {
    LockMode mode = LockMode::Exclusive;
    Token token;  // zero: waits
  };
  std::map<std::string, Wanted> others_;  // what it holds or waits for
};

FakeService::Rep::Rep() {
  boot();
  began_ = now_.lagging;
  command({machine::OpenSession{.ttl = kOthersTtl,
                                .node = engine_->self(),
                                .boot = engine_->boot(),
                                .incarnation = engine_->store().value(),
                                .secret = lease::hash_of_secret(kOthersSecret)},
           {}},
          [this](const machine::Result& result) { other_ = result.session; });
}

// The replica and its client start from what is on the disk.
void FakeService::Rep::boot() {
  RecoveredLog recovered = opened(log_.open(*this), "the fake's log");
  opened(state_.open(*this), "the fake's state");
  std::vector<HostedMachine> machines;
  machines.push_back(coordination_machine());
  auto engine = opened(Engine::recover(engine_options(++boots_), std::move(machines), std::move(recovered),
                                       *opened(state_.view(), "the fake's state"), now_),
                       "the fake's engine");
  engine_ =
      std::make_unique<ScriptedEngine>(std::move(engine), *this, [this](const Completion& done) { own_completion(done); });
  ClientOptions options;
  options.notify = [this](absl::AnyInvocable<void()> task) { callbacks_.push_back(std::move(task)); };
  options.draw_secret = [this] { return "secret number " + std::to_string(++secrets_); };
  client_ = std::make_unique<Client>(*engine_, std::move(options));
  engine_->stir();
  const LaggingTime patience = now_.lagging + seconds(60);
  while (engine_->status().state != ReplicaState::Ready) {
    COORDKIT_CHECK_MSG(now_.lagging < patience, "the fake's replica does not come up");
    advance(milliseconds(100));
  }
}

// A crash: nothing is closed or released. The other client's holds continue; its waiters queue again.
void FakeService::Rep::restart() {
  COORDKIT_CHECK_MSG(!in_turn_ && !stopped_, "the process under test cannot restart inside a callback of its own");
  run_until_idle();
  const bool was_cut = engine_->is_cut();
  const bool had_leader = engine_->has_leader();
  client_->stop();
  for (Call& call : std::exchange(calls_, {})) std::move(call)(*client_);
  run_callbacks();
  client_.reset();
  engine_.reset();
  log_.close();
  state_.close();
  commands_.clear();
  boot();
  machine::ResumeSession resume{.id = other_, .secret = kOthersSecret, .previous_is_gone = true};
  command({std::move(resume), {}}, [this](const machine::Result&) {
    for (const auto& [lock, wanted] : others_) {
      if (!wanted.token) acquire_for_other(lock, wanted.mode);
    }
  });
  if (was_cut) engine_->cut();
  if (!had_leader) engine_->lose_leader();
}

void FakeService::Rep::stop() {
  if (std::exchange(stopped_, true)) return;
  client_->stop();
  run_callbacks();
}

void FakeService::Rep::call(Call call) {
  if (stopped_) return std::move(call)(*client_);  // answers Closed
  calls_.push_back(std::move(call));
  if (!in_turn_) run_until_idle();
}

// ---- turns

void FakeService::Rep::run_until_idle() {
  if (stopped_) return;
  const auto wanted = [this] {
    return (!calls_.empty() && !paused_) || engine_->restless() || next_event() == Duration::zero();
  };
  for (int turns = 0; wanted(); ++turns) {
    COORDKIT_CHECK_MSG(turns < kTurnsAtOnceMax, "the fake does not come to rest: does a callback call again for ever?");
    one_turn();
    run_callbacks();
    if (stopped_) return;
  }
}

void FakeService::Rep::one_turn() {
  while (!script_.empty() && script_.begin()->first <= elapsed()) {
    auto act = script_.extract(script_.begin());
    act.mapped()();
  }
  in_turn_ = true;
  if (!paused_) {
    for (Call& call : std::exchange(calls_, {})) std::move(call)(*client_);
    client_->before_turn(now_);
  }
  engine_->turn(now_, effects_);
  if (!paused_) client_->after_turn(now_, effects_);
  carry_out();
  in_turn_ = false;
}

void FakeService::Rep::carry_out() {
  for (LogWrite& write : effects_.writes) log_.submit(std::move(write));
  for (const raft::ReadRequest& read : effects_.log_reads) log_.read(read.first, read.last, read.bytes_max);
  if (effects_.checkpoint) state_.commit(*std::move(effects_.checkpoint));
  if (effects_.compact) log_.compact(*effects_.compact);
  COORDKIT_CHECK_MSG(!effects_.halted, "the fake's replica halted: " + effects_.halted->ToString());
}

void FakeService::Rep::run_callbacks() {
  while (!callbacks_.empty() && !paused_) {
    absl::AnyInvocable<void()> task = std::move(callbacks_.front());
    callbacks_.pop_front();
    std::move(task)();
  }
}

// ---- time

std::optional<Duration> FakeService::Rep::next_event() const {
  Duration next = paused_ ? Duration::max() : client_->next_turn(now_);
  if (const LaggingTime due = engine_->next_deadline(); due != LaggingTime::max()) next = std::min(next, due - now_.lagging);
  if (!script_.empty()) next = std::min(next, script_.begin()->first - elapsed());
  if (next == Duration::max()) return std::nullopt;
  return std::max(next, Duration::zero());
}

void FakeService::Rep::jump(Duration by) {
  now_.lagging += by;
  now_.leading += by;
}

bool FakeService::Rep::step(Duration at_most) {
  const std::optional<Duration> next = next_event();
  if (!next || *next > at_most) return false;
  jump(*next);
  run_until_idle();
  return true;
}

void FakeService::Rep::advance(Duration by) {
  const LaggingTime end = now_.lagging + by;
  run_until_idle();
  while (!stopped_ && now_.lagging < end && step(end - now_.lagging)) {
  }
  if (now_.lagging < end) jump(end - now_.lagging);
  run_until_idle();
}

// The cluster continues and its messages wait on the link; this process reads none before the next turn.
void FakeService::Rep::pause(Duration by) {
  const bool was_cut = engine_->is_cut();
  engine_->cut();
  paused_ = true;
  advance(by);
  paused_ = false;
  if (!was_cut) engine_->mend();
}

void FakeService::Rep::before_waiting(absl::FunctionRef<bool()> answered) {
  const LaggingTime end = now_.lagging + kPatience;
  run_until_idle();
  while (!answered()) {
    COORDKIT_CHECK_MSG(now_.lagging < end && step(end - now_.lagging),
                       "a call waits for something that nothing in the test brings about; script it with at() before the call, "
                       "or give the call a timeout");
  }
}

// ---- commands of other clients

void FakeService::Rep::command(const machine::Request& request, std::function<void(const machine::Result&)> done) {
  const Ticket ticket(++last_ticket_);
  commands_[ticket] = std::move(done);
  engine_->inner().post(
      Submit{.ticket = ticket, .command = SharedBytes(machine::encode(request)), .deadline = LaggingTime::max()});
  engine_->stir();
  if (!in_turn_) run_until_idle();
}

void FakeService::Rep::own_completion(const Completion& completion) {
  const auto command = commands_.find(completion.ticket);
  if (command == commands_.end()) return;
  const absl::StatusOr<machine::Result> result = machine::decode_result(completion.bytes.view());
  COORDKIT_CHECK_MSG(completion.status.ok() && result.ok(), "a command of the fake fails: " + completion.status.ToString());
  if (completion.stage != ApplyOutput::Stage::Final) return;
  const auto done = std::move(command->second);
  commands_.erase(command);
  done(*result);
}

void FakeService::Rep::take(const std::string& lock, LockMode mode) {
  if (others_.emplace(lock, Wanted{.mode = mode, .token = {}}).second) acquire_for_other(lock, mode);
}

void FakeService::Rep::acquire_for_other(const std::string& lock, LockMode mode) {
  machine::Acquire acquire{.session = other_, .name = lock, .wait = machine::Wait::forever(), .mode = mode};
  command({std::move(acquire), {}}, [this, lock](const machine::Result& result) {
    const auto wanted = others_.find(lock);
    if (result.code == machine::ResultCode::Granted && wanted != others_.end()) {
      wanted->second.token = result.token;
    } else if (result.code == machine::ResultCode::Granted) {  // no longer wanted
      command({machine::Release{.session = other_, .name = lock, .token = result.token}, {}}, [](const machine::Result&) {});
    }
  });
}

bool FakeService::Rep::has(const std::string& lock) const {
  const auto held = others_.find(lock);
  return held != others_.end() && held->second.token;
}

void FakeService::Rep::give_back(const std::string& lock) {
  const auto held = others_.extract(lock);
  if (held.empty() || !held.mapped().token) return;
  command({machine::Release{.session = other_, .name = lock, .token = held.mapped().token}, {}}, [](const machine::Result&) {});
}

// ---- the cluster

void FakeService::Rep::outage() {
  ++outages_;
  engine_->lose_leader();
}

void FakeService::Rep::recover() {
  engine_->find_leader();
  if (!in_turn_) run_until_idle();
}

void FakeService::Rep::change_leader() {
  outage();
  at(elapsed() + kElection, [this, mine = outages_] {
    if (outages_ == mine) engine_->find_leader();
  });
}

// ---- the service

FakeService::FakeService() : rep_(std::make_shared<Rep>()) {}
FakeService::~FakeService() { rep_->stop(); }

absl::StatusOr<Session> FakeService::try_open_session(SessionOptions options) {
  const LaggingTime deadline = rep_->now().lagging + options.timeout;
  absl::StatusOr<SessionRef> state =
      wait_for<SessionRef>(*rep_, [options = std::move(options), deadline](Client& client, Callback<SessionRef> done) mutable {
        client.open_session({.ttl = options.ttl,
                             .metadata = std::move(options.metadata),
                             .deadline = deadline,
                             .on_phase = std::move(options.on_phase),
                             .give_up = options.give_up},
                            std::move(done));
      });
  if (!state.ok()) return state.status();
  return Session(std::make_shared<SessionHandle>(rep_, *std::move(state)));
}

Session FakeService::open_session(SessionOptions options) {
  return opened(try_open_session(std::move(options)), "FakeService::open_session");
}

absl::StatusOr<Resumed> FakeService::resume_session(SessionId session, std::string secret, ResumeSessionOptions options) {
  const LaggingTime deadline = rep_->now().lagging + options.timeout;
  absl::StatusOr<ResumedSession> resumed =
      wait_for<ResumedSession>(*rep_, [session, secret = std::move(secret), options = std::move(options), deadline](
                                          Client& client, Callback<ResumedSession> done) mutable {
        client.resume_session(session, std::move(secret),
                              {.deadline = deadline,
                               .on_phase = std::move(options.on_phase),
                               .previous_is_gone = options.previous_is_gone,
                               .give_up = options.give_up},
                              std::move(done));
      });
  if (!resumed.ok()) return resumed.status();
  return handles_of(rep_, *std::move(resumed));
}

void FakeService::restart() { rep_->restart(); }

Duration FakeService::now() const { return rep_->elapsed(); }
void FakeService::advance(Duration by) { rep_->advance(by); }
void FakeService::at(Duration when, std::function<void()> act) { rep_->at(when, std::move(act)); }
void FakeService::pause(Duration by) { rep_->pause(by); }
void FakeService::cut_off() { rep_->engine().cut(); }
void FakeService::mend() {
  rep_->engine().mend();
  if (!rep_->on_engine_thread()) rep_->run_until_idle();
}
void FakeService::slow(Duration by) { rep_->engine().slow(by); }
void FakeService::change_leader() { rep_->change_leader(); }
void FakeService::outage() { rep_->outage(); }
void FakeService::recover() { rep_->recover(); }
void FakeService::lose(const Session& session) {
  rep_->command({machine::CloseSession{session.id()}, {}}, [](const machine::Result&) {});
}
void FakeService::kill(const Session& session) {
  rep_->command({machine::KillSession{session.id()}, {}}, [](const machine::Result&) {});
}
void FakeService::refuse_next_acquire(Reason reason) {
  rep_->engine().refuse_next_acquire(make_error(reason, "scripted: " + std::string(name_of(reason))));
}
void FakeService::take(const std::string& lock, LockMode mode) { rep_->take(lock, mode); }
bool FakeService::has(const std::string& lock) const { return rep_->has(lock); }
void FakeService::give_back(const std::string& lock) { rep_->give_back(lock); }

}  // namespace coordkit::testing
