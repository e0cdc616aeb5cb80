// The reasons to refuse a put, a delete or a transaction in any state: S-05, S-11, S-16, S-17.
#include <algorithm>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "mvcc/interval.h"
#include "mvcc/transaction.h"

namespace coordkit::mvcc {
namespace {

// The keys that a list of operations writes. Strings are the operations' own.
class Footprint {
 public:
  bool has_put(std::string_view key) const { return puts_.contains(key); }
  bool has_delete(std::string_view key) const {
    const auto after = deletes_.upper_bound(Bound{Bound::Place::Before, key});
    return after != deletes_.begin() && Interval{std::prev(after)->first, std::prev(after)->second}.contains(key);
  }
  bool has_put_in(const Interval& interval) const {
    const auto first = puts_.lower_bound(interval.from.key);
    return first != puts_.end() && !interval.below(*first);
  }
  bool add_put(std::string_view key) { return puts_.insert(key).second; }
  // Intervals that meet are merged, so that a key is found by one look-up.
  void add_delete(Interval interval) {
    if (interval.empty()) return;
    auto each = deletes_.upper_bound(interval.from);
    if (each != deletes_.begin() && std::prev(each)->second >= interval.from) --each;
    while (each != deletes_.end() && each->first <= interval.upto) {
      interval.from = std::min(interval.from, each->first);
      interval.upto = std::max(interval.upto, each->second);
      each = deletes_.erase(each);
    }
    deletes_.emplace(interval.from, interval.upto);
  }
  // S-16: both belong to one list.
  bool collides_with(const Footprint& other) const {
    const auto twice = [&](std::string_view key) { return other.has_put(key) || other.has_delete(key); };
    if (std::ranges::any_of(puts_, twice)) return true;
    return std::ranges::any_of(deletes_, [&](const auto& each) { return other.has_put_in({each.first, each.second}); });
  }
  void merge(const Footprint& other) {
    puts_.insert(other.puts_.begin(), other.puts_.end());
    for (const auto& [from, upto] : other.deletes_) add_delete({from, upto});
  }

 private:
  absl::btree_set<std::string_view> puts_;
  absl::btree_map<Bound, Bound> deletes_;  // disjoint
};

Refusal check(const Compare& compare) {
  if (compare.target >= Compare::Target::LockHeld) {
    if (compare.target > Compare::Target::LockFree || compare.key.empty() || !compare.end.empty()) {
      return Refusal::InvalidArgument;
    }
    if (compare.key.size() > kLockNameBytesMax) return Refusal::LimitExceeded;
    const bool named = (compare.number != 0) == (compare.target != Compare::Target::LockFree);
    return named ? Refusal::None : Refusal::InvalidArgument;
  }
  const bool known = compare.target >= Compare::Target::Version && compare.relation >= Compare::Relation::Equal &&
                     compare.relation <= Compare::Relation::Greater;
  return known ? check_interval(compare.key, compare.end) : Refusal::InvalidArgument;
}

class Checker {
 public:
  Refusal check_transaction(const Transaction& transaction, size_t budget, size_t depth, Footprint& footprint) const {
    const size_t most = std::max({transaction.compares.size(), transaction.then.size(), transaction.otherwise.size()});
    if (most > budget || depth > kDepthMax) return Refusal::TooManyOps;
    for (const Compare& compare : transaction.compares) {
      if (const Refusal refusal = check(compare); refusal != Refusal::None) return refusal;
    }
    Footprint then, otherwise;
    if (const Refusal refusal = check_list(transaction.then, budget - most, depth, then); refusal != Refusal::None)
      return refusal;
    if (const Refusal refusal = check_list(transaction.otherwise, budget - most, depth, otherwise); refusal != Refusal::None) {
      return refusal;
    }
    footprint = std::move(then);
    footprint.merge(otherwise);
    return Refusal::None;
  }

