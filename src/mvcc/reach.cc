#include "mvcc/reach.h"

#include <algorithm>
#include <variant>

namespace coordkit::mvcc {
namespace {

class Reach {
 public:
  explicit Reach(const Store& store) : store_(store), most_(std::max<uint64_t>(kReachMax, store.versions())) {}

  // False: the transaction reaches too far.
  bool add(const Transaction& transaction) {
    return std::ranges::all_of(transaction.compares, [this](const Compare& each) { return add(each); }) &&
           add(transaction.then) && add(transaction.otherwise);
  }

 private:
  bool add(const Compare& compare) {
    return compare.target >= Compare::Target::LockHeld || add(Interval::of(compare.key, compare.end), {});
  }
  bool add(const std::vector<Operation>& branch) {
    return std::ranges::all_of(branch, [this](const Operation& operation) {
      if (const auto* range = std::get_if<RangeOperation>(&operation.body)) {
        return add(Interval::of(range->key, range->end), range->revision);
      }
      if (const auto* erase = std::get_if<DeleteOperation>(&operation.body)) {
        return add(Interval::of(erase->key, erase->end), {});
      }
      const auto* nested = std::get_if<std::vector<Transaction>>(&operation.body);
      return nested == nullptr || add(nested->front());
    });
  }
  // As long as the keys would be few enough wherever the intervals are, it looks at none.
  bool add(const Interval& interval, Revision at) {
    if (interval.single() && !at) return true;  // found by its name
    if (++intervals_ * store_.versions() <= most_) return true;
    passed_ += store_.scan(interval, at, [](const Version&) { return true; });
    return passed_ <= most_;
  }

  const Store& store_;
  const uint64_t most_;
  uint64_t intervals_ = 0;
  uint64_t passed_ = 0;
};

}  // namespace

bool reaches_too_far(const Store& store, const Transaction& transaction) { return !Reach(store).add(transaction); }

}  // namespace coordkit::mvcc
