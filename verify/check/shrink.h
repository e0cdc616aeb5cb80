// Reduces a history that fails to the smallest part of it that proves the failure. In this order:
//
//   the end     operations called after the moment of failure are irrelevant
//   the start   is put as late as possible: to the last moment at which nothing was in progress, with the states
//               that the object can have been in by then
//   the rest    one operation or bonded group (model.h) after the other is left out as long as the same operation fails
//
// Not everything may be removed: without a write, a read of its value would fail through no fault of the service. Only
// operations whose absence leaves every legal order legal are removed, so that the failure of the part is a proof for the
// whole.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "check/frontier.h"
#include "check/line.h"
#include "check/verdict.h"

namespace coordkit::check {

inline constexpr size_t kShownMost = 16;  // states and configurations in a counterexample

template <typename Model>
class Shrinking {
 public:
  using Ref = OperationRef<typename Model::Call>;
  using Refs = std::vector<Ref>;

  Shrinking(const Frontier<Model>& start, Refs operations, uint64_t earlier, uint64_t steps_max)
      : start_(start), operations_(std::move(operations)), earlier_(earlier), steps_max_(steps_max) {}

  Counterexample run() {
    cut_ends();
    if (const std::optional<Frontier<Model>> stuck = fails(operations_)) unplaced_ = stuck->unplaced();
    leave_out_observing();
    leave_out_bonded();
    return tell();
  }

 private:
  // The frontier where it gets stuck; nullopt if it does not.
  std::optional<Frontier<Model>> fails(const Refs& operations, bool explain = false) {
    Budget budget(steps_max_, ~size_t{0} >> 1);
    Frontier<Model> frontier = start_;
    if (explain) frontier.explain();
    Progress progress = Progress::Fine;
    for (const Ref& op : operations) {
      progress = frontier.call(op, budget);
      if (progress != Progress::Fine) break;
    }
    if (progress == Progress::Fine) progress = frontier.finish(budget);
    if (progress != Progress::Stuck) return std::nullopt;
    return frontier;
  }

  void cut_ends() {
    Budget budget(steps_max_, ~size_t{0} >> 1);
    Frontier<Model> frontier = start_;
    size_t from = 0, called = 0;
    for (; called < operations_.size(); ++called) {
      if (frontier.end_before(operations_[called]->call, budget) != Progress::Fine) break;
      if (frontier.closed()) {
        start_ = frontier;
        from = called;
      }
      if (frontier.call(operations_[called], budget) != Progress::Fine) {
        ++called;
        break;
      }
    }
    operations_ = Refs(operations_.begin() + from, operations_.begin() + called);
    earlier_ += from;
  }

  bool leave_out(const Refs& group) {
    Refs rest;
    for (const Ref& op : operations_) {
      if (std::find(group.begin(), group.end(), op) == group.end()) rest.push_back(op);
    }
    const std::optional<Frontier<Model>> stuck = fails(rest);
    if (!stuck || stuck->unplaced() != unplaced_) return false;
    operations_ = std::move(rest);
    return true;
  }

  void leave_out_observing() {
    for (const Ref& op : Refs(operations_.rbegin(), operations_.rend())) {
      if (Model::observes(op->what)) leave_out({op});
    }
  }

  void leave_out_bonded() {
    std::map<std::string, Refs> groups;
    for (const Ref& op : operations_) {
      if (const std::optional<std::string> bond = Model::bond(*op)) groups[*bond].push_back(op);
    }
    for (const auto& [bond, group] : groups) {
      if (Model::severable(std::span<const Ref>(group), std::span<const Ref>(operations_))) leave_out(group);
    }
    leave_out_observing();
  }

  static std::string text_of(const Frontier<Model>& frontier, const Configuration<typename Model::State>& item) {
    std::string in, out;
    frontier.under_way(item, [&](const Ref& op, bool placed) {
      std::string& list = placed ? in : out;
      list += fmt::format("{}{}", list.empty() ? "" : ", ", op->number);
    });
    std::string text = Model::text(item.state);
    if (!in.empty()) text += "; with " + in;
    if (!out.empty()) text += "; without " + out;
    return text;
  }

  template <typename Items>
  static std::vector<std::string> texts_of(const Frontier<Model>& frontier, const Items& items) {
    std::set<std::string> seen;
    std::vector<std::string> texts;
    for (const auto& item : items) {
      if (texts.size() == kShownMost) {
        texts.emplace_back("and more");
        break;
      }
      if (std::string text = text_of(frontier, item); seen.insert(text).second) texts.push_back(std::move(text));
    }
    return texts;
  }

  Counterexample tell() {
    Counterexample counterexample;
    const std::optional<Frontier<Model>> stuck = fails(operations_, true);
    if (!stuck) return counterexample;  // this search had too few steps
    counterexample.key = stuck->unplaced()->key;
    counterexample.earlier = earlier_;
    counterexample.from = texts_of(start_, start_.items());
    counterexample.unplaced = stuck->unplaced()->number;
    counterexample.shut_out = stuck->shut_out() ? stuck->shut_out()->number : 0;
    if (counterexample.shut_out == counterexample.unplaced) counterexample.shut_out = 0;
    counterexample.reachable = texts_of(*stuck, stuck->tried());
    Refs all;
    start_.under_way(start_.items().front(), [&](const Ref& op, bool) { all.push_back(op); });
    all.insert(all.end(), operations_.begin(), operations_.end());
    for (const Ref& op : all) {
      counterexample.numbers.push_back(op->number);
      counterexample.operations.push_back(line_of<Model>(*op));
    }
    counterexample.why = fmt::format("operation {} has no place in any order that keeps to real time", counterexample.unplaced);
    if (counterexample.shut_out != 0)
      counterexample.why += fmt::format("; in each order with a place for it, operation {} has none", counterexample.shut_out);
    return counterexample;
  }

  Frontier<Model> start_;
  Refs operations_;
  Ref unplaced_;
  uint64_t earlier_;
  const uint64_t steps_max_;
};

template <typename Model>
Counterexample shrink(const Frontier<Model>& start, const std::vector<OperationRef<typename Model::Call>>& operations,
                      uint64_t earlier, uint64_t steps_max) {
  return Shrinking<Model>(start, operations, earlier, steps_max).run();
}

}  // namespace coordkit::check
