// The commands of semaphores, latches, barriers, queues, counters and groups (docs/semantics.md S-50 and S-37). The locks'
// Release also gives back permits, a claimed item and a place inside a barrier: a token identifies its object. Any wait is
// cancelled like that of an acquire (lock_commands.h).
//
// A command of a session names it first; the others need none. The bytes are those of record_codec.h, under the field kField
// of a Request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "coordination/barriers.h"
#include "coordination/double_barriers.h"
#include "coordkit/types.h"
#include "machine/objection.h"
#include "machine/wait.h"

namespace coordkit::machine {

inline constexpr int64_t kAmountMax = INT64_MAX;  // of permits, a limit, a latch's count, parties
inline constexpr size_t kItemBytesMax = 64 << 10;
inline constexpr size_t kMemberValueBytesMax = 4096;

using coordination::AtPartyEnd;
using coordination::AtSessionEnd;

struct SetSemaphoreLimit {
  static constexpr uint32_t kField = 40;
  SessionId session;
  std::string name;
  uint64_t limit = 0;
  static constexpr auto fields() {
    return std::tuple(&SetSemaphoreLimit::session, &SetSemaphoreLimit::name, &SetSemaphoreLimit::limit);
  }
  friend bool operator==(const SetSemaphoreLimit&, const SetSemaphoreLimit&) = default;
};

struct AcquirePermits {
  static constexpr uint32_t kField = 41;
  SessionId session;
  std::string name;
  Wait wait;
  uint64_t count = 0;
  std::optional<uint64_t> initial_limit;  // creates the semaphore if it does not exist
  static constexpr auto fields() {
    return std::tuple(&AcquirePermits::session, &AcquirePermits::name, &AcquirePermits::wait, &AcquirePermits::count,
                      &AcquirePermits::initial_limit);
  }
  friend bool operator==(const AcquirePermits&, const AcquirePermits&) = default;
};

struct DeleteSemaphore {
  static constexpr uint32_t kField = 42;
  SessionId session;
  std::string name;
  static constexpr auto fields() { return std::tuple(&DeleteSemaphore::session, &DeleteSemaphore::name); }
  friend bool operator==(const DeleteSemaphore&, const DeleteSemaphore&) = default;
};

struct CreateLatch {
  static constexpr uint32_t kField = 43;
  SessionId session;
  std::string name;
  uint64_t count = 0;
  static constexpr auto fields() { return std::tuple(&CreateLatch::session, &CreateLatch::name, &CreateLatch::count); }
  friend bool operator==(const CreateLatch&, const CreateLatch&) = default;
};

struct CountDown {
  static constexpr uint32_t kField = 44;
  SessionId session;
  std::string name;
  uint64_t by = 0;
  static constexpr auto fields() { return std::tuple(&CountDown::session, &CountDown::name, &CountDown::by); }
  friend bool operator==(const CountDown&, const CountDown&) = default;
};

struct AwaitLatch {
  static constexpr uint32_t kField = 45;
  SessionId session;
  std::string name;
  Wait wait;
  static constexpr auto fields() { return std::tuple(&AwaitLatch::session, &AwaitLatch::name, &AwaitLatch::wait); }
  friend bool operator==(const AwaitLatch&, const AwaitLatch&) = default;
};

struct DeleteLatch {
  static constexpr uint32_t kField = 46;
  SessionId session;
  std::string name;
  static constexpr auto fields() { return std::tuple(&DeleteLatch::session, &DeleteLatch::name); }
  friend bool operator==(const DeleteLatch&, const DeleteLatch&) = default;
};

struct CloseBarrier {
  static constexpr uint32_t kField = 47;
  SessionId session;
  std::string name;
  AtSessionEnd at_end = AtSessionEnd::Stays;
  static constexpr auto fields() { return std::tuple(&CloseBarrier::session, &CloseBarrier::name, &CloseBarrier::at_end); }
  friend bool operator==(const CloseBarrier&, const CloseBarrier&) = default;
};

struct OpenBarrier {
  static constexpr uint32_t kField = 48;
  SessionId session;
  std::string name;
  static constexpr auto fields() { return std::tuple(&OpenBarrier::session, &OpenBarrier::name); }
  friend bool operator==(const OpenBarrier&, const OpenBarrier&) = default;
};

struct AwaitBarrier {
  static constexpr uint32_t kField = 49;
  SessionId session;
  std::string name;
  Wait wait;
  static constexpr auto fields() { return std::tuple(&AwaitBarrier::session, &AwaitBarrier::name, &AwaitBarrier::wait); }
  friend bool operator==(const AwaitBarrier&, const AwaitBarrier&) = default;
};

struct EnterBarrier {
  static constexpr uint32_t kField = 50;
  SessionId session;
  std::string name;
  Wait wait;
  uint64_t parties = 0;
  AtPartyEnd at_end = AtPartyEnd::Breaks;
  static constexpr auto fields() {
    return std::tuple(&EnterBarrier::session, &EnterBarrier::name, &EnterBarrier::wait, &EnterBarrier::parties,
                      &EnterBarrier::at_end);
  }
  friend bool operator==(const EnterBarrier&, const EnterBarrier&) = default;
};

struct LeaveBarrier {
  static constexpr uint32_t kField = 51;
  SessionId session;
  std::string name;
  Wait wait;
  Token token;
  static constexpr auto fields() {
    return std::tuple(&LeaveBarrier::session, &LeaveBarrier::name, &LeaveBarrier::wait, &LeaveBarrier::token);
  }
  friend bool operator==(const LeaveBarrier&, const LeaveBarrier&) = default;
};

struct Enqueue {
  static constexpr uint32_t kField = 52;
  std::string name;
  int64_t priority = 0;
  std::string value;
  static constexpr auto fields() { return std::tuple(&Enqueue::name, &Enqueue::priority, &Enqueue::value); }
  friend bool operator==(const Enqueue&, const Enqueue&) = default;
};

struct ClaimItem {
  static constexpr uint32_t kField = 53;
  SessionId session;
  std::string name;
  Wait wait;
  Duration term{};  // counted from the grant; then the item comes back; zero: never
  static constexpr auto fields() {
    return std::tuple(&ClaimItem::session, &ClaimItem::name, &ClaimItem::wait, &ClaimItem::term);
  }
  friend bool operator==(const ClaimItem&, const ClaimItem&) = default;
};

struct AcknowledgeItem {
  static constexpr uint32_t kField = 54;
  SessionId session;
  std::string name;
  Token token;
  static constexpr auto fields() {
    return std::tuple(&AcknowledgeItem::session, &AcknowledgeItem::name, &AcknowledgeItem::token);
  }
  friend bool operator==(const AcknowledgeItem&, const AcknowledgeItem&) = default;
};

struct ChangeCounter {
  static constexpr uint32_t kField = 55;
  enum class Operation : uint8_t { Add = 1, Set = 2, CompareAndSet = 3, Allocate = 4, Delete = 5 };
  std::string name;
  Operation operation = Operation::Add;
  int64_t operand = 0;   // Allocate: how many, at least 1; Delete: zero
  int64_t expected = 0;  // of CompareAndSet only
  static constexpr auto fields() {
    return std::tuple(&ChangeCounter::name, &ChangeCounter::operation, &ChangeCounter::operand, &ChangeCounter::expected);
  }
  friend bool operator==(const ChangeCounter&, const ChangeCounter&) = default;
};

struct JoinGroup {
  static constexpr uint32_t kField = 56;
  SessionId session;
  std::string owner_tag;
  std::string name;
  std::string value;
  static constexpr auto fields() {
    return std::tuple(&JoinGroup::session, &JoinGroup::owner_tag, &JoinGroup::name, &JoinGroup::value);
  }
  friend bool operator==(const JoinGroup&, const JoinGroup&) = default;
};

struct UpdateMember {
  static constexpr uint32_t kField = 57;
  SessionId session;
  std::string owner_tag;
  std::string name;
  std::string value;
  static constexpr auto fields() {
    return std::tuple(&UpdateMember::session, &UpdateMember::owner_tag, &UpdateMember::name, &UpdateMember::value);
  }
  friend bool operator==(const UpdateMember&, const UpdateMember&) = default;
};

struct LeaveGroup {
  static constexpr uint32_t kField = 58;
  SessionId session;
  std::string owner_tag;
  std::string name;
  static constexpr auto fields() { return std::tuple(&LeaveGroup::session, &LeaveGroup::owner_tag, &LeaveGroup::name); }
  friend bool operator==(const LeaveGroup&, const LeaveGroup&) = default;
};

using CoordinationCommand =
    std::variant<SetSemaphoreLimit, AcquirePermits, DeleteSemaphore, CreateLatch, CountDown, AwaitLatch, DeleteLatch,
                 CloseBarrier, OpenBarrier, AwaitBarrier, EnterBarrier, LeaveBarrier, Enqueue, ClaimItem, AcknowledgeItem,
                 ChangeCounter, JoinGroup, UpdateMember, LeaveGroup>;

// Ok, or the reason why it is refused without effect in any state.
Objection check(const CoordinationCommand& command);

// The session for which it acts. nullopt: a kind that needs none.
std::optional<SessionId> session_of(const CoordinationCommand& command);

// Whether it only gives up something that its session has: a claimed item, a place inside a barrier, a membership.
bool is_release(const CoordinationCommand& command);

}  // namespace coordkit::machine
