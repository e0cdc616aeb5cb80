// An engine behind a link that can be cut or slow. The link is between the client under test and the one replica of a fake
// service, whose cluster can be leaderless.
//
// Without a leader the replica takes no turn and its time stops, so that nothing is decided and nothing expires. Later it
// continues as under a new leader: from its former state.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "coordkit/engine/engine.h"
#include "coordkit/ports/clock.h"

namespace coordkit::testkit {

class ScriptedEngine final : public Engine {
 public:
  // Tickets of the client have the highest bit set (client.h); the others belong to `own`.
  using OwnCompletion = std::function<void(const Completion&)>;
  ScriptedEngine(std::unique_ptr<Engine> inner, const Clock& clock, OwnCompletion own)
      : inner_(std::move(inner)), clock_(clock), own_(std::move(own)) {}

  Engine& inner() { return *inner_; }
  // A renewal that is sent into a cut link is lost. Everything else waits; so do answers and events.
  void cut() { cut_ = true; }
  bool is_cut() const { return cut_; }
  void mend();
  // Without a leader renewals are lost. Calls wait, and are refused when their time is up.
  void lose_leader();
  void find_leader();
  bool has_leader() const { return !leaderless_since_; }
  // Everything sent takes this long to arrive.
  void slow(Duration by) { delay_ = by; }
  void refuse_next_acquire(absl::Status why) { refusal_ = std::move(why); }
  bool restless() const { return restless_; }  // an input or an event waits for a turn
  void stir() { restless_ = true; }

  void post(EngineInput input) override;
  void turn(Now now, EngineEffects& effects) override;
  void fail(absl::Status why) noexcept override { inner_->fail(std::move(why)); }
  LaggingTime next_deadline() const override;
  EngineStatus status() const override { return inner_->status(); }
  const raft::Leadership& leadership() const override { return inner_->leadership(); }
  Index applied() const override { return inner_->applied(); }
  ReplicaId self() const override { return inner_->self(); }
  StoreId store() const override { return inner_->store(); }
  BootCounter boot() const override { return inner_->boot(); }
  const StateMachine* machine(MachineId id) const override { return inner_->machine(id); }
  void observe(MachineId id, std::string_view subject, bool wanted) override { inner_->observe(id, subject, wanted); }
  const raft::Core* core() const override { return inner_->core(); }

 private:
  struct Late {
    LaggingTime due;
    EngineInput input;
  };
  bool refuses(const EngineInput& input);
  void arrive(EngineInput input);
  void send_waiting();
  void refuse_leaderless(Now now);

  const std::unique_ptr<Engine> inner_;
  const Clock& clock_;
  const OwnCompletion own_;
  std::optional<LaggingTime> leaderless_since_;
  Duration stood_still_{};  // of the replica's time, in all
  Duration delay_{};
  std::deque<Late> late_;  // by time
  bool cut_ = false;
  bool restless_ = false;
  std::optional<absl::Status> refusal_;
  std::deque<EngineInput> unsent_;
  EngineEffects undelivered_;  // completions and events only
};

}  // namespace coordkit::testkit
