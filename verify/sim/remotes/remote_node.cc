#include "sim/remotes/remote_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/faults/defects.h"
#include "sim/nodes/node_options.h"
#include "sim/oracle/violation.h"
#include "sim/record/recorder.h"
#include "sim/remotes/remote_acts.h"

namespace coordkit::sim {
namespace {

constexpr uint64_t kTurnsWithoutTime = 20'000;
constexpr Duration kRedialMax = std::chrono::milliseconds(300);

std::vector<std::string> addresses(uint32_t gateways) {
  std::vector<std::string> all;
  for (uint32_t gateway = 0; gateway < gateways; ++gateway) all.push_back(fmt::format("{}", gateway));
  return all;
}

}  // namespace

RemoteNode::RemoteNode(const NodeParts& parts, RemoteLinks& links, uint32_t number, Random random)
    : parts_(parts),
      links_(links),
      number_(number),
      random_(random),
      clock_(Duration(random_.below(uint64_t{1} << 50)), parts.plan.remotes.clock_ppm[number - parts.plan.nodes]),
      schedule_(parts.world, number, parts.plan.turn_latency_max, random_) {
  links_.attach(*this);
}

void RemoteNode::start() {
  schedule_.next_epoch();
  schedule_.reset();
  origin_ = {remote_id(number_, epoch()), StoreId(random_() | 1), BootCounter(1)};
  const RemotePlan& plan = parts_.plan.remotes;
  process_ = std::make_unique<Process>(
      remote::RemoteEngineOptions{.origin = origin_}, client_options(parts_, number_, BootCounter(epoch())),
      remote::GatewayChoice(addresses(parts_.plan.nodes), plan.jitter, plan.patience, random_()));
  parts_.world.trace(number_, "starts without a replica, as origin {}", origin_.replica.value());
  if (Recorder* recorder = parts_.world.recorder()) recorder->started(number_);
  process_->choice.waits(clock_now().lagging, random_());
  dial();
  schedule_.turn_after(Duration::zero());
}

void RemoteNode::crash() {
  schedule_.next_epoch();
  process_->client.stop();
  links_.hang_up(number_ - parts_.plan.nodes);
  mail_.clear();
  schedule_.reset();
  parts_.world.trace(number_, "crashes; it had no replica");
  if (Recorder* recorder = parts_.world.recorder()) recorder->stopped(number_);
  process_.reset();
}

void RemoteNode::retire() {
  schedule_.next_epoch();
  if (!process_) return;
  try {
    process_->client.stop();
  } catch (const Violation&) {
  }
  process_.reset();
}

void RemoteNode::freeze(bool asleep) {
  schedule_.freeze();
  if (asleep) clock_.suspend(parts_.world.now());
  parts_.world.trace(number_, "is frozen");
  if (Recorder* recorder = parts_.world.recorder()) recorder->frozen(number_, asleep ? "machine asleep" : "process stopped");
}

void RemoteNode::resume() {
  clock_.wake(parts_.world.now());
  if (!frozen()) return;
  if (Recorder* recorder = parts_.world.recorder()) recorder->resumed(number_);
  parts_.world.trace(number_, "continues");
  schedule_.resume();
}

void RemoteNode::hear(LinkMail mail) {
  if (!up()) return;
  mail_.push_back(std::move(mail));
  wake();
}

void RemoteNode::dial() {
  const uint32_t gateway = static_cast<uint32_t>(std::stoul(process_->choice.address()));
  parts_.world.trace(number_, "dials its gateway n{}", gateway + 1);
  links_.dial(number_ - parts_.plan.nodes, origin_.replica, gateway);
}

// The transport does so by itself.
void RemoteNode::redial() {
  if (up() && !links_.dialled(number_ - parts_.plan.nodes)) dial();
}

void RemoteNode::read_mail(LaggingTime now) {
  remote::RemoteEngine& engine = process_->engine;
  for (LinkMail& mail : std::exchange(mail_, {})) {
    switch (mail.kind) {
      case LinkMail::Kind::Up:
        engine.unlinked();
        engine.linked();
        process_->choice.waits(now, random_());
        break;
      case LinkMail::Kind::Down:
        engine.unlinked();
        process_->choice.failed(now, random_());
        parts_.world.schedule(parts_.world.now() + Duration(random_.below(static_cast<uint64_t>(kRedialMax.count()))),
                              EventKind::Remote, number_, epoch(), number_of(RemoteAct::Redial));
        break;
      case LinkMail::Kind::Frame: engine.received(std::move(mail.frame)); break;
    }
  }
}

bool RemoteNode::turn_event(const Event& event) {
  if (!up() || !schedule_.turn_event(event)) return false;
  turn(clock_now());
  return true;
}

void RemoteNode::turn(Now now) {
  Process& process = *process_;
  read_mail(now.lagging);
  if (process.choice.moves(now.lagging, random_())) {
    process.engine.unlinked();
    dial();
  }
  process.client.before_turn(shifted_for_sending(parts_.defects, now));
  process.engine.turn(shifted_for_engine(parts_.defects, now), effects_);
  if (effects_.halted) throw Violation("HALTED", fmt::format("n{}: {}", number_ + 1, effects_.halted->ToString()));
  process.client.after_turn(now, effects_);
  const bool serves = process.engine.status().state == ReplicaState::Ready;
  if (serves && !process.serves) served(process);
  if (!serves && process.serves) process.choice.waits(now.lagging, random_());
  process.serves = serves;
  for (Frame& frame : process.engine.take_frames()) links_.send(number_ - parts_.plan.nodes, std::move(frame));
  plan_turn(now);
}

void RemoteNode::served(Process& process) {
  process.choice.served();
  const std::string before = std::exchange(process.served_by, process.choice.address());
  if (before.empty() || before == process.served_by) return;
  parts_.watcher.reached(Situation::RemoteMoved);
  if (calls() != 0) parts_.watcher.reached(Situation::RemoteMovedInCalls);
}

void RemoteNode::plan_turn(Now now) {
  Process& process = *process_;
  const LaggingTime engine = std::min(process.engine.next_deadline(), process.choice.next());
  const Duration client = process.client.next_turn(now);
  const bool again = engine <= now.lagging || client <= Duration::zero();
  process.turns_in_a_row = again ? process.turns_in_a_row + 1 : 0;
  if (process.turns_in_a_row > kTurnsWithoutTime) {
    throw Violation("INV_R19", fmt::format("n{} wants turn after turn without anything happening", number_ + 1));
  }
  if (again) {
    if (!schedule_.turn_scheduled()) schedule_.turn_after(std::chrono::microseconds(10));
    return;
  }
  TrueTime next = TrueTime::max();
  if (engine != LaggingTime::max()) next = clock_.when(engine, parts_.world.now());
  if (client != Duration::max()) next = std::min(next, clock_.when(now.leading + client, parts_.world.now()));
  schedule_.turn_at_deadline(next);
}

}  // namespace coordkit::sim
