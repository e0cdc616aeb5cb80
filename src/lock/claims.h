// All claims of the lock table, and the only place where they begin, change and end. A change of a claim changes its records,
// the digest, the rows and the list of touched locks together. This class knows no rules: the table (lock_table.h) and the
// objects beside it decide which changes may happen.
//
// A lock with one owner and no waiters is kept small (compact_holds.h). It gets records (records.h) when an operation needs
// them. It gives the records up at the end of the step if it is plain enough again. A lock is never in both forms.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lock/claim.h"
#include "lock/compact_holds.h"
#include "lock/notices.h"
#include "lock/records.h"
#include "lock/row_changes.h"
#include "lock/terms.h"
#include "lock/token_counter.h"

namespace coordkit::lock {

class Claims {
 public:
  using Visitor = absl::FunctionRef<void(const ClaimView&)>;

  const Records& records() const { return records_; }
  const CompactHolds& compact() const { return compact_; }
  Notices& notices() { return notices_; }
  const Notices& notices() const { return notices_; }

  // ---- claims with records
  void wake(std::string_view name);   // gives the lock its records, if it is at rest
  Claim& add(const ClaimView& wait);  // joins the end of each queue
  // Turns a wait into a hold. regrant() turns a hold into another one in place: its row and its token change. A sticky hold
  // gets a block of tokens from the counter, which has just issued this token.
  void grant(Claim& wait, Token token, Index index, TokenCounter& tokens);
  void regrant(Claim& hold, Token token, Index index, TokenCounter& tokens);
  // Changes something else in the claim's row.
  template <typename Change>
  void rewrite(Claim& claim, Change change) {
    rows_.rewrite(claim, change);
  }
  void remove(Claim& claim);
  void notice_leaders(const Claim& hold);  // on the names that the claim holds exclusively

  // ---- holds at rest
  bool add_at_rest(const ClaimView& hold);  // false: it needs records, or its lock is at rest; nothing happened
  void regrant(CompactHolds::Handle hold, Token token, Index index);
  void remove(CompactHolds::Found hold);

  // ---- the locks that a step touched, each once: their waiters may have become grantable
  void touch(Lock& lock);
  const std::vector<Lock*>& touched() const { return touched_; }
  void end_step();  // the locks go to rest, or are forgotten once they are empty

  // ---- checkpoint: everything that changed since the previous call, in ascending order
  void take_erased(absl::FunctionRef<void(RowId)> erase);
  void take_changed(Visitor put);
  void forget_stored();  // all claims count as changed
  // Continues from rows that were checked.
  bool restore_at_rest(const ClaimView& hold);  // false: it needs records
  void restore(const ClaimView& row);
  Lock& restore_lock(std::string_view name);

  uint64_t digest() const { return rows_.digest() + compact_.digest(); }
  uint64_t recomputed_digest() const;

 private:
  Lock* give_records(std::string_view name);
  bool put_to_rest(Lock& lock);

  Records records_;
  CompactHolds compact_;
  RowChanges rows_;
  Notices notices_;
  std::vector<Lock*> touched_;
};

}  // namespace coordkit::lock
