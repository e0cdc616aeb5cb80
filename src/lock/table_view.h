// The lock table as queries see it. It refers to the table; its answers are valid until the table's next change.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lock/claims.h"

namespace coordkit::lock {

class TableView {
 public:
  using Visitor = Claims::Visitor;
  using WhileVisitor = absl::FunctionRef<bool(const ClaimView&)>;  // false: stop

  explicit TableView(const Claims& claims) : records_(claims.records()), compact_(claims.compact()) {}

  size_t names() const { return records_.locks() + compact_.size(); }
  size_t claims() const { return records_.claims() + compact_.size(); }

  // ---- one lock
  uint32_t waiting(std::string_view name) const;
  bool delayed(std::string_view name) const;
  bool free(std::string_view name) const;                       // S-54: no hold
  void holders(std::string_view name, Visitor visit) const;     // in grant order
  void queue(std::string_view name, WhileVisitor visit) const;  // first waiter first
  // A hold or a wait. An owner may have a sticky claim on a name beside another claim, which waits for the delegation to end.
  std::optional<ClaimView> claim(std::string_view name, SessionId session, std::string_view tag,
                                 ClaimKind kind = ClaimKind::Plain) const;
  // The mode, if a hold with this token is on this lock, or a delegation whose current token it may be.
  std::optional<Mode> held(std::string_view name, Token token) const;
  bool would_ask(const Attempt& attempt) const;  // S-58: it would be the first to ask for the delegation

  // ---- sessions
  ClaimCounts counts(SessionId session) const;
  // Holds granted after that token, in grant order.
  void holds_of(SessionId session, Token after, WhileVisitor visit) const;
  void every_session(absl::FunctionRef<void(SessionId)> visit) const;  // with a claim; unordered: only for checks

  void timed_waits(Visitor visit) const;  // in queueing order
  // Waits and holds of these acquires, with one look at each claim that exists; unordered. `requests`: ascending, from one
  // origin.
  void requested(std::span<const RequestId> requests, Visitor visit) const;

 private:
  const Records& records_;
  const CompactHolds& compact_;
};

}  // namespace coordkit::lock
