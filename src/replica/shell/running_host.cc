#include "replica/shell/running_host.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/check.h"
#include "replica/calls/waiting.h"
#include "replica/shell/opening.h"

namespace coordkit {
namespace {

// Then the network gets its share of the thread.
constexpr int kTurnsAtOnce = 16;
constexpr Duration kTurnsLast = std::chrono::milliseconds(2);   // only a long turn takes more
constexpr Duration kHaltAgain = std::chrono::milliseconds(10);  // after a round that threw

bool has_stopped(ReplicaState state) { return state == ReplicaState::Halted || state == ReplicaState::Quarantine; }

// 128 bits from the kernel, as digits that can be kept in any file or variable.
std::string random_secret() {
  uint8_t bits[16];
  COORDKIT_CHECK_MSG(::getentropy(bits, sizeof bits) == 0, "the kernel gives no random bits");
  std::string secret;
  secret.reserve(2 * sizeof bits);
  for (const uint8_t byte : bits) {
    secret += "0123456789abcdef"[byte >> 4];
    secret += "0123456789abcdef"[byte & 15];
  }
  return secret;
}

}  // namespace

RunningHost::RunningHost(ReplicaOptions options, std::shared_ptr<OwnThread> own_thread,
                         std::shared_ptr<DataDirectory> directory, MadeParts parts)
    : options_(std::move(options)),
      clock_(options_.parts.clock != nullptr ? *options_.parts.clock : system_clock()),
      own_thread_(std::move(own_thread)),
      loop_(
          own_thread_ ? own_thread_ : options_.parts.executor, [this] { return run_turns(); },
          [this](const absl::Status& why) { announcements_->host_threw(why); }, clock_,
          own_thread_ ? TurnLoop::Elsewhere::Never : TurnLoop::Elsewhere::Thread),
      arrivals_(loop_),
      callback_calls_(loop_, arrivals_.admission()),
      hold_ups_(loop_, clock_, options_.election_timeout),
      closing_(loop_),
      stores_(std::move(directory), std::move(parts.log), std::move(parts.state), own_thread_.get()),
      peers_(std::move(parts.transport), parts.tcp, std::move(parts.channels)),
      health_(*this, loop_, options_.election_timeout, hold_ups_) {}

RunningHost::~RunningHost() { close().IgnoreError(); }

void RunningHost::start(std::unique_ptr<Engine> engine) {
  // Within `catch (...)`, in the one place of each thread where what was not expected ends.
  const auto fail = [this] { arrivals_.fail(arrivals_.last_words().caught()); };
  announcements_.emplace(
      options_, clock_,
      [this](const absl::Status& why) { arrivals_.post(Call([this, why](Client&) { turns_->threw(why, clock_.lagging()); })); },
      fail);
  stores_.start([this] { return make_machines(options_.machines); },
                {.every = options_.scrub_every, .bytes_per_second = options_.scrub_bytes_per_second},
                [this](EngineInput input) { arrivals_.post(std::move(input)); }, fail, [this] { send_released(); });
  turns_.emplace(std::move(engine),
                 ClientOptions{.election_timeout = options_.election_timeout,
                               .rate_error_ppm = options_.rate_error_ppm,
                               .sticky = options_.sticky,
                               .compaction = options_.compaction,
                               .notify = [this](absl::AnyInvocable<void()> task) { announce(std::move(task)); },
                               .draw_secret = random_secret,
                               .watch = &announcements_->deadlines()},
                 !options_.parts.transport);
  if (options_.on_event) {  // from here on the host's code runs
    turns_->report_events(
        options_.election_timeout, agreement_of(options_), [this](const ReplicaEvent& event) { announcements_->tell(event); },
        clock_.lagging());
  }
  health_.publish(report());
  announcements_->tell(turns_->engine().leadership());
  if (own_thread_) {
    own_thread_->on_throw(fail);
    own_thread_->start();
  }
  loop_.begin();  // close() waits for what has begun, so its thread exists
}

absl::Status RunningHost::open_admin() {
  if (options_.admin_socket.empty()) return absl::OkStatus();
  auto admin = AdminSocket::open(shared_from_this(), {options_.id, options_.cluster}, options_.admin_socket);
  if (!admin.ok()) return admin.status();
  admin_ = *std::move(admin);
  return absl::OkStatus();
}

void RunningHost::later(Duration delay, absl::AnyInvocable<void()> act) {
  Executor& executor = own_thread_ ? *own_thread_ : *options_.parts.executor;
  executor.post_after(delay, [weak = weak_from_this(), id = turns_->postpone(std::move(act))] {
    const auto host = weak.lock();
    if (host) host->arrivals_.post(Call([&turns = *host->turns_, id](Client&) { turns.run_postponed(id); }));
  });
}

// ---- calls

// A call that comes too late is returned, and run on the stopped client if somebody waits for it: it is answered Closed.
// A release or the like, which a destructor posts, cannot be refused: without memory for it this replica halts.
RunningHost::Call RunningHost::post(Call call) noexcept try {
  if (forked()) return nullptr;
  Client* const client = client_here(Counts::No);
  if (client == nullptr) return arrivals_.add(std::move(call));
  std::move(call)(*client);
  return nullptr;
} catch (...) {
  arrivals_.fail(arrivals_.last_words().caught());
  return nullptr;
}

Client* RunningHost::client_here(Counts counts) { return callback_calls_.may_begin_here(counts) ? &turns_->client() : nullptr; }

// On the engine's thread everything waits for it.
void RunningHost::run_callback(const char* call, absl::FunctionRef<void()> callback) {
  if (!loop_.runs_here() || callback_calls_.here()) return announcements_->run(callback);
  callback_calls_.inside([&] {
    const Duration took = hold_ups_.run(call, [&] { announcements_->run(callback); });
    if (took < hold_ups_.limit()) return;
    try {
      turns_->held_up(hold_ups_.blocked(call, took), clock_.lagging());
    } catch (const std::bad_alloc&) {  // without memory for its sentence it is not reported; nothing else suffers
    }
  });
}

void RunningHost::abandon(Ticket call) {
  if (!health_.calls().abandon(call)) turns_->abandon(call);
}

// ---- the engine's thread

// The one place where what a round did not expect ends: whatever was under way in it is not looked at any more, and the next
// round halts this replica. If that finds no memory either, so does a later one.
Duration RunningHost::run_turns() noexcept try {
  LaggingTime looked = clock_.lagging();
  const LaggingTime end = looked + kTurnsLast;
  Duration wait{};
  for (int turns = 0; turns < kTurnsAtOnce && wait == Duration::zero(); ++turns) {
    const absl::Status failure = arrivals_.take_failure();
    if (!failure.ok()) turns_->fail(failure);  // the coming turn halts the engine
    callback_calls_.turn_begins();
    turns_->take(arrivals_, looked);
    const Now now = clock_.now();  // after everything that has arrived, before anything that leaves
    const LaggingTime due = turns_->turn(now);
    arrivals_.admission().turned(now.lagging, turns_->client().unanswered());
    carry_out(turns_->effects(), due <= now.lagging);
    if (!failure.ok()) health_.publish(report());
    if (closing_.drains()) finish_drain();
    looked = clock_.lagging();
    turns_->meter().took(looked - now.lagging);
    const bool told = health_.wanted(looked) && health_.tell(report(), looked);
    const LaggingTime next = std::min(due, health_.calls().next_deadline());
    wait = told || next <= looked || arrivals_.any() ? Duration::zero() : next - looked;
    if (looked >= end) break;
    if (stores_.take_deferred()) return wait;
  }
  return wait;
} catch (...) {
  arrivals_.fail(arrivals_.last_words().caught());
  announcements_->note_halt(turns_->effects());  // of a turn whose effects were not carried out
  return kHaltAgain;
}

HostHealth::Report RunningHost::report() {
  Health health = health_of(turns_->engine(), clock_.lagging());
  for (std::string& threw : announcements_->warnings()) health.warnings.push_back(std::move(threw));
  for (std::string& warning : peers_.warnings()) health.warnings.push_back(std::move(warning));
  if (!stores_.no_reserve().empty()) health.warnings.push_back(stores_.no_reserve());
  return {std::move(health), metrics_of(*turns_, arrivals_, stores_, peers_)};
}

// Messages that may leave go first: they travel while this replica's own disk is at work.
void RunningHost::carry_out(EngineEffects& effects, bool due) {
  if (effects.cluster) peers_.set_cluster(*effects.cluster);  // before what only a replica of it may say
  peers_.send(effects.sends, turns_->meter());
  stores_.carry_out(effects, !effects.writes.empty() && (due || arrivals_.any()));
  if (effects.peers) peers_.set_peers(*std::move(effects.peers));
  if (effects.halted && reason_of(*effects.halted) == Reason::OutOfMemory) arrivals_.fail(*effects.halted);  // ends the calls
  announcements_->tell(effects);
}

// Messages that waited for a write that this thread did itself leave at once, before the turn that learns of it.
void RunningHost::send_released() {
  if (!arrivals_.failed()) peers_.send(turns_->released(arrivals_.durable()), turns_->meter());
}

// ---- members

Ticket RunningHost::change_members(const MembershipChange& change, MembershipOptions options, Callback<Index> done) {
  return turns_->change_members(clock_.lagging(), change, options, std::move(done));
}

Ticket RunningHost::transfer_leadership(std::optional<uint64_t> target, Duration timeout, DoneCallback done) {
  if (target == 0) {
    std::move(done)(make_error(Reason::InvalidArgument,
                               "the id of the target is 0: give the id of a voter, or none for the one that is best prepared"));
    return {};
  }
  return turns_->transfer_leadership(clock_.lagging(), ReplicaId(target.value_or(0)), timeout, std::move(done));
}

// ---- what calls ask for

absl::Status RunningHost::scrub_now(absl::FunctionRef<bool()> awaited) {
  if (absl::Status refused = refusal_to_wait(*this); !refused.ok()) return refused;
  if (on_callback_thread()) return would_wait_for_itself();
  return stores_.scrub_now(awaited);
}

absl::StatusOr<std::unique_ptr<CheckpointView>> RunningHost::checkpoint_at(Index at_least, LaggingTime deadline) {
  if (absl::Status refused = refusal_to_wait(*this); !refused.ok()) return refused;
  if (on_callback_thread()) return would_wait_for_itself();
  arrivals_.post(EngineInput(CheckpointWanted{at_least}));
  const auto health = health_.wait(deadline - clock_.lagging(),
                                   [&](const Health& now) { return has_stopped(now.state) || now.checkpointed >= at_least; });
  if (!health) return closed_already();
  if (has_stopped(health->state)) return make_error(Reason::NotReady, health->reason);
  if (health->checkpointed < at_least) {
    const std::string warnings = health->warnings.empty() ? std::string() : ": " + absl::StrJoin(health->warnings, "; ");
    return make_error(Reason::CallTimeout, Outcome::NoEffect,
                      "the state after entry " + std::to_string(at_least.value()) + " was not durable here in time" + warnings);
  }
  return stores_.view();
}

absl::Status RunningHost::reload_tls() { return forked() ? forked_away() : peers_.reload_tls(); }

}  // namespace coordkit
