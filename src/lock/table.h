// The lock table: who holds what, who waits for what, who is next. Pure and deterministic; it knows nothing of sessions
// but their ids (the machine above asks it only for live ones), of clocks, bytes or the log.
//
// One step is: any number of changes (acquire, release, cancel, time_out, end), then settle(), which applies the grant
// rule S-48 of docs/semantics.md and forgets locks that became empty. After settle() no waiter is grantable (INV_L06). Work
// is proportional to the claims touched, whatever exists besides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/types.h"
#include "lock/claim.h"
#include "lock/token_counter.h"

namespace coordkit::lock {

// An acquire as it arrives.
struct Attempt {
  Index index;  // of its entry: the place in the queue
  RequestId request;
  SessionId session;
  std::string_view tag;
  std::string_view name;
  std::string_view value;
  bool waits = false;  // false: a try
  Duration timeout{};  // of a timed wait, else zero
};

struct AcquireVerdict {
  enum class Kind : uint8_t { Granted, Queued, Held, AlreadyHeld, AlreadyWaiting };
  Kind kind = Kind::Held;
  Token token;            // Granted, AlreadyHeld
  Index since;            // of the hold or of the wait in the way
  uint64_t position = 0;  // Queued: waiters before it
};

struct CancelVerdict {
  enum class Kind : uint8_t { Cancelled, Granted, Absent };
  Kind kind = Kind::Absent;
  Token token;  // Granted
  Index since;  // Granted
};

// How a wait ended. Each waiting acquire gets exactly one (INV_L08).
struct Decision {
  enum class Kind : uint8_t { Granted, WaitTimeout, Cancelled, Lost };
  Kind kind = Kind::Lost;
  RequestId request;
  SessionId session;
  Index queued;        // the entry that queued it
  bool timed = false;  // it had a timeout
  Token token;         // Granted
};

// A claim as seen from outside; the views live until the next change.
struct ClaimView {
  std::string_view name;
  std::string_view tag;
  std::string_view value;
  SessionId session;
  RequestId request;
  Index since;
  Token token;  // zero: waiting
  Duration timeout{};
  bool held() const { return static_cast<bool>(token); }
};

// Names the row of a claim in a checkpoint: a hold by its token, a waiter by its entry.
struct ClaimRowId {
  bool held = false;
  uint64_t id = 0;
  friend auto operator<=>(const ClaimRowId&, const ClaimRowId&) = default;
};

class Table {
 public:
  using Visitor = absl::FunctionRef<void(const ClaimView&)>;
  using WhileVisitor = absl::FunctionRef<bool(const ClaimView&)>;  // false: enough
  struct Counts {
    uint32_t holds = 0;
    uint32_t waiters = 0;
  };

  Table();
  ~Table();
  Table(Table&&) noexcept;
  Table& operator=(Table&&) noexcept;

  // ---- changes; settle() ends every step
  AcquireVerdict acquire(const Attempt& attempt, TokenCounter& tokens);
  // Ends the hold with this token if it belongs to the session, and to the tag if one is given. False: NotOwner.
  bool release(SessionId session, std::optional<std::string_view> tag, std::string_view name, Token token);
  CancelVerdict cancel(SessionId session, std::string_view tag, std::string_view name, const RequestId& acquire,
                       std::vector<Decision>& decisions);
  // Ends the timed wait that this entry queued; false: there is none any more.
  bool time_out(Index queued, std::vector<Decision>& decisions);
  // Ends all waits (Lost, oldest first) and holds of a session. INV_L07: afterwards nothing of it remains.
  void end(SessionId session, std::vector<Decision>& decisions);
  // Ends its waits alone (Lost, oldest first); its holds stay.
  void end_waits(SessionId session, std::vector<Decision>& decisions);
  // Grants what became grantable, oldest wait first over all names. `index` is the entry of the step.
  void settle(Index index, TokenCounter& tokens, std::vector<Decision>& decisions);

