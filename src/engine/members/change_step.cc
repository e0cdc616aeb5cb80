#include "engine/members/change_step.h"

#include <utility>

#include "raft/members/configuration_rules.h"

namespace coordkit::engine {
namespace {

using ChangeEnd = raft::ChangeOutcome::Kind;

constexpr int kAloneTimeouts = 3;  // election timeouts in which a majority may come back before NotEnoughVoters is final

}  // namespace

void ChangeStep::begin() {
  restart();
  alone_since_.reset();
}

void ChangeStep::restart() {
  result_.reset();
  leaving_ = unanswered_ = lost_ = false;
  refusal_.reset();
  ask_at_ = LaggingTime::min();
}

void ChangeStep::asked(raft::Configuration result, LaggingTime now) {
  lost_ = lost_ || unanswered_;
  result_ = std::move(result);
  unanswered_ = true;
  ask_at_ = now + options_.election_timeout;
}

void ChangeStep::refused(const ChangeReply& refusal, LaggingTime now) {
  unanswered_ = false;
  refusal_ = refusal;
  ask_at_ = now + options_.heartbeat_interval;
  if (refusal.outcome == ChangeEnd::NotLeader) ask_at_ = now + options_.election_timeout;  // or when another one is known
  if (refusal.outcome != ChangeEnd::NotEnoughVoters) return alone_since_.reset();
  if (!alone_since_) alone_since_ = now;
}

bool ChangeStep::hopeless(LaggingTime now) const {
  return alone_since_ && now - *alone_since_ >= kAloneTimeouts * options_.election_timeout && !uncertain();
}

bool ChangeStep::led_to(const raft::Configuration& configuration) const {
  return result_ && configuration == (leaving_ ? raft::leave(*result_) : *result_);
}

}  // namespace coordkit::engine
