#include "machine/locks/lock_commands.h"

#include <algorithm>

namespace coordkit::machine {
namespace {

bool known(LockMode mode) { return mode == LockMode::Exclusive || mode == LockMode::Shared; }

ResultCode fits(bool within) { return within ? ResultCode::Ok : ResultCode::LimitExceeded; }

// The fields that Acquire and AcquireAll have in common besides their names.
ResultCode check_terms(const auto& acquire) {
  if ((acquire.flags & ~kAcquireFlags) != 0) return ResultCode::Unsupported;
  if (acquire.wait.kind < Wait::Kind::None || acquire.wait.kind > Wait::Kind::Forever) return ResultCode::Unsupported;
  const bool timed = acquire.wait.kind == Wait::Kind::Timed;
  if (timed != (acquire.wait.timeout > Duration::zero())) return ResultCode::InvalidArgument;
  if (!timed && acquire.wait.timeout != Duration::zero()) return ResultCode::InvalidArgument;
  if (acquire.delay < Duration::zero() || acquire.delay > kLockDelayMax) return ResultCode::InvalidArgument;
  return fits(acquire.owner_tag.size() <= kOwnerTagBytesMax && acquire.value.size() <= kLockValueBytesMax);
}

ResultCode check_hold(const auto& command) {
  if (const ResultCode name = check_name(command.name); name != ResultCode::Ok) return name;
  if (!command.token) return ResultCode::InvalidArgument;
  return fits(!command.owner_tag || command.owner_tag->size() <= kOwnerTagBytesMax);
}

}  // namespace

ResultCode check_name(std::string_view name) {
  if (name.empty()) return ResultCode::InvalidArgument;
  return fits(name.size() <= kNameBytesMax);
}

ResultCode check(const Acquire& acquire) {
  if (const ResultCode name = check_name(acquire.name); name != ResultCode::Ok) return name;
  if (!known(acquire.mode)) return ResultCode::Unsupported;
  if (acquire.block > kTokenBlockMax) return ResultCode::LimitExceeded;
  const bool plain = acquire.mode == LockMode::Exclusive && (acquire.flags & kReentrant) == 0;
  if (acquire.block != 0 && !plain) return ResultCode::InvalidArgument;
  return check_terms(acquire);
}

ResultCode check(const AcquireAll& acquire) {
  if (acquire.locks.empty()) return ResultCode::InvalidArgument;
  if (acquire.locks.size() > kLocksMax) return ResultCode::LimitExceeded;
  std::vector<std::string_view> names;
  for (const NamedLock& wanted : acquire.locks) {
    if (const ResultCode name = check_name(wanted.name); name != ResultCode::Ok) return name;
    if (!known(wanted.mode)) return ResultCode::Unsupported;
    names.push_back(wanted.name);
  }
  std::ranges::sort(names);
  const bool distinct = std::ranges::adjacent_find(names) == names.end();
  if (!distinct || (acquire.flags & kReentrant) != 0) return ResultCode::InvalidArgument;
  return check_terms(acquire);
}

ResultCode check(const Release& release) { return check_hold(release); }

ResultCode check(const CancelAcquire& cancel) {
  if (const ResultCode name = check_name(cancel.name); name != ResultCode::Ok) return name;
  if (!cancel.acquire.sequence) return ResultCode::InvalidArgument;
  return fits(cancel.owner_tag.size() <= kOwnerTagBytesMax);
}

ResultCode check(const Downgrade& downgrade) { return check_hold(downgrade); }
ResultCode check(const Upgrade& upgrade) { return check_hold(upgrade); }
ResultCode check(const UpdateValue& update) {
  if (const ResultCode hold = check_hold(update); hold != ResultCode::Ok) return hold;
  return fits(update.value.size() <= kLockValueBytesMax);
}
ResultCode check(const RefillBlock& refill) {
  if (const ResultCode name = check_name(refill.name); name != ResultCode::Ok) return name;
  return refill.token ? ResultCode::Ok : ResultCode::InvalidArgument;
}
ResultCode check(const ClearDelay& clear) { return check_name(clear.name); }

}  // namespace coordkit::machine
