// Counters (docs/semantics.md S-37): signed 64 bits, zero if absent, bound to no session. A counter used as an allocator
// hands out the numbers above its value, so that none is handed out twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coordination/indexed_rows.h"
#include "coordination/step.h"

namespace coordkit::coordination {

struct Counter {
  using Key = Index;
  static constexpr uint64_t kSeed = 0x436f756e;

  std::string name;
  int64_t value = 0;

  static constexpr auto fields() { return std::tuple(&Counter::name, &Counter::value); }
};

class Counters {
 public:
  Verdict add(Step& step, std::string_view name, int64_t by);
  Verdict set(Step& step, std::string_view name, int64_t value);
  Verdict compare_and_set(Step& step, std::string_view name, int64_t expected, int64_t value);
  // Returns the first of `count` consecutive numbers; the counter then has the last of them. `count` is at least 1.
  Verdict allocate(Step& step, std::string_view name, int64_t count);
  Verdict erase(Step& step, std::string_view name);

  int64_t value(std::string_view name) const;
  const Rows<Counter>& counters() const { return counters_; }
  template <typename Visit>
  void each_rows(Visit visit) {
    visit(counters_);
  }

 private:
  Rows<Counter> counters_;
};

}  // namespace coordkit::coordination
