// The commands about locks: part of machine::Request, each under its kField. command.h has the rules of the encoding,
// docs/semantics.md the effects. A command names its hold by name and token, and by the owner if that is to be checked too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "coordkit/records.h"
#include "coordkit/types.h"
#include "machine/field_list.h"
#include "machine/objection.h"
#include "machine/wait.h"

namespace coordkit::machine {

// Limits, as in docs/semantics.md; base/hold_texts.h has those of what a hold shows. They are part of the replicated behaviour:
// changing one needs a feature level.
inline constexpr size_t kNameBytesMax = 1024;  // of a lock, at least 1
inline constexpr size_t kOwnerTagBytesMax = 256;
inline constexpr size_t kLocksMax = 128;                             // of one acquire (S-53)
inline constexpr Duration kLockDelayMax = std::chrono::seconds(60);  // S-40
inline constexpr uint64_t kTokenBlockMax = 1 << 20;                  // S-58

// Bits of an acquire's flags. Unknown flags are refused, because their request would not be carried out.
inline constexpr uint64_t kReentrant = 1;        // S-38: counts up a hold of this owner that was acquired with this flag too
inline constexpr uint64_t kNoDeadlockCheck = 2;  // S-49
inline constexpr uint64_t kAcquireFlags = kReentrant | kNoDeadlockCheck;

struct Acquire {
  SessionId session;
  std::string owner_tag;
  std::string name;
  Wait wait;
  HoldTexts texts;
  uint64_t flags = 0;
  LockMode mode = LockMode::Exclusive;
  Duration delay{};  // S-40: how long the lock stays ungranted after this session expired
  // S-58: above zero: sticky. The grant is a delegation to the session and reserves that many tokens, at most kTokenBlockMax.
  // It is exclusive and not re-entrant.
  uint64_t block = 0;
  static constexpr uint32_t kField = 4;
  void make_blank() { wait.kind = Wait::Kind(0); }
  static constexpr auto fields() {
    using A = Acquire;
    return std::tuple(&A::session, &A::owner_tag, &A::name, part(&A::wait, &Wait::kind), part(&A::wait, &Wait::timeout),
                      &A::texts, &A::flags, &A::mode, &A::delay, at(24, &A::block));
  }
  friend bool operator==(const Acquire&, const Acquire&) = default;
};

using coordkit::NamedLock;

// S-53: all locks or none, under one token. Not re-entrant.
struct AcquireAll {
  SessionId session;
  std::string owner_tag;
  std::vector<NamedLock> locks;  // 1 to kLocksMax, distinct
  Wait wait;
  HoldTexts texts;
  uint64_t flags = 0;
  Duration delay{};
  static constexpr uint32_t kField = 20;
  void make_blank() { wait.kind = Wait::Kind(0); }
  static constexpr auto fields() {
    using A = AcquireAll;
    return std::tuple(&A::session, &A::owner_tag, &A::locks, part(&A::wait, &Wait::kind), part(&A::wait, &Wait::timeout),
                      &A::texts, &A::flags, at(9, &A::delay));
  }
  friend bool operator==(const AcquireAll&, const AcquireAll&) = default;
};

struct Release {
  SessionId session;
  std::optional<std::string> owner_tag;  // absent: any owner of the session
  std::string name;
  Token token;
  // For a counted hold: its n-th release, which includes all earlier ones. So a repeated release changes nothing (another
  // request of the session may carry it, S-43). Zero: not numbered.
  uint64_t number = 0;
  static constexpr uint32_t kField = 5;
  static constexpr auto fields() {
    return std::tuple(&Release::session, &Release::owner_tag, &Release::name, &Release::token, &Release::number);
  }
  friend bool operator==(const Release&, const Release&) = default;
};

// Ends the wait of an acquire of this session, or a wait for permits, a latch, a barrier or an item. Answers Granted with the
// token if the grant came first, else Cancelled. After Cancelled the acquire holds nothing and never will, even if it has not
// arrived yet (cancel_marks.h says how long that is kept). Tag and name repeat the acquire's (of several names: any), so that
// it is found without an index by request.
struct CancelAcquire {
  SessionId session;
  std::string owner_tag;
  std::string name;
  RequestId acquire;  // an earlier request than this one; NotFound: it is from another origin and does not exist
  static constexpr uint32_t kField = 6;
  static constexpr auto fields() {
    using C = CancelAcquire;
    return std::tuple(&C::session, &C::owner_tag, &C::name, &C::acquire);
  }
  friend bool operator==(const CancelAcquire&, const CancelAcquire&) = default;
};

// S-46: the hold becomes shared or exclusive. Answers Granted with its new token.
struct Downgrade {
  SessionId session;
  std::optional<std::string> owner_tag;
  std::string name;
  Token token;
  static constexpr uint32_t kField = 21;
  static constexpr auto fields() {
    return std::tuple(&Downgrade::session, &Downgrade::owner_tag, &Downgrade::name, &Downgrade::token);
  }
  friend bool operator==(const Downgrade&, const Downgrade&) = default;
};
struct Upgrade {
  SessionId session;
  std::optional<std::string> owner_tag;
  std::string name;
  Token token;
  static constexpr uint32_t kField = 22;
  static constexpr auto fields() { return std::tuple(&Upgrade::session, &Upgrade::owner_tag, &Upgrade::name, &Upgrade::token); }
  friend bool operator==(const Upgrade&, const Upgrade&) = default;
};

struct UpdateValue {
  SessionId session;
  std::optional<std::string> owner_tag;
  std::string name;
  Token token;
  std::string value;
  static constexpr uint32_t kField = 23;
  static constexpr auto fields() {
    return std::tuple(&UpdateValue::session, &UpdateValue::owner_tag, &UpdateValue::name, &UpdateValue::token,
                      &UpdateValue::value);
  }
  friend bool operator==(const UpdateValue&, const UpdateValue&) = default;
};

// An administrator ends the lock-delay of a name (S-40). NotFound: none runs.
struct ClearDelay {
  std::string name;
  static constexpr uint32_t kField = 24;
  static constexpr auto fields() { return std::tuple(&ClearDelay::name); }
  friend bool operator==(const ClearDelay&, const ClearDelay&) = default;
};

// S-58: issues another block for a delegation, of the same size. Answers Granted with its first token.
struct RefillBlock {
  SessionId session;
  std::string name;
  Token token;  // of the hold, which stays the same
  static constexpr uint32_t kField = 25;
  static constexpr auto fields() { return std::tuple(&RefillBlock::session, at(3, &RefillBlock::name), &RefillBlock::token); }
  friend bool operator==(const RefillBlock&, const RefillBlock&) = default;
};

// A release of the request's session that the session also sent alone. A release that finds no hold is silently skipped.
struct PriorRelease {
  std::string name;
  Token token;
  uint64_t number = 0;  // as in Release
  static constexpr uint32_t kField = 1;
  static constexpr auto fields() { return std::tuple(&PriorRelease::name, &PriorRelease::token, &PriorRelease::number); }
  friend bool operator==(const PriorRelease&, const PriorRelease&) = default;
};

Objection check(const Acquire& acquire);
Objection check(const AcquireAll& acquire);
Objection check(const Release& release);
Objection check(const CancelAcquire& cancel);
Objection check(const Downgrade& downgrade);
Objection check(const Upgrade& upgrade);
Objection check(const UpdateValue& update);
Objection check(const ClearDelay& clear);
Objection check(const RefillBlock& refill);

}  // namespace coordkit::machine
