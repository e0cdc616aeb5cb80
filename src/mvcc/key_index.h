// The keys of a store. They are found by name at the cost of one look, whatever their number, and in byte order from any name
// on. Both indexes name a key by a handle of four bytes, so together they cost as much as one index of pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/container/btree_set.h"
#include "base/flat_table.h"
#include "base/handle_key.h"
#include "base/handle_pool.h"
#include "mvcc/version.h"

namespace coordkit::mvcc {

class Keys {
 public:
  Keys()
      : keys_(std::make_unique<HandlePool<Key>>()),
        names_(0, SameName{{keys_.get()}}, SameName{{keys_.get()}}),
        order_(Order{{keys_.get()}}) {}

  // Null: not found. The address is stable.
  Key* find(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &(*keys_)[*found];
  }
  // The name must not be there yet.
  Key& add(std::string_view name) {
    const Handle handle = keys_->add();
    Key& key = (*keys_)[handle] = Key(name);
    names_.insert(handle);
    order_.insert(handle);
    return key;
  }
  void remove(const Key& key) {
    const auto found = names_.find(key.name());
    const Handle handle = *found;
    order_.erase(handle);
    names_.erase(found);
    keys_->remove(handle);
    if (names_.empty() && names_.capacity() > kCapacityKept) *this = Keys();  // many keys that are gone keep no memory
  }
  // Visits keys in ascending order from that name on, until `visit` says false.
  template <typename Visit>
  void from(std::string_view name, Visit visit) const {
    for (auto each = order_.lower_bound(name); each != order_.end() && visit((*keys_)[*each]); ++each) {
    }
  }
  template <typename Visit>
  void each(Visit visit) const {
    for (const Handle handle : order_) visit((*keys_)[handle]);
  }

 private:
  static constexpr size_t kCapacityKept = 4096;
  using Handle = HandlePool<Key>::Handle;
  using SameName = SameKey<HandlePool<Key>, &Key::name>;
  using Order = OrderByKey<HandlePool<Key>, &Key::name>;

  std::unique_ptr<HandlePool<Key>> keys_;  // on the heap, because the indexes point to it, also after a move
  FlatSet<Handle, SameName, SameName> names_;
  absl::btree_set<Handle, Order> order_;
};

}  // namespace coordkit::mvcc
