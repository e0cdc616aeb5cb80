// A configuration is one possible past. It is the state of the object, and the operations that have already taken effect in
// it: some of those in progress, and some of unknown outcome. A set of them keeps only the configurations that matter. If two
// agree except for the used unknown operations, the one that used fewer can do whatever the other can.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "check/slots.h"

namespace coordkit::check {

template <typename State>
struct Configuration {
  State state;
  Slots placed;  // of the operations in progress that must take effect
  Slots used;    // of those that may
};

// It is filled, iterated in order of arrival, and cleared. Hashes serve the lookup only, so the order never depends on them.
template <typename State>
class ConfigurationSet {
 public:
  using Item = Configuration<State>;

  // False: a member already covers it.
  bool insert(Item item) {
    if (items_.size() >= kFew && before_.empty()) index_all();
    const bool few = items_.size() < kFew;
    const size_t hash = few ? 0 : absl::HashOf(item.state, item.placed);
    uint32_t at = few ? (items_.empty() ? kEnd : static_cast<uint32_t>(items_.size()) - 1) : head_of(hash);
    for (; at != kEnd; at = before_of(at, few)) {
      if (covered_[at] || !same(items_[at], item)) continue;
      if (items_[at].used.is_part_of(item.used)) return false;
      if (item.used.is_part_of(items_[at].used)) covered_[at] = true, --live_;
    }
    items_.push_back(std::move(item));
    covered_.push_back(false);
    ++live_;
    if (!few) link(hash);
    return true;
  }

  size_t size() const { return live_; }
  bool empty() const { return live_ == 0; }
  void clear() {
    items_.clear();
    covered_.clear();
    before_.clear();
    heads_.clear();
    live_ = 0;
  }
  // Moves the live items out and clears the set.
  void take(std::vector<Item>& out) {
    out.clear();
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!covered_[i]) out.push_back(std::move(items_[i]));
    }
    clear();
  }

 private:
  static constexpr size_t kFew = 8;  // up to here all pairs are compared
  static constexpr uint32_t kEnd = ~uint32_t{0};

  static bool same(const Item& a, const Item& b) { return a.placed == b.placed && a.state == b.state; }
  uint32_t head_of(size_t hash) const {
    const auto it = heads_.find(hash);
    return it == heads_.end() ? kEnd : it->second;
  }
  uint32_t before_of(uint32_t at, bool few) const { return few ? (at == 0 ? kEnd : at - 1) : before_[at]; }
  void link(size_t hash) {
    const uint32_t number = static_cast<uint32_t>(before_.size());
    const auto [it, fresh] = heads_.try_emplace(hash, number);
    before_.push_back(fresh ? kEnd : it->second);
    it->second = number;
  }
  void index_all() {
    for (const Item& item : items_) link(absl::HashOf(item.state, item.placed));
  }

  std::vector<Item> items_;
  std::vector<bool> covered_;                    // by a later item
  std::vector<uint32_t> before_;                 // the previous item with the same hash
  absl::flat_hash_map<size_t, uint32_t> heads_;  // the last item with this hash
  size_t live_ = 0;
};

}  // namespace coordkit::check
