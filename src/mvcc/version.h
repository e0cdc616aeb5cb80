// A key with its history, and one change of it. Their bytes are inside, because a store has many of them and most are small.
//
// A key owns its changes, the newest first. Each points to its predecessor, as far as that is kept. A change is never
// altered.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/short_text.h"
#include "coordkit/records.h"
#include "coordkit/types.h"

namespace coordkit::mvcc {

// A change in the order of events: its revision, and its place among the changes that share it.
struct ChangeId {
  Revision revision;
  uint32_t sub = 0;
  friend auto operator<=>(const ChangeId&, const ChangeId&) = default;
};

// The fields that a change sets besides the key's value.
struct Stamp {
  Revision create;       // INV_K02: create <= mod; zero: the key is gone
  uint64_t version = 0;  // changes since create, from 1; zero: the key is gone
  LeaseId lease = {};
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

class Key;

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

class Key {
 public:
  Key() = default;
  explicit Key(std::string_view name) : name_(name) {}
  ~Key();
  Key(Key&& other) noexcept { *this = std::move(other); }
  Key& operator=(Key&& other) noexcept {
    std::swap(newest, other.newest);
    name_ = std::move(other.name_);
    return *this;
  }

  Version* newest = nullptr;

  std::string_view name() const { return name_.view(); }
  size_t footprint() const { return sizeof(Key) + name_.bytes_outside(); }  // bytes of its blocks, without its changes
  // The key after the changes of revision `at`; null: it did not exist, or that state is compacted away. Searches from the
  // newest change on.
  const Version* at(Revision at) const {
    uint64_t passed = 0;
    return this->at(at, passed);
  }
  // The same. Adds one for the key and one for each newer change to `passed`.
  const Version* at(Revision at, uint64_t& passed) const {
    const Version* version = newest;
    for (++passed; version != nullptr && version->mod > at; ++passed) version = version->before;
    return version == nullptr || version->deleted() ? nullptr : version;
  }

 private:
  ShortText<12, uint32_t> name_;
};
static_assert(sizeof(Key) == 24);

inline std::string_view Version::key() const { return of->name(); }

}  // namespace coordkit::mvcc