 private:
  Refusal check_list(const std::vector<Operation>& operations, size_t budget, size_t depth, Footprint& list) const {
    for (const Operation& operation : operations) {
      Footprint one;
      const Refusal refusal = std::visit([&](const auto& body) { return check_one(body, budget, depth, one); }, operation.body);
      if (refusal != Refusal::None) return refusal;
      if (one.collides_with(list)) return Refusal::DuplicateKey;
      list.merge(one);
    }
    return Refusal::None;
  }
  Refusal check_one(std::monostate, size_t, size_t, Footprint&) const { return Refusal::InvalidArgument; }
  Refusal check_one(const RangeOperation& range, size_t, size_t, Footprint&) const { return mvcc::check(range); }
  Refusal check_one(const PutOperation& put, size_t, size_t, Footprint& footprint) const {
    footprint.add_put(put.key);
    return put.sequential ? Refusal::InvalidArgument : mvcc::check(put);
  }
  Refusal check_one(const DeleteOperation& erase, size_t, size_t, Footprint& footprint) const {
    footprint.add_delete(Interval::of(erase.key, erase.end));
    return mvcc::check(erase);
  }
  Refusal check_one(const std::vector<Transaction>& nested, size_t budget, size_t depth, Footprint& footprint) const {
    if (nested.size() != 1) return Refusal::InvalidArgument;
    return check_transaction(nested.front(), budget, depth + 1, footprint);
  }
};

// Whether an operation of either branch, or of their nested transactions, meets the test.
template <typename Test>
bool any_operation(const Transaction& transaction, const Test& test) {
  const auto meets = [&](const Operation& operation) {
    const auto within = [&](const Transaction& nested) { return any_operation(nested, test); };
    const auto* nested = std::get_if<std::vector<Transaction>>(&operation.body);
    return nested != nullptr ? std::ranges::any_of(*nested, within) : test(operation);
  };
  return std::ranges::any_of(transaction.then, meets) || std::ranges::any_of(transaction.otherwise, meets);
}

}  // namespace

Refusal check_interval(std::string_view key, std::string_view end) {
  if (key.empty() && end != kNoEnd) return Refusal::EmptyKey;
  return key.size() <= kKeyBytesMax && end.size() <= kKeyBytesMax ? Refusal::None : Refusal::LimitExceeded;
}

Refusal check(const PutOperation& put) {
  if (put.key.empty()) return Refusal::EmptyKey;
  if (put.key.size() + (put.sequential ? kSequenceDigits : 0) > kKeyBytesMax) return Refusal::LimitExceeded;
  if (put.value.size() > kValueBytesMax) return Refusal::LimitExceeded;
  if (put.ignore_value && !put.value.empty()) return Refusal::ValueProvided;
  if (put.ignore_lease && put.lease) return Refusal::LeaseProvided;
  const bool of_old = put.ignore_value || put.ignore_lease;
  return put.sequential && of_old ? Refusal::InvalidArgument : Refusal::None;
}

Refusal check(const DeleteOperation& erase) { return check_interval(erase.key, erase.end); }

Refusal check(const Transaction& transaction) {
  Footprint footprint;
  return Checker().check_transaction(transaction, kOperationsMax, 1, footprint);
}

bool writes(const Transaction& transaction) {
  return any_operation(transaction, [](const Operation& operation) {
    return std::holds_alternative<PutOperation>(operation.body) || std::holds_alternative<DeleteOperation>(operation.body);
  });
}

bool answers_entries(const Transaction& transaction) {
  return any_operation(transaction, [](const Operation& operation) {
    if (const auto* range = std::get_if<RangeOperation>(&operation.body)) return !range->count_only;
    if (const auto* put = std::get_if<PutOperation>(&operation.body)) return put->previous;
    const auto* erase = std::get_if<DeleteOperation>(&operation.body);
    return erase != nullptr && erase->previous;
  });
}

}  // namespace coordkit::mvcc
