// Rows<Row>: all records of one kind, by their key, with everything that a table of this folder needs around them. That is an
// index by name, by session, by object and by request, each only if the row has such a field. It is also the list of changes
// since the last checkpoint, and the digest.
//
// A Row is a plain struct. It names its key's type (Key), a seed of its hash (kSeed) and its fields in the order of their
// numbers in a checkpoint (fields()). Hash and bytes are made from that one list, so that they cannot drift apart. Records
// are found by key, never by address: a reference lives until the next change.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "base/check.h"
#include "base/flat_table.h"
#include "base/sums.h"
#include "coordkit/types.h"

namespace coordkit::coordination {

inline uint64_t field_hash(uint64_t hash, const std::string& value) { return hash_bytes(value, hash); }
inline uint64_t field_hash(uint64_t hash, Duration value) { return hash_mix(hash, static_cast<uint64_t>(value.count())); }
inline uint64_t field_hash(uint64_t hash, const RequestId& value) {
  const Origin& origin = value.origin;
  for (const uint64_t part : {origin.replica.value(), origin.store.value(), origin.boot.value(), value.sequence.value()}) {
    hash = hash_mix(hash, part);
  }
  return hash;
}
template <typename Tag>
uint64_t field_hash(uint64_t hash, Id<Tag> value) {
  return hash_mix(hash, value.value());
}
template <typename Number>
requires(std::is_integral_v<Number> || std::is_enum_v<Number>) uint64_t field_hash(uint64_t hash, Number value) {
  return hash_mix(hash, static_cast<uint64_t>(value));
}

template <typename Row>
uint64_t row_hash(typename Row::Key key, const Row& row) {
  uint64_t hash = hash_mix(Row::kSeed, key.value());
  std::apply([&](auto... field) { ((hash = field_hash(hash, row.*field)), ...); }, Row::fields());
  return hash;
}

template <typename Row>
class Rows {
 public:
  using Key = typename Row::Key;
  using Keys = absl::btree_set<Key>;

  static constexpr bool kNamed = requires(Row row) { row.name; };
  static constexpr bool kOfSession = requires(Row row) { row.session; };  // zero: none
  static constexpr bool kOfObject = requires(Row row) { row.object; };
  static constexpr bool kOfRequest = requires(Row row) { row.request; };

  const Row* find(Key key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() ? nullptr : &found->second.row;
  }
  const Row& at(Key key) const {
    const Row* row = find(key);
    COORDKIT_CHECK_MSG(row, "a record of coordination is gone while something refers to it");
    return *row;
  }
  size_t size() const { return rows_.size(); }

  // ---- changes
  void add(Key key, Row row) {
    COORDKIT_CHECK_MSG(index(key, row), "two records of coordination with one name, key or request");
    digest_ += row_hash(key, row);
    const auto [slot, fresh] = rows_.try_emplace(key, Slot{std::move(row)});
    COORDKIT_CHECK_MSG(fresh, "two records of coordination with one key");
    dirty_.insert(key);
  }
  // `set` must change only fields that are in no index.
  template <typename Set>
  void change(Key key, Set set) {
    const auto found = rows_.find(key);
    COORDKIT_CHECK(found != rows_.end());
    digest_ -= row_hash(key, found->second.row);
    set(found->second.row);
    digest_ += row_hash(key, found->second.row);
    dirty_.insert(key);
  }
  void remove(Key key) {
    const auto found = rows_.find(key);
    COORDKIT_CHECK(found != rows_.end());
    digest_ -= row_hash(key, found->second.row);
    forget(key, found->second.row);
    dirty_.erase(key);  // a row that comes and goes between two checkpoints leaves nothing behind (REG_F76)
    if (found->second.stored) erased_.insert(key);
    rows_.erase(found);
  }
  // Gives all rows of a session new keys, in their order. Each is another row from then on. `set` may change fields that are
  // in no index.
  template <typename Next, typename Set>
  void rekey(SessionId session, Next next, Set set) {
    const Keys keys = of_session(session);
    for (const Key previous : keys) {
      Row row = at(previous);
      const Key key = next();
      set(key, row);
      remove(previous);
      add(key, std::move(row));
    }
  }

