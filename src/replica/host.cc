#include "replica/host.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "coordkit/wire.h"
#include "replica/opening.h"
#include "replica/waiting.h"

namespace coordkit {
namespace {

// Then the network gets its share of the thread.
constexpr int kTurnsAtOnce = 16;
constexpr char kOnEvent[] = "on_event";
constexpr std::string_view kAnnouncement = "an observer, or a callback of a session";
constexpr Duration kTurnsLast = std::chrono::milliseconds(2);  // only a long turn takes more

// 128 bits from the kernel, as digits that can be kept in any file or variable.
std::string random_secret() {
  uint8_t bits[16];
  COORDKIT_CHECK_MSG(::getentropy(bits, sizeof bits) == 0, "the kernel gives no random bits");
  std::string secret;
  for (const uint8_t byte : bits) {
    secret += "0123456789abcdef"[byte >> 4];
    secret += "0123456789abcdef"[byte & 15];
  }
  return secret;
}

}  // namespace

Host::Host(ReplicaOptions options, std::shared_ptr<OwnThread> own_thread, std::shared_ptr<DataDirectory> directory,
           MadeParts parts)
    : options_(std::move(options)),
      clock_(options_.parts.clock != nullptr ? *options_.parts.clock : system_clock()),
      host_code_([this](const absl::Status& why) { host_threw(why); },
                 [this](CallbackThread::Task task) { announce(std::move(task)); }),
      own_thread_(std::move(own_thread)),
      loop_(own_thread_ ? own_thread_ : options_.parts.executor, [this] { return run_turns(); }),
      arrivals_(loop_),
      health_(loop_),
      closing_(loop_),
      stores_(std::move(directory), std::move(parts.log), std::move(parts.state), own_thread_.get()),
      peers_(std::move(parts.transport), parts.tcp, std::move(parts.channels)),
      membership_(!options_.parts.transport) {
  options_.on_event = host_code_.guarded(kOnEvent, std::move(options_.on_event));
  options_.on_leadership = host_code_.guarded("on_leadership", std::move(options_.on_leadership));
  options_.on_halt = host_code_.guarded("on_halt", std::move(options_.on_halt));
  options_.on_divergence = host_code_.guarded("on_divergence", std::move(options_.on_divergence));
  for (OwnMachine& machine : options_.machines) {
    machine.on_event =
        host_code_.guarded("on_event of machine " + std::to_string(machine.id.value()), std::move(machine.on_event));
  }
}

Host::~Host() { close().IgnoreError(); }

void Host::start(std::unique_ptr<Engine> engine) {
  engine_ = std::move(engine);
  callbacks_.emplace([this](CallbackThread::Task&& task) { host_code_.run(kAnnouncement, std::move(task)); });
  stores_.start([this] { return make_machines(options_.machines); },
                {.every = options_.scrub_every, .bytes_per_second = options_.scrub_bytes_per_second},
                [this](EngineInput input) { arrivals_.post(std::move(input)); });
  events_.emplace(options_.machines, *callbacks_);
  deadlines_.emplace(clock_, *callbacks_);
  client_ = std::make_unique<Client>(
      *engine_, ClientOptions{.election_timeout = options_.election_timeout,
                              .rate_error_ppm = options_.rate_error_ppm,
                              .sticky = options_.sticky,
                              .compaction = options_.compaction,
                              .notify = [this](absl::AnyInvocable<void()> task) { announce(std::move(task)); },
                              .draw_secret = random_secret,
                              .watch = &*deadlines_});
  if (options_.on_event) begin_events();  // from here on the host's code runs, and its exceptions go through the watch
  publish();
  if (options_.on_leadership) {
    callbacks_->post([this, leadership = engine_->leadership()] { options_.on_leadership(leadership); });
  }
  loop_.begin();
  if (own_thread_) own_thread_->start();
}

void Host::begin_events() {
  feed_.emplace(options_.on_event, *callbacks_);
  event_log_.emplace(options_.election_timeout, agreement_of(options_),
                     [this](const ReplicaEvent& event) { feed_->tell(event); });
  event_log_->opened(*engine_, clock_.now().lagging);
}

// On the callback thread. An exception of on_event is not an event: it would be reported to on_event.
void Host::host_threw(const absl::Status& why) {
  const bool told = event_log_ && !sentence_of(why).starts_with(kOnEvent);
  if (told) arrivals_.post(Call([this, why](Client&) { event_log_->threw(why, clock_.now().lagging); }));
  if (options_.on_error) options_.on_error(why);
}

absl::Status Host::open_admin(Replica& replica) {
  if (options_.admin_socket.empty()) return absl::OkStatus();
  auto admin = AdminSocket::open(replica, {options_.id, options_.cluster}, options_.admin_socket);
  if (admin.ok()) admin_ = *std::move(admin);
  return admin.status();
}

// A caller that begins something on a closed replica is told so in place: there is no other thread left.
void Host::announce(CallbackThread::Task task) {
  if (CallbackThread::Task left = deadlines_->announce(std::move(task))) host_code_.run(kAnnouncement, std::move(left));
}

void Host::run_callback(absl::FunctionRef<void()> callback) {
  host_code_.run("the callback of an asynchronous call", callback);
}

void Host::later(Duration delay, absl::AnyInvocable<void()> act) {
  Executor& executor = own_thread_ ? *own_thread_ : *options_.parts.executor;
  executor.post_after(delay, [weak = weak_from_this(), act = std::move(act)]() mutable {
    if (const auto host = weak.lock())
      host->arrivals_.post(Call([act = std::move(act)](Client&) mutable { std::move(act)(); }));
  });
}

// What comes too late is run here, on the stopped client, which answers Closed.
void Host::run_if_closed(Call call) {
  if (!call) return;
  const std::lock_guard lock(stopped_mutex_);
  std::move(call)(*client_);
}

// ---- the engine's thread

Duration Host::run_turns() {
  LaggingTime looked = clock_.now().lagging;
  const LaggingTime end = looked + kTurnsLast;
  Duration wait{};
  for (int turns = 0; turns < kTurnsAtOnce && wait == Duration::zero(); ++turns) {
    take_arrivals(looked);
    take_calls();
    const Turned turn = one_turn();
    looked = clock_.now().lagging;
    meter_.took(looked - turn.began);
    wait = turn.due <= looked || arrivals_.any() ? Duration::zero() : turn.due - looked;
    if (looked >= end) break;
    if (stores_.take_deferred()) return wait;
  }
  return wait;
}

void Host::take_arrivals(LaggingTime looked) {
  arrivals_.take(batch_);
  for (Arrivals::Arrival& arrival : batch_) {
    if (auto* input = std::get_if<EngineInput>(&arrival)) {
      meter_.arrived(*input, looked);
      if (event_log_) event_log_->arrived(*input, looked);
      engine_->post(std::move(*input));
    } else if (auto* mail = std::get_if<Arrivals::Mail>(&arrival)) {
      const size_t bytes = mail->body.size();
      absl::StatusOr<Message> message = decode_taking(std::move(mail->body));
      meter_.received(bytes, message.ok());
      if (message.ok()) engine_->post(MessageReceived{mail->from, *std::move(message)});
    } else {
      std::move(std::get<Call>(arrival))(*client_);
    }
  }
  batch_.clear();
}

void Host::take_calls() {
  arrivals_.take_calls(begun_);
  for (Call& call : begun_) std::move(call)(*client_);
  begun_.clear();
}

Host::Turned Host::one_turn() {
  const Now now = clock_.now();  // after everything that has arrived, before anything that leaves
  client_->before_turn(now);
  engine_->turn(now, effects_);
  client_->after_turn(now, effects_);
  membership_.after_turn(effects_);
  meter_.turned(effects_, now.lagging);
  arrivals_.admission().turned(now.lagging, client_->unanswered());
  if (event_log_) event_log_->turned(*engine_, effects_, now.lagging);
  const LaggingTime due = next_due(now);
  carry_out(due <= now.lagging);
  if (health_.watched()) publish();
  if (closing_.drains()) finish_drain();
  return {now.lagging, due};
}

// What may leave goes first: it travels while this replica's own disk is at work.
void Host::carry_out(bool due) {
  if (effects_.cluster) peers_.set_cluster(*effects_.cluster);  // before what only a replica of it may say
  peers_.send(effects_.sends, meter_);
  stores_.carry_out(effects_, !effects_.writes.empty() && (due || arrivals_.any()));
  for (MachineEvent& event : effects_.events) events_->relay(std::move(event));
  if (effects_.peers) peers_.set_peers(*std::move(effects_.peers));
  if (effects_.leadership && options_.on_leadership) {
    callbacks_->post([this, leadership = *effects_.leadership] { options_.on_leadership(leadership); });
  }
  if (effects_.divergence && options_.on_divergence) {
    callbacks_->post([this, found = *effects_.divergence] { options_.on_divergence(found); });
  }
  for (const absl::Status& error : effects_.threw) host_code_.threw(error);
  if (effects_.halted && options_.on_halt) {
    callbacks_->post([this, why = *effects_.halted] { options_.on_halt(why); });
  }
}

// When engine and client want the next turn, whatever arrives. Effects that are carried out change nothing about it.
LaggingTime Host::next_due(Now now) const {
  const Duration client = client_->next_turn(now);
  const LaggingTime engine = engine_->next_deadline();
  return client > LaggingTime::max() - now.lagging ? engine : std::min(engine, now.lagging + client);
}

// ---- members

Ticket Host::change_members(const MembershipChange& change, MembershipOptions options, Callback<Index> done) {
  return membership_.change(*engine_, clock_.now().lagging, change, options, std::move(done));
}

Ticket Host::transfer_leadership(std::optional<uint64_t> target, Duration timeout, DoneCallback done) {
  if (target == 0) {
    std::move(done)(make_error(Reason::InvalidArgument, "the target has id 0: ids start at 1"));
    return {};
  }
  return membership_.transfer(*engine_, clock_.now().lagging, ReplicaId(target.value_or(0)), timeout, std::move(done));
}

// ---- what calls ask for

LaggingTime Host::deadline(Duration timeout) const {
  const LaggingTime now = clock_.now().lagging;
  return timeout > LaggingTime::max() - now ? LaggingTime::max() : now + timeout;
}

WriteOptions Host::write_options(ProposeOptions options) const {
  return {.deadline = deadline(options.timeout), .fence = std::move(options.fence)};
}

std::string Host::owner_tag() { return "mutex-" + std::to_string(next_tag_.fetch_add(1)); }

absl::Status Host::scrub_now() {
  if (forked()) return forked_away();
  if (on_engine_thread() || on_callback_thread()) return would_wait_for_itself();
  return stores_.scrub_now();
}

absl::Status Host::reload_tls() { return forked() ? forked_away() : peers_.reload_tls(); }

}  // namespace coordkit
