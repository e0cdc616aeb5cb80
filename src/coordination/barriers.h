// Barriers (docs/semantics.md S-37): a gate that one caller closes and another opens. Only closed barriers have a record. A
// wait ends when the barrier opens or breaks, or by its cancel, its timeout or its session, and by nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coordination/indexed_rows.h"
#include "coordination/step.h"
#include "coordination/wait_list.h"

namespace coordkit::coordination {

// The effect on a closed barrier when the session that closed it ends.
enum class AtSessionEnd : uint8_t { Stays = 0, Opens = 1, Breaks = 2 };

struct Barrier {
  using Key = Index;
  static constexpr uint64_t kSeed = 0x42617272;

  std::string name;
  SessionId session;  // the session that closed it; zero: the barrier stays
  AtSessionEnd at_end = AtSessionEnd::Stays;

  static constexpr auto fields() { return std::tuple(&Barrier::name, &Barrier::session, &Barrier::at_end); }
};

class Barriers {
 public:
  Verdict close(Step& step, SessionId session, std::string_view name, AtSessionEnd at_end);  // AlreadyExists: it is closed
  Verdict open(Step& step, std::string_view name);                                           // NotFound: it is not closed
  Verdict wait(Step& step, const Attempt& attempt);

  void end(SessionId session);
  bool nothing_touched() const { return orphaned_.empty(); }
  void decide_waits(Step& step);

  const Rows<Barrier>& barriers() const { return barriers_; }
  template <typename Visit>
  void each_rows(Visit visit) {
    visit(barriers_);
  }
  absl::Status restored(const Waits& waits) const;

 private:
  void open(Step& step, Index barrier, Verdict::Kind how);

  Rows<Barrier> barriers_;
  absl::btree_set<Index> orphaned_;  // their sessions ended in this step
};

}  // namespace coordkit::coordination