  // ---- queries
  std::optional<Key> named(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<Key> requested(const RequestId& request) const {
    const auto found = requests_.find(request);
    return found == requests_.end() ? std::nullopt : std::optional(found->second);
  }
  // In ascending order; invalidated by the next change.
  const Keys& of_session(SessionId session) const { return of(sessions_, session); }
  const Keys& of_object(Index object) const { return of(objects_, object); }
  template <typename Visit>
  void each(Visit visit) const {  // ascending
    for (const auto& [key, slot] : rows_) visit(key, slot.row);
  }
  template <typename Visit>
  void every_session(Visit visit) const {  // unordered: only for checks
    for (const auto& [session, keys] : sessions_) visit(session);
  }

  // ---- checkpoint: the changes since the previous call, ascending
  template <typename Put, typename Erase>
  void collect(Put put, Erase erase) {
    for (const Key key : erased_) erase(key);
    erased_.clear();
    for (const Key key : dirty_) {
      Slot& slot = rows_.find(key)->second;
      put(key, std::as_const(slot.row));
      slot.stored = true;
    }
    dirty_.clear();
  }
  void forget_stored() {  // the next collect() puts every row
    erased_.clear();
    for (auto& [key, slot] : rows_) {
      slot.stored = false;
      dirty_.insert(key);
    }
  }
  // kDataLoss: no table could have such rows.
  absl::Status restore(Key key, Row row) {
    if (!key || rows_.contains(key) || !index(key, row)) {
      return absl::DataLossError("two records of coordination with one name or request");
    }
    digest_ += row_hash(key, row);
    rows_.try_emplace(key, Slot{std::move(row), true});
    return absl::OkStatus();
  }

  uint64_t digest() const { return digest_; }  // sum over the rows
  uint64_t recomputed_digest() const {
    uint64_t sum = 0;
    for (const auto& [key, slot] : rows_) sum += row_hash(key, slot.row);
    return sum;
  }

 private:
  struct Slot {
    Row row;
    bool stored = false;  // its row is in the checkpoint
  };
  template <typename By>
  using Groups = FlatMap<By, Keys>;

  template <typename By>
  static const Keys& of(const Groups<By>& groups, By by) {
    static const Keys none;
    const auto found = groups.find(by);
    return found == groups.end() ? none : found->second;
  }
  template <typename By>
  static void leave(Groups<By>& groups, By by, Key key) {
    const auto found = groups.find(by);
    if (found == groups.end()) return;
    found->second.erase(key);
    if (found->second.empty()) groups.erase(found);
  }

  // False: the name or the request belongs to another row.
  bool index(Key key, const Row& row) {
    if constexpr (kNamed) {
      if (row.name.empty() || !names_.emplace(row.name, key).second) return false;
    }
    if constexpr (kOfRequest) {
      if (!requests_.try_emplace(row.request, key).second) return false;
    }
    if constexpr (kOfSession) {
      if (row.session) sessions_[row.session].insert(key);
    }
    if constexpr (kOfObject) objects_[row.object].insert(key);
    return true;
  }
  void forget(Key key, const Row& row) {
    if constexpr (kNamed) names_.erase(row.name);
    if constexpr (kOfRequest) requests_.erase(row.request);
    if constexpr (kOfSession) leave(sessions_, row.session, key);
    if constexpr (kOfObject) leave(objects_, row.object, key);
  }

  absl::btree_map<Key, Slot> rows_;
  absl::btree_map<std::string, Key, std::less<>> names_;
  absl::btree_map<RequestId, Key> requests_;
  Groups<SessionId> sessions_;
  Groups<Index> objects_;
  absl::btree_set<Key> dirty_;   // changed since the last collect()
  absl::btree_set<Key> erased_;  // stored rows that are gone since then
  uint64_t digest_ = 0;
};

}  // namespace coordkit::coordination
