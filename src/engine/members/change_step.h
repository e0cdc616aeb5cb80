// One step of a membership change (member_change.h), from the configuration in force to the next one: what the leader was asked
// for, what it answered, and when it is asked again.
#pragma once

#include <optional>

#include "coordkit/engine/engine.h"
#include "coordkit/engine/engine_message.h"

namespace coordkit::engine {

class ChangeStep {
 public:
  explicit ChangeStep(const raft::Options& options) : options_(options) {}

  void begin();  // another step, not asked for yet
  // The same step from another configuration. How long no majority has answered does not depend on that.
  void restart();

  // ---- asking the leader
  LaggingTime ask_at() const { return ask_at_; }
  void ask_at(LaggingTime when) { ask_at_ = when; }
  void asked(raft::Configuration result, LaggingTime now);
  void refused(const ChangeReply& refusal, LaggingTime now);

  // ---- its state
  const std::optional<raft::Configuration>& result() const { return result_; }  // nothing: it was not asked for
  bool led_to(const raft::Configuration& configuration) const;  // in force now: its result, or what follows that
  void applied(const raft::Configuration& own) { leaving_ = !own.outgoing.empty(); }
  bool leaving() const { return leaving_; }
  bool uncertain() const { return result_ && (unanswered_ || lost_); }  // it may have an effect, whatever the refusal says
  const std::optional<ChangeReply>& refusal() const { return refusal_; }
  bool hopeless(LaggingTime now) const;  // no majority of the new voters answers, nor comes back

 private:
  const raft::Options& options_;
  std::optional<raft::Configuration> result_;
  bool leaving_ = false;     // it is applied and joint: leaving it follows by itself
  bool unanswered_ = false;  // the newest attempt
  bool lost_ = false;        // an older attempt was never answered
  LaggingTime ask_at_ = LaggingTime::min();
  std::optional<ChangeReply> refusal_;      // the newest one, for the explanation
  std::optional<LaggingTime> alone_since_;  // NotEnoughVoters has been reported since then
};

}  // namespace coordkit::engine
