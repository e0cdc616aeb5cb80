// Indexes of a HandlePool's records by a key that is in them. They are sets of handles that order or hash them by that key.
// They can also be searched for a key that has no record.
//
//   absl::btree_set<Handle, OrderByKey<Pool, &Call::ticket>> by_ticket_{{&pool_}};
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <type_traits>

#include "absl/hash/hash.h"
#include "base/name_hash.h"

namespace coordkit {

// `kKey`: the member, or the function of a record, that gives the key.
template <typename Pool, auto kKey>
struct HandleKey {
  using is_transparent = void;
  using Handle = typename Pool::Handle;
  using Key = std::remove_cvref_t<std::invoke_result_t<decltype(kKey), const typename Pool::Value&>>;

  const Pool* pool;
  Key key(Handle handle) const { return std::invoke(kKey, (*pool)[handle]); }
  static const Key& key(const Key& itself) { return itself; }
};

template <typename Pool, auto kKey>
struct OrderByKey : HandleKey<Pool, kKey> {
  bool operator()(const auto& a, const auto& b) const { return this->key(a) < this->key(b); }
};

// Hash and equality in one.
template <typename Pool, auto kKey>
struct SameKey : HandleKey<Pool, kKey> {
  size_t operator()(const auto& of) const { return hash(this->key(of)); }
  bool operator()(const auto& a, const auto& b) const { return this->key(a) == this->key(b); }

 private:
  static size_t hash(std::string_view name) { return name_hash(name); }
  static size_t hash(const auto& key) { return absl::HashOf(key); }
};

}  // namespace coordkit
