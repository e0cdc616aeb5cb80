#include <algorithm>

#include "machine/fields.h"
#include "machine/lock_commands.h"

namespace coordkit::machine {

using namespace fields;  // the vocabulary of this file

namespace {

// An enumerator from hostile bytes: one that does not exist stays one that does not exist, for check() to judge.
template <typename Enum>
Enum enumerator(uint64_t value) {
  return Enum(static_cast<uint8_t>(std::min<uint64_t>(value, 0xff)));
}

// Exclusive is the usual mode, and written as nothing.
uint64_t number_of(LockMode mode) { return mode == LockMode::Exclusive ? 0 : static_cast<uint64_t>(mode); }
LockMode mode_of(uint64_t value) { return value == 0 ? LockMode::Exclusive : enumerator<LockMode>(value); }

// Downgrade, Upgrade, UpdateValue and Release begin alike.
void write_hold(pbf_writer& out, const auto& command) {
  put_number(out, 1, command.session);
  if (command.owner_tag) out.add_bytes(2, *command.owner_tag);
  put_bytes(out, 3, command.name);
  put_number(out, 4, command.token);
}

// Reads those four fields; false: it is none of them.
bool read_hold(pbf_reader& in, auto& command) {
  switch (in.tag_and_type()) {
    case number(1): get(in, command.session); return true;
    case bytes(2): get(in, command.owner_tag.emplace()); return true;
    case bytes(3): get(in, command.name); return true;
    case number(4): get(in, command.token); return true;
    default: return false;
  }
}

NamedLock read_wanted(pbf_reader in) {
  NamedLock wanted;
  uint64_t mode = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, wanted.name); break;
      case number(2): get(in, mode); break;
      default: in.skip();
    }
  }
  wanted.mode = mode_of(mode);
  return wanted;
}

bool known(LockMode mode) { return mode == LockMode::Exclusive || mode == LockMode::Shared; }

ResultCode fits(bool within) { return within ? ResultCode::Ok : ResultCode::LimitExceeded; }

// What Acquire and AcquireAll have in common besides their names.
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

void write(pbf_writer& request, const Acquire& acquire) {
  pbf_writer out(request, kAcquireField);
  put_number(out, 1, acquire.session);
  put_bytes(out, 2, acquire.owner_tag);
  put_bytes(out, 3, acquire.name);
  put_number(out, 4, static_cast<uint64_t>(acquire.wait.kind));
  put_duration(out, 5, acquire.wait.timeout);
  put_bytes(out, 6, acquire.value);
  put_number(out, 7, acquire.flags);
  put_number(out, 8, number_of(acquire.mode));
  put_duration(out, 9, acquire.delay);
  put_number(out, 24, acquire.block);
}

void write(pbf_writer& request, const AcquireAll& acquire) {
  pbf_writer out(request, kAcquireAllField);
  put_number(out, 1, acquire.session);
  put_bytes(out, 2, acquire.owner_tag);
  for (const NamedLock& wanted : acquire.locks) {
    pbf_writer body(out, 3);
    put_bytes(body, 1, wanted.name);
    put_number(body, 2, number_of(wanted.mode));
  }
  put_number(out, 4, static_cast<uint64_t>(acquire.wait.kind));
  put_duration(out, 5, acquire.wait.timeout);
  put_bytes(out, 6, acquire.value);
  put_number(out, 7, acquire.flags);
  put_duration(out, 9, acquire.delay);
}

void write(pbf_writer& request, const Release& release) {
  pbf_writer out(request, kReleaseField);
  write_hold(out, release);
  put_number(out, 5, release.number);
}

void write(pbf_writer& request, const CancelAcquire& cancel) {
  pbf_writer out(request, kCancelField);
  put_number(out, 1, cancel.session);
  put_bytes(out, 2, cancel.owner_tag);
  put_bytes(out, 3, cancel.name);
  put_request_id(out, 4, cancel.acquire);
}

void write(pbf_writer& request, const Downgrade& downgrade) {
  pbf_writer out(request, kDowngradeField);
  write_hold(out, downgrade);
}

