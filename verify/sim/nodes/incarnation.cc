#include "sim/nodes/incarnation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/faults/defects.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

constexpr uint64_t kTurnsWithoutTime = 20'000;  // more means that a node spins

}  // namespace

Incarnation::Incarnation(const NodeParts& parts, uint32_t node, std::unique_ptr<Engine> engine, ClientOptions options,
                         uint64_t start, Now now)
    : parts_(parts),
      node_(node),
      start_(start),
      engine_(std::move(engine)),
      proxy_(make_proxy(parts.defects, *engine_)),
      events_(parts.plan.election_timeout, std::nullopt, [this](const ReplicaEvent& event) { tell(event); }),
      cluster_(engine_->status().cluster),
      client_(std::make_unique<Client>(proxy_ ? *proxy_ : *engine_, std::move(options))) {
  events_.opened(*engine_, now.lagging);
  if (parts.plan.remotes.count != 0) gateway_.emplace(*engine_, remote::GatewayOptions{});
}

void Incarnation::turn(Now now, Inbox& inbox) {
  for (EngineInput& input : inbox.inputs()) {
    parts_.watcher.handling(node_, input);
    events_.arrived(input, now.lagging);
    engine_->post(std::move(input));
  }
  inbox.inputs().clear();
  const Index applied_before = engine_->applied();
  if (gateway_) read_mail(now);
  client_->before_turn(shifted_for_sending(parts_.defects, now));
  engine_->turn(shifted_for_engine(parts_.defects, now), effects_);
  events_.turned(*engine_, effects_, now.lagging);
  if (engine_->applied() != applied_before) turns_in_a_row_ = 0;
  if (effects_.halted) return;
  check();
  rejected_due_.reset();
  if (effects_.cluster) cluster_ = *effects_.cluster;
}

void Incarnation::read_mail(Now now) {
  for (const LinkMail& mail : std::exchange(mail_, {})) {
    switch (mail.kind) {
      case LinkMail::Kind::Up: gateway_->linked(mail.remote); break;
      case LinkMail::Kind::Down: gateway_->unlinked(mail.remote); break;
      case LinkMail::Kind::Frame: gateway_->received(mail.remote, mail.frame, now); break;
    }
  }
  gateway_->before_turn(now);
}

void Incarnation::check() const {
  // The replicas themselves noticed it, whether or not an observer saw it before.
  if (effects_.divergence && !parts_.watcher.beyond_promise()) {
    throw Violation("DIVERGED", fmt::format("n{}: {}", node_ + 1, effects_.divergence->sentence));
  }
  if (rejected_due_ && engine_->core() && engine_->status().rejected < *rejected_due_) {
    throw Violation("INV_R22", fmt::format("n{} has heard a stranger", node_ + 1));
  }
}

void Incarnation::answer(Now now) {
  client_->after_turn(now, effects_);
  if (gateway_) {
    gateway_->after_turn(now, effects_);
    parts_.watcher.tells_remotes(node_, gateway_->take_frames());
  }
  parts_.watcher.answered(node_);
}

bool Incarnation::wants_turn(Now now) {
  const bool again = engine_->next_deadline() <= now.lagging || client_->next_turn(now) <= Duration::zero() ||
                     (gateway_ && gateway_->next_turn(now) <= Duration::zero());
  turns_in_a_row_ = again ? turns_in_a_row_ + 1 : 0;
  if (turns_in_a_row_ > kTurnsWithoutTime) {
    throw Violation("INV_R19", fmt::format("n{} wants turn after turn without anything happening", node_ + 1));
  }
  return again;
}

TrueTime Incarnation::deadline(const NodeClock& clock, Now now, TrueTime at) const {
  const LaggingTime engine_deadline = engine_->next_deadline();
  const Duration client_wants = client_->next_turn(now);
  TrueTime next = TrueTime::max();
  if (engine_deadline != LaggingTime::max()) next = clock.when(engine_deadline, at);
  if (client_wants != Duration::max()) next = std::min(next, clock.when(now.leading + client_wants, at));
  if (!gateway_) return next;
  const Duration gateway_wants = gateway_->next_turn(now);
  if (gateway_wants != Duration::max()) next = std::min(next, clock.when(now.lagging + gateway_wants, at));
  return next;
}

std::vector<Outbound> Incarnation::released(WriteNumber durable) {
  std::vector<Outbound> early;
  engine_->take_sends(durable, early);
  return early;
}

// Not through the inbox: observers take what arrives there for a member's message.
void Incarnation::visited(const Hello& claim, std::vector<Message> messages) {
  rejected_due_ = engine_->status().rejected + messages.size();
  engine_->post(PeerConnected{claim});
  for (Message& message : messages) engine_->post(MessageReceived{claim.from, std::move(message)});
  engine_->post(PeerLost{claim.from});
}

// A report to the operator of this replica, in the trace: with numbers instead of the sentence.
void Incarnation::tell(const ReplicaEvent& event) const {
  static const std::vector<std::string> formats = [] {
    std::vector<std::string> made;
    for (size_t kind = 0; kind <= static_cast<size_t>(ReplicaEventKind::Halted); ++kind) {
      made.push_back(fmt::format("tells its operator: {}, of n{{}}, term {{}}, applied {{}}",
                                 name_of(static_cast<ReplicaEventKind>(kind))));
    }
    return made;
  }();
  parts_.world.trace(node_, formats[static_cast<size_t>(event.kind)].c_str(), event.peer.value(), event.term.value(),
                     event.applied.value());
  parts_.watcher.told(node_, event);
}

}  // namespace coordkit::sim
