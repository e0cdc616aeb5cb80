// Countdown latches (docs/semantics.md S-37): a count that only falls, and waits for zero. A latch stays until it is deleted,
// even at zero. Counts by a dead session still count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coordination/indexed_rows.h"
#include "coordination/step.h"
#include "coordination/wait_list.h"

namespace coordkit::coordination {

struct Latch {
  using Key = Index;
  static constexpr uint64_t kSeed = 0x4c617463;

  std::string name;
  uint64_t count = 0;

  static constexpr auto fields() { return std::tuple(&Latch::name, &Latch::count); }
};

class Latches {
 public:
  Verdict create(Step& step, std::string_view name, uint64_t count);  // AlreadyExists: also for a latch at zero
  Verdict count_down(Step& step, std::string_view name, uint64_t by);
  Verdict wait(Step& step, const Attempt& attempt);
  Verdict erase(Step& step, std::string_view name);  // waits end with NotFound

  const Rows<Latch>& latches() const { return latches_; }
  template <typename Visit>
  void each_rows(Visit visit) {
    visit(latches_);
  }
  absl::Status restored(const Waits& waits) const;

 private:
  Rows<Latch> latches_;
};

}  // namespace coordkit::coordination
