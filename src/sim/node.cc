#include "sim/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "sim/defects.h"
#include "sim/recorder.h"
#include "sim/violation.h"

namespace coordkit::sim {
namespace {

constexpr uint64_t kTurnsAtOnce = 4;            // per event; then others run
constexpr uint64_t kTurnsWithoutTime = 20'000;  // more means that a node spins

// What the operator of this node lists: the founders, and the node itself. One that sets up a lost disk again lists everyone:
// the founders alone, all of them blank by now, would initialize another cluster.
std::vector<Peer> members_of(const Plan& plan, uint32_t node, bool again) {
  const uint32_t founders = plan.founders == 0 || again ? plan.nodes : plan.founders;
  std::vector<Peer> members;
  for (uint32_t i = 0; i < plan.nodes; ++i) {
    if (i < founders || i == node) members.push_back({ReplicaId(i + 1), fmt::format("node-{}", i + 1)});
  }
  return members;
}

// Draws one after the other: compilers evaluate the arguments of a call in different orders.
SimLogStore make_log(World& world, uint32_t node, Random& random) {
  Random own = random.fork();
  return SimLogStore(world, node, StoreId(random() | 1), own);
}

}  // namespace

Node::Node(const NodeParts& parts, uint32_t number, Random random)
    : parts_(parts),
      number_(number),
      random_(random),
      clock_(Duration(random_.below(uint64_t{1} << 50)), parts.plan.clock_ppm[number]),
      log_(make_log(parts.world, number, random_)),
      state_(parts.world, number, random_.fork()) {
  log_.set_quality(parts.plan.disk);
  log_.set_files(parts.plan.log_files);
  state_.set_quality(parts.plan.disk);
  log_.set_defects(parts.defects);
}

Node::~Node() { client_.reset(); }  // before the engine

EngineOptions Node::engine_options() const {
  const Plan& plan = parts_.plan;
  EngineOptions options;
  options.raft.self = id();
  options.feature_level = level_;
  options.raft.election_timeout = plan.election_timeout;
  options.raft.heartbeat_interval = plan.heartbeat_interval;
  options.raft.commit_news_delay = std::chrono::milliseconds(1);
  if (plan.leases) options.raft.lease = raft::lease_of(plan.election_timeout, kRateErrorPpm);
  options.raft.append_bytes_max = plan.append_bytes_max;
  options.raft.cache_bytes_max = plan.cache_bytes_max;
  options.raft.append_messages_in_flight = plan.append_messages_in_flight;
  options.raft.promotion_lag_max = plan.promotion_lag_max;
  options.window = plan.window;
  options.members = members_of(plan, number_, disk_lost_);
  options.token_base = uint64_t{1} << 58;
  options.apply_bytes_per_turn = plan.apply_bytes_per_turn;
  options.checkpoint_entries = plan.checkpoint_entries;
  options.timers_per_entry = plan.timers_per_entry;
  options.digest_entries = 128;
  options.raft.log_retained_bytes = plan.states.log_retained_bytes;
  if (parts_.options.sizes.log_retained_bytes) {  // whoever chose it wants states to be sent, even after short absences
    options.raft.log_pinned_bytes = std::max<uint64_t>(plan.states.log_retained_bytes, 2 << 10);
  }
  options.state_chunk_bytes = plan.states.chunk_bytes;
  options.state_bytes_per_second = plan.states.bytes_per_second;
  options.state_view_idle = plan.states.view_idle;
  options.state_view_max = plan.states.view_max;
  return options;
}

absl::Status Node::start() {
  ++epoch_;
  frozen_ = slept_ = turn_scheduled_ = crash_in_turn_ = refused_pair_ = too_old_ = false;
  choose_build();
  parts_.network.begin_life(number_);
  unheard_due_.reset();
  timer_at_.reset();
  absl::StatusOr<Position> checkpoint = state_.open(*this);
  if (!checkpoint.ok()) {
    parts_.world.trace(number_, "cannot open its state, code {}", static_cast<uint64_t>(checkpoint.status().code()));
    return checkpoint.status();
  }
  absl::StatusOr<RecoveredLog> recovered = log_.open(*this);
  if (!recovered.ok()) {
    state_.close();
    parts_.world.trace(number_, "cannot open its log, code {}", static_cast<uint64_t>(recovered.status().code()));
    return recovered.status();
  }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view = state_.view();
  if (!view.ok()) throw Violation("INV_S01", "a simulated disk does not open");
  EngineOptions options = engine_options();
  options.raft.seed = random_();
  options.new_cluster = ClusterId(random_() | 1);
  options.start = start_number_ = random_() | 1;
  const Now now = clock_now();
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Engine::recover(std::move(options), machines(), *std::move(recovered), **view, now);
  if (!engine.ok()) return refused(engine.status());
  check_pair();
  state_.stands_again();
  engine_ = *std::move(engine);
  views_.emplace(state_);
  events_.emplace(parts_.plan.election_timeout, std::nullopt, [this](const ReplicaEvent& event) { told(event); });
  events_->opened(*engine_, now.lagging);
  cluster_ = engine_->status().cluster;
  ClientOptions client_options;
  client_options.election_timeout = parts_.plan.election_timeout;
  if (parts_.plan.work.session_change_share > 0 || parts_.options.program) {
    client_options.draw_secret = [boot = fmt::format("secret of {} boot {}", number_, log_.boot().value()),
                                  drawn = 0]() mutable { return fmt::format("{}, the {}.", boot, ++drawn); };
  }
  client_options.sticky.block = parts_.plan.work.sticky_block;
  client_options.compaction.revisions = parts_.plan.work.revisions_kept;
  proxy_ = make_proxy(parts_.defects, *engine_);
  client_ = std::make_unique<Client>(proxy_ ? *proxy_ : *engine_, std::move(client_options));
  parts_.world.trace(number_, "starts, boot {}, log ({}, {}], applied {}", log_.boot().value(),
                     log_.durable().base.index.value(), log_.durable().last().value(), engine_->applied().value());
  if (Recorder* recorder = parts_.world.recorder()) recorder->started(number_);
  parts_.watcher.started(number_);
  schedule_turn(Duration::zero());
  return absl::OkStatus();
}

// What a crash left always recovers. Other pairs of stores need not: they come from lost files.
absl::Status Node::refused(const absl::Status& why) {
  if (reason_of(why) == Reason::NewerFormat) {
    is_too_old(why);
    log_.crash(CrashKind::Power);
    state_.crash();
    return why;
  }
  const bool whole = sound() && log_.stands_for(log_.id());
  if (whole) throw Violation("INV_S03", fmt::format("n{} does not recover: {}", number_ + 1, why.ToString()));
  refused_pair_ = true;
  log_.crash(CrashKind::Power);
  state_.crash();
  parts_.world.trace(number_, "refuses its stores, code {}", static_cast<uint64_t>(why.code()));
  return why;
}

// FLT_V01. The operator of a fleet that is upgraded member by member, and sometimes downgraded. On reading that a build is too
// old it starts the newest.
void Node::choose_build() {
  const uint64_t newest = parts_.plan.newest_level;
  if (newest == 0) return;
  if (stays_newest_) {
    level_ = newest;
  } else if (next_level_) {
    level_ = *std::exchange(next_level_, std::nullopt);
  } else if (random_.chance(0.4)) {
    level_ = std::min(level_ + 1, newest);
  } else if (random_.chance(0.15) && level_ > 0) {
    --level_;
  }
  went_back_ = went_back_ || level_ < highest_;
  highest_ = std::max(highest_, level_);
}

// Nothing is written that a member cannot read, unless that member was downgraded.
void Node::is_too_old(const absl::Status& why) {
  if (!went_back_)
    throw Violation("INV_S08", fmt::format("n{} cannot read what others write: {}", number_ + 1, why.ToString()));
  too_old_ = true;
  next_level_ = parts_.plan.newest_level;
  parts_.world.trace(number_, "is too old, as a build of feature level {}", level_);
}

// FLT_D21: a state taken here covers entries that were durable in the log.
void Node::check_pair() const {
  const Position at = state_.applied();
  const LogImage& log = log_.durable();
  const bool reaches = log.base.index >= at.index || (log.contains(at.index) && log.at(at.index).entry.term == at.term);
  if (at.index && !reaches && !state_.installed()) {
    throw Violation("INV_S03", fmt::format("n{} opens a log that ends at {} beside its own state after {}", number_ + 1,
                                           log.last().value(), at.index.value()));
  }
}

std::vector<HostedMachine> Node::machines() const {
  std::vector<HostedMachine> machines;
  if (parts_.options.machines) machines = parts_.options.machines(id());
  machines.push_back({kCoordination, make_machine(parts_.defects, number_)});
  return machines;
}

void Node::crash(CrashKind kind) {
  ++epoch_;         // answers given by the dying client reach no worker
  client_->stop();  // an embedder's callbacks run, and may call it, or fail, while it exists
  log_.crash(kind);
  state_.crash();
  const std::unique_ptr<Engine> dying = std::move(engine_), dying_proxy = std::move(proxy_);  // the client refers to them
  views_.reset();
  answers_.clear();
  inbox_.clear();
  missed_.clear();
  frozen_ = slept_ = turn_scheduled_ = crash_in_turn_ = false;
  parts_.world.trace(number_, "crashes, kind {}; sure to be on disk ({}, {}]", static_cast<uint64_t>(kind),
                     log_.durable().base.index.value(), log_.durable().last().value());
  if (Recorder* recorder = parts_.world.recorder()) recorder->stopped(number_);
  parts_.watcher.stopped(number_);
  client_.reset();  // after the program that used it
}

void Node::lose_disk() {
  disk_lost_ = true;
  log_.lose(StoreId(random_() | 1));
  state_.lose();
  parts_.world.trace(number_, "has lost its disk");
}

void Node::set_back_disk(const DiskCopy& copy) {
  parts_.network.forget_from(number_);
  log_.restore(copy.log);
  state_.restore(copy.state);
  parts_.world.trace(number_, "is set back to boot {}, log ({}, {}]", copy.log.boot.value(), copy.log.log.base.index.value(),
                     copy.log.log.last().value());
}

// The run has its verdict; what callbacks report at the end is not part of it.
void Node::retire() {
  ++epoch_;
  if (!client_) return;
  try {
    client_->stop();
  } catch (const Violation&) {
  }
}

void Node::freeze(Freeze what) {
  frozen_ = true;
  slept_ = what != Freeze::Process;
  if (what == Freeze::Clocks) clock_.stop(parts_.world.now());
  if (Recorder* recorder = parts_.world.recorder()) recorder->frozen(number_, slept_ ? "machine asleep" : "process stopped");
}

void Node::resume() {
  frozen_ = false;
  clock_.go_on(parts_.world.now());
  if (Recorder* recorder = parts_.world.recorder()) recorder->resumed(number_);
  slept_ = false;
  for (std::unique_ptr<Parcel>& parcel : missed_) parts_.network.send_again(std::move(parcel));
  missed_.clear();
  parts_.world.trace(number_, "goes on with {} inputs", inbox_.size());
  schedule_turn(Duration::zero());
}

void Node::post(EngineInput input) {
  if (!up()) return;
  inbox_.push_back(std::move(input));
  wake();
}

void Node::receive(std::unique_ptr<Parcel> parcel) {
  if (slept_) return missed_.push_back(std::move(parcel));
  Recorder* const recorder = parts_.world.recorder();
  if (recorder) up() ? recorder->arrived(parcel->mark) : recorder->lost(parcel->mark);
  if (!up()) return;
  change_message(parts_.defects, random_, parcel->message);
  parts_.world.mix(parcel->message.index());
  parts_.world.trace(number_, "receives message kind {} from n{}", parcel->message.index(), parcel->from + 1);
  post(MessageReceived{ReplicaId(parcel->from + 1), std::move(parcel->message)});
}

// Not through the inbox: observers take what arrives there for a member's message.
void Node::visited(const Hello& claim, std::vector<Message> said) {
  unheard_due_ = engine_->status().unheard + said.size();
  engine_->post(PeerConnected{claim});
  for (Message& message : said) engine_->post(MessageReceived{claim.from, std::move(message)});
  engine_->post(PeerLost{claim.from});
  parts_.world.trace(number_, "is visited by a stranger as n{}, who says {} things", claim.from.value(), said.size());
  wake();
}

void Node::wake() {
  if (frozen_ || turn_scheduled_) return;
  const Duration most = parts_.plan.turn_latency_max;
  schedule_turn(random_.chance(0.5) ? Duration::zero() : Duration(random_.below(most.count())));
}

void Node::schedule_turn(Duration after) {
  turn_scheduled_ = true;
  parts_.world.schedule(parts_.world.now() + after, EventKind::Turn, number_, epoch_);
}

void Node::turn_event(const Event& event) {
  if (event.epoch != epoch_ || !up() || !turn_scheduled_) return;
  if (frozen_) {
    turn_scheduled_ = false;
    return;
  }
  turn_scheduled_ = false;
  for (uint64_t i = 0; i < kTurnsAtOnce; ++i) {
    if (!one_turn()) return;
  }
  if (!turn_scheduled_) schedule_turn(std::chrono::microseconds(10));
}

void Node::timer_event(const Event& event) {
  if (event.epoch != epoch_ || !up() || timer_at_ != parts_.world.now()) return;
  timer_at_.reset();
  if (!frozen_ && !turn_scheduled_) schedule_turn(Duration::zero());
}

void Node::log_synced(const Event& event) {
  log_.synced(event);
  parts_.watcher.synced(number_);
}

// ---- states for peers and from them: handled beside the turns, each answer after its own latency

void Node::work_on_states() {
  const Duration most = parts_.plan.states.read_max;
  for (const ViewOrder& order : effects_.views) {
    auto answer = views_->perform(order);
    if (!answer) continue;
    answer_later(Duration(random_.below(most.count())),
                 std::visit([](auto& one) { return EngineInput(std::move(one)); }, *answer));
  }
  for (StagingOrder& order : effects_.staging) perform(std::move(order), state_);
  if (effects_.restore) answer_later(Duration(random_.below(parts_.plan.states.load_max.count())), std::nullopt);
}

void Node::answer_later(Duration after, std::optional<EngineInput> answer) {
  answers_.emplace(++last_answer_, std::move(answer));
  parts_.world.schedule(parts_.world.now() + after, EventKind::StateDone, number_, epoch_, last_answer_);
}

void Node::state_done(const Event& event) {
  if (event.epoch != epoch_ || !up()) return;
  auto done = answers_.extract(event.item);
  if (done.mapped()) return post(*std::move(done.mapped()));
  const absl::StatusOr<std::unique_ptr<CheckpointView>> view = state_.view();
  if (!view.ok()) throw Violation("INV_S01", "a simulated disk does not open");
  post(StateRestored{RestoredState::build(changed_for_restore(parts_.defects, machines()), **view)});
}

void Node::scrub() {
  if (!up() || frozen_) return;
  const absl::Status state = state_.scrub([](size_t) { return true; });
  if (absl::IsDataLoss(state)) post(StateRotten{state});
  Index from(1);
  while (from) {
    log_.scrub(from, [&](LogScrub part) {
      from = part.next;
      if (!part.first_bad) return;
      parts_.watcher.log_scrubbed();
      parts_.world.trace(number_, "finds entries {} to {} rotten", part.first_bad.value(), part.last_bad.value());
      post(LogDamaged{part.first_bad, part.last_bad, part.why});
    });
  }
}

bool Node::rot_passing(Random& random) {
  if (!up() || frozen_ || engine_->core() == nullptr || log_.failed() || state_.failed()) return false;
  return random.chance(0.5) ? state_.rot_passing() : log_.rot_passing(engine_->applied());
}

// True: another turn is due at once.
bool Node::one_turn() {
  ++turns_;
  const Now now = clock_now();
  for (EngineInput& input : inbox_) {
    parts_.watcher.handling(number_, input);
    events_->arrived(input, now.lagging);
    engine_->post(std::move(input));
  }
  inbox_.clear();
  const Index applied_before = engine_->applied();
  client_->before_turn(shifted_for_sending(parts_.defects, now));
  engine_->turn(as_told_to_engine(parts_.defects, now), effects_);
  events_->turned(*engine_, effects_, now.lagging);
  if (effects_.halted) {
    halt();
    return false;
  }
  if (effects_.divergence) {  // noticed by the replicas themselves, whether or not an observer saw it before
    throw Violation("DIVERGED", fmt::format("n{}: {}", number_ + 1, effects_.divergence->sentence));
  }
  if (const auto due = std::exchange(unheard_due_, std::nullopt); due && engine_->core() && engine_->status().unheard < *due) {
    throw Violation("INV_R22", fmt::format("n{} has heard a stranger", number_ + 1));
  }
  if (effects_.cluster) cluster_ = *effects_.cluster;
  if (!parts_.watcher.may_go_on(number_)) {
    crash(CrashKind::Power);
    parts_.watcher.pulled_out(number_);
    return false;
  }
  if (crash_in_turn_) {
    carry_out_part_and_die();
    return false;
  }
  carry_out();
  change_answers(parts_.defects, effects_);
  client_->after_turn(now, effects_);
  parts_.watcher.answered(number_);
  const bool again = engine_->next_deadline() <= now.lagging || client_->next_turn(now) <= Duration::zero();
  if (again && ++turns_in_a_row_ > kTurnsWithoutTime) {
    throw Violation("INV_R19", fmt::format("n{} wants turn after turn without anything happening", number_ + 1));
  }
  if (!again || engine_->applied() != applied_before) turns_in_a_row_ = 0;
  if (!again) arm_timer(now);
  return again && !turn_scheduled_;
}

// What an operator of this replica reads, in the trace: with numbers instead of the sentence.
void Node::told(const ReplicaEvent& event) {
  static const std::vector<std::string> formats = [] {
    std::vector<std::string> made;
    for (size_t kind = 0; kind <= static_cast<size_t>(ReplicaEventKind::Halted); ++kind) {
      made.push_back(fmt::format("tells its operator: {}, of n{{}}, term {{}}, applied {{}}",
                                 name_of(static_cast<ReplicaEventKind>(kind))));
    }
    return made;
  }();
  parts_.world.trace(number_, formats[static_cast<size_t>(event.kind)].c_str(), event.peer.value(), event.term.value(),
                     event.applied.value());
}

// A replica halts when its disk fails, and for no other reason. It still answers its callers; then the process is ended.
void Node::halt() {
  if (reason_of(*effects_.halted) == Reason::NewerFormat) {
    is_too_old(*effects_.halted);
  } else if (!log_.failed() && !state_.failed()) {
    throw Violation("HALTED", fmt::format("n{} halts: {}", number_ + 1, effects_.halted->ToString()));
  }
  client_->after_turn(clock_now(), effects_);
  parts_.watcher.answered(number_);
  crash(random_.chance(0.5) ? CrashKind::Process : CrashKind::Power);
  parts_.watcher.halted(number_);
}

void Node::arm_timer(Now now) {
  const LaggingTime engine_deadline = engine_->next_deadline();
  const Duration client_wants = client_->next_turn(now);
  TrueTime at = TrueTime::max();
  if (engine_deadline != LaggingTime::max()) at = clock_.when(engine_deadline, parts_.world.now());
  if (client_wants != Duration::max()) at = std::min(at, clock_.when(now.leading + client_wants, parts_.world.now()));
  if (at == TrueTime::max() || timer_at_ == at) return;
  timer_at_ = at;
  parts_.world.schedule(at, EventKind::Timer, number_, epoch_);
}

void Node::carry_out() {
  for (LogWrite& write : effects_.writes) {
    parts_.watcher.writing(number_, write);
    log_.submit(std::move(write));
  }
  if (effects_.checkpoint && effects_.checkpoint->whole) parts_.watcher.state_rewritten();
  if (effects_.checkpoint) state_.commit(*std::move(effects_.checkpoint));
  for (const raft::ReadRequest& read : effects_.log_reads) log_.read(read.first, read.last, read.bytes_max);
  work_on_states();
  parts_.watcher.turned(number_, effects_);
  for (Outbound& outbound : effects_.sends) send(outbound);
  if (effects_.compact) log_.compact(*effects_.compact);
}

// Effects may be carried out in any order, so a crash may leave any of them undone; writes are a prefix.
void Node::carry_out_part_and_die() {
  const uint64_t writes = random_.below(effects_.writes.size() + 1);
  for (uint64_t i = 0; i < writes; ++i) {
    parts_.watcher.writing(number_, effects_.writes[i]);
    log_.submit(std::move(effects_.writes[i]));
  }
  if (writes == effects_.writes.size()) parts_.watcher.turned(number_, effects_);
  for (Outbound& outbound : effects_.sends) {
    if (random_.chance(0.5)) send(outbound);
  }
  crash(random_.chance(0.5) ? CrashKind::Process : CrashKind::Power);
}

void Node::send(Outbound& outbound) {
  parts_.watcher.sending(number_, outbound.to, outbound.message);
  const uint32_t to = static_cast<uint32_t>(outbound.to.value() - 1);
  if (to >= parts_.plan.nodes || to == number_) {
    throw Violation("INV_R21", fmt::format("n{} sends to replica {}", number_ + 1, outbound.to.value()));
  }
  if (parts_.plan.through_wire) outbound.message = through_wire(outbound.message);
  answer_early(parts_.defects, *this, outbound);
  parts_.network.send(number_, to, std::move(outbound.message));
}

Hello Node::hello_to(const Node& peer) const {
  Hello hello;
  hello.cluster_name = "simulated";
  hello.from = id();
  hello.to = peer.id();
  hello.store = log_.id();
  hello.boot = log_.boot();
  hello.cluster = cluster_;
  hello.feature_level = level_;
  return hello;
}

}  // namespace coordkit::sim
