#include "sim/nodes/node.h"

#include <fmt/format.h>

#include <utility>

#include "coordkit/error.h"
#include "sim/faults/defects.h"
#include "sim/oracle/violation.h"
#include "sim/record/recorder.h"

namespace coordkit::sim {
namespace {

constexpr uint64_t kTurnsAtOnce = 4;  // per event; then others run

}  // namespace

Node::Node(const NodeParts& parts, uint32_t number, Random random)
    : parts_(parts),
      number_(number),
      random_(random),
      clock_(Duration(random_.below(uint64_t{1} << 50)), parts.plan.clock_ppm[member()]),
      stores_(parts_, number, random_),
      build_(parts.world, number, parts.plan.upgraded),
      schedule_(parts.world, number, parts.plan.turn_latency_max, random_),
      inbox_(parts.watcher, schedule_),
      outbox_(parts_, number, random_, stores_, schedule_, inbox_) {}

void Node::receive(std::unique_ptr<Parcel> parcel) {
  if (slept_) return missed_.push_back(std::move(parcel));
  Recorder* const recorder = parts_.world.recorder();
  if (recorder) up() ? recorder->arrived(parcel->recorded) : recorder->lost(parcel->recorded);
  if (!up()) return;
  change_message(parts_.defects, random_, parcel->message);
  parts_.world.mix(parcel->message.index());
  parts_.world.trace(number_, "receives message kind {} from n{}", parcel->message.index(), parcel->from + 1);
  post(MessageReceived{ReplicaId(parts_.plan.member_at(parcel->from) + 1), std::move(parcel->message)});
}

void Node::hear(LinkMail mail) {
  if (!up()) return;
  running_->hear(std::move(mail));
  wake();
}

void Node::visited(const Hello& claim, std::vector<Message> messages) {
  parts_.world.trace(number_, "is visited by a stranger that claims to be n{} and sends {} messages", claim.from.value(),
                     messages.size());
  running_->visited(claim, std::move(messages));
  wake();
}

void Node::event(const Event& event) {
  switch (event.kind) {
    case EventKind::Turn: return turn_event(event);
    case EventKind::Timer: return schedule_.timer_event(event);
    case EventKind::LogSynced: return log_synced(event);
    case EventKind::LogReadDone: return stores_.log().read_done(event);
    case EventKind::LogIdle: return stores_.log().idle(event);
    case EventKind::StateSynced: return stores_.state().synced(event);
    case EventKind::StateDone: return outbox_.transfers().event(event);
    default: return;  // not of a node
  }
}

void Node::turn_event(const Event& event) {
  if (!up() || !schedule_.turn_event(event)) return;
  for (uint64_t i = 0; i < kTurnsAtOnce; ++i) {
    if (!one_turn()) return;
  }
  if (!schedule_.turn_scheduled()) schedule_.turn_after(std::chrono::microseconds(10));
}

// True: another turn is wanted at once.
bool Node::one_turn() {
  ++turns_;
  const Now now = clock_now();
  running_->turn(now, inbox_);
  if (running_->effects().halted) {
    halt();
    return false;
  }
  if (!parts_.watcher.may_go_on(number_)) {
    crash(CrashKind::Power);
    parts_.watcher.pulled_out(number_);
    return false;
  }
  if (crash_in_turn_) {
    outbox_.carry_out_part(running_->effects());
    crash(random_.chance(0.5) ? CrashKind::Process : CrashKind::Power);
    return false;
  }
  outbox_.carry_out(running_->effects());
  change_answers(parts_.defects, running_->effects());
  running_->answer(now);
  if (running_->wants_turn(now)) return !schedule_.turn_scheduled();
  schedule_.turn_at_deadline(running_->deadline(clock_, now, parts_.world.now()));
  return false;
}

// A replica halts when its disk fails, and for no other reason. It still answers its callers; then the process is ended.
void Node::halt() {
  const absl::Status& why = *running_->effects().halted;
  if (reason_of(why) == Reason::NewerFormat) {
    build_.is_too_old(why);
  } else if (!stores_.failed() && !parts_.watcher.beyond_promise()) {
    throw Violation("HALTED", fmt::format("n{} halts: {}", number_ + 1, why.ToString()));
  }
  running_->answer(clock_now());
  crash(random_.chance(0.5) ? CrashKind::Process : CrashKind::Power);
  parts_.watcher.halted(number_);
}

// Every other time as a host that does not leave to its next turn what waited for the write.
void Node::log_synced(const Event& event) {
  stores_.log().synced(event);
  parts_.watcher.synced(number_);
  const WriteNumber durable = stores_.log().durable_number();
  if (!up() || frozen() || durable.value() % 2 != 0) return;
  for (Outbound& outbound : running_->released(durable)) outbox_.send(outbound);
}

void Node::scrub() {
  if (up() && !frozen()) stores_.scrub(inbox_);
}

Hello Node::hello_to(const Node& peer) const {
  Hello hello;
  hello.cluster_name = "simulated";
  hello.from = id();
  hello.to = peer.id();
  hello.store = stores_.log().id();
  hello.boot = stores_.log().boot();
  if (running_) hello.cluster = running_->cluster();
  hello.feature_level = build_.level();
  hello.members = parts_.lists.said_by(member());
  return hello;
}

}  // namespace coordkit::sim
