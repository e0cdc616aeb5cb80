#include "mvcc/store.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "base/sums.h"

namespace coordkit::mvcc {
namespace {

constexpr std::string_view kFromKey("\0", 1);  // as `end`: no upper bound

uint64_t item_hash(std::string_view key, const Item& item) {
  uint64_t hash = hash_bytes(item.value, hash_bytes(key, 0x6b657973));
  for (const uint64_t field : {item.create.value(), item.mod.revision.value(), uint64_t{item.mod.sub}, item.version}) {
    hash = hash_mix(hash, field);
  }
  return hash;
}

bool sound(const Item& item) {
  return item.create && item.create <= item.mod.revision && item.version >= 1 &&
         item.version - 1 <= item.mod.revision - item.create;
}

}  // namespace

Revision Store::put(std::string_view key, std::string value) {
  revision_ = revision_.next();
  const ChangeId change{revision_};
  auto found = items_.find(key);
  if (found == items_.end()) {
    found = items_.emplace(std::string(key), Item{std::move(value), revision_, change, 1}).first;
  } else {
    Item& item = found->second;
    COORDKIT_CHECK_MSG(item.mod < change, "INV_K02");
    digest_ -= item_hash(key, item);
    drop_row(item.mod);
    item.value = std::move(value);
    item.mod = change;
    ++item.version;
  }
  COORDKIT_CHECK_MSG(sound(found->second), "INV_K02");
  digest_ += item_hash(key, found->second);
  dirty_.emplace_hint(dirty_.end(), change, found->first);
  return revision_;
}

size_t Store::erase(std::string_view key) {
  const auto found = items_.find(key);
  if (found != items_.end() || mutant(Mutant::NoopTakesRevision)) revision_ = revision_.next();
  if (found == items_.end()) return 0;
  digest_ -= item_hash(key, found->second);
  drop_row(found->second.mod);
  items_.erase(found);
  return 1;
}

const Item* Store::find(std::string_view key) const {
  const auto found = items_.find(key);
  return found == items_.end() ? nullptr : &found->second;
}

void Store::range(std::string_view key, std::string_view end, WhileVisitor visit) const {
  if (end.empty()) {
    if (const auto found = items_.find(key); found != items_.end()) visit(found->first, found->second);
    return;
  }
  for (auto at = items_.lower_bound(key); at != items_.end() && (end == kFromKey || at->first < end); ++at) {
    if (!visit(at->first, at->second)) return;
  }
}

void Store::drop_row(ChangeId row) {
  if (dirty_.erase(row) == 0) erased_.push_back(row);
}

void Store::collect(Visitor put, absl::FunctionRef<void(ChangeId)> erase) {
  std::ranges::sort(erased_);
  for (const ChangeId row : erased_) erase(row);
  erased_.clear();
  for (const auto& [row, key] : dirty_) {
    const auto found = items_.find(key);
    COORDKIT_CHECK(found != items_.end() && found->second.mod == row);
    put(key, found->second);
  }
  dirty_.clear();
}

absl::Status Store::restore(std::string key, Item item) {
  if (key.empty() || !sound(item)) return absl::DataLossError("a key with impossible revisions");
  restored_max_ = std::max(restored_max_, item.mod.revision);
  const uint64_t hash = item_hash(key, item);
  if (!items_.emplace(std::move(key), std::move(item)).second) return absl::DataLossError("a key twice");
  digest_ += hash;
  return absl::OkStatus();
}

absl::Status Store::restored(Revision revision) {
  if (!revision || revision < restored_max_) return absl::DataLossError("a key above the store's revision");
  revision_ = revision;
  return absl::OkStatus();
}

uint64_t Store::recomputed_digest() const {
  uint64_t sum = 0;
  for (const auto& [key, item] : items_) sum += item_hash(key, item);
  return sum;
}

}  // namespace coordkit::mvcc
