#include "testing/scripted_engine.h"

#include <algorithm>
#include <iterator>

#include "machine/command.h"

namespace coordkit::testkit {
namespace {

constexpr uint64_t kClientBit = uint64_t{1} << 63;
// Refuses a moment before the deadline of a call. At the deadline the client would end the call itself, and could not say
// that nothing was done.
constexpr Duration kRefusedBefore = std::chrono::milliseconds(1);

bool of_client(const EngineInput& input) {
  return std::holds_alternative<Submit>(input) || std::holds_alternative<Ask>(input) || std::holds_alternative<Renew>(input) ||
         std::holds_alternative<Forget>(input);
}

bool acquires(const machine::Request& request) {
  const auto* command = std::get_if<machine::CoordinationCommand>(&request.body);
  if (command == nullptr) {
    return std::holds_alternative<machine::Acquire>(request.body) || std::holds_alternative<machine::AcquireAll>(request.body);
  }
  return std::holds_alternative<machine::AcquirePermits>(*command) || std::holds_alternative<machine::ClaimItem>(*command) ||
         std::holds_alternative<machine::EnterBarrier>(*command);
}

LaggingTime refusal_time(const EngineInput& input) {
  const LaggingTime none = LaggingTime::max();
  const auto* submit = std::get_if<Submit>(&input);
  const auto* ask = std::get_if<Ask>(&input);
  const LaggingTime deadline = submit != nullptr ? submit->deadline : ask != nullptr ? ask->deadline : none;
  return deadline == none ? none : deadline - kRefusedBefore;
}
Ticket ticket_of(const EngineInput& input) {
  const auto* submit = std::get_if<Submit>(&input);
  return submit != nullptr ? submit->ticket : std::get<Ask>(input).ticket;
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
  from.clear();
}

}  // namespace

// The answer arrives in the next turn, as if the command had never been sent.
bool ScriptedEngine::refuses(const EngineInput& input) {
  const auto* submit = std::get_if<Submit>(&input);
  if (!refusal_ || submit == nullptr) return false;
  const absl::StatusOr<machine::Request> request = machine::decode_request(submit->command.view());
  if (!request.ok()) return false;
  if (!acquires(*request)) return false;
  undelivered_.completions.push_back({.ticket = submit->ticket, .status = *std::exchange(refusal_, std::nullopt)});
  return true;
}

void ScriptedEngine::post(EngineInput input) {
  restless_ = true;
  if (!of_client(input)) return inner_->post(std::move(input));
  if (refuses(input)) return;
  if (delay_ == Duration::zero() && late_.empty()) return arrive(std::move(input));
  const LaggingTime due = clock_.now().lagging + delay_;
  late_.push_back({late_.empty() ? due : std::max(due, late_.back().due), std::move(input)});
}

// The input reaches the cluster, if that is reachable and has a leader.
void ScriptedEngine::arrive(EngineInput input) {
  if (cut_ || leaderless_since_) {
    if (!std::holds_alternative<Renew>(input)) unsent_.push_back(std::move(input));
    return;
  }
  const auto in_its_time = [&](LaggingTime& deadline) {
    if (deadline != LaggingTime::max()) deadline -= stood_still_;
  };
  if (auto* submit = std::get_if<Submit>(&input)) in_its_time(submit->deadline);
  if (auto* ask = std::get_if<Ask>(&input)) in_its_time(ask->deadline);
  inner_->post(std::move(input));
}

void ScriptedEngine::send_waiting() {
  restless_ = true;
  for (EngineInput& input : std::exchange(unsent_, {})) arrive(std::move(input));
}

void ScriptedEngine::mend() {
  cut_ = false;
  send_waiting();
}

void ScriptedEngine::lose_leader() {
  if (!leaderless_since_) leaderless_since_ = clock_.now().lagging;
}

void ScriptedEngine::find_leader() {
  if (!leaderless_since_) return;
  stood_still_ += clock_.now().lagging - *leaderless_since_;
  leaderless_since_.reset();
  send_waiting();
}

void ScriptedEngine::refuse_leaderless(Now now) {
  std::erase_if(unsent_, [&](const EngineInput& input) {
    if (cut_ || refusal_time(input) > now.lagging) return false;
    absl::Status why = make_error(Reason::NoLeader, "the cluster of this test has no leader (scripted)");
    undelivered_.completions.push_back({.ticket = ticket_of(input), .status = std::move(why)});
    return true;
  });
}

LaggingTime ScriptedEngine::next_deadline() const {
  LaggingTime next = late_.empty() ? LaggingTime::max() : late_.front().due;
  if (!leaderless_since_) {
    const LaggingTime inner = inner_->next_deadline();
    return inner == LaggingTime::max() ? next : std::min(next, inner + stood_still_);
  }
  for (const EngineInput& input : unsent_) {
    if (!cut_) next = std::min(next, refusal_time(input));
  }
  return next;
}

void ScriptedEngine::turn(Now now, EngineEffects& effects) {
  restless_ = false;
  for (; !late_.empty() && late_.front().due <= now.lagging; late_.pop_front()) arrive(std::move(late_.front().input));
  if (leaderless_since_) {
    effects.clear();
    refuse_leaderless(now);
  } else {
    inner_->turn({now.lagging - stood_still_, now.leading - stood_still_}, effects);
  }
  std::erase_if(effects.completions, [this](const Completion& completion) {
    if ((completion.ticket.value() & kClientBit) != 0) return false;
    own_(completion);
    return true;
  });
  append(undelivered_.completions, effects.completions);
  append(undelivered_.events, effects.events);
  if (cut_) {
    effects.renewals.clear();
    return;
  }
  append(effects.completions, undelivered_.completions);
  append(effects.events, undelivered_.events);
}

}  // namespace coordkit::testkit