void write(pbf_writer& request, const Upgrade& upgrade) {
  pbf_writer out(request, kUpgradeField);
  write_hold(out, upgrade);
}

void write(pbf_writer& request, const UpdateValue& update) {
  pbf_writer out(request, kUpdateValueField);
  write_hold(out, update);
  put_bytes(out, 5, update.value);
}

void write(pbf_writer& request, const ClearDelay& clear) {
  pbf_writer out(request, kClearDelayField);
  put_bytes(out, 1, clear.name);
}

void write(pbf_writer& request, const RefillBlock& refill) {
  pbf_writer out(request, kRefillBlockField);
  put_number(out, 1, refill.session);
  put_bytes(out, 3, refill.name);
  put_number(out, 4, refill.token);
}

Acquire read_acquire(pbf_reader in) {
  Acquire acquire;
  uint64_t wait = 0, mode = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, acquire.session); break;
      case bytes(2): get(in, acquire.owner_tag); break;
      case bytes(3): get(in, acquire.name); break;
      case number(4): get(in, wait); break;
      case number(5): get(in, acquire.wait.timeout); break;
      case bytes(6): get(in, acquire.value); break;
      case number(7): get(in, acquire.flags); break;
      case number(8): get(in, mode); break;
      case number(9): get(in, acquire.delay); break;
      case number(24): get(in, acquire.block); break;
      default: in.skip();
    }
  }
  acquire.wait.kind = enumerator<Wait::Kind>(wait);
  acquire.mode = mode_of(mode);
  return acquire;
}

// One name too many is kept, for check() to refuse.
AcquireAll read_acquire_all(pbf_reader in) {
  AcquireAll acquire;
  uint64_t wait = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, acquire.session); break;
      case bytes(2): get(in, acquire.owner_tag); break;
      case bytes(3): {
        const pbf_reader wanted = in.get_message();
        if (acquire.locks.size() <= kLocksMax) acquire.locks.push_back(read_wanted(wanted));
        break;
      }
      case number(4): get(in, wait); break;
      case number(5): get(in, acquire.wait.timeout); break;
      case bytes(6): get(in, acquire.value); break;
      case number(7): get(in, acquire.flags); break;
      case number(9): get(in, acquire.delay); break;
      default: in.skip();
    }
  }
  acquire.wait.kind = enumerator<Wait::Kind>(wait);
  return acquire;
}

Release read_release(pbf_reader in) {
  Release release;
  while (in.next()) {
    if (read_hold(in, release)) continue;
    if (in.tag_and_type() == number(5)) {
      get(in, release.number);
    } else {
      in.skip();
    }
  }
  return release;
}

CancelAcquire read_cancel(pbf_reader in) {
  CancelAcquire cancel;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, cancel.session); break;
      case bytes(2): get(in, cancel.owner_tag); break;
      case bytes(3): get(in, cancel.name); break;
      case bytes(4): get(in, cancel.acquire); break;
      default: in.skip();
    }
  }
  return cancel;
}

Downgrade read_downgrade(pbf_reader in) {
  Downgrade downgrade;
  while (in.next()) {
    if (!read_hold(in, downgrade)) in.skip();
  }
  return downgrade;
}

Upgrade read_upgrade(pbf_reader in) {
  Upgrade upgrade;
  while (in.next()) {
    if (!read_hold(in, upgrade)) in.skip();
  }
  return upgrade;
}

UpdateValue read_update_value(pbf_reader in) {
  UpdateValue update;
  while (in.next()) {
    if (read_hold(in, update)) continue;
    if (in.tag_and_type() == bytes(5)) {
      get(in, update.value);
    } else {
      in.skip();
    }
  }
  return update;
}

ClearDelay read_clear_delay(pbf_reader in) {
  ClearDelay clear;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, clear.name); break;
      default: in.skip();
    }
  }
  return clear;
}

RefillBlock read_refill_block(pbf_reader in) {
  RefillBlock refill;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, refill.session); break;
      case bytes(3): get(in, refill.name); break;
      case number(4): get(in, refill.token); break;
      default: in.skip();
    }
  }
  return refill;
}

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
