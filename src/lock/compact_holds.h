// Locks at rest: each is held by one owner without a text, has no waiters and no unusual property. Nearly all locks are in
// this state nearly all the time. So they take only 48 bytes each and about 15 in their two indexes; a lock with records
// takes some hundreds. The table looks here first. It creates a lock's records for every operation except a query, a release
// or the end of its session. This concerns memory only: no digest, row or answer shows which locks are here.
//
// Invariants: a name is here or in the table, never in both; every record is a hold that is alone on its name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "base/flat_table.h"
#include "base/handle_key.h"
#include "base/handle_pool.h"
#include "base/spare_nodes.h"
#include "coordkit/types.h"
#include "lock/lock_text.h"
#include "lock/terms.h"

namespace coordkit::lock {

class CompactHolds {
 public:
  struct Record {
    SessionId session;
    Index since;
    Token token;
    uint32_t sequence = 0;     // of the acquire
    ShortText text;            // the name; a tagged claim adds the owner's tag, then a byte with the tag's length
    uint16_t origin : 11 = 0;  // of the acquire: a place in origins_
    uint16_t tagged : 1 = 0;
    uint16_t shared : 1 = 0;
    uint16_t stored : 1 = 0;  // its row is in the checkpoint
    uint16_t dirty : 1 = 0;   // it is listed as changed
    uint16_t fresh : 1 = 0;   // neither in the digest nor in the index by session yet

    size_t tag_bytes() const { return tagged ? static_cast<uint8_t>(text.view().back()) : 0; }
    std::string_view name() const { return text.view().substr(0, text.view().size() - tagged - tag_bytes()); }
    std::string_view tag() const { return text.view().substr(name().size(), tag_bytes()); }
    Mode mode() const { return shared ? Mode::Shared : Mode::Exclusive; }
  };
  static_assert(sizeof(Record) == 48);
  using Handle = HandlePool<Record>::Handle;  // zero: none; valid until that lock is removed
  // The result of a look-up by name: the lock's handle, and its place in the index by name. So the lock can be removed
  // without a second look-up.
  class Found;

  CompactHolds();

  // False: it is not such a hold, its name is here already, or there is no room for its origin. Then nothing happened.
  bool add(const ClaimView& hold, bool stored, bool dirty);
  Found find(std::string_view name) const;  // valid until a lock is added or removed
  Found find(Handle handle) const;          // the same
  const Record& operator[](Handle handle) const { return (*records_)[handle]; }
  ClaimView view(Handle handle) const;  // valid until a lock is added or removed
  void remove(Found lock);
  // Gives the hold another token, above all existing ones. This makes it another row, which is to be stored.
  void regrant(Handle handle, Token token, Index since);

  size_t size() const { return names_.size(); }
  uint64_t digest() const;                                  // the sum of the hashes of the holds here
  std::vector<Handle> of_session(SessionId session) const;  // in grant order
  // Visits the holds granted after this one, in grant order, until `visit` says false.
  void of_session(SessionId session, Token after, absl::FunctionRef<bool(Handle)> visit) const;
  uint32_t count(SessionId session) const;
  void each(absl::FunctionRef<void(Handle)> visit) const;  // unordered
  // Handles of the holds that changed since the previous call, in grant order. They count as stored from here on.
  std::vector<Handle> take_dirty();
  void forget_stored();  // all holds count as changed

 private:
  using GrantKey = std::pair<SessionId, Token>;
  static GrantKey grant_key(const Record& record) { return {record.session, record.token}; }
  using ByName = SameKey<HandlePool<Record>, &Record::name>;
  using ByGrant = OrderByKey<HandlePool<Record>, &grant_key>;
  struct OriginPlace {
    Origin origin;
    uint64_t uses = 0;
  };
  // A fresh hold gets its hash and its place in the index by session when a caller asks for either. So a lock that comes and
  // goes in between costs neither.
  void join_later(Handle handle);
  void join() const;
  void leave_joined(Handle handle);
  // A slot in origins_ for one more use of this origin; nullopt: all slots are taken.
  std::optional<uint16_t> place_of(const Origin& origin);
  void leave(uint16_t place);

  using Names = FlatSet<Handle, ByName, ByName>;
  std::unique_ptr<HandlePool<Record>> records_;  // on the heap, because the indexes point to it, also after a move
  Names names_;
  mutable absl::btree_set<Handle, ByGrant, SpareNodes<Handle>> sessions_;  // without fresh holds
  std::vector<OriginPlace> origins_;                                       // places without uses are free
  uint16_t latest_ = 0;                                                    // the place asked for last
  absl::btree_map<Origin, uint16_t, std::less<Origin>, SpareNodes<std::pair<const Origin, uint16_t>>> places_;
  std::vector<Handle> dirty_;          // may name places that are empty or reused
  mutable std::vector<Handle> fresh_;  // the same
  mutable uint64_t digest_ = 0;        // without fresh holds
};

class CompactHolds::Found {
 public:
  operator Handle() const { return handle_; }  // NOLINT: meant to convert. Zero: not found

 private:
  friend class CompactHolds;
  Handle handle_ = 0;
  Names::const_iterator at_;
};

}  // namespace coordkit::lock
