// The result of a check.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coordkit::check {

enum class Verdict : uint8_t { Linearizable, Violation, Undecided };
std::string_view name_of(Verdict verdict);

// The evidence: these operations cannot be ordered. Everything is text, because people read it. Operations are lines of the
// format (docs/format-history.md).
struct Counterexample {
  std::string key;
  uint64_t earlier = 0;           // earlier operations on that key, summarised by `from`
  std::vector<std::string> from;  // the possible states of the object when the first of these operations was called
  std::vector<std::string> operations;
  std::vector<uint64_t> numbers;       // of these operations in the history
  uint64_t unplaced = 0;               // number of the operation for which no place is left
  uint64_t shut_out = 0;               // number of an operation that could never take effect after it, or 0
  std::vector<std::string> reachable;  // the possible states before it, and the operations that each includes
  std::string why;                     // in a sentence
};

struct Report {
  Verdict verdict = Verdict::Linearizable;
  uint64_t operations = 0;  // operations that were read, including ignored ones
  uint64_t skipped = 0;     // lines of other models
  uint64_t objects = 0;     // keys, or 1
  uint64_t undecided = 0;   // objects given up
  uint64_t steps = 0;
  uint64_t configurations_most = 0;  // of one object at one moment
  uint64_t live_most = 0;            // operations kept at one moment: the measure of memory
  std::optional<Counterexample> counterexample;
};

}  // namespace coordkit::check
