// Abseil's flat hash tables, safe when memory runs out. An insert that finds no memory leaves the table empty, and the former
// contents are never freed. Without this, a table would be left with a size that its memory does not have, and could not even
// be destroyed. The user of such a table has lost it, and must stop.
#pragma once

#include <new>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace coordkit {

template <typename Base>
class FlatTable : public Base {
 public:
  using Base::Base;

  template <typename... Parts>
  decltype(auto) insert(Parts&&... parts) {
    return grow([&]() -> decltype(auto) { return Base::insert(std::forward<Parts>(parts)...); });
  }
  template <typename... Parts>
  decltype(auto) emplace(Parts&&... parts) {
    return grow([&]() -> decltype(auto) { return Base::emplace(std::forward<Parts>(parts)...); });
  }
  template <typename... Parts>
  decltype(auto) try_emplace(Parts&&... parts) {
    return grow([&]() -> decltype(auto) { return Base::try_emplace(std::forward<Parts>(parts)...); });
  }
  template <typename... Parts>
  decltype(auto) insert_or_assign(Parts&&... parts) {
    return grow([&]() -> decltype(auto) { return Base::insert_or_assign(std::forward<Parts>(parts)...); });
  }
  template <typename... Parts>
  decltype(auto) lazy_emplace(Parts&&... parts) {
    return grow([&]() -> decltype(auto) { return Base::lazy_emplace(std::forward<Parts>(parts)...); });
  }
  template <typename Key>
  decltype(auto) operator[](Key&& key) {
    return grow([&]() -> decltype(auto) { return Base::operator[](std::forward<Key>(key)); });
  }
  void reserve(size_t size) {
    grow([&] { Base::reserve(size); });
  }

 private:
  template <typename Insert>
  decltype(auto) grow(Insert insert) {
    try {
      return insert();
    } catch (...) {
      auto hash = this->hash_function();
      auto equal = this->key_eq();
      new (static_cast<Base*>(this)) Base(0, std::move(hash), std::move(equal));  // without destroying the former contents
      throw;
    }
  }
};

template <typename... Types>
using FlatMap = FlatTable<absl::flat_hash_map<Types...>>;
template <typename... Types>
using FlatSet = FlatTable<absl::flat_hash_set<Types...>>;

}  // namespace coordkit
