#include "coordkit/testing/fake_session.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "coordkit/store_events.h"
#include "machine/command.h"
#include "replica/resumed_handles.h"
#include "replica/session_handle.h"
#include "replica/waiting.h"
#include "testing/fake_clock.h"
#include "testing/fake_disk.h"
#include "testing/fake_process.h"
#include "testing/opened.h"
#include "testing/other_client.h"
#include "testing/scripted_engine.h"

namespace coordkit::testkit {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPatience = hours(1);
constexpr Duration kElection = milliseconds(500);
constexpr int kTurnsAtOnceMax = 100'000;  // without time passing

}  // namespace

// The host of the fake: turns run inside the call that needs something, until nothing more is due at this time.
class FakeService::Rep final : public CallRunner, private StoreEvents {
 public:
  Rep();
  ~Rep() override { stop(); }

  // CallRunner
  void call(Call call) override;
  bool on_engine_thread() const override { return in_turn_; }
  const Clock& clock() const override { return clock_; }
  void before_waiting(absl::FunctionRef<bool()> answered) override;

  void run_until_idle();
  void advance(Duration by);
  void pause(Duration by);
  void at(Duration when, std::function<void()> act) { script_.emplace(std::max(when, elapsed()), std::move(act)); }
  Duration elapsed() const { return clock_.elapsed(); }
  void restart();
  void stop() { process_.stop(); }

  ScriptedEngine& engine() { return *engine_; }
  OtherClient& other() { return other_; }
  void outage();
  void recover();
  void change_leader();

 private:
  void post_event(EngineInput input) override { engine_->post(std::move(input)); }
  void submit(Submit command);

  void boot();
  void one_turn();
  std::optional<Duration> next_event() const;  // from now; nullopt: nothing is awaited
  bool step(Duration at_most);                 // to the next event unless it is further away

  FakeClock clock_;
  FakeDisk disk_;
  std::unique_ptr<ScriptedEngine> engine_;
  FakeProcess process_;  // what it is connected with stands for a remote cluster, and is not paused with it
  OtherClient other_{[this](Submit command) { submit(std::move(command)); }};
  EngineEffects effects_;
  std::multimap<Duration, std::function<void()>> script_;
  bool in_turn_ = false;
  uint64_t outages_ = 0;
};

FakeService::Rep::Rep() {
  boot();
  clock_.begin();
  other_.open_session(*engine_);
}

// The replica and its client start from what is on the disk.
void FakeService::Rep::boot() {
  engine_ = std::make_unique<ScriptedEngine>(disk_.start_replica(*this, clock_.now()), clock_,
                                             [this](const Completion& done) { other_.completed(done); });
  process_.start(*engine_);
  engine_->stir();
  const LaggingTime patience = clock_.now().lagging + seconds(60);
  while (engine_->status().state != ReplicaState::Ready) {
    COORDKIT_CHECK_MSG(clock_.now().lagging < patience, "the fake's replica does not come up");
    advance(milliseconds(100));
  }
}

void FakeService::Rep::restart() {
  COORDKIT_CHECK_MSG(!in_turn_ && !process_.stopped(), "the process under test cannot restart inside a callback of its own");
  run_until_idle();
  const bool was_cut = engine_->is_cut();
  const bool had_leader = engine_->has_leader();
  process_.crash();
  engine_.reset();
  disk_.close();
  other_.replica_crashed();
  boot();
  other_.resume_session();
  if (was_cut) engine_->cut();
  if (!had_leader) engine_->lose_leader();
}

void FakeService::Rep::call(Call call) {
  process_.call(std::move(call));
  if (!in_turn_) run_until_idle();
}

// Straight to the replica.
void FakeService::Rep::submit(Submit command) {
  engine_->inner().post(std::move(command));
  engine_->stir();
  if (!in_turn_) run_until_idle();
}

// ---- turns

