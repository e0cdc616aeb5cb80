// One whole replica. Each turn is a straight line (ARCHITECTURE.md, Flow):
//
//   inputs -> core -> what to hand over -> drain -> sends, write -> states for peers -> apply -> answers -> checkpoint
//
// A step never reaches back. Work that apply makes possible (a read, a renewal, a retry) is handled in the same turn if its
// part comes later. Otherwise the next turn handles it, for which next_deadline() then asks at once.
//
// The parts do the work and know only what they are given; here are their order, and what concerns more than one of them:
//
//   engine.cc          opening: options, recovery
//   engine_inputs.cc   which part takes which input and which message
//   engine_turn.cc     the turn
//   engine_status.cc   what operators see
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/last_words.h"
#include "engine/apply/applied_state.h"
#include "engine/calls/engine_calls.h"
#include "engine/disks/checkpoints.h"
#include "engine/disks/disk_recall.h"
#include "engine/loop/condition.h"
#include "engine/loop/consensus.h"
#include "engine/loop/inbox.h"
#include "engine/loop/turn_clock.h"
#include "engine/members/founding.h"
#include "engine/members/level_raise.h"
#include "engine/peers/peer_set.h"
#include "engine/timers/expirations.h"
#include "engine/transfer/state_exchange.h"

namespace coordkit::engine {

class EngineImpl final : public Engine {
 public:
  EngineImpl(EngineOptions options, std::vector<HostedMachine> machines, const RecoveredLog& log);
  absl::Status start(RecoveredLog log, const CheckpointView& checkpoint, Now now);

  void post(EngineInput input) override { inbox_.post(std::move(input)); }
  void turn(Now now, EngineEffects& effects) override;
  void fail(absl::Status why) noexcept override { failing_.told = std::move(why); }
  LaggingTime next_deadline() const override;
  void take_sends(WriteNumber durable, std::vector<Outbound>& sends) override;

  EngineStatus status() const override;
  const raft::Leadership& leadership() const override { return consensus_.leadership(); }
  Index applied() const override { return state_.index(); }
  uint64_t feature_level() const override { return state_.router().feature_level(); }
  ReplicaId self() const override { return options_.raft.self; }
  StoreId store() const override { return calls_.origin().store; }
  BootCounter boot() const override { return calls_.origin().boot; }
  const StateMachine* machine(MachineId id) const override { return state_.router().machine(id); }
  std::optional<std::string_view> name_of_remote(const Origin& remote) const override {
    return state_.router().origins().name_of(remote);
  }
  void observe(MachineId id, std::string_view subject, bool wanted) override { state_.router().observe(id, subject, wanted); }
  const raft::Core* core() const override { return consensus_.core(); }

 private:
  // The turn (engine_turn.cc): its line, and the steps where several parts meet.
  void run(Turn& turn);
  void notice_gap(Turn& turn);
  void start_core(raft::Recovered recovered, Turn& turn);
  void follow_members(Turn& turn);
  void welcome(const Hello& hello, Turn& turn);
  void notice_removal(Turn& turn);
  void drain(Turn& turn);
  void change_leadership(const raft::Leadership& leadership, LaggingTime now, EngineEffects& effects);
  void apply(Turn& turn);
  void checkpoint(Turn& turn);
  void answer(Turn& turn);
  void halt(absl::Status why, EngineEffects& effects);
  void quarantine(std::string why, EngineEffects& effects);
  void stand_aside(EngineEffects& effects);
  void tell_aside(const std::vector<ReplicaId>& peers, EngineEffects& effects);
  void cease_output(Reason reason, EngineEffects& effects);
  LaggingTime next_wanted() const;

  // Inputs (engine_inputs.cc): one function for each kind, in a class of their own.
  class Inputs;
  class Messages;
  void take_inputs(Turn& turn);
  void receive(ReplicaId from, Message& message, Turn& turn);

  // Queries (engine_status.cc).
  std::vector<std::string> warnings(const std::vector<MissingMember>& missing) const;
  std::string why_starting(const std::vector<MissingMember>& missing) const;
  std::optional<CatchUp> catch_up() const;

  EngineOptions options_;
  struct Failing {
    LastWords last_words;
    absl::Status told;  // what the host said in fail()
    bool halt_done = false;
  };
  Failing failing_;
  Inbox inbox_;
  TurnClock clock_;
  Condition condition_;
  Founding founding_;
  Consensus consensus_;
  DiskRecall recall_;
  PeerSet peers_;
  Calls calls_;
  AppliedState state_;
  Expirations expirations_;
  LevelRaise level_raise_;
  Checkpoints checkpoints_;
  StateExchange states_;
};

}  // namespace coordkit::engine
