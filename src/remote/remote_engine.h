// An engine without log and state: the caller's side of a link to a gateway (docs/decisions/0052). The client runs on it
// unchanged. Commands have numbers of this origin and are handed over until they are answered; questions are asked again at
// the next gateway; renewals are sent once each.
//
//   engine.linked();                        a connection to a gateway is open; an Arrival goes out
//   engine.received(frame);                 a frame of the gateway
//   engine.unlinked();                      the connection is closed
//   engine.turn(now, effects);              then take_frames()
//
// Threads: one owner, like every engine. No clock, thread or socket of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "coordkit/engine/engine.h"
#include "engine/calls/origins.h"
#include "engine/calls/proposals.h"
#include "remote/link.h"
#include "remote/open_questions.h"

namespace coordkit::remote {

struct RemoteEngineOptions {
  Origin origin;          // drawn by the host at every start: is_remote(), boot 1; with a name its store is another
  std::string name = {};  // empty: none. With one it waits for a cluster at feature level 7
  uint32_t rate_error_ppm = 10'000;
  Duration retry = std::chrono::milliseconds(300);  // an unanswered command is handed over again after that
  // Bytes of the commands that are handed over and not answered. Others wait here. A gateway takes no more (CommandLimits).
  size_t window = 256;
  size_t window_bytes = 1 << 20;
  size_t requests_max = 65536;
  size_t request_bytes_in_flight_max = 64 << 20;
};

class RemoteEngine final : public Engine {
 public:
  explicit RemoteEngine(const RemoteEngineOptions& options);

  // ---- reports of the transport
  void linked();
  void unlinked();
  void received(std::string frame) { frames_in_.push_back(std::move(frame)); }
  std::vector<Frame> take_frames() { return std::exchange(frames_, {}); }

  // ---- Engine
  void post(EngineInput input) override { inbox_.push_back(std::move(input)); }
  void turn(Now now, EngineEffects& effects) override;
  void fail(absl::Status why) noexcept override { failed_ = std::move(why); }
  LaggingTime next_deadline() const override;
  EngineStatus status() const override;
  const raft::Leadership& leadership() const override { return leadership_; }
  Index applied() const override { return link_.standing.applied; }
  uint64_t feature_level() const override { return link_.standing.feature_level; }
  ReplicaId self() const override { return proposals_.origin().replica; }
  StoreId store() const override { return proposals_.origin().store; }
  BootCounter boot() const override { return proposals_.origin().boot; }
  const StateMachine* machine(MachineId) const override { return nullptr; }
  bool state_is_here() const override { return false; }
  void observe(MachineId id, std::string_view subject, bool wanted) override;
  const raft::Core* core() const override { return nullptr; }

 private:
  // The words of the gateway so far.
  struct Link {
    bool linked = false;
    bool arrived = false;                 // the gateway has told how far it is
    std::optional<LaggingTime> again_at;  // if it has not by then; none: the next turn says when
    uint64_t heard = 0;                   // the number of its last message
    Standing standing;
    Index seen;  // the newest entry of which any gateway has told; no read is older

    // The arrival or its answer may be lost.
    bool unanswered(LaggingTime now, Duration patience) {
      if (!linked || arrived) return false;
      if (!again_at) again_at = now + patience;
      return now >= *again_at;
    }
    bool follows(uint64_t number) {
      if (number != heard + 1 || (!arrived && number != 1)) return false;
      heard = number;
      return true;
    }
  };

  // Below the level of names it cannot be registered with one.
  bool served() const {
    const bool known = options_.name.empty() || link_.standing.feature_level >= engine::Origins::kNamesLevel;
    return link_.arrived && link_.standing.leader && known;
  }
  engine::Proposals::Route route() const;
  void take(EngineInput& input, EngineEffects& effects);
  void take(Submit& call, EngineEffects& effects);
  void take(Ask& call, EngineEffects& effects);
  void take(const Forget& call);
  void hear(Standing& message, EngineEffects& effects);
  void hear(Answers& message, EngineEffects& effects);
  void hear(Told& message, EngineEffects& effects);
  void hear(Happened& message, EngineEffects& effects);
  void hear(Renewed& message, EngineEffects& effects);
  bool in_order(uint64_t number);
  void arrive();
  void hand_over(Now now, EngineEffects& effects);
  void ask_questions(LaggingTime now);
  void renew_origin(LaggingTime now);
  void expire(LaggingTime now, EngineEffects& effects);
  void halt(const absl::Status& why, EngineEffects& effects);
  void send(const FromRemote& message) { frames_.push_back({lane_of(message), encode(message)}); }
  bool room(const Urgency& urgency, size_t bytes) const;

  const RemoteEngineOptions options_;
  const EngineOptions engine_options_;  // for proposals_
  engine::Proposals proposals_;
  std::vector<EngineInput> inbox_;
  std::vector<std::string> frames_in_;
  std::vector<Frame> frames_;
  std::vector<engine::Proposals::Dispatch> dispatches_;
  OpenQuestions questions_;
  absl::btree_set<std::pair<MachineId, std::string>> interests_;
  raft::Leadership leadership_;
  Link link_;
  uint64_t last_attempt_ = 0;
  LaggingTime renew_at_{};
  absl::Status failed_;
  bool halted_ = false;
};

}  // namespace coordkit::remote
