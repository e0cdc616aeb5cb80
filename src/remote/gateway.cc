#include "remote/gateway.h"

#include <algorithm>
#include <utility>

#include "base/remote_name.h"
#include "coordkit/engine/wire.h"
#include "coordkit/error.h"
#include "engine/apply/log_command.h"
#include "machine/command.h"
#include "machine/objects/object_views.h"
#include "machine/permissions/object_rights.h"
#include "machine/questions.h"
#include "machine/result.h"
#include "remote/store_of_name.h"

namespace coordkit::remote {

// Zero: remotes should look for another gateway. A replica that has stopped may still remember a leader.
ReplicaId Gateway::leader_of(const Engine& engine) {
  switch (engine.status().state) {
    case ReplicaState::Ready:
    case ReplicaState::Learner:
    case ReplicaState::CatchingUp: return engine.leadership().leader;
    default: return {};
  }
}
namespace {

constexpr Duration kWaitsMax = std::chrono::minutes(1);  // of a question

}  // namespace

// ---- reports of the transport

void Gateway::linked(ReplicaId remote, std::optional<std::string> proven) {
  unlinked(remote);
  links_.try_emplace(remote).first->second.proven = std::move(proven);
}

void Gateway::unlinked(ReplicaId remote) {
  const auto found = links_.find(remote);
  if (found == links_.end()) return;
  for (const auto& [id, ticket] : found->second.questions) {
    asked_.take(ticket);
    engine_.post(Forget{ticket});
  }
  for (const auto& subject : found->second.interests) watch_subject(subject, remote, false);
  waiting_.withdraw_all(remote);
  ahead_.erase(remote);
  touched_.erase(remote);
  unregistered_.erase(remote);
  commands_.gone(remote);
  links_.erase(found);
}

void Gateway::received(ReplicaId remote, std::string_view frame, Now now) {
  const auto found = links_.find(remote);
  if (found == links_.end()) return;
  Link& link = found->second;
  absl::StatusOr<FromRemote> message = decode_from_remote(frame);
  if (!message.ok() || (!link.arrived && !std::holds_alternative<Arrival>(*message))) {
    ++counters_.malformed;
    return;
  }
  struct Taker {
    Gateway& gateway;
    ReplicaId remote;
    Link& link;
    Now now;
    void operator()(Arrival& m) { gateway.take(remote, link, m); }
    void operator()(Commands& m) { gateway.take(link, m, now); }
    void operator()(Question& m) { gateway.take(remote, link, m, now); }
    void operator()(Withdrawal& m) { gateway.take(remote, link, m); }
    void operator()(Interest& m) { gateway.take(link, m); }
    void operator()(Renewal& m) { gateway.take(remote, link, m, now); }
  };
  std::visit(Taker{*this, remote, link, now}, *message);
}

// ---- messages of remotes

void Gateway::take(ReplicaId remote, Link& link, Arrival& message) {
  const bool agrees = message.version == kLinkVersion && message.rate_error_ppm == options_.rate_error_ppm;
  if (!agrees || message.origin.replica != remote || !is_remote(remote)) {
    ++counters_.disagreeing;
    return;
  }
  const bool fits =
      message.name.empty() || (is_remote_name(message.name) && message.origin.store == store_of_name(remote, message.name));
  if (!fits || link.proven.value_or(message.name) != message.name) return static_cast<void>(++counters_.foreign);
  // An entry with a name cannot be written yet. It comes again.
  if (!message.name.empty() && !rights_.in_force()) return static_cast<void>(++counters_.disagreeing);
  link.origin = message.origin;
  link.name = std::move(message.name);
  link.arrived = true;
  link.served = false;
  link.seen = message.seen;
  link.queued = std::move(message.queued);
  waiting_.withdraw_all(remote);  // it asks them again
  serve(remote, link);
}

void Gateway::serve(ReplicaId remote, Link& link) {
  if (engine_.applied() < link.seen) return static_cast<void>(ahead_.insert(remote));
  ahead_.erase(remote);
  link.served = true;
  start_over(remote, link);
  if (rights_.impostor(link.remote())) return;
  answer_awaited(remote, link, std::exchange(link.queued, {}));
}

// From here on nothing is missing.
void Gateway::start_over(ReplicaId remote, Link& link) {
  link.number = 0;
  link.answers.clear();
  link.events.clear();
  tell(remote, link, standing_of(link));
}

// The decisions may have been applied here before the remote was linked.
void Gateway::answer_awaited(ReplicaId remote, Link& link, const std::vector<Awaited>& queued) {
  absl::btree_map<MachineId, std::vector<RequestId>> asked;
  for (const Awaited& one : queued) asked[one.machine].push_back({link.origin, one.sequence});
  for (auto& [id, requests] : asked) {
    std::ranges::sort(requests);
    absl::btree_set<RequestId> known;
    std::vector<RemoteAnswer> ended;
    const StateMachine* machine = engine_.machine(id);
    if (machine == nullptr) continue;
    machine->queued_results(requests, [&](const ApplyOutput::Result& result) {
      known.insert(result.request);
      if (result.stage == ApplyOutput::Stage::Queued) return;
      ended.push_back({.request = result.request, .bytes = result.bytes, .index = result.index});
    });
    for (const RequestId& request : requests) {
      if (!known.contains(request)) ended.push_back({.request = request, .refused = Reason::SequenceRetired});
    }
    for (size_t first = 0; first < ended.size(); first += kAnswersMax) {
      const size_t last = std::min(ended.size(), first + kAnswersMax);
      send(remote, link, Answers{0, {ended.begin() + first, ended.begin() + last}});
    }
  }
}

void Gateway::take(Link& link, Commands& message, Now now) {
  for (SharedBytes& payload : message.payloads) {
    const std::optional<RequestId> id = accepted(link, payload.view());
    if (id && !commands_.add({std::move(payload), *id}, now.lagging)) ++counters_.beyond;
  }
}

std::optional<RequestId> Gateway::accepted(const Link& link, std::string_view payload) {
  const absl::StatusOr<engine::LogCommand> command = engine::decode_command(payload);
  const auto foreign = [this](bool it_is) {
    counters_.foreign += it_is ? 1 : 0;
    return it_is;
  };
  if (!command.ok()) return ++counters_.malformed, std::nullopt;
  if (const auto* registration = std::get_if<engine::RegisterOrigin>(&*command)) {
    if (foreign(registration->origin != link.origin || registration->name != link.name)) return std::nullopt;
    return RequestId{link.origin, Sequence()};
  }
  const auto* request = std::get_if<engine::Request>(&*command);
  const auto others = [&] {
    return request->id.origin != link.origin || request->name != link.name || rights_.impostor(link.remote());
  };
  if (request == nullptr || foreign(others())) return std::nullopt;
  const bool hosted = engine_.machine(request->machine) && (!request->guard || engine_.machine(request->guard->machine));
  bool valid = hosted && request->payload.size() <= options_.request_bytes_max && request->id.sequence;
  if (valid && request->machine == kCoordination) {
    const absl::StatusOr<machine::Request> body = machine::decode_request(request->payload);
    valid = body.ok() && machine::validate(*body) == machine::ResultCode::Ok;
    valid = valid && (rights_.in_force() || !std::holds_alternative<machine::SetPermissions>(body->body));
  }
  if (!valid) return ++counters_.invalid, std::nullopt;
  return request->id;
}

void Gateway::take(ReplicaId remote, Link& link, Question& message, Now now) {
  const auto refuse = [&](absl::Status why) { send(remote, link, Told{.id = message.id, .status = std::move(why)}); };
  if (link.questions.contains(message.id) || waits(remote, link, message, now)) return;  // its answer comes
  if (link.questions.size() >= options_.questions_max) {
    ++counters_.beyond;
    return refuse(make_error(Reason::TooManyRequests, "this gateway answers so many questions of one remote at a time; wait"));
  }
  if (message.consistency > Consistency::Local) return static_cast<void>(++counters_.malformed);
  const Ticket ticket = asked_.add({remote, message.id, message.machine, message.question});
  link.questions.emplace(message.id, ticket);
  engine_.post(Ask{.ticket = ticket,
                   .machine = message.machine,
                   .question = std::move(message.question),
                   .consistency = message.consistency,
                   .at_least = message.at_least,
                   .deadline = now.lagging + std::clamp(message.time_left, Duration::zero(), Duration(std::chrono::hours(1)))});
}

// Whether it is one of history that waits for a change. Those do not count as under way.
bool Gateway::waits(ReplicaId remote, Link& link, const Question& message, Now now) {
  const WaitingReads::Asker asker{remote, message.id};
  if (waiting_.has(asker)) return true;
  if (message.waits <= Duration::zero() || message.machine != kCoordination || message.consistency != Consistency::Local) {
    return false;
  }
  if (rights_.state() == nullptr) return false;
  const absl::StatusOr<machine::Question> question = machine::decode_question(message.question);
  const auto* const changes = question.ok() ? std::get_if<machine::ChangesOf>(&*question) : nullptr;
  if (changes == nullptr || !rights_.permission(link.remote(), machine::needs_of(*question)).ok())
    return false;  // it is answered at once
  if (waiting_.of(remote) >= options_.waiting_max) {
    ++counters_.waiting;
    const absl::Status why =
        make_error(Reason::TooManyRequests, "so many questions of one remote wait for changes here; end some of its watches");
    send(remote, link, Told{.id = message.id, .status = why});
    return true;
  }
  waiting_.add(asker, changes->place, message.at_least, now.lagging + std::min(message.waits, kWaitsMax));
  return true;
}

void Gateway::take(ReplicaId remote, Link& link, const Withdrawal& message) {
  waiting_.withdraw({remote, message.id});
  const auto found = link.questions.find(message.id);
  if (found == link.questions.end()) return;
  engine_.post(Forget{found->second});
  asked_.take(found->second);
  link.questions.erase(found);
}

void Gateway::take(Link& link, Interest& message) {
  const bool sensible = engine_.machine(message.machine) != nullptr && message.subject.size() <= options_.subject_bytes_max;
  if (!sensible) return static_cast<void>(++counters_.invalid);
  if (message.wanted && link.interests.size() >= options_.interests_max) return static_cast<void>(++counters_.beyond);
  std::pair subject(message.machine, std::move(message.subject));
  const bool changed = message.wanted ? link.interests.insert(subject).second : link.interests.erase(subject) != 0;
  if (changed) watch_subject(subject, link.origin.replica, message.wanted);
}

void Gateway::watch_subject(const std::pair<MachineId, std::string>& subject, ReplicaId remote, bool wanted) {
  absl::btree_set<ReplicaId>& watchers = watched_[subject];
  const bool before = !watchers.empty();
  wanted ? static_cast<void>(watchers.insert(remote)) : static_cast<void>(watchers.erase(remote));
  const bool after = !watchers.empty();
  if (before != after) engine_.observe(subject.first, subject.second, after);
  if (!after) watched_.erase(subject);
}

// ---- renewals (time.md T1): a reply goes back to an attempt only if the request that was confirmed was made of it

void Gateway::take(ReplicaId remote, Link& link, const Renewal& message, Now now) {
  absl::StatusOr<Message> decoded = decode(message.request);
  auto* const request = decoded.ok() ? std::get_if<RenewRequest>(&*decoded) : nullptr;
  if (request == nullptr) return static_cast<void>(++counters_.malformed);
  const auto own = [&link](const RenewRequest::Group& group) {
    return group.group.node == link.origin.replica && group.group.boot == link.origin.boot &&
           group.group.incarnation == link.origin.store.value();
  };
  if (rights_.impostor(link.remote()) || !std::ranges::all_of(request->groups, own))
    return static_cast<void>(++counters_.foreign);
  if (request->machine != kCoordination || !request->looks.empty()) {
    engine_.post(Renew{renewals_.alone(remote, std::move(*request))});
    return;
  }
  if (!renewals_.takes(*request)) engine_.post(Renew{renewals_.take()});
  renewals_.add(remote, std::move(*request), now.lagging);
}

void Gateway::pass_on(const RenewReply& reply) {
  for (auto& [remote, own] : renewals_.parts_of(reply)) {
    if (links_.contains(remote)) send_unnumbered(remote, Renewed{coordkit::encode(Message(std::move(own)))});
  }
}

// ---- the loop

void Gateway::before_turn(Now now) {
  if (commands_.any()) engine_.post(Relay{commands_.take()});
  if (renewals_.due() <= now.lagging) engine_.post(Renew{renewals_.take()});
}

void Gateway::after_turn(Now now, const EngineEffects& effects) {
  if (effects.halted) rights_.halted();
  for (const Completion& completion : effects.completions) pass_on(completion);
  for (const RemoteAnswer& answer : effects.remote_answers) pass_on(answer);
  for (const MachineEvent& event : effects.events) pass_on(event);
  for (const RenewReply& reply : effects.renewals) pass_on(reply);
  if (effects.leadership || effects.restored) commands_.leader_changed();
  for (const ReplicaId remote : absl::btree_set<ReplicaId>(ahead_)) serve(remote, links_.find(remote)->second);
  if (effects.restored) {  // entries were skipped, with answers and events
    for (auto& [remote, link] : links_) {
      if (link.served) start_over(remote, link);
    }
  }
  serve_waiting(now, effects);
  const News before = told_;
  const bool due = now.lagging >= told_.due;
  told_.level = engine_.feature_level();
  if (due || !told_.leader || effects.leadership || effects.halted) told_.leader = leader_of(engine_);
  if (due || before.leader != told_.leader || before.level != told_.level) {
    told_.due = now.lagging + options_.standing_every;
    for (auto& [remote, link] : links_) flush(remote, link);
  } else {
    touched_.insert(unregistered_.begin(), unregistered_.end());
    for (const ReplicaId remote : touched_) flush(remote, links_.find(remote)->second);
  }
  touched_.clear();
}

void Gateway::serve_waiting(Now now, const EngineEffects& effects) {
  if (effects.restored) waiting_.restored();
  const machine::Reads* const state = rights_.state();
  if (state == nullptr) return;
  for (const WaitingReads::Answer& answer : waiting_.serve(*state, engine_.applied(), now.lagging)) {
    Link& link = links_.find(answer.to.remote)->second;
    const machine::Question question(machine::ChangesOf{answer.place});
    absl::Status why = rights_.permission(link.remote(), machine::needs_of(question));
    if (!why.ok()) ++counters_.denied;
    const SharedBytes bytes = why.ok() ? answer.bytes : SharedBytes();
    send(answer.to.remote, link,
         Told{.id = answer.to.id, .status = std::move(why), .bytes = bytes, .index = engine_.applied()});
  }
}

void Gateway::pass_on(const Completion& completion) {
  const std::optional<AskedQuestions::Asker> asker = asked_.take(completion.ticket);
  if (!asker) return;
  Link& link = links_.find(asker->remote)->second;
  link.questions.erase(asker->id);
  absl::Status status = completion.status;
  if (status.ok()) {
    status = rights_.permission(link.remote(), asker->machine, asker->question);
    if (!status.ok()) ++counters_.denied;
  }
  const SharedBytes bytes = status.ok() ? completion.bytes : SharedBytes();
  send(asker->remote, link,
       Told{.id = asker->id, .status = std::move(status), .bytes = bytes, .index = completion.index, .age = completion.age});
}

void Gateway::pass_on(const RemoteAnswer& answer) {
  const auto found = links_.find(answer.request.origin.replica);
  if (found == links_.end() || found->second.origin != answer.request.origin) return;
  commands_.answered(answer.request);
  if (!found->second.served || rights_.impostor(found->second.remote())) return;
  found->second.answers.push_back(answer);
  touched_.insert(found->first);
}

namespace {

// The process that a report about a session concerns; zero: none that is told here. A remote keeps no lock as sticky, so it is
// never asked for one.
ReplicaId concerned(const machine::Event& event) {
  if (const auto* ended = std::get_if<machine::SessionEnded>(&event)) return ended->node;
  if (const auto* ending = std::get_if<machine::SessionEnding>(&event)) return ending->node;
  if (const auto* resumed = std::get_if<machine::SessionResumed>(&event)) return resumed->previous;
  return {};
}

}  // namespace

void Gateway::pass_on(const MachineEvent& event) {
  if (event.machine != kCoordination) return;
  const absl::StatusOr<machine::Event> decoded = machine::decode_event(event.bytes);
  if (!decoded.ok()) return;
  if (const auto* change = std::get_if<coordination::Change>(&*decoded)) {
    const auto watchers = watched_.find({event.machine, machine::subject_of(change->kind, change->name)});
    if (watchers == watched_.end()) return;
    machine::Needs needs{.verb = "observe"};
    needs.name(machine::right_to_see(change->kind), change->name);
    for (const ReplicaId remote : watchers->second) {
      const auto link = links_.find(remote);
      const bool permitted = link != links_.end() && rights_.permission(link->second.remote(), needs).ok();
      permitted ? pass_on_to(remote, event) : static_cast<void>(++counters_.denied);
    }
  } else {
    pass_on_to(concerned(*decoded), event);
  }
}

void Gateway::pass_on_to(ReplicaId remote, const MachineEvent& event) {
  const auto found = links_.find(remote);
  if (found == links_.end() || !found->second.served || rights_.impostor(found->second.remote())) return;
  found->second.events.push_back(event);
  touched_.insert(remote);
}

// Answers and events up to `applied` go first. All remotes learn `applied` every GatewayOptions::standing_every, also those
// without an answer or an event.
void Gateway::flush(ReplicaId remote, Link& link) {
  if (!link.served) return;
  if (!link.answers.empty()) send(remote, link, Answers{0, std::exchange(link.answers, {})});
  if (!link.events.empty()) send(remote, link, Happened{0, std::exchange(link.events, {})});
  const Standing standing = standing_of(link);
  const Standing& last = link.standing;
  const bool changed = standing.leader != last.leader || standing.registered != last.registered ||
                       standing.feature_level != last.feature_level || standing.applied != last.applied;
  if (changed) tell(remote, link, standing);
}

void Gateway::tell(ReplicaId remote, Link& link, const Standing& standing) {
  link.standing = standing;
  standing.registered ? static_cast<void>(unregistered_.erase(remote)) : static_cast<void>(unregistered_.insert(remote));
  send(remote, link, standing);
}

Standing Gateway::standing_of(const Link& link) const {
  return {.applied = engine_.applied(),
          .feature_level = engine_.feature_level(),
          .leader = told_.leader,
          .registered = rights_.registered(link.remote())};
}

Duration Gateway::next_turn(Now now) const {
  if (commands_.any() || !frames_.empty() || waiting_.ready(engine_.applied())) return Duration::zero();
  const LaggingTime due = std::min(renewals_.due(), waiting_.next_limit());
  Duration next = due == LaggingTime::max() ? Duration::max() : std::max(due - now.lagging, Duration::zero());
  if (!links_.empty()) next = std::min(next, options_.standing_every);
  return next;
}

template <typename M>
void Gateway::send(ReplicaId remote, Link& link, M message) {
  message.number = ++link.number;
  send_unnumbered(remote, FromGateway(std::move(message)));
}

void Gateway::send_unnumbered(ReplicaId remote, FromGateway message) {
  frames_.emplace_back(remote, Frame{lane_of(message), encode(message)});
}

}  // namespace coordkit::remote
