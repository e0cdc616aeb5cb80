// The locks that a session may grant by itself (docs/semantics.md S-58, docs/decisions/0011). The threads that acquire and
// release share them with the client's owner thread, which gets delegations from the log and gives them back.
//
// A record has the tokens that are left and the present holder of the lock. One mutex of the session guards all of them, and
// nothing blocks under it. That makes an uncontended acquire and release cheap: neither needs the owner thread. Invariants:
//   - A local hold is granted only when none is current, and a current one ends only after it was invalidated or known lost:
//     so at most one hold of a delegation is valid.
//   - A delegation is released only when none is current, and is removed from here before the release is sent (T8).
//   - A local hold is valid only while its session is, by the same deadline as every other hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_table.h"
#include "coordkit/client/handles.h"

namespace coordkit {

// One lock that the session has, and the source of a hold's grant. Only Delegations uses it.
class Delegation {
 public:
  // The delegation as the log granted it.
  struct Grant {
    std::string name;
    Token token;       // of the hold in the log: its permanent name
    Index since;       // of the hold in the log
    Token first;       // of the block
    Token last;        // of the block
    Duration delay{};  // S-40: of the hold in the log
  };
  explicit Delegation(Grant grant) : grant_(std::move(grant)), next_(grant_.first) {}

  // Whether the local hold of this token is over. To the log any token of a block is current until it saw a newer one; the
  // process that lends the lock knows better. If a hold was in use when the session was lost, the log decides when it ends.
  // Any thread.
  bool over(Token token) const { return token.value() != in_use_.load(std::memory_order_relaxed); }
  // Whether the token is one of the block. Only on the owner thread.
  bool lends(Token token) const { return grant_.first <= token && token <= grant_.last; }

 private:
  friend class Delegations;
  Grant grant_;
  Token next_;       // above grant_.last: the block is used up
  HoldRef current_;  // null: no local holder
  // The token of the local holder, or of the holder at the time when the session was lost; zero: none.
  std::atomic<uint64_t> in_use_{0};
  bool open_ = false;       // not asked for, and the line is empty: any thread may grant
  uint64_t last_use_ = 0;   // counts the ends of uses in its session
  uint64_t looked_at_ = 0;  // last_use_ when its place in Delegations::by_use_ was right
};

using DelegationRef = std::shared_ptr<Delegation>;

class Delegations {
 public:
  enum class Released : uint8_t {
    NotCurrent,  // it had already ended
    Done,
    Serve,  // done, and the owner thread has work: Client::released_locally()
  };
  explicit Delegations(size_t idle_max) : idle_max_(idle_max) {}

  // ---- any thread
  // A hold for this owner, if the lock is idle here and the line is empty. Null: it cannot be granted here now; ask the
  // client.
  HoldRef acquire(const SessionRef& session, std::string_view name, std::string_view owner_tag, LeadingTime now);
  // The hold must be invalidated, or known lost.
  Released release(const HoldState& hold);
  std::vector<HoldRef> in_use() const;
  uint64_t granted() const;  // by acquire(), so far

  // ---- the owner thread
  DelegationRef add(Delegation::Grant grant);  // closed, until set_open()
  struct Look {
    HoldRef current;
    bool used_up = false;
  };
  Look look(const Delegation& delegation) const;
  bool current(const HoldState& hold) const;
  // The hold for the next token, ignoring the line. There must be no holder, and the block must not be used up. `until`:
  // S-51.
  HoldRef grant(const SessionRef& session, const DelegationRef& delegation, std::string_view owner_tag, LeadingTime until);
  void refill(Delegation& delegation, Token first);
  void set_open(Delegation& delegation, bool open);
  // The names of idle locks beyond the most that are kept, the least recently used first.
  std::vector<std::string> surplus();
  // There must be no holder. From here on the lock is no longer granted here.
  void remove(const DelegationRef& delegation);
  // For a lost session: lends no lock any more, and returns the holds that were in use. The tokens stay known until the
  // session is gone (Delegation::over).
  std::vector<HoldRef> clear();
  size_t size() const;

 private:
  HoldRef make(const SessionRef& session, const DelegationRef& delegation, std::string_view owner_tag, LeadingTime until);

  size_t idle() const { return by_name_.size() - held_; }

  struct ByName {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return absl::HashOf(name); }
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };

  // All delegations, in the order of uses that surplus() last saw. A use leaves the place of its lock as it is. So that place
  // is never behind the right one.
  struct ByUse {
    bool operator()(const Delegation* a, const Delegation* b) const { return a->looked_at_ < b->looked_at_; }
  };

  mutable std::mutex mutex_;
  FlatMap<std::string, DelegationRef, ByName, ByName> by_name_;
  std::vector<DelegationRef> former_;  // of the session, once it is lost
  std::set<Delegation*, ByUse> by_use_;
  size_t held_ = 0;  // delegations with a local holder
  uint64_t uses_ = 0, granted_ = 0;
  const size_t idle_max_;
};

inline bool over_here(const HoldState& hold) { return hold.delegation() && hold.delegation()->over(hold.token()); }

}  // namespace coordkit
