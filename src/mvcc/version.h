// A key with its history, and one change of it: a block of memory each, with their bytes inside, because a store has many of
// them and most are small.
//
// A key owns its changes, the newest first; each points to its predecessor, as far as that is kept. A change is never altered.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "coordkit/records.h"
#include "coordkit/types.h"

namespace coordkit::mvcc {

// A change in the order of events: its revision, and its place among the changes that share it.
struct ChangeId {
  Revision revision;
  uint32_t sub = 0;
  friend auto operator<=>(const ChangeId&, const ChangeId&) = default;
};

// What a change leaves of a key besides its value.
struct Stamp {
  Revision create;       // INV_K02: create <= mod; zero: the key is gone
  uint64_t version = 0;  // changes since create, from 1; zero: the key is gone
  LeaseId lease = {};
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

struct Key;

struct Version {
  Key* of = nullptr;
  Version* before = nullptr;  // the same key's change before this one; null: none, or compacted away
  Revision mod;
  Stamp stamp;
  uint32_t sub = 0;
  uint32_t size = 0;  // of the value, whose bytes follow

  bool deleted() const { return stamp.version == 0; }
  ChangeId id() const { return {mod, sub}; }
  std::string_view key() const;
  std::string_view value() const { return {reinterpret_cast<const char*>(this + 1), size}; }
  KeyValue entry() const { return {std::string(key()), std::string(value()), stamp.create, mod, stamp.version, stamp.lease}; }

  static Version* make(ChangeId id, const Stamp& stamp, std::string_view value);
  static void free(Version* version);
  static size_t footprint(const Version& version);  // bytes of its block
};

struct Key {
  Version* newest = nullptr;
  uint32_t size = 0;  // of the name, whose bytes follow

  std::string_view name() const {
    return {reinterpret_cast<const char*>(this) + offsetof(Key, size) + sizeof(Key::size), size};
  }
  // The key as it was after `at`; null: it did not exist, or that is compacted away. Searches from the newest change on.
  const Version* at(Revision at) const {
    const Version* version = newest;
    while (version != nullptr && version->mod > at) version = version->before;
    return version == nullptr || version->deleted() ? nullptr : version;
  }

  struct Free {
    void operator()(Key* key) const;  // with its changes
  };
  static std::unique_ptr<Key, Free> make(std::string_view name);
};
using KeyPointer = std::unique_ptr<Key, Key::Free>;

inline std::string_view Version::key() const { return of->name(); }

// By name; a name can stand for a key in look-ups.
struct KeyOrder {
  using is_transparent = void;
  static std::string_view name_of(std::string_view name) { return name; }
  static std::string_view name_of(const KeyPointer& key) { return key->name(); }
  bool operator()(const auto& a, const auto& b) const { return name_of(a) < name_of(b); }
};

}  // namespace coordkit::mvcc
