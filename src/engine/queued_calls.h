// Calls of this replica that a machine accepted and will answer later, such as acquires in line. Thousands may wait for long,
// so each keeps only what its end needs, in one allocation. They come nearly in the order of their numbers, which keeps the
// nodes of the indexes full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "base/spare_nodes.h"
#include "coordkit/engine.h"

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
    Ticket ticket() const { return ticket_; }
    Sequence sequence() const { return sequence_; }
    bool has_deadline() const { return has_deadline_; }
    MachineId machine() const { return coordination_ ? kCoordination : other_machine(); }
    std::string_view command() const { return {reinterpret_cast<const char*>(this + 1), command_bytes_}; }

   private:
    friend class QueuedCalls;
    Call(const Terms& terms, size_t command_bytes)
        : ticket_(terms.ticket),
          sequence_(terms.sequence),
          command_bytes_(static_cast<uint32_t>(command_bytes)),
          has_deadline_(terms.has_deadline),
          coordination_(terms.machine == kCoordination) {}
    MachineId other_machine() const;

    Ticket ticket_;
    Sequence sequence_;
    uint32_t command_bytes_;  // they lie behind it, and behind them the machine's id unless
    bool has_deadline_;
    bool coordination_;
  };

  // The command is copied: what it is a part of need not live on.
  void add(const Terms& terms, std::string_view command);
  // Null: none. The address is stable.
  const Call* find(Ticket ticket) const;
  const Call* find(Sequence sequence) const;
  void erase(const Call& call);
  std::vector<Sequence> sequences() const;  // ascending
  template <typename Visit>
  void each(Visit visit) const {
    for (const Owned& call : by_ticket_) visit(*call);
  }
  size_t size() const { return by_ticket_.size(); }
  size_t bytes() const { return bytes_; }  // of their commands

 private:
  struct Delete {
    void operator()(Call* call) const { ::operator delete(call); }
  };
  using Owned = std::unique_ptr<Call, Delete>;
  // Orders calls, whoever owns them, by one of their numbers.
  template <typename Number, Number (Call::*kNumber)() const>
  struct By {
    using is_transparent = void;
    static Number number(const Owned& call) { return ((*call).*kNumber)(); }
    static Number number(const Call* call) { return (call->*kNumber)(); }
    static Number number(Number number) { return number; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return number(a) < number(b);
    }
  };
  template <typename Pointer, typename Number, Number (Call::*kNumber)() const>
  using Set = absl::btree_set<Pointer, By<Number, kNumber>, SpareNodes<Pointer>>;

  Set<Owned, Ticket, &Call::ticket> by_ticket_;
  Set<const Call*, Sequence, &Call::sequence> by_sequence_;
  size_t bytes_ = 0;
};

}  // namespace coordkit::engine
