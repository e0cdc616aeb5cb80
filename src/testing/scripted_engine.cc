#include "testing/scripted_engine.h"

#include <iterator>

#include "machine/command.h"

namespace coordkit::testing {
namespace {

constexpr uint64_t kClientBit = uint64_t{1} << 63;

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

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
  from.clear();
}

}  // namespace

// The answer is there in the next turn, as if the command had never got anywhere.
bool ScriptedEngine::refuses(const EngineInput& input) {
  const auto* submit = std::get_if<Submit>(&input);
  if (!refusal_ || submit == nullptr) return false;
  const absl::StatusOr<machine::Request> request = machine::decode_request(submit->command.view());
  if (!request.ok()) return false;
  if (!acquires(*request)) return false;
  unheard_.completions.push_back({.ticket = submit->ticket, .status = *std::exchange(refusal_, std::nullopt)});
  return true;
}

void ScriptedEngine::post(EngineInput input) {
  restless_ = true;
  if (refuses(input)) return;
  if (!cut_ || !of_client(input)) return inner_->post(std::move(input));
  if (!std::holds_alternative<Renew>(input)) unsent_.push_back(std::move(input));
}

void ScriptedEngine::mend() {
  cut_ = false;
  restless_ = true;
  for (EngineInput& input : std::exchange(unsent_, {})) inner_->post(std::move(input));
}

void ScriptedEngine::turn(Now now, EngineEffects& effects) {
  restless_ = false;
  inner_->turn(now, effects);
  std::erase_if(effects.completions, [this](const Completion& completion) {
    if ((completion.ticket.value() & kClientBit) != 0) return false;
    own_(completion);
    return true;
  });
  append(unheard_.completions, effects.completions);
  append(unheard_.events, effects.events);
  if (cut_) {
    effects.renewals.clear();
    return;
  }
  append(effects.completions, unheard_.completions);
  append(effects.events, unheard_.events);
}

}  // namespace coordkit::testing
