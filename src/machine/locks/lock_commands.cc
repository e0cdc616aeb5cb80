#include "machine/locks/lock_commands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/hold_texts.h"
#include "base/printable.h"

namespace coordkit::machine {
namespace {

bool known(LockMode mode) { return mode == LockMode::Exclusive || mode == LockMode::Shared; }

Objection check_text(const HoldText& text, std::string_view shown) {
  if (shown.size() <= text.bytes_max) return {};
  const std::string what = absl::StrCat("hold's ", text.name);
  return check_size(what.c_str(), shown.size(), text.bytes_max);
}

// The fields that Acquire and AcquireAll have in common besides their names.
Objection check_terms(const auto& acquire) {
  if ((acquire.flags & ~kAcquireFlags) != 0) return {ResultCode::Unsupported};
  if (Objection wait = check_wait(acquire.wait); !wait.none()) return wait;
  if (acquire.delay < Duration::zero() || acquire.delay > kLockDelayMax) {
    return invalid("the lock-delay is not between zero and 60 s");
  }
  if (Objection owner = check_owner(acquire.owner_tag); !owner.none()) return owner;
  Objection texts;
  each_hold_text(
      [&texts](const HoldText& text, const std::string& shown) {
        if (texts.none()) texts = check_text(text, shown);
      },
      acquire.texts);
  return texts;
}

Objection check_hold(const auto& command) {
  if (Objection name = check_name(command.name); !name.none()) return name;
  if (!command.token) return invalid();
  return command.owner_tag ? check_owner(*command.owner_tag) : Objection();
}

}  // namespace

Objection check(const Acquire& acquire) {
  if (Objection name = check_name(acquire.name); !name.none()) return name;
  if (!known(acquire.mode)) return {ResultCode::Unsupported};
  if (acquire.block > kTokenBlockMax) return {ResultCode::LimitExceeded};
  const bool plain = acquire.mode == LockMode::Exclusive && (acquire.flags & kReentrant) == 0;
  if (acquire.block != 0 && !plain) {
    return invalid("a sticky acquire cannot be shared or re-entrant: leave out `sticky`, or the other option");
  }
  return check_terms(acquire);
}

Objection check(const AcquireAll& acquire) {
  if (acquire.locks.empty()) return invalid("the list of locks is empty; give 1 to 128 names");
  if (acquire.locks.size() > kLocksMax) {
    return {ResultCode::LimitExceeded,
            absl::StrCat(acquire.locks.size(), " locks are named; at most 128 are acquired at once")};
  }
  std::vector<std::string_view> names;
  for (const NamedLock& wanted : acquire.locks) {
    if (Objection name = check_name(wanted.name); !name.none()) return name;
    if (!known(wanted.mode)) return {ResultCode::Unsupported};
    names.push_back(wanted.name);
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return invalid(quoted(*twice) + " is named twice; name each lock once");
  }
  if ((acquire.flags & kReentrant) != 0) {
    return invalid("several locks acquired at once cannot be re-entrant: leave out `reentrant`, or acquire them one by one");
  }
  return check_terms(acquire);
}

Objection check(const Release& release) { return check_hold(release); }

Objection check(const CancelAcquire& cancel) {
  if (Objection name = check_name(cancel.name); !name.none()) return name;
  if (!cancel.acquire.sequence) return invalid();
  return check_owner(cancel.owner_tag);
}

Objection check(const Downgrade& downgrade) { return check_hold(downgrade); }
Objection check(const Upgrade& upgrade) { return check_hold(upgrade); }
Objection check(const UpdateValue& update) {
  if (Objection hold = check_hold(update); !hold.none()) return hold;
  return check_text(kHoldValue, update.value);
}
Objection check(const RefillBlock& refill) {
  if (Objection name = check_name(refill.name); !name.none()) return name;
  return refill.token ? Objection() : invalid();
}
Objection check(const ClearDelay& clear) { return check_name(clear.name); }

}  // namespace coordkit::machine
