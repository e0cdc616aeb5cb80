#include "machine/objects/coordination_command.h"

#include "absl/strings/str_cat.h"
#include "machine/command.h"

namespace coordkit::machine {
namespace {

using Code = ResultCode;

Objection check_amount(const char* what, uint64_t amount, uint64_t least) {
  if (amount < least) return invalid(absl::StrCat("the ", what, " is 0; give 1 or more"));
  if (amount <= static_cast<uint64_t>(kAmountMax)) return {};
  return {Code::LimitExceeded, absl::StrCat("the ", what, " is ", amount, "; at most 2^63 - 1 is allowed")};
}

// The fields specific to each kind; name, session and wait are checked for all of them.
Objection check_rest(const SetSemaphoreLimit& set) { return check_amount("limit of the semaphore", set.limit, 0); }
Objection check_rest(const AcquirePermits& acquire) {
  Objection limit = check_amount("limit of the semaphore", acquire.initial_limit.value_or(0), 0);
  return limit.none() ? check_amount("number of permits", acquire.count, 1) : limit;
}
Objection check_rest(const CreateLatch& create) { return check_amount("count of the latch", create.count, 1); }
Objection check_rest(const CountDown& count) { return check_amount("number by which the latch is counted down", count.by, 1); }
Objection check_rest(const CloseBarrier& close) {
  return close.at_end <= AtSessionEnd::Breaks ? Objection() : Objection{Code::Unsupported};
}
Objection check_rest(const EnterBarrier& enter) {
  const bool known = enter.at_end == AtPartyEnd::Breaks || enter.at_end == AtPartyEnd::Shrinks;
  return known ? check_amount("number of parties", enter.parties, 1) : Objection{Code::Unsupported};
}
Objection check_rest(const Enqueue& enqueue) { return check_size("item's value", enqueue.value.size(), kItemBytesMax); }
Objection check_rest(const ClaimItem& claim) {
  if (claim.term >= Duration::zero()) return {};
  return invalid("the term of the claim is negative; give zero for one that lasts as long as the session, or more");
}
Objection check_rest(const ChangeCounter& change) {
  using Operation = ChangeCounter::Operation;
  if (change.operation < Operation::Add || change.operation > Operation::Delete) return {Code::Unsupported};
  if (change.operation == Operation::Allocate && change.operand < 1) {
    return invalid(absl::StrCat("the number of ids to allocate is ", change.operand, "; give 1 or more"));
  }
  if (change.operation == Operation::Delete && change.operand != 0) return invalid();
  return change.operation == Operation::CompareAndSet || change.expected == 0 ? Objection() : invalid();
}
Objection check_rest(const JoinGroup& join) { return check_size("member's value", join.value.size(), kMemberValueBytesMax); }
Objection check_rest(const UpdateMember& update) {
  return check_size("member's value", update.value.size(), kMemberValueBytesMax);
}
Objection check_rest(const auto&) { return {}; }

template <typename Command>
Objection check_one(const Command& command) {
  if (Objection name = check_name(command.name); !name.none()) return name;
  if constexpr (requires { command.wait; }) {
    if (Objection wait = check_wait(command.wait); !wait.none()) return wait;
  }
  if constexpr (requires { command.token; }) {
    if (!command.token) return invalid();
  }
  if constexpr (requires { command.owner_tag; }) {
    if (Objection owner = check_owner(command.owner_tag); !owner.none()) return owner;
  }
  return check_rest(command);
}

}  // namespace

Objection check(const CoordinationCommand& command) {
  return std::visit([](const auto& one) { return check_one(one); }, command);
}

std::optional<SessionId> session_of(const CoordinationCommand& command) {
  return std::visit(
      [](const auto& one) -> std::optional<SessionId> {
        if constexpr (requires { one.session; }) return one.session;
        return std::nullopt;
      },
      command);
}

bool is_release(const CoordinationCommand& command) {
  return std::holds_alternative<AcknowledgeItem>(command) || std::holds_alternative<LeaveBarrier>(command) ||
         std::holds_alternative<LeaveGroup>(command);
}

}  // namespace coordkit::machine
