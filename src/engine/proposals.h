// The calls of this replica that go through the log, from the door to their answer (design 7, outcomes; S-41..S-43).
//
// A call gets the next sequence of this incarnation when it fits the window, is handed to the leader (here or over the
// network), and is handed over again whenever leadership changes or nothing is heard, until its answer comes out of this
// replica's own apply or its deadline passes. Repeats are recognised in apply, so handing over twice is always safe.
// Invariants: an accepted call completes exactly once; lowest_unanswered() never falls.
#pragma once

#include <deque>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "coordkit/engine.h"
#include "engine/router.h"

namespace coordkit::engine {

class Proposals {
 public:
  Proposals(const EngineOptions& options, Origin origin) : options_(options), origin_(origin) {}

  // At the door. Refused ones complete at once.
  void submit(Submit submit, std::vector<Completion>& completions);
  void forget(Ticket ticket);

  // Somebody new leads (or nobody): everything unanswered is handed over again.
  void leadership_changed();
  // The leader said no, or did not say yes: hand over again at `when`.
  void postpone(Sequence sequence, LaggingTime when);

  // What is to be handed to the leader now, ready to be an entry; registration first. Call only when a leader is known.
  struct Handover {
    Sequence sequence;  // zero: the registration
    SharedBytes payload;
  };
  void collect(LaggingTime now, bool registered, std::vector<Handover>& out);

  // An answer that came out of apply.
  void answered(Answer answer, std::vector<Completion>& completions);
  // Calls whose deadline has passed.
  void expire(LaggingTime now, std::vector<Completion>& completions);
  // The end: everything completes with this reason.
  void fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions);

  enum class Road : uint8_t { NoLeader, Unregistered, Open };  // how far a call can get right now
  LaggingTime next_deadline(Road road) const;
  size_t size() const { return calls_.size(); }
  const Origin& origin() const { return origin_; }

 private:
  struct Call {
    Submit submit;
    Sequence sequence;       // zero: still waiting for a place in the window
    bool handed = false;     // ever: from then on the outcome is unknown until answered
    bool queued = false;     // accepted by the machine, waiting in its state
    LaggingTime retry_at{};  // unanswered: when to hand over (again)
  };
  using Calls = absl::flat_hash_map<Ticket, Call>;

  Sequence lowest_unanswered() const;
  uint64_t window_used() const { return next_ - lowest_unanswered(); }
  uint64_t window_reserved() const { return options_.window + options_.window / 4 + 1; }
  void admit_waiting();
  void schedule(Call& call, LaggingTime when);
  void unschedule(const Call& call);
  void complete(Calls::iterator call, Completion completion, std::vector<Completion>& completions);
  void drop(Calls::iterator call);

  const EngineOptions& options_;
  Origin origin_;
  Sequence next_{1};
  Calls calls_;                                              // every call under way
  std::deque<Ticket> waiting_, waiting_reserved_;            // without a sequence yet
  absl::btree_map<Sequence, Ticket> unanswered_;             // I: what lowest_unanswered is the first of
  absl::flat_hash_map<Sequence, Ticket> queued_;
  absl::btree_set<std::pair<LaggingTime, Sequence>> retries_;  // I: exactly the unanswered ones
  absl::btree_set<std::pair<LaggingTime, Ticket>> deadlines_;
  LaggingTime register_at_{LaggingTime::min()};
};

}  // namespace coordkit::engine
