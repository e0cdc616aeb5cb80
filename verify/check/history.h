// A whole history in memory, of one model. It allows two things that a stream does not: it can be sorted, and values that no
// answer shows can be recognized. Unknown writes of such values are indistinguishable, so each gets the same value, and the
// search need not distinguish them (frontier.h, twins).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "check/partition.h"

namespace coordkit::check {

// Replaces a value that no answer shows, as JSON text.
inline constexpr const char* kUnseen = "\"(never seen)\"";

template <typename Model>
class History {
 public:
  using Op = Operation<typename Model::Call>;

  void add(Op op) { operations_.push_back(std::move(op)); }
  std::vector<Op>& operations() { return operations_; }
  void sort() {
    std::stable_sort(operations_.begin(), operations_.end(), [](const Op& a, const Op& b) { return a.call < b.call; });
  }

  Report check(const Settings& settings, const Limits& limits) {
    sort();
    if constexpr (requires { Model::forget_unseen(operations_); }) Model::forget_unseen(operations_);
    Partition<Model> partition(settings, limits);
    for (const Op& op : operations_) {
      if (!partition.add(op)) break;
    }
    return partition.finish();
  }

 private:
  std::vector<Op> operations_;
};

}  // namespace coordkit::check
