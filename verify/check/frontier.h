// All configurations (configuration_set.h) that the events so far allow: the search, one event after the other.
//
// The question is Wing and Gong's ("Testing and verifying concurrent objects", 1993). Is there one order of the operations
// that respects real time and in which a sequential object would have given the same answers?
//
// The method is Lowe's just-in-time linearization ("Testing for linearizability", 2017), breadth first: operations take
// effect as late as possible, when the first of them ends. At the end of an operation, every configuration in which it has
// not taken effect yet is advanced. It goes through all sequences of operations in progress that end with it. Configurations
// that were seen before are not explored again (Lowe's memory of configurations). If no configuration is left, no order
// exists, and this end is the first moment at which that is certain. Only the operations in progress now are kept, so a
// history is never needed as a whole.
//
// Four things keep the set small without changing the answer:
//   idle        an operation that only reads, and may read now, does so at once
//   never       a configuration with an operation that can no longer take effect is dropped at once
//   covered     see configuration_set.h
//   twins       among equal operations of unknown outcome the one called first is used first
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "check/budget.h"
#include "check/check_model.h"
#include "check/configuration_set.h"
#include "check/operation.h"

namespace coordkit::check {

enum class Progress : uint8_t { Fine, Stuck, Exhausted };

template <typename Model>
class Frontier {
 public:
  using State = typename Model::State;
  using Ref = OperationRef<typename Model::Call>;
  using Item = Configuration<State>;

  explicit Frontier(State initial) { items_.push_back({std::move(initial), {}, {}}); }

  // Takes the next operation, in order of calls. The caller leaves out refused operations and unknown observing ones. Ends
  // that come before this call happen first; a call and an end at one moment overlap. After Stuck or Exhausted: no further
  // call.
  Progress call(const Ref& op, Budget& budget) {
    if (const Progress progress = end_before(op->call, budget); progress != Progress::Fine) return progress;
    if (!op->certain()) return floating_.push_back({op, twin_of(*op)}), Progress::Fine;
    return open(op, budget);
  }
  // Ends the history: no further call comes.
  Progress finish(Budget& budget) { return end_before(kNever, budget); }

  // Processes the ends before this moment, as call() does for itself.
  Progress end_before(Moment until, Budget& budget) {
    while (!ends_.empty() && ends_.front().at < until) {
      const size_t slot = ends_.front().slot;
      std::pop_heap(ends_.begin(), ends_.end());
      ends_.pop_back();
      if (const Progress progress = end(slot, budget); progress != Progress::Fine) return progress;
    }
    return Progress::Fine;
  }

  // Whether no operation in progress must still take effect.
  bool closed() const { return ends_.empty(); }
  // From now on tried() has the configurations before the last event too, at the price of a copy for each event.
  void explain() { explaining_ = true; }
  const std::vector<Item>& items() const { return items_; }
  size_t floating() const {
    return std::count_if(floating_.begin(), floating_.end(), [](const Floating& f) { return f.op != nullptr; });
  }

  // Three results after Stuck: the operation that found no place; the operation, if any, that the place of another would have
  // excluded forever; the configurations tried in vain.
  const Ref& unplaced() const { return unplaced_; }
  const Ref& shut_out() const { return shut_out_; }
  const std::vector<Item>& tried() const { return tried_; }

  template <typename Visit>  // calls visit(operation, whether it is in this configuration)
  void under_way(const Item& item, const Visit& visit) const {
    for (size_t i = 0; i < due_.size(); ++i) {
      if (due_[i]) visit(due_[i], item.placed.has(i));
    }
    for (size_t i = 0; i < floating_.size(); ++i) {
      if (floating_[i].op) visit(floating_[i].op, item.used.has(i));
    }
  }

 private:
  static constexpr size_t kNone = ~size_t{0};
  struct Floating {
    Ref op;
    size_t twin = kNone;  // an equal operation that was called before
  };
  struct End {
    Moment at;
    size_t slot;
    uint64_t number;
    bool operator<(const End& other) const { return at != other.at ? at > other.at : number > other.number; }  // for a heap
  };
  struct Move {
    const Operation<typename Model::Call>* op;
    size_t slot;
    uint32_t way;
    bool due;
  };

  size_t twin_of(const Operation<typename Model::Call>& op) const {
    size_t twin = kNone;
    for (size_t i = 0; i < floating_.size(); ++i) {
      const Ref& other = floating_[i].op;
      if (other && other->what == op.what && (twin == kNone || other->number > floating_[twin].op->number)) twin = i;
    }
    return twin;
  }

  Progress open(const Ref& op, Budget& budget) {
    size_t slot = 0;
    while (slot < due_.size() && due_[slot]) ++slot;
    if (slot == due_.size()) due_.emplace_back();
    due_[slot] = op;
    ends_.push_back({op->end, slot, op->number});
    std::push_heap(ends_.begin(), ends_.end());
    if (explaining_) tried_ = items_;
    std::vector<Item> kept;
    kept.reserve(items_.size());
    for (Item& item : items_) {
      const Step step = Model::step(item.state, *op);
      if (step.never) continue;
      if (!step.idle || take({op.get(), slot, 0, true}, item, budget)) kept.push_back(std::move(item));
    }
    budget.spend(items_.size());
    items_ = std::move(kept);
    if (!items_.empty()) return Progress::Fine;
    unplaced_ = op;
    return Progress::Stuck;
  }

