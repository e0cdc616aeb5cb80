// The other side: fetching a state from the leader, range by range, until it can be installed; then waiting for the store and
// for the machines to be built.
//
//   Idle --offer--> Fetching --every key covered, all staged--> Installing --durable--> Building --machines--> Idle
//
// One range is requested at a time, while the previous one is staged, so nothing needs a window. Staged ranges are remembered
// with their sums: a state offered at another position, by this leader or by a later one, is compared range by range before
// anything is sent again. Installs follow each other (tests named REG_R69): only the next offer ends a fetch, and
// nothing ends an install. Progress is tracked, not time (REG_R72): a question is repeated, ever more slowly, until it
// is answered. Invariants: the staged ranges ascend and do not overlap; all keys up to `cursor_` are staged as the offer has
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordkit/engine/engine.h"

namespace coordkit::engine {

class StateReceiver {
 public:
  explicit StateReceiver(const EngineOptions& options) : options_(options) {}

  // From the leader that we follow, of a state beyond ours.
  void offered(ReplicaId from, const StateOffer& offer, LaggingTime now);
  void received(ReplicaId from, StateChunk chunk);
  // A new connection to it: what was in flight is lost.
  void reconnected(ReplicaId peer);
  // Reports of the store.
  void staged(Ticket ticket);
  void installed();
  void refused();
  void restored();
  // The store has lost what was staged, and what was in progress.
  void forgotten();

  // No longer needed: we lead, or the log has brought us there.
  void drop();

  enum class May : uint8_t { Wait, Install };  // Wait: a checkpoint is being written
  // Collects what to do now. `leader` is the one that we follow in `term`; zero: none.
  void collect(ReplicaId leader, Term term, May may, LaggingTime now, std::vector<StagingOrder>& orders,
               std::vector<Outbound>& sends);

  bool installing() const { return phase_ == Phase::Installing || phase_ == Phase::Building; }
  bool building() const { return phase_ == Phase::Building; }
  // Position and term of what is being fetched or installed; nullopt: nothing is.
  std::optional<StateOffer> offer() const { return offer_; }
  uint64_t bytes() const { return bytes_; }  // of its rows that have arrived
  LaggingTime next_deadline() const;

 private:
  enum class Phase : uint8_t { Idle, Fetching, Installing, Building };
  struct Staged {
    KeyRange range;
    uint64_t sum = 0;
  };
  StateRequest next_request() const;
  void ask_now();

  const EngineOptions& options_;
  Phase phase_ = Phase::Idle;
  ReplicaId from_;
  std::optional<StateOffer> offer_;
  std::vector<Staged> staged_;
  std::string cursor_;     // every key up to here is staged; empty: none
  bool complete_ = false;  // every key is
  uint64_t bytes_ = 0;
  std::optional<StateRequest> asked_;
  bool asking_ = false;                      // the offer is that of the leader we follow, and nothing else is awaited
  LaggingTime ask_at_ = LaggingTime::min();  // the question (again), or the report that we are loading
  Duration retry_{};
  uint64_t staging() const { return last_ticket_ - staged_upto_; }  // ranges that the store has not reported
  Ticket last_ticket_;
  Ticket staged_upto_;
  std::vector<StagingOrder> orders_;  // for the next collect
};

}  // namespace coordkit::engine
