// The member's side of links to remotes (docs/decisions/0052). It hands commands on, asks questions for remotes, merges their
// renewals, and passes on what this replica's apply says about each remote. It adds delay and nothing else: no answer comes out
// of its memory.
//
//   gateway.before_turn(now);           merged renewals are posted
//   engine.turn(now, effects);
//   gateway.after_turn(now, effects);   then take_frames()
//
// A remote may be hostile. Each of its frames is decoded, checked against its proven id and bounded. A wrong one is counted and
// dropped. Threads: the one that runs the engine's turns. Lifetime: the engine outlives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "coordkit/engine/engine.h"
#include "remote/asked_questions.h"
#include "remote/link.h"
#include "remote/merged_renewals.h"
#include "remote/relayed_commands.h"
#include "remote/rights.h"
#include "remote/waiting_reads.h"

namespace coordkit::remote {

struct GatewayOptions {
  uint16_t number = 0;  // of several gateways on one engine each has its own
  uint32_t rate_error_ppm = 10'000;
  size_t questions_max = 256;                                // under way, of one remote
  size_t waiting_max = 4096;                                 // questions that wait for a change, of one remote
  size_t request_bytes_max = 3 << 19;                        // as EngineOptions::request_bytes_max
  CommandLimits commands = {};                               // handed over and not answered
  size_t interests_max = 16'384;                             // subjects that one remote observes
  size_t subject_bytes_max = 2'048;                          // of one of them
  Duration merge = std::chrono::milliseconds(10);            // how long a renewal may wait for others
  Duration standing_every = std::chrono::milliseconds(500);  // how often all remotes learn how far the state is
};

// Frames that were dropped or refused, by reason.
struct GatewayCounters {
  uint64_t malformed = 0;    // not a message of this protocol, or one that never comes before an arrival
  uint64_t foreign = 0;      // an arrival, command or renewal in the name of another remote
  uint64_t invalid = 0;      // a command that the machine would refuse as malformed
  uint64_t disagreeing = 0;  // arrivals with another version or another rate_error_ppm
  uint64_t beyond = 0;       // questions, interests and commands beyond their limits
  uint64_t waiting = 0;      // questions above waiting_max
  uint64_t denied = 0;       // answers and events that the remote has no right to see
};

class Gateway {
 public:
  Gateway(Engine& engine, const GatewayOptions& options)
      : engine_(engine),
        options_(options),
        asked_(options.number),
        told_{.due = {}, .leader = leader_of(engine), .level = 0},
        renewals_(options.merge, engine.boot()),
        commands_(options.commands),
        rights_(engine) {}

  // ---- reports of the transport
  // `proven`: the name that the connection proves, as a certificate does; the remote has to arrive with it, and empty means
  // that it has none. Absent: the connection proves no name, and any is taken.
  void linked(ReplicaId remote, std::optional<std::string> proven = {});
  void unlinked(ReplicaId remote);
  void received(ReplicaId remote, std::string_view frame, Now now);

  // ---- the loop
  void before_turn(Now now);
  void after_turn(Now now, const EngineEffects& effects);
  Duration next_turn(Now now) const;
  std::vector<std::pair<ReplicaId, Frame>> take_frames() { return std::exchange(frames_, {}); }

  size_t remotes() const { return links_.size(); }
  const GatewayCounters& counters() const { return counters_; }
  const WaitingReads& waiting() const { return waiting_; }

 private:
  struct Link {
    std::optional<std::string> proven;
    std::string name;  // as it arrived with; empty: none
    bool arrived = false;
    bool served = false;  // its arrival is answered
    Index seen;           // these two: of the arrival
    std::vector<Awaited> queued;
    Origin origin;
    uint64_t number = 0;                // of the last numbered message
    Standing standing;                  // as last told
    std::vector<RemoteAnswer> answers;  // of this turn
    std::vector<MachineEvent> events;   // of this turn
    absl::btree_map<uint64_t, Ticket> questions;
    absl::btree_set<std::pair<MachineId, std::string>> interests;
    Rights::Remote remote() const { return {name, origin}; }
  };
  void take(ReplicaId remote, Link& link, Arrival& message);
  void take(Link& link, Commands& message, Now now);
  void take(ReplicaId remote, Link& link, Question& message, Now now);
  void take(ReplicaId remote, Link& link, const Withdrawal& message);
  void take(Link& link, Interest& message);
  void take(ReplicaId remote, Link& link, const Renewal& message, Now now);
  // Whether the bytes may become an entry: apply trusts what is committed. Absent: counted, and dropped.
  std::optional<RequestId> accepted(const Link& link, std::string_view payload);
  bool waits(ReplicaId remote, Link& link, const Question& message, Now now);
  void serve_waiting(Now now, const EngineEffects& effects);
  void serve(ReplicaId remote, Link& link);
  void answer_awaited(ReplicaId remote, Link& link, const std::vector<Awaited>& queued);
  void pass_on(const Completion& completion);
  void pass_on(const RemoteAnswer& answer);
  void pass_on(const RenewReply& reply);
  void pass_on(const MachineEvent& event);
  void pass_on_to(ReplicaId remote, const MachineEvent& event);
  void flush(ReplicaId remote, Link& link);
  void tell(ReplicaId remote, Link& link, const Standing& standing);
  void start_over(ReplicaId remote, Link& link);
  static ReplicaId leader_of(const Engine& engine);
  Standing standing_of(const Link& link) const;
  template <typename M>
  void send(ReplicaId remote, Link& link, M message);
  void send_unnumbered(ReplicaId remote, FromGateway message);
  void watch_subject(const std::pair<MachineId, std::string>& subject, ReplicaId remote, bool wanted);

  Engine& engine_;
  const GatewayOptions options_;
  absl::btree_map<ReplicaId, Link> links_;
  AskedQuestions asked_;
  absl::btree_map<std::pair<MachineId, std::string>, absl::btree_set<ReplicaId>> watched_;
  absl::btree_set<ReplicaId> ahead_;         // remotes that have seen a later state than this one
  absl::btree_set<ReplicaId> touched_;       // in this turn
  absl::btree_set<ReplicaId> unregistered_;  // whose origins the state does not know, as they were told
  struct News {                              // for all remotes
    LaggingTime due{};
    ReplicaId leader;
    uint64_t level = 0;
  };
  News told_;  // the last ones
  MergedRenewals renewals_;
  RelayedCommands commands_;
  WaitingReads waiting_;
  std::vector<std::pair<ReplicaId, Frame>> frames_;
  Rights rights_;
  GatewayCounters counters_;
};

}  // namespace coordkit::remote
