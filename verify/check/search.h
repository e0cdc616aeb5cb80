// The search over one object's history, with a window of its last operations behind the frontier. When the frontier is
// stuck, the window is searched again for a counterexample that is as small as possible (shrink.h).
#pragma once

#include <utility>
#include <vector>

#include "check/frontier.h"
#include "check/shrink.h"
#include "check/verdict.h"

namespace coordkit::check {

template <typename Model>
class Search {
 public:
  using Ref = OperationRef<typename Model::Call>;

  explicit Search(typename Model::State initial) : now_(initial), start_(std::move(initial)) {}

  // Takes the next operation in order of calls. False once the verdict is final.
  bool call(const Ref& op, Budget& budget) {
    if (verdict_ != Verdict::Linearizable) return false;
    if (!advance(now_.end_before(op->call, budget))) return false;
    cut_window();
    window_.push_back(op);
    return advance(now_.call(op, budget));
  }
  void finish(Budget& budget) {
    if (verdict_ == Verdict::Linearizable) advance(now_.finish(budget));
  }

  Verdict verdict() const { return verdict_; }
  // The number of operations and configurations kept.
  size_t live() const { return window_.size() + now_.floating() + now_.items().size() + start_.items().size(); }
  // Only for the verdict Violation.
  Counterexample counterexample(uint64_t steps_max) const { return shrink<Model>(start_, window_, before_window_, steps_max); }

 private:
  static constexpr size_t kWindow = 32;        // operations after which a quiet moment starts a new window
  static constexpr size_t kWindowMost = 4096;  // without such a moment

  bool advance(Progress progress) {
    if (progress == Progress::Fine) return true;
    verdict_ = progress == Progress::Stuck ? Verdict::Violation : Verdict::Undecided;
    if (verdict_ == Verdict::Undecided) {  // the search needs none of this any more
      window_ = {};
      now_ = start_ = Frontier<Model>({});
    }
    return false;
  }

  void cut_window() {
    if (window_.size() < kWindow || (!now_.closed() && window_.size() < kWindowMost)) return;
    before_window_ += window_.size();
    window_.clear();
    start_ = now_;
  }

  Frontier<Model> now_, start_;
  std::vector<Ref> window_;  // called since start_
  uint64_t before_window_ = 0;
  Verdict verdict_ = Verdict::Linearizable;
};

}  // namespace coordkit::check