void FakeService::Rep::run_until_idle() {
  if (process_.stopped()) return;
  const auto wanted = [this] { return process_.has_calls() || engine_->restless() || next_event() == Duration::zero(); };
  for (int turns = 0; wanted(); ++turns) {
    COORDKIT_CHECK_MSG(turns < kTurnsAtOnceMax, "the fake does not come to rest: does a callback call again for ever?");
    one_turn();
    process_.run_callbacks();
    if (process_.stopped()) return;
  }
}

void FakeService::Rep::one_turn() {
  while (!script_.empty() && script_.begin()->first <= elapsed()) {
    auto act = script_.extract(script_.begin());
    act.mapped()();
  }
  in_turn_ = true;
  process_.before_turn(clock_.now());
  engine_->turn(clock_.now(), effects_);
  process_.after_turn(clock_.now(), effects_);
  disk_.carry_out(effects_);
  in_turn_ = false;
}

// ---- time

std::optional<Duration> FakeService::Rep::next_event() const {
  Duration next = process_.next_turn(clock_.now());
  if (const LaggingTime due = engine_->next_deadline(); due != LaggingTime::max()) {
    next = std::min(next, due - clock_.now().lagging);
  }
  if (!script_.empty()) next = std::min(next, script_.begin()->first - elapsed());
  if (next == Duration::max()) return std::nullopt;
  return std::max(next, Duration::zero());
}

bool FakeService::Rep::step(Duration at_most) {
  const std::optional<Duration> next = next_event();
  if (!next || *next > at_most) return false;
  clock_.pass(*next);
  run_until_idle();
  return true;
}

void FakeService::Rep::advance(Duration by) {
  const LaggingTime end = clock_.now().lagging + by;
  run_until_idle();
  while (!process_.stopped() && clock_.now().lagging < end && step(end - clock_.now().lagging)) {
  }
  if (clock_.now().lagging < end) clock_.pass(end - clock_.now().lagging);
  run_until_idle();
}

// The cluster continues and its messages wait on the link; this process reads none before the next turn.
void FakeService::Rep::pause(Duration by) {
  const bool was_cut = engine_->is_cut();
  engine_->cut();
  process_.pause();
  advance(by);
  process_.resume();
  if (!was_cut) engine_->mend();
}

void FakeService::Rep::before_waiting(absl::FunctionRef<bool()> answered) {
  const LaggingTime end = clock_.now().lagging + kPatience;
  run_until_idle();
  while (!answered()) {
    COORDKIT_CHECK_MSG(clock_.now().lagging < end && step(end - clock_.now().lagging),
                       "a call waits for something that nothing in the test brings about; script it with at() before the call, "
                       "or give the call a timeout");
  }
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
  const LaggingTime deadline = rep_->deadline(options.timeout);
  Phases phases(options.on_phase);
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
  return Session(make_ref<SessionHandle>(rep_, *std::move(state), std::move(phases)));
}

Session FakeService::open_session(SessionOptions options) {
  return opened(try_open_session(std::move(options)), "FakeService::open_session");
}

absl::StatusOr<Resumed> FakeService::resume_session(SessionId session, std::string secret, ResumeSessionOptions options) {
  const LaggingTime deadline = rep_->deadline(options.timeout);
  Phases phases(options.on_phase);
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
  return handles_of(rep_, *std::move(resumed), std::move(phases));
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
void FakeService::lose(const Session& session) { rep_->other().command({machine::CloseSession{session.id()}, {}}); }
void FakeService::kill(const Session& session) { rep_->other().command({machine::KillSession{session.id()}, {}}); }
void FakeService::refuse_next_acquire(Reason reason) {
  rep_->engine().refuse_next_acquire(make_error(reason, "scripted: " + std::string(name_of(reason))));
}
void FakeService::take(const std::string& lock, LockMode mode) { rep_->other().take(lock, mode); }
bool FakeService::has(const std::string& lock) const { return rep_->other().has(lock); }
void FakeService::give_back(const std::string& lock) { rep_->other().give_back(lock); }

}  // namespace coordkit::testkit
