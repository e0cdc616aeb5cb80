#include "replica/host.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/check.h"
#include "coordkit/storage/data_directory.h"
#include "coordkit/wire.h"
#include "replica/opening.h"
#include "replica/waiting.h"

namespace coordkit {
namespace {

// Then the network gets its share of the thread.
constexpr int kTurnsAtOnce = 16;
constexpr size_t kCallsOfATurn = 1024;  // a few milliseconds
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

Host::Host(ReplicaOptions options)
    : options_(std::move(options)),
      clock_(options_.parts.clock != nullptr ? *options_.parts.clock : system_clock()),
      host_code_([this](const absl::Status& why) { host_threw(why); },
                 [this](CallbackThread::Task task) { announce(std::move(task)); }),
      own_thread_(options_.parts.executor ? nullptr : std::make_shared<OwnThread>()),
      loop_(own_thread_ ? own_thread_ : options_.parts.executor, [this] { return run_turns(); }),
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

void Host::adopt(MadeParts parts) {
  log_ = std::move(parts.log);
  state_ = std::move(parts.state);
  transport_ = std::move(parts.transport);
  tcp_ = parts.tcp;
  channels_ = std::move(parts.channels);
}

void Host::start(std::unique_ptr<Engine> engine) {
  engine_ = std::move(engine);
  callbacks_.emplace([this](CallbackThread::Task&& task) { host_code_.run(kAnnouncement, std::move(task)); });
  worker_.emplace(
      *state_, [this] { return machines(); }, [this](EngineInput input) { post(std::move(input)); });
  scrubber_.emplace(*state_, *log_, Scrubber::Options{options_.scrub_every, options_.scrub_bytes_per_second},
                    [this](EngineInput input) { post(std::move(input)); });
  events_.emplace(options_.machines, *callbacks_);
  watch_.emplace(clock_, *callbacks_);
  client_ = std::make_unique<Client>(
      *engine_, ClientOptions{.election_timeout = options_.election_timeout,
                              .rate_error_ppm = options_.rate_error_ppm,
                              .sticky = options_.sticky,
                              .compaction = options_.compaction,
                              .notify = [this](absl::AnyInvocable<void()> task) { announce(std::move(task)); },
                              .draw_secret = random_secret,
                              .watch = &*watch_});
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
  if (told) post(Call([this, why](Client&) { event_log_->threw(why, clock_.now().lagging); }));
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
  if (CallbackThread::Task left = watch_->announce(std::move(task))) host_code_.run(kAnnouncement, std::move(left));
}

void Host::run_callback(absl::FunctionRef<void()> callback) {
  host_code_.run("the callback of an asynchronous call", callback);
}

void Host::later(Duration delay, absl::AnyInvocable<void()> act) {
  Executor& executor = own_thread_ ? *own_thread_ : *options_.parts.executor;
  executor.post_after(delay, [weak = weak_from_this(), act = std::move(act)]() mutable {
    if (const auto host = weak.lock()) host->post(Call([act = std::move(act)](Client&) mutable { std::move(act)(); }));
  });
}

// ---- arrivals, from any thread

void Host::post(Arrival arrival) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (const auto* mail = std::get_if<Mail>(&arrival)) {
      if (mail_bytes_ + mail->body.size() > kMailBytesMax) return meter_.lost_message();
      mail_bytes_ += mail->body.size();
    }
    arrivals_.push_back(std::move(arrival));
  }
  loop_.wake();
}

void Host::queue(std::deque<Call>& where, Call call) {
  if (forked()) return;
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      where.push_back(std::move(call));
      call = nullptr;
    }
  }
  if (!call) return loop_.wake();
  const std::lock_guard lock(stopped_mutex_);
  if (client_) std::move(call)(*client_);  // answers Closed
}

void Host::call_in_line(Call call) {
  door_.lined_up();
  queue(line_, std::move(call));
}

void Host::peer_up(const Hello& hello) { post(EngineInput(PeerConnected{hello})); }
void Host::peer_down(ReplicaId peer) { post(EngineInput(PeerLost{peer})); }
void Host::received(ReplicaId from, std::string body) { post(Mail{from, std::move(body)}); }
void Host::peer_refused(ReplicaId peer, std::string why) { post(EngineInput(PeerRefused{peer, std::move(why)})); }

