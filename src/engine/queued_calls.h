// Calls of this replica that a machine accepted and will answer later, such as acquires in line. Thousands may wait for long,
// so each keeps only what its end needs, in one allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "coordkit/engine.h"

namespace coordkit::engine {

class QueuedCalls {
 public:
  struct Call {
    Ticket ticket;
    Sequence sequence;
    MachineId machine;
    uint32_t command_bytes = 0;
    bool has_deadline = false;
    std::string_view command() const { return {reinterpret_cast<const char*>(this + 1), command_bytes}; }  // behind it
  };

  // The command is copied: what it is a part of need not live on.
  void add(Call call, std::string_view command);
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
  // Compares calls, whoever owns them, by one of their numbers.
  template <auto kNumber>
  struct By {
    using is_transparent = void;
    using Number = std::remove_cvref_t<decltype(std::declval<Call>().*kNumber)>;
    static Number number(const Owned& call) { return (*call).*kNumber; }
    static Number number(const Call* call) { return (*call).*kNumber; }
    static Number number(Number number) { return number; }
    template <typename T>
    size_t operator()(const T& one) const {
      return absl::HashOf(number(one));
    }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return number(a) == number(b);
    }
  };
  template <typename Pointer, auto kNumber>
  using Set = absl::flat_hash_set<Pointer, By<kNumber>, By<kNumber>>;

  Set<Owned, &Call::ticket> by_ticket_;
  Set<const Call*, &Call::sequence> by_sequence_;
  size_t bytes_ = 0;
};

}  // namespace coordkit::engine
