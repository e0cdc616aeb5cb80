// The terms of the field as types: terms, indexes, ids, tokens. Two of them never mix by accident,
// because each has a type of its own. All are plain 64-bit values, cheap to copy, ordered, and
// hashable with std::hash and Abseil. operator<<, Abseil and (coordkit/fmt.h) fmt print them in
// decimal. Zero means "none".
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <utility>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// One integer that shares its type with no other. It has only the arithmetic that a position needs.
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(uint64_t value) : value_(value) {}  // zero: none

  constexpr uint64_t value() const { return value_; }               // the plain number; zero: none
  constexpr explicit operator bool() const { return value_ != 0; }  // false: none
  constexpr Id next() const { return Id(value_ + 1); }              // wraps after 2^64 - 1
  // Zero wraps; the caller knows that it is not zero.
  constexpr Id previous() const { return Id(value_ - 1); }
  // `distance` places later. It wraps beyond 2^64 - 1; the caller knows that it does not.
  friend constexpr Id operator+(Id id, uint64_t distance) { return Id(id.value_ + distance); }
  // How many places `to` comes after `from`. The caller knows that it does not come before.
  friend constexpr uint64_t operator-(Id to, Id from) { return to.value_ - from.value_; }
  friend constexpr auto operator<=>(Id, Id) = default;

  template <typename H>
  friend H AbslHashValue(H state, Id id) {
    return H::combine(std::move(state), id.value_);
  }
  template <typename Sink>
  friend void AbslStringify(Sink& sink, Id id) {
    char digits[20];
    char* const end = digits + sizeof digits;
    char* first = end;
    for (uint64_t rest = id.value_; first == end || rest != 0; rest /= 10) *--first = static_cast<char>('0' + rest % 10);
    sink.Append({first, static_cast<size_t>(end - first)});
  }
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Id id) {
    return out << id.value_;
  }

 private:
  uint64_t value_ = 0;
};

using Term = Id<struct TermTag>;                // a leader's reign; at most one leader per term
using Index = Id<struct IndexTag>;              // position in the replicated log, from 1
using ReplicaId = Id<struct ReplicaIdTag>;      // a member, chosen by the operator
using GroupId = Id<struct GroupIdTag>;          // a consensus group in one process; today always 1
using ClusterId = Id<struct ClusterIdTag>;      // random, made once at genesis
using StoreId = Id<struct StoreIdTag>;          // random, made once per data directory
using BootCounter = Id<struct BootCounterTag>;  // how often a data directory was opened, from 1
using WriteNumber = Id<struct WriteNumberTag>;  // one submission to the log store, from 1, in order
using Revision = Id<struct RevisionTag>;        // version number of the key-value store
using Token = Id<struct TokenTag>;              // fencing token of a grant
using SessionId = Id<struct SessionIdTag>;      // drawn from the token counter, never reused
using LeaseId = Id<struct LeaseIdTag>;          // the owner of keys: a session, or a lease of its
                                                // own
using Sequence = Id<struct SequenceTag>;        // a request of one origin, from 1
using Generation = Id<struct GenerationTag>;    // guards a timer; changes only by log entries
using MachineId = Id<struct MachineIdTag>;      // a state machine hosted in the log; coordkit's own
                                                // is 1
using TimerId = Id<struct TimerIdTag>;          // a replicated timer of one machine
using Ticket = Id<struct TicketTag>;            // a call in progress in one process

// The id of a caller without a replica, drawn at random, has the highest bit. No member's id has it.
inline constexpr uint64_t kRemoteBit = uint64_t{1} << 63;
constexpr bool is_remote(ReplicaId id) { return (id.value() & kRemoteBit) != 0; }

inline constexpr GroupId kOnlyGroup{1};            // of every entry and message today
inline constexpr MachineId kCoordination{1};       // coordkit's own machine: sessions, locks, keys
inline constexpr MachineId kOrigins{2};            // no machine: the timers of remotes' origins
inline constexpr MachineId kFirstHostMachine{16};  // smaller ids are coordkit's, these and larger
                                                   // ones the host's

using Duration = std::chrono::nanoseconds;  // every span of time; signed

// A place in the log: the index and the term of the entry there.
struct Position {
  Index index;  // from 1; zero: before the first entry
  Term term;    // of the leader that appended the entry; zero with index zero
  friend constexpr bool operator==(const Position&, const Position&) = default;
};

// A submitter of requests: one incarnation of one replica. A newer boot replaces the older one.
struct Origin {
  ReplicaId replica;  // the member's id
  StoreId store;      // its data directory; a new directory makes a new origin
  BootCounter boot;   // which opening of that directory, from 1
  friend constexpr auto operator<=>(const Origin&, const Origin&) = default;
};

// Names one request for ever, so that a repeat is recognised (exactly once).
struct RequestId {
  Origin origin;      // the incarnation that submitted the request
  Sequence sequence;  // the request's number at that origin, from 1
  friend constexpr auto operator<=>(const RequestId&, const RequestId&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const RequestId& id) {
    return H::combine(std::move(state), id.origin.replica, id.origin.store, id.origin.boot, id.sequence);
  }
};

}  // namespace coordkit

template <typename Tag>
struct std::hash<coordkit::Id<Tag>> {
  size_t operator()(coordkit::Id<Tag> id) const noexcept { return std::hash<uint64_t>()(id.value()); }
};
