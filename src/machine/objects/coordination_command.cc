#include "machine/objects/coordination_command.h"

#include "machine/command.h"

namespace coordkit::machine {
namespace {

using Code = ResultCode;

Code check_amount(uint64_t amount, uint64_t least) {
  if (amount < least) return Code::InvalidArgument;
  return amount <= static_cast<uint64_t>(kAmountMax) ? Code::Ok : Code::LimitExceeded;
}

Code check_size(size_t size, size_t max) { return size <= max ? Code::Ok : Code::LimitExceeded; }

Code check_wait(const Wait& wait) {
  if (wait.kind < Wait::Kind::None || wait.kind > Wait::Kind::Forever) return Code::Unsupported;
  const bool timed = wait.kind == Wait::Kind::Timed;
  return timed ? (wait.timeout > Duration::zero() ? Code::Ok : Code::InvalidArgument)
               : (wait.timeout == Duration::zero() ? Code::Ok : Code::InvalidArgument);
}

// The fields specific to each kind; name, session and wait are checked for all of them.
Code check_rest(const SetSemaphoreLimit& set) { return check_amount(set.limit, 0); }
Code check_rest(const AcquirePermits& acquire) {
  const Code limit = check_amount(acquire.initial_limit.value_or(0), 0);
  return limit == Code::Ok ? check_amount(acquire.count, 1) : limit;
}
Code check_rest(const CreateLatch& create) { return check_amount(create.count, 1); }
Code check_rest(const CountDown& count) { return check_amount(count.by, 1); }
Code check_rest(const CloseBarrier& close) { return close.at_end <= AtSessionEnd::Breaks ? Code::Ok : Code::Unsupported; }
Code check_rest(const EnterBarrier& enter) {
  const bool known = enter.at_end == AtPartyEnd::Breaks || enter.at_end == AtPartyEnd::Shrinks;
  return known ? check_amount(enter.parties, 1) : Code::Unsupported;
}
Code check_rest(const Enqueue& enqueue) { return check_size(enqueue.value.size(), kItemBytesMax); }
Code check_rest(const ClaimItem& claim) { return claim.term >= Duration::zero() ? Code::Ok : Code::InvalidArgument; }
Code check_rest(const ChangeCounter& change) {
  using Operation = ChangeCounter::Operation;
  if (change.operation < Operation::Add || change.operation > Operation::Delete) return Code::Unsupported;
  if (change.operation == Operation::Allocate && change.operand < 1) return Code::InvalidArgument;
  if (change.operation == Operation::Delete && change.operand != 0) return Code::InvalidArgument;
  return change.operation == Operation::CompareAndSet || change.expected == 0 ? Code::Ok : Code::InvalidArgument;
}
Code check_rest(const JoinGroup& join) { return check_size(join.value.size(), kMemberValueBytesMax); }
Code check_rest(const UpdateMember& update) { return check_size(update.value.size(), kMemberValueBytesMax); }
Code check_rest(const auto&) { return Code::Ok; }

template <typename Command>
Code check_one(const Command& command) {
  if (command.name.empty()) return Code::InvalidArgument;
  if (command.name.size() > kNameBytesMax) return Code::LimitExceeded;
  if constexpr (requires { command.wait; }) {
    if (const Code wait = check_wait(command.wait); wait != Code::Ok) return wait;
  }
  if constexpr (requires { command.token; }) {
    if (!command.token) return Code::InvalidArgument;
  }
  if constexpr (requires { command.owner_tag; }) {
    if (command.owner_tag.size() > kOwnerTagBytesMax) return Code::LimitExceeded;
  }
  return check_rest(command);
}

}  // namespace

ResultCode check(const CoordinationCommand& command) {
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
