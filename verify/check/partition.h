// A whole history. Where the model allows it there is one search for each key, otherwise one search for all. A history is
// linearizable if and only if its part on each independent object is (Horn and Kroening, "Faster linearizability checking via
// P-compositionality", 2015).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "check/check_model.h"
#include "check/order.h"
#include "check/search.h"
#include "check/verdict.h"

namespace coordkit::check {

struct Limits {
  uint64_t steps = 2'000'000'000;      // of the whole history. A step takes some 50 ns
  size_t configurations = 100'000;     // of one object at one moment; this bounds memory
  uint64_t shrink_steps = 20'000'000;  // of each attempt at a smaller counterexample
};

template <typename Model>
class Partition {
 public:
  using Op = Operation<typename Model::Call>;

  Partition(const Settings& settings, const Limits& limits)
      : settings_(settings), limits_(limits), budget_(limits.steps, limits.configurations) {}

  // Adds an operation; the caller must keep the order of calls. False: the verdict is a violation, and no more is needed.
  bool add(Op op) {
    ++report_.operations;
    if (of_no_account<Model>(op)) return true;
    const auto shared = std::make_shared<const Op>(std::move(op));
    if (auto clash = order_.called(shared)) return tell(*clash), false;
    Entry& entry = search_of(shared->key);
    const size_t before = entry.live;
    entry.search.call(shared, budget_);
    entry.live = entry.search.live();
    live_ += entry.live - before;
    report_.live_most = std::max<uint64_t>(report_.live_most, live_ + order_.live());
    return note(entry);
  }

  Report finish() {
    for (Entry& entry : entries_) {
      if (report_.verdict == Verdict::Violation) break;
      if (entry.search.verdict() != Verdict::Linearizable) continue;
      entry.search.finish(budget_);
      note(entry);
    }
    report_.objects = entries_.size();
    report_.steps = budget_.steps();
    report_.configurations_most = budget_.configurations_most();
    return report_;
  }
  const Report& so_far() const { return report_; }

 private:
  struct Entry {
    explicit Entry(typename Model::State initial) : search(std::move(initial)) {}
    Search<Model> search;
    size_t live = 0;
    bool given_up = false;
  };

  Entry& search_of(const std::string& key) {
    const auto [it, fresh] = numbers_.try_emplace(Model::kByKey ? key : std::string(), entries_.size());
    if (fresh) entries_.emplace_back(Model::initial(settings_));
    return entries_[it->second];
  }

  bool note(Entry& entry) {
    if (entry.search.verdict() == Verdict::Violation) {
      report_.verdict = Verdict::Violation;
      report_.counterexample = entry.search.counterexample(limits_.shrink_steps);
      return false;
    }
    if (entry.search.verdict() == Verdict::Undecided && !std::exchange(entry.given_up, true)) {
      report_.verdict = Verdict::Undecided;
      ++report_.undecided;
      budget_.forgive_configurations();
    }
    return true;
  }

  void tell(const Clash<typename Model::Call>& clash) {
    report_.verdict = Verdict::Violation;
    Counterexample& counterexample = report_.counterexample.emplace();
    counterexample.key = clash.later->key;
    counterexample.unplaced = clash.later->number;
    counterexample.why = clash.why;
    for (const auto& op : {clash.earlier, clash.later}) {
      counterexample.numbers.push_back(op->number);
      counterexample.operations.push_back(line_of<Model>(*op));
    }
  }

  const Settings settings_;
  const Limits limits_;
  Budget budget_;
  typename Model::Order order_;
  absl::flat_hash_map<std::string, size_t> numbers_;  // of entries; never iterated
  std::deque<Entry> entries_;                         // in the order in which keys occur
  size_t live_ = 0;
  Report report_;
};

}  // namespace coordkit::check
