// Inputs that were posted to an engine and wait for its next turn.
#pragma once

#include <utility>
#include <vector>

#include "coordkit/engine/engine.h"

namespace coordkit::engine {

class Inbox {
 public:
  void post(EngineInput&& input) { inputs_.push_back(std::move(input)); }
  bool empty() const { return inputs_.empty(); }

  // Hands each to `take`, in their order. If that throws, the next call resumes behind the input that made it throw.
  template <typename Take>
  void take_all(Take take) {
    while (taken_ < inputs_.size()) {
      EngineInput input = std::move(inputs_[taken_++]);
      take(input);
    }
    taken_ = 0;
    inputs_.clear();
    if (inputs_.capacity() > kKept) std::vector<EngineInput>().swap(inputs_);  // after a flood
  }

 private:
  static constexpr size_t kKept = 4096;

  std::vector<EngineInput> inputs_;
  size_t taken_ = 0;
};

}  // namespace coordkit::engine