  // ---- looks
  size_t names() const { return locks_.size(); }
  size_t claims() const { return owners_.size(); }
  uint32_t waiting(std::string_view name) const;
  void holders(std::string_view name, Visitor visit) const;                                              // in grant order
  void queue(std::string_view name, WhileVisitor visit) const;                                           // first waiter first
  std::optional<ClaimView> claim(std::string_view name, SessionId session, std::string_view tag) const;  // hold or wait
  bool still_held(std::string_view name, Token token) const;
  Counts counts(SessionId session) const;
  std::vector<ClaimView> holds_of(SessionId session) const;            // in grant order
  void timed_waits(Visitor visit) const;                               // in queueing order
  void every_session(absl::FunctionRef<void(SessionId)> visit) const;  // of a claim; unordered: only for checks

  // ---- checkpoint: what changed since the call before, rows in ascending order of their ids
  void collect(Visitor put, absl::FunctionRef<void(ClaimRowId)> erase);
  // Adds one row to an empty or half-restored table: holds before waiters, each in ascending order. kDataLoss: impossible.
  absl::Status restore(const ClaimView& row);
  absl::Status restored() const;  // kDataLoss: the rows together make no sense (INV_L06)

  uint64_t digest() const { return digest_; }
  uint64_t recomputed_digest() const;

 private:
  struct OwnerKey {
    const Lock* lock;
    SessionId session;
    std::string_view tag;
    friend bool operator==(const OwnerKey&, const OwnerKey&) = default;
  };
  struct ByName {
    using is_transparent = void;
    static std::string_view key(std::string_view name) { return name; }
    static std::string_view key(const std::unique_ptr<Lock>& lock) { return lock->name.first(); }
    size_t operator()(const auto& of) const { return absl::Hash<std::string_view>()(key(of)); }
    bool operator()(const auto& a, const auto& b) const { return key(a) == key(b); }
  };
  struct ByOwner {
    using is_transparent = void;
    static OwnerKey key(const OwnerKey& owner) { return owner; }
    static OwnerKey key(const std::unique_ptr<Claim>& claim) { return {claim->place.lock, claim->session, claim->tag()}; }
    size_t operator()(const auto& of) const {
      const OwnerKey owner = key(of);
      return absl::HashOf(owner.lock, owner.session, owner.tag);
    }
    bool operator()(const auto& a, const auto& b) const { return key(a) == key(b); }
  };
  struct OfSession {
    Claim* first = nullptr;
    Counts counts;
  };

  Lock* find(std::string_view name) const;
  Claim* find(const Lock& lock, SessionId session, std::string_view tag) const;
  Lock& lock_of(std::string_view name);
  Claim& add(Lock& lock, const ClaimView& row);
  void hold(Claim& claim, Token token, Index index);
  void remove(Claim& claim);
  void link(Claim& claim);
  void unlink(Claim& claim);
  void touch(Lock& lock);
  void changed(Claim& claim);
  void unchanged(Claim& claim);
  void forget_row(Claim& claim);

  absl::flat_hash_set<std::unique_ptr<Lock>, ByName, ByName> locks_;
  absl::flat_hash_set<std::unique_ptr<Claim>, ByOwner, ByOwner> owners_;  // all claims; one per name and owner (S-36)
  absl::flat_hash_map<SessionId, OfSession> sessions_;                    // those with a claim
  absl::btree_map<Index, Claim*> waiters_;                                // by Claim::since
  std::vector<Lock*> touched_;                                            // in this step, each once
  std::vector<Claim*> candidates_;                                        // scratch of settle()
  std::vector<Claim*> dirty_;                                             // changed since the last collect()
  std::vector<ClaimRowId> erased_;                                        // stored rows that are gone since then
  uint64_t digest_ = 0;                                                   // sum of the claims' hashes
};

}  // namespace coordkit::lock
