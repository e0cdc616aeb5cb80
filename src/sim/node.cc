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

// Draws one after the other: the arguments of a call have an order of their own in every compiler.
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
  log_.disk().bytes().set_options(parts.plan.log_files);
  state_.set_quality(parts.plan.disk);
  log_.disk().set_defects(parts.defects);
}

Node::~Node() { client_.reset(); }  // before the engine

void Node::post(EngineInput input) {
  if (!up()) return;
  inbox_.push_back(std::move(input));
  wake();
}

void Node::receive(std::unique_ptr<Parcel> parcel) {
  if (slept_) return missed_.push_back(std::move(parcel));
  Recorder* const recorder = parts_.world.recorder();
  if (recorder) up() ? recorder->arrived(parcel->recorded) : recorder->lost(parcel->recorded);
  if (!up()) return;
  change_message(parts_.defects, random_, parcel->message);
  parts_.world.mix(parcel->message.index());
  parts_.world.trace(number_, "receives message kind {} from n{}", parcel->message.index(), parcel->from + 1);
  post(MessageReceived{ReplicaId(parcel->from + 1), std::move(parcel->message)});
}

// Not through the inbox: observers take what arrives there for a member's message.
void Node::visited(const Hello& claim, std::vector<Message> said) {
  rejected_due_ = engine_->status().rejected + said.size();
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
  send_early();
}

// Every other time as a host that does not leave to its next turn what waited for the write.
void Node::send_early() {
  const WriteNumber durable = log_.durable_number();
  if (!up() || frozen_ || durable.value() % 2 != 0) return;
  std::vector<Outbound> early;
  engine_->take_sends(durable, early);
  for (Outbound& outbound : early) send(outbound);
}

// True: another turn is wanted at once.
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
  if (const auto due = std::exchange(rejected_due_, std::nullopt);
      due && engine_->core() && engine_->status().rejected < *due) {
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
