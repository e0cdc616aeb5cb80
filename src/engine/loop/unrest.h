// Counts changes of the term, to tell the operator that leaders are lost, or elections fail, again and again. Every replica
// sees terms change, also one whose own machine and network are well (FLT_N14). No decision rests on it.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "coordkit/ports/clock.h"
#include "coordkit/types.h"

namespace coordkit::engine {

class Unrest {
 public:
  explicit Unrest(Duration election_timeout) : span_(kTimeouts * election_timeout) {}

  // Called after each change of leadership. Several terms that become known at once count as one.
  void leadership_changed(Term term, LaggingTime now) {
    if (term == term_) return;
    term_ = term;
    if (known_++ == 0) return;  // the term in which this replica started
    std::rotate(changes_.begin(), changes_.begin() + 1, changes_.end());
    changes_.back() = now;
  }

  // A sentence, or nothing.
  std::string warning(LaggingTime now) const {
    if (known_ <= changes_.size() || now - changes_.front() > span_) return {};
    return "terms change again and again, " + std::to_string(changes_.size()) + " times in the last " +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(now - changes_.front()).count()) +
           " s: leaders are lost, or elections fail; look at every replica for lost packets (compare the MTU of both ends with "
           "the size that passes between them), slow disks and long pauses, or make election_timeout longer";
  }

 private:
  static constexpr int kTimeouts = 100;  // election timeouts

  const Duration span_;
  Term term_;
  size_t known_ = 0;
  std::array<LaggingTime, 6> changes_{};  // the last ones, oldest first
};

}  // namespace coordkit::engine
