#include "coordkit/testing/fake_session.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "coordkit/ports/store_events.h"
#include "machine/command.h"
#include "replica/shell/replica_calls.h"
#include "service/calls/waiting.h"
#include "service/objects/object_access.h"
#include "service/shell/host.h"
#include "testing/fake_clock.h"
#include "testing/fake_disk.h"
#include "testing/fake_health.h"
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

// The host of the fake. Turns run inside the call that needs a result, until nothing more is due at this time.
class FakeService::Rep final : public Host, public ReplicaCalls, private StoreEvents {
 public:
  Rep();
  ~Rep() override { stop(); }

  // CallRunner
  void call(Call call) override;
  bool on_engine_thread() const override { return in_turn_; }
  const Clock& clock() const override { return clock_; }
  bool wait_here(absl::FunctionRef<bool()> answered, LaggingTime deadline) override;

  // Host
  void announce(absl::AnyInvocable<void()> task) override;
  void later(Duration delay, absl::AnyInvocable<void()> act) override;
  Duration retry_after() const override { return kElection; }
  Ticket change_members(const MembershipChange&, MembershipOptions, Callback<Index> done) override;
  Ticket transfer_leadership(std::optional<uint64_t>, Duration, DoneCallback done) override;
  FakeHealth& health() override { return health_; }
  absl::Status scrub_now(absl::FunctionRef<bool()>) override { return absl::OkStatus(); }
  absl::StatusOr<BackupInfo> backup(const std::string&, LiveBackupOptions) override { return not_here("a backup"); }
  absl::Status reload_tls() override { return not_here("TLS"); }
  absl::Status close() override;
  void close_async(std::shared_ptr<Host>, DoneCallback done) override;
  void end(std::shared_ptr<Host>) override {}

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
  static absl::Status not_here(const std::string& what);
  void post_event(EngineInput input) override { engine_->post(std::move(input)); }
  void submit(Submit command);

  void boot();
  void one_turn();
  std::optional<Duration> next_event() const;  // from now; nullopt: nothing is awaited
  bool step(Duration at_most);                 // to the next event unless it is further away

  FakeClock clock_;
  FakeDisk disk_;
  std::unique_ptr<ScriptedEngine> engine_;
  FakeProcess process_;  // its peers are a remote cluster, and are not paused with it
  FakeHealth health_{*this, process_, engine_};
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

// Starts the replica and its client from the contents of the disk.
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

// Goes straight to the replica.
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

// The cluster continues and its messages wait on the link. This process reads none before the next turn.
void FakeService::Rep::pause(Duration by) {
  const bool was_cut = engine_->is_cut();
  engine_->cut();
  process_.pause();
  advance(by);
  process_.resume();
  if (!was_cut) engine_->mend();
}

// A wait with a deadline may be in vain: then the time until the deadline passes. A wait without one would never end.
bool FakeService::Rep::wait_here(absl::FunctionRef<bool()> answered, LaggingTime deadline) {
  const LaggingTime end = deadline == LaggingTime::max() ? clock_.now().lagging + kPatience : deadline;
  run_until_idle();
  while (!answered()) {
    const Duration left = end - clock_.now().lagging;
    if (deadline != LaggingTime::max() && left <= Duration::zero()) break;
    if (left > Duration::zero() && step(left)) continue;
    COORDKIT_CHECK_MSG(deadline != LaggingTime::max(),
                       "a call waits for something that nothing in the test brings about; script it with at() before the call, "
                       "or give the call a timeout");
    clock_.pass(left);
    run_until_idle();
  }
  return true;
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

// ---- the replica for the code under test

absl::Status FakeService::Rep::not_here(const std::string& what) {
  return make_error(Reason::Unsupported, "the fake has no " + what + ": try it with replicas, or in the simulator");
}

void FakeService::Rep::announce(absl::AnyInvocable<void()> task) {
  process_.announce(std::move(task));
  if (!in_turn_) process_.run_callbacks();
}

void FakeService::Rep::later(Duration delay, absl::AnyInvocable<void()> act) { process_.at(deadline(delay), std::move(act)); }

Ticket FakeService::Rep::change_members(const MembershipChange&, MembershipOptions, Callback<Index> done) {
  std::move(done)(not_here("change of members"));
  return {};
}

Ticket FakeService::Rep::transfer_leadership(std::optional<uint64_t>, Duration, DoneCallback done) {
  std::move(done)(not_here("transfer of leadership"));
  return {};
}

absl::Status FakeService::Rep::close() {
  if (in_turn_) return would_wait_for_itself();
  stop();
  return absl::OkStatus();
}

void FakeService::Rep::close_async(std::shared_ptr<Host>, DoneCallback done) {
  announce([this, done = std::move(done)]() mutable { tell(std::move(done), close()); });
}

// ---- the service

FakeService::FakeService() : rep_(std::make_shared<Rep>()), replica_(ReplicaAccess::new_replica(rep_, *rep_)) {}
FakeService::~FakeService() { rep_->stop(); }

Replica& FakeService::replica() { return *replica_; }

absl::StatusOr<Session> FakeService::try_open_session(SessionOptions options) {
  return replica_->open_session(std::move(options));
}

Session FakeService::open_session(SessionOptions options) {
  return opened(try_open_session(std::move(options)), "FakeService::open_session");
}

absl::StatusOr<Resumed> FakeService::resume_session(SessionId session, std::string secret, ResumeSessionOptions options) {
  return replica_->resume_session(session, std::move(secret), std::move(options));
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
