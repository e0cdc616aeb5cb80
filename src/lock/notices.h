// The reports of a step besides its decisions (Decisions::led and asked), kept until the decisions are made.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lock/terms.h"

namespace coordkit::lock {

class Notices {
 public:
  // Whether changes of leaders are wanted. Not part of the state.
  void want_leaders(bool wanted) { wants_leaders_ = wanted; }

  // An exclusive hold came, went or has another value.
  void leader_changed(std::string_view name) {
    if (wants_leaders_) led_.emplace_back(name);
  }
  void asked(Asked asked) { asked_.push_back(std::move(asked)); }

  bool empty() const { return led_.empty() && asked_.empty(); }
  void move_to(Decisions& decisions) {
    std::ranges::move(led_, std::back_inserter(decisions.led));
    led_.clear();
    std::ranges::move(asked_, std::back_inserter(decisions.asked));
    asked_.clear();
  }

 private:
  std::vector<std::string> led_;
  std::vector<Asked> asked_;
  bool wants_leaders_ = false;
};

}  // namespace coordkit::lock
