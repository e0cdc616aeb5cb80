#include "remote/remote_engine.h"

#include <algorithm>
#include <utility>

#include "coordkit/engine/wire.h"
#include "coordkit/error.h"
#include "engine/calls/origins.h"
#include "remote/store_of_name.h"

namespace coordkit::remote {
namespace {

constexpr size_t kCommandBytesMax = 1 << 20;            // of one message, above its first command
constexpr uint64_t kOriginAttempt = uint64_t{1} << 60;  // of renewals of the origin, which the client does not know
constexpr int kRenewalsOfAnOrigin = 6;                  // within its TTL

EngineOptions engine_options(const RemoteEngineOptions& options) {
  EngineOptions out;
  out.raft.self = options.origin.replica;
  out.raft.election_timeout = options.retry;
  out.window = options.window;
  return out;
}

Origin origin_of(const RemoteEngineOptions& options) {
  Origin origin = options.origin;
  if (!options.name.empty()) origin.store = store_of_name(origin.replica, options.name);
  return origin;
}

absl::Status no_gateway(Outcome outcome) {
  return make_error(Reason::NoLeader, outcome,
                    "this process is linked to no gateway that knows a leader; nothing was done. See the remote's health() for "
                    "the addresses that were tried");
}

}  // namespace

RemoteEngine::RemoteEngine(const RemoteEngineOptions& options)
    : options_(options),
      engine_options_(engine_options(options)),
      proposals_(engine_options_, origin_of(options), options.window_bytes, options.name) {}

// ---- the link

void RemoteEngine::linked() {
  link_.linked = true;
  arrive();
}

void RemoteEngine::unlinked() {
  link_.linked = link_.arrived = false;
  frames_in_.clear();
}

void RemoteEngine::arrive() {
  link_.arrived = false;
  link_.again_at.reset();
  link_.heard = 0;
  questions_.another_gateway();
  Arrival arrival{.origin = proposals_.origin(),
                  .rate_error_ppm = options_.rate_error_ppm,
                  .queued = {},
                  .seen = link_.seen,
                  .name = options_.name};
  proposals_.each_queued([&](MachineId machine, Sequence sequence) { arrival.queued.push_back({machine, sequence}); });
  if (arrival.queued.size() > kQueuedMax) arrival.queued.resize(kQueuedMax);
  send(std::move(arrival));
  for (const auto& [machine, subject] : interests_) send(Interest{machine, subject, true});
}

// A gap means that something is lost. Another arrival tells all that matters of it.
bool RemoteEngine::in_order(uint64_t number) {
  if (link_.follows(number)) return true;
  if (link_.arrived) arrive();
  return false;
}

// ---- the turn

void RemoteEngine::turn(Now now, EngineEffects& effects) {
  effects.clear();
  if (!failed_.ok()) return halt(failed_, effects);
  for (const std::string& frame : std::exchange(frames_in_, {})) {
    absl::StatusOr<FromGateway> message = decode_from_gateway(frame);
    if (message.ok()) std::visit([&](auto& one) { hear(one, effects); }, *message);
  }
  for (EngineInput& input : std::exchange(inbox_, {})) take(input, effects);
  if (leadership_.leader != (link_.arrived ? link_.standing.leader : ReplicaId())) {
    leadership_.leader = link_.arrived ? link_.standing.leader : ReplicaId();
    effects.leadership = leadership_;
  }
  if (link_.unanswered(now.lagging, options_.retry)) arrive();
  hand_over(now, effects);
  ask_questions(now.lagging);
  renew_origin(now.lagging);
  expire(now.lagging, effects);
}

void RemoteEngine::halt(const absl::Status& why, EngineEffects& effects) {
  inbox_.clear();
  if (std::exchange(halted_, true)) return;
  proposals_.fail_all(Reason::ReplicaFailed, sentence_of(why), effects.completions);
  for (const Ticket ticket : questions_.take_all()) {
    effects.completions.push_back(
        {.ticket = ticket, .status = make_error(Reason::ReplicaFailed, Outcome::NoEffect, sentence_of(why))});
  }
  effects.halted = why;
}

// ---- calls

void RemoteEngine::take(EngineInput& input, EngineEffects& effects) {
  if (auto* const submit = std::get_if<Submit>(&input)) return take(*submit, effects);
  if (auto* const ask = std::get_if<Ask>(&input)) return take(*ask, effects);
  if (auto* const renew = std::get_if<Renew>(&input)) {
    if (link_.arrived) send(Renewal{coordkit::encode(Message(std::move(renew->request)))});
    return;
  }
  if (const auto* const forget = std::get_if<Forget>(&input)) return take(*forget);
  const auto unsupported = [&](Ticket ticket) {
    effects.completions.push_back(
        {.ticket = ticket, .status = make_error(Reason::Unsupported, "members are changed at a member, or by coordctl")});
  };
  if (const auto* const change = std::get_if<ChangeMembers>(&input)) unsupported(change->ticket);
  if (const auto* const transfer = std::get_if<TransferLeadership>(&input)) unsupported(transfer->ticket);
}

// Releases, cancels and closes have a quarter of the room to themselves.
bool RemoteEngine::room(const Urgency& urgency, size_t bytes) const {
  const size_t quarters = urgency == Urgency::Reserved ? 5 : 4;
  return proposals_.size() + questions_.size() < options_.requests_max / 4 * quarters &&
         proposals_.bytes() + bytes <= options_.request_bytes_in_flight_max / 4 * quarters;
}

void RemoteEngine::take(Submit& call, EngineEffects& effects) {
  if (room(call.urgency, engine::bytes_of(call))) return proposals_.submit(std::move(call), effects.completions);
  effects.completions.push_back(
      {.ticket = call.ticket,
       .status = make_error(Reason::TooManyRequests, "too many calls of this process are under way; wait")});
}

void RemoteEngine::take(Ask& call, EngineEffects& effects) {
  const Ticket ticket = call.ticket;
  absl::Status why;
  if (!call.question) why = make_error(Reason::Unsupported, "a process without a replica has no state to read");
  if (why.ok() && !room(Urgency::Normal, 0)) {
    why = make_error(Reason::TooManyRequests, "too many calls of this process are under way; wait");
  }
  if (!why.ok()) return effects.completions.push_back({.ticket = ticket, .status = std::move(why)});
  questions_.add(std::move(call));
}

void RemoteEngine::take(const Forget& call) {
  proposals_.forget(call.ticket);
  const uint64_t id = questions_.forget(call.ticket);
  if (id != 0 && link_.arrived) send(Withdrawal{id});
}

void RemoteEngine::observe(MachineId id, std::string_view subject, bool wanted) {
  std::pair interest(id, std::string(subject));
  const bool changed = wanted ? interests_.insert(interest).second : interests_.erase(interest) != 0;
  if (changed && link_.linked) send(Interest{id, std::move(interest.second), wanted});
}

// ---- what goes to the gateway

engine::Proposals::Route RemoteEngine::route() const {
  if (!served()) return engine::Proposals::Route::NoLeader;
  return link_.standing.registered ? engine::Proposals::Route::Open : engine::Proposals::Route::Unregistered;
}

void RemoteEngine::hand_over(Now now, EngineEffects& effects) {
  if (!served()) return;
  proposals_.known_as_origin(link_.standing.registered, effects.completions, link_.standing.applied);
  dispatches_.clear();
  proposals_.collect(now.lagging, link_.standing.registered, dispatches_);
  Commands message;
  size_t bytes = 0;
  for (engine::Proposals::Dispatch& dispatch : dispatches_) {
    const bool full = message.payloads.size() == kCommandsMax || bytes + dispatch.payload.size() > kCommandBytesMax;
    if (full && !message.payloads.empty()) {
      send(std::exchange(message, {}));
      bytes = 0;
    }
    bytes += dispatch.payload.size();
    message.payloads.push_back(std::move(dispatch.payload));
  }
  if (!message.payloads.empty()) send(std::move(message));
}

void RemoteEngine::ask_questions(LaggingTime now) {
  if (!link_.arrived) return;
  for (Question& question : questions_.to_send(now, link_.seen)) send(std::move(question));
}

void RemoteEngine::renew_origin(LaggingTime now) {
  if (!served() || !link_.standing.registered || now < renew_at_) return;
  renew_at_ = now + engine::Origins::kRemoteTtl / kRenewalsOfAnOrigin;
  const TimerOp timer = engine::Origins::timer_of(proposals_.origin());
  RenewRequest request{.attempt = kOriginAttempt | ++last_attempt_, .machine = kOrigins, .groups = {}, .looks = {}};
  request.groups.push_back(
      {.group = timer.group, .highest = timer.id, .count = 1, .sum = timer_set_hash(timer.id), .excluded = {}});
  send(Renewal{coordkit::encode(Message(std::move(request)))});
}

void RemoteEngine::expire(LaggingTime now, EngineEffects& effects) {
  effects.more_expired = proposals_.expire(now, route(), effects.completions);
  while (const Ticket ticket = questions_.overdue(now)) {
    const absl::Status why =
        served() ? make_error(Reason::CallTimeout, Outcome::NoEffect, "no answer before the deadline of the read")
                 : no_gateway(Outcome::NoEffect);
    effects.completions.push_back({.ticket = ticket, .status = why});
    take(Forget{ticket});
  }
}

// ---- what comes from it

void RemoteEngine::hear(Standing& message, EngineEffects& effects) {
  if (message.number == 1 && link_.linked) {
    link_.heard = 0;
    const bool again = link_.arrived || link_.standing.number != 0;
    link_.arrived = in_order(1);
    proposals_.leadership_changed();  // everything is handed over again, here
    renew_at_ = LaggingTime::min();
    // Entries may have been skipped, and with them events.
    if (again) effects.restored = Position{std::max(message.applied, link_.standing.applied), Term()};
  } else if (!in_order(message.number)) {
    return;
  } else if (message.leader != link_.standing.leader) {
    proposals_.leadership_changed();
  }
  message.applied = std::max(message.applied, link_.standing.applied);
  message.feature_level = std::max(message.feature_level, link_.standing.feature_level);
  link_.seen = std::max(link_.seen, message.applied);
  link_.standing = message;
}

void RemoteEngine::hear(Answers& message, EngineEffects& effects) {
  if (!in_order(message.number)) return;
  for (RemoteAnswer& answer : message.answers) {
    if (answer.request.origin != proposals_.origin()) continue;
    link_.seen = std::max(link_.seen, answer.index);
    if (answer.overtook) {
      proposals_.overtook(answer.request);
    } else if (answer.refused == Reason::UnknownOrigin) {
      link_.standing.registered = false;  // what was handed over may have been executed, and its answer is gone
      proposals_.known_as_origin(false, effects.completions);
    } else if (answer.refused == Reason::SequenceRetired) {
      proposals_.lost(answer.request.sequence, effects.completions);
    } else {
      proposals_.answered({answer.request, answer.stage, answer.refused, std::move(answer.bytes), answer.index},
                          effects.completions);
    }
  }
}

void RemoteEngine::hear(Told& message, EngineEffects& effects) {
  if (!in_order(message.number)) return;
  const Ticket ticket = questions_.answered(message.id);
  if (!ticket) return;
  if (message.status.ok()) link_.seen = std::max(link_.seen, message.index);
  effects.completions.push_back({.ticket = ticket,
                                 .status = std::move(message.status),
                                 .bytes = std::move(message.bytes),
                                 .index = message.index,
                                 .age = message.age});
}

void RemoteEngine::hear(Happened& message, EngineEffects& effects) {
  if (!in_order(message.number)) return;
  for (MachineEvent& event : message.events) link_.seen = std::max(link_.seen, event.index);
  std::ranges::move(message.events, std::back_inserter(effects.events));
}

void RemoteEngine::hear(Renewed& message, EngineEffects& effects) {
  absl::StatusOr<Message> decoded = decode(message.reply);
  auto* const reply = decoded.ok() ? std::get_if<RenewReply>(&*decoded) : nullptr;
  if (reply != nullptr && (reply->attempt & kOriginAttempt) == 0) effects.renewals.push_back(std::move(*reply));
}

// ---- queries

LaggingTime RemoteEngine::next_deadline() const {
  LaggingTime next = std::min(proposals_.next_deadline(route()), questions_.next_deadline());
  if (served() && link_.standing.registered) next = std::min(next, renew_at_);
  if (link_.linked && !link_.arrived) next = std::min(next, link_.again_at.value_or(LaggingTime::min()));
  return next;
}

EngineStatus RemoteEngine::status() const {
  EngineStatus status;
  status.state = halted_ ? ReplicaState::Halted : served() ? ReplicaState::Ready : ReplicaState::Starting;
  if (!served()) status.reason = link_.linked ? "its gateway knows no leader" : "it is linked to no gateway";
  if (!served() && link_.arrived && link_.standing.leader) {
    status.reason =
        "the cluster is not at feature level 7, which a remote with a name needs: upgrade all replicas, or leave the "
        "name out";
  }
  status.applied = link_.standing.applied;
  status.feature_level = link_.standing.feature_level;
  status.requests = proposals_.size() + questions_.size();
  status.request_bytes = proposals_.bytes();
  return status;
}

}  // namespace coordkit::remote
