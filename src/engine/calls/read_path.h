// The answers of a leader without the log: linearizable reads and renewals (thesis 6.4, docs/time.md T2). Here questions get
// their tickets, and answers are passed to their readers.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "engine/apply/router.h"
#include "engine/calls/pending_reads.h"
#include "engine/loop/condition.h"
#include "engine/loop/consensus.h"
#include "engine/timers/expirations.h"
#include "engine/timers/renewal_rounds.h"
#include "engine/timers/suspend_meter.h"

namespace coordkit::engine {

class ReadPath {
 public:
  ReadPath(const EngineOptions& options, BootCounter boot);

  // ---- of this replica
  void take(Ask ask, const SuspendMeter& sleep, const Turn& turn);
  void take(Renew renew, Turn& turn);
  void forget(Ticket ticket) { reads_.forget(ticket); }
  void ask_leader(Turn& turn);
  void answer(const Router& router, Expirations& expirations, const SuspendMeter& sleep, Turn& turn);
  bool expire(LaggingTime now, std::vector<Completion>& completions) { return reads_.expire(now, completions); }
  void fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions);

  // ---- between replicas
  void receive(ReplicaId from, const ReadIndexRequest& request, Turn& turn);
  void receive(const ReadIndexReply& reply, Index applied, const Turn& turn);  // `applied`: of the state that would answer
  void receive(ReplicaId from, RenewRequest request, LaggingTime now);

  // ---- answers of the core
  Ticket confirm_for_gap(Turn& turn) { return confirm(GapCheck{}, turn); }
  void decided(const raft::Confirmation& confirmation, Expirations& expirations, EngineEffects& effects);
  void leadership_changed();
  void stop() { renewals_.drop_all(); }

  LaggingTime next_deadline(bool leader_known) const { return reads_.next_deadline(leader_known); }
  Load load() const { return {reads_.size(), reads_.bytes()}; }

 private:
  // The purpose of a confirmation.
  struct PeerRead {
    ReplicaId peer;
    uint64_t id = 0;
  };
  struct OwnRead {
    uint64_t id = 0;
  };
  struct RenewalRound {};
  struct GapCheck {};
  using Purpose = std::variant<PeerRead, OwnRead, RenewalRound, GapCheck>;

  Ticket confirm(Purpose purpose, Turn& turn);
  std::optional<Index> lease(const SuspendMeter& sleep, const Turn& turn) const;
  Completion read(const Ask& ask, const Router& router, const SuspendMeter& sleep, Turn& turn);
  void answer_renewals(Index applied, TimerKeeper& timers, Turn& turn);

  const EngineOptions& options_;
  Reads reads_;
  Renewals renewals_;
  absl::btree_map<Ticket, Purpose> questions_;
  std::vector<Ask> ready_;  // to be answered in this turn
};

}  // namespace coordkit::engine
