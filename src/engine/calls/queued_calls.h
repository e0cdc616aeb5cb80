// Calls of this replica that a machine accepted and will answer later, such as acquires in line. Thousands may wait for long,
// so each keeps only what its end needs, and not its command: a machine knows by itself for whom it waits
// (StateMachine::queued_results). They come nearly in the order of their numbers, which keeps the nodes of the indexes full.
#pragma once

#include <cstdint>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "base/handle_key.h"
#include "base/handle_pool.h"
#include "base/spare_nodes.h"
#include "coordkit/engine/engine.h"

namespace coordkit::engine {

class QueuedCalls {
 public:
  struct Terms {
    Ticket ticket;
    Sequence sequence;
    MachineId machine;
    bool has_deadline = false;
  };
  class Call {
   public:
    Call() = default;
    Ticket ticket() const { return ticket_; }
    Sequence sequence() const { return Sequence(sequence_); }
    bool has_deadline() const { return has_deadline_; }

   private:
    friend class QueuedCalls;
    explicit Call(const Terms& terms);

    static constexpr uint64_t kSequenceMax = (uint64_t{1} << 62) - 1;  // they are counted from 1 by this process
    Ticket ticket_;
    uint64_t sequence_ : 62 = 0;
    uint64_t has_deadline_ : 1 = false;
    uint64_t of_other_machine_ : 1 = false;  // which is in other_machines_
  };
  static_assert(sizeof(Call) == 16);

  QueuedCalls() = default;
  QueuedCalls(const QueuedCalls&) = delete;  // its indexes refer to its pool
  QueuedCalls& operator=(const QueuedCalls&) = delete;

  void add(const Terms& terms);
  // Null: none. The address is stable.
  const Call* find(Ticket ticket) const;
  const Call* find(Sequence sequence) const;
  MachineId machine(const Call& call) const;
  void erase(const Call& call);
  template <typename Visit>
  void each(Visit visit) const {  // in the order of their sequences
    for (const Handle handle : by_sequence_) visit(calls_[handle]);
  }
  size_t size() const { return by_ticket_.size(); }

 private:
  using Pool = HandlePool<Call, 256>;
  using Handle = Pool::Handle;
  template <auto kNumber>
  using By = OrderByKey<Pool, kNumber>;
  template <auto kNumber>
  using Set = absl::btree_set<Handle, By<kNumber>, SpareNodes<Handle>>;

  Pool calls_;
  Set<&Call::ticket> by_ticket_{By<&Call::ticket>{{&calls_}}};
  Set<&Call::sequence> by_sequence_{By<&Call::sequence>{{&calls_}}};
  absl::btree_map<Ticket, MachineId> other_machines_;  // of the few that are not for coordkit's own
};

}  // namespace coordkit::engine