  // Advances every configuration to one in which `slot` has taken effect, or drops it.
  Progress end(size_t slot, Budget& budget) {
    if (explaining_) tried_ = items_;
    work_.clear();
    for (Item& item : items_) {
      if (item.placed.has(slot)) {
        item.placed.remove(slot);
        next_.insert(std::move(item));
      } else {
        work_.push_back(std::move(item));
      }
    }
    while (!work_.empty()) {
      Item item = std::move(work_.back());
      work_.pop_back();
      expand(std::move(item), slot, budget);
      budget.met(next_.size() + met_.size());
      if (budget.exhausted()) return Progress::Exhausted;
    }
    if (next_.empty()) {
      unplaced_ = due_[slot];
      met_.take(tried_more_);
      for (Item& item : tried_more_) tried_.push_back(std::move(item));
      return Progress::Stuck;
    }
    met_.clear();
    next_.take(items_);
    due_[slot] = nullptr;
    forget_used();
    return Progress::Fine;
  }

  // Explores all operations that can come next in this configuration. A result that reaches the goal is kept; others are
  // explored further.
  void expand(Item item, size_t goal, Budget& budget) {
    moves_.clear();
    for (size_t i = 0; i < due_.size(); ++i) {
      if (due_[i] && !item.placed.has(i)) consider(item, {due_[i].get(), i, 0, true}, budget);
    }
    for (size_t i = 0; i < floating_.size(); ++i) {
      const auto& [op, twin] = floating_[i];
      if (op && !item.used.has(i) && (twin == kNone || item.used.has(twin))) consider(item, {op.get(), i, 0, false}, budget);
    }
    if (moves_.empty()) return;
    for (size_t i = 0; i + 1 < moves_.size(); ++i) follow(moves_[i], item, goal, budget);
    follow(moves_.back(), std::move(item), goal, budget);
  }
  void follow(const Move& move, Item from, size_t goal, Budget& budget) {
    if (!take(move, from, budget)) return;
    if (from.placed.has(goal)) {
      from.placed.remove(goal);
      next_.insert(std::move(from));
    } else if (met_.insert(from)) {
      work_.push_back(std::move(from));
    }
  }

  void consider(const Item& item, Move move, Budget& budget) {
    budget.spend(1);
    const uint32_t ways = Model::step(item.state, *move.op).ways;
    for (move.way = 0; move.way < ways; ++move.way) moves_.push_back(move);
  }

  // Executes a move, and then all idle operations. False: after it some operation can never take effect.
  bool take(const Move& move, Item& item, Budget& budget) {
    Model::apply(item.state, *move.op, move.way);
    (move.due ? item.placed : item.used).add(move.slot);
    for (bool again = true; again;) {
      again = false;
      for (size_t i = 0; i < due_.size(); ++i) {
        if (!due_[i] || item.placed.has(i)) continue;
        budget.spend(1);
        const Step step = Model::step(item.state, *due_[i]);
        if (step.never) return shut_out_ = due_[i], false;
        if (!step.idle) continue;
        Model::apply(item.state, *due_[i], 0);
        item.placed.add(i);
        again = true;
      }
    }
    return true;
  }

  // Operations that every configuration has used are decided, and their slots are free again: this bounds a long history.
  void forget_used() {
    if (floating_.empty()) return;
    Slots common = items_.front().used;
    for (const Item& item : items_) {
      if (common.empty()) return;
      common.keep_common(item.used);
    }
    if (common.empty()) return;
    for (size_t i = 0; i < floating_.size(); ++i) {
      if (!common.has(i)) continue;
      for (Floating& other : floating_) {
        if (other.twin == i) other.twin = kNone;
      }
      for (Item& item : items_) item.used.remove(i);
      floating_[i] = {};
    }
    pack_floating();
  }

  // Compacts slots where a quarter or less is in use.
  void pack_floating() {
    if (floating_.size() < 64 || floating() * 4 > floating_.size()) return;
    std::vector<size_t> place(floating_.size(), kNone);
    std::vector<Floating> packed;
    for (size_t i = 0; i < floating_.size(); ++i) {
      if (!floating_[i].op) continue;
      place[i] = packed.size();
      packed.push_back(floating_[i]);
    }
    for (Floating& one : packed) one.twin = one.twin == kNone ? kNone : place[one.twin];
    for (Item& item : items_) {
      Slots used;
      for (size_t i = 0; i < place.size(); ++i) {
        if (place[i] != kNone && item.used.has(i)) used.add(place[i]);
      }
      item.used = used;
    }
    floating_ = std::move(packed);
  }

  std::vector<Item> items_;
  std::vector<Ref> due_;  // by slot
  std::vector<Floating> floating_;
  std::vector<End> ends_;  // a heap: the earliest first
  bool explaining_ = false;
  Ref unplaced_, shut_out_;
  std::vector<Item> tried_, tried_more_;
  ConfigurationSet<State> next_, met_;  // empty between events
  std::vector<Item> work_;
  std::vector<Move> moves_;
};

}  // namespace coordkit::check