void Host::peer_unreachable(ReplicaId peer, std::string why) { post(EngineInput(PeerUnreachable{peer, std::move(why)})); }

// ---- the engine's thread

Duration Host::run_turns() {
  LaggingTime looked = clock_.now().lagging;
  const LaggingTime end = looked + kTurnsLast;
  Duration wait{};
  for (int turns = 0; turns < kTurnsAtOnce && wait == Duration::zero(); ++turns) {
    take_arrivals(looked);
    take_calls();
    const LaggingTime began = one_turn();
    const Now now = clock_.now();
    looked = now.lagging;
    meter_.took(looked - began);
    wait = until_next_turn(now);
    if (looked >= end) break;
    if (std::exchange(deferred_, false)) return wait;
  }
  return wait;
}

void Host::take_arrivals(LaggingTime looked) {
  {
    const std::lock_guard lock(mutex_);
    batch_.swap(arrivals_);
    mail_bytes_ = 0;
  }
  for (Arrival& arrival : batch_) {
    if (auto* input = std::get_if<EngineInput>(&arrival)) {
      meter_.arrived(*input, looked);
      if (event_log_) event_log_->arrived(*input, looked);
      engine_->post(std::move(*input));
    } else if (auto* mail = std::get_if<Mail>(&arrival)) {
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

size_t Host::take_share(std::deque<Call>& from) {
  const size_t share = std::min(from.size(), kCallsOfATurn);
  const auto end = from.begin() + static_cast<ptrdiff_t>(share);
  begun_.insert(begun_.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  from.erase(from.begin(), end);
  return share;
}

// However many wait, a turn begins no more than its share, so that no remote caller waits for them. Calls that release
// something do not wait for those that want something.
void Host::take_calls() {
  {
    const std::lock_guard lock(mutex_);
    take_share(calls_);
    door_.begun(take_share(line_));
  }
  for (Call& call : begun_) std::move(call)(*client_);
  begun_.clear();
}

LaggingTime Host::one_turn() {
  const Now now = clock_.now();  // after everything that has arrived, before anything that leaves
  client_->before_turn(now);
  engine_->turn(now, effects_);
  client_->after_turn(now, effects_);
  membership_.after_turn(effects_);
  meter_.turned(effects_, now.lagging);
  door_.turned(now.lagging, client_->unanswered());
  if (event_log_) event_log_->turned(*engine_, effects_, now.lagging);
  carry_out();
  if (watchers_ > 0) publish();
  if (draining_) finish_drain();
  return now.lagging;
}

// What may leave goes first: it travels while this replica's own disk works.
void Host::carry_out() {
  if (effects_.cluster) transport_->set_cluster(*effects_.cluster);  // before messages that only a member may send
  for (const Outbound& outbound : effects_.sends) {
    auto peer = std::find_if(frames_.begin(), frames_.end(), [&](auto& one) { return one.first == outbound.to; });
    if (peer == frames_.end()) peer = frames_.insert(peer, {outbound.to, {}});
    meter_.sent(peer->second.emplace_back(Frame{lane_of(outbound.message), encode(outbound.message)}));
  }
  for (auto& [peer, frames] : frames_) {
    if (!frames.empty()) transport_->send(peer, std::exchange(frames, {}));
  }
  if (!effects_.writes.empty()) {
    const bool busy = until_next_turn(clock_.now()) == Duration::zero();
    for (LogWrite& write : effects_.writes) submit(std::move(write), busy);
  }
  for (const raft::ReadRequest& read : effects_.log_reads) log_->read(read.first, read.last, read.bytes_max);
  if (effects_.checkpoint) state_->commit(*std::move(effects_.checkpoint));
  if (effects_.compact) log_->compact(*effects_.compact);
  for (ViewOrder& order : effects_.views) worker_->read(std::move(order));
  for (StagingOrder& order : effects_.staging) perform(std::move(order), *state_);
  if (effects_.restore) worker_->restore();
  if (effects_.discarded) worker_->discard(std::move(effects_.discarded));
  for (MachineEvent& event : effects_.events) events_->relay(std::move(event));
  if (effects_.peers) transport_->set_peers(*std::move(effects_.peers));
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

// If there is nothing else to do, on this thread, once it has finished what it began: a fast disk is done before another
// thread has woken up. Otherwise beside this thread's work.
void Host::submit(LogWrite write, bool busy) {
  if (busy || !own_thread_) return log_->submit(std::move(write));
  if (!log_->defer(std::move(write))) return;
  deferred_ = true;
  own_thread_->post_blocking([this] { log_->perform_deferred(); });
}

bool Host::anything_waits() const {
  const std::lock_guard lock(mutex_);
  return !arrivals_.empty() || !calls_.empty() || !line_.empty();
}

// Zero: at once.
Duration Host::until_next_turn(Now now) const {
  const LaggingTime deadline = engine_->next_deadline();
  if (deadline <= now.lagging || anything_waits()) return Duration::zero();
  const Duration engine_wait = deadline == LaggingTime::max() ? Duration::max() : deadline - now.lagging;
  return std::min(engine_wait, client_->next_turn(now));
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

// ---- reading and closing

LaggingTime Host::deadline(Duration timeout) const {
  const LaggingTime now = clock_.now().lagging;
  return timeout > LaggingTime::max() - now ? LaggingTime::max() : now + timeout;
}

WriteOptions Host::write_options(ProposeOptions options) const {
  return {.deadline = deadline(options.timeout), .fence = std::move(options.fence)};
}

std::string Host::owner_tag() { return "mutex-" + std::to_string(next_tag_.fetch_add(1)); }

namespace {

bool waits(ReplicaState state) {
  return state == ReplicaState::WaitingForMembers || state == ReplicaState::Uninvited || state == ReplicaState::Starting ||
         state == ReplicaState::CatchingUp;
}

Health health_of(const Engine& engine, LaggingTime now) {
  const EngineStatus status = engine.status();
  Health health{.state = status.state,
                .reason = status.reason,
                .role = engine.leadership().role,
                .term = engine.leadership().term,
                .leader = engine.leadership().leader,
                .applied = status.applied,
                .checkpointed = status.checkpointed,
                .cluster = status.cluster,
                .feature_level = status.feature_level,
                .digest = status.digest,
                .catch_up = status.catch_up,
                .change = status.change,
                .warnings = status.warnings,
                .missing = status.missing};
  if (status.core) {
    health.commit = status.core->commit;
    health.durable = status.core->durable;
    health.members = member_list(*status.core, engine.self(), now);
    const bool leads = health.role == raft::Role::Leader;
    const LaggingTime heard = leads ? status.core->quorum_contact : status.core->leader_contact;
    if (health.leader) health.contact_age = std::max(now - heard, Duration::zero());
  }
  return health;
}

}  // namespace

void Host::publish() {
  Health health = health_of(*engine_, clock_.now().lagging);
  for (std::string& threw : host_code_.warnings()) health.warnings.push_back(std::move(threw));
  if (!no_reserve_.empty()) health.warnings.push_back(no_reserve_);
  const std::lock_guard lock(health_mutex_);
  health_ = std::move(health);
  health_changed_.notify_all();
}

std::unique_lock<std::mutex> Host::wait_health(Duration timeout, absl::FunctionRef<bool()> holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::min<Duration>(timeout, std::chrono::hours(24 * 365));
  watchers_.fetch_add(1);
  loop_.wake();
  std::unique_lock lock(health_mutex_);
  health_changed_.wait_until(lock, deadline, [&] { return over_ || holds(); });
  watchers_.fetch_sub(1);
  return lock;
}

absl::Status Host::wait_ready(Duration timeout) {
  if (forked()) return forked_away();
  if (on_engine_thread()) return would_wait_for_itself();
  const auto lock = wait_health(timeout, [&] { return !waits(health_.state); });
  if (over_) return closed_already();
  const ReplicaState state = health_.state;
  if (state == ReplicaState::Ready || state == ReplicaState::Learner) return absl::OkStatus();
  if (waits(state)) return make_error(Reason::CallTimeout, Outcome::None, "not ready yet: " + health_.reason);
  return make_error(state == ReplicaState::Removed ? Reason::Removed : Reason::NotReady, health_.reason);
}

absl::StatusOr<std::unique_ptr<CheckpointView>> Host::checkpoint_at(Index at_least, LaggingTime deadline) {
  if (forked()) return forked_away();
  if (on_engine_thread() || on_callback_thread()) return would_wait_for_itself();
  post(EngineInput(CheckpointWanted{at_least}));
  {
    const auto stopped = [&] { return health_.state == ReplicaState::Halted || health_.state == ReplicaState::Quarantine; };
    const auto lock =
        wait_health(deadline - clock_.now().lagging, [&] { return stopped() || health_.checkpointed >= at_least; });
    if (over_) return closed_already();
    if (stopped()) return make_error(Reason::NotReady, health_.reason);
    if (health_.checkpointed < at_least) {
      const std::string waits = health_.warnings.empty() ? std::string() : ": " + absl::StrJoin(health_.warnings, "; ");
      return make_error(Reason::CallTimeout, Outcome::None,
                        "the state after entry " + std::to_string(at_least.value()) + " was not durable here in time" + waits);
    }
  }
  const std::lock_guard lock(viewing_);
  if (closing()) return closed_already();
  return state_->view();
}

absl::Status Host::scrub_now() {
  if (forked()) return forked_away();
  if (on_engine_thread() || on_callback_thread()) return would_wait_for_itself();
  return scrubber_->now();
}

absl::Status Host::reload_tls() {
  if (forked()) return forked_away();
  if (channels_ == nullptr) return make_error(Reason::Unsupported, "security is not Tls: there are no certificates to read");
  return channels_->reload();
}

Health Host::health() {
  if (forked()) return {.state = ReplicaState::Halted, .reason = std::string(sentence_of(forked_away()))};
  if (!on_engine_thread()) {
    auto published = std::make_shared<Slot<bool>>();
    call([this, published](Client& client) {
      if (!client.stopped()) publish();
      published->set(true);
    });
    published->take();
  }
  const std::lock_guard lock(health_mutex_);
  return health_;
}

bool Host::closing() {
  const std::lock_guard lock(mutex_);
  return closing_;
}

void Host::finish_drain() {
  const ClientStatus status = client_->status();
  if (status.releases + status.tickets > 0) return;
  const std::lock_guard lock(mutex_);
  drained_ = true;
  drained_wake_.notify_all();
}

// The last thing the engine's thread does. Calls that find the host closed wait here until the client has stopped.
void Host::stop_engine() {
  const std::lock_guard lock(stopped_mutex_);
  {
    const std::lock_guard queue(mutex_);
    closed_ = true;
    batch_.swap(arrivals_);
    for (std::deque<Call>* waiting : {&calls_, &line_}) {
      begun_.insert(begun_.end(), std::make_move_iterator(waiting->begin()), std::make_move_iterator(waiting->end()));
      waiting->clear();
    }
  }
  for (Arrival& arrival : batch_) {
    if (auto* call = std::get_if<Call>(&arrival)) std::move (*call)(*client_);
  }
  for (Call& call : begun_) std::move(call)(*client_);
  batch_.clear();
  begun_.clear();
  client_->stop();
  membership_.stop();
  transport_->close();
  if (tcp_ != nullptr) tcp_counters_ = std::exchange(tcp_, nullptr)->counters();
  {
    const std::lock_guard health(health_mutex_);
    over_ = true;
  }
  publish();
}

absl::Status Host::close() {
  if (forked()) return forked_away();
  if (on_engine_thread()) {
    return make_error(Reason::InCallback,
                      "close() inside an async callback would wait for its own thread; call it from another one");
  }
  {
    std::unique_lock lock(mutex_);
    if (closing_) return absl::OkStatus();
    if (loop_.begun() && options_.drain > Duration::zero()) {
      draining_ = true;
      lock.unlock();
      loop_.wake();
      lock.lock();
      drained_wake_.wait_for(lock, options_.drain, [&] { return drained_; });
    }
    if (std::exchange(closing_, true)) return absl::OkStatus();
  }
  if (scrubber_) scrubber_->stop();
  if (worker_) worker_->stop();
  if (log_) log_->close();
  if (state_) {
    const std::lock_guard lock(viewing_);
    state_->close();
  }
  if (loop_.begun()) {
    loop_.end([this] { stop_engine(); });
  } else if (transport_) {
    transport_->close();
  }
  if (own_thread_) own_thread_->stop();
  admin_.reset();  // its visitors have been answered by now
  if (watch_) watch_->stop();
  if (callbacks_) callbacks_->stop();
  // Handles may keep this object for long; the directory and the port must be free for the next replica now.
  transport_.reset();
  log_.reset();
  state_.reset();
  if (directory_) directory_->keep_reserve().IgnoreError();  // the next open retries, and reports it
  directory_.reset();
  return absl::OkStatus();
}

}  // namespace coordkit
