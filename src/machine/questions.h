// The questions that callers ask coordkit's machine, as plain values. Each question is described here once: its fields, its
// answer, and how a state gives that answer. In the process that has the state a question is a call of Reads, without bytes.
// Where a question crosses to another process, encode() and decode_answer() have its bytes, and the machine's query() answers
// them (proto/coordkit/v1/questions.proto). Decoders take hostile bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "machine/command.h"
#include "machine/field_list.h"
#include "machine/permissions/needs.h"
#include "machine/reads.h"

namespace coordkit::machine {

// ---- locks and sessions

struct HoldersOf {
  std::string name;
  using Answer = Holders;
  Answer ask(const Reads& state) const { return state.holders_of(name); }
  static constexpr uint32_t kField = 1;  // among the questions; numbers are on the wire
  static constexpr auto fields() { return std::tuple(&HoldersOf::name); }
};
struct QueueOf {
  std::string name;
  uint64_t limit = 0;
  using Answer = LockQueue;
  Answer ask(const Reads& state) const { return state.queue_of(name, limit); }
  static constexpr uint32_t kField = 2;
  static constexpr auto fields() { return std::tuple(&QueueOf::name, &QueueOf::limit); }
};
struct SessionOf {
  SessionId session;
  using Answer = std::optional<SessionInfo>;
  Answer ask(const Reads& state) const { return state.session(session); }
  static constexpr uint32_t kField = 3;
  static constexpr auto fields() { return std::tuple(&SessionOf::session); }
};
struct SessionsAfter {
  SessionId after;
  uint64_t limit = 0;
  using Answer = Sessions;
  Answer ask(const Reads& state) const { return state.sessions_after(after, limit); }
  static constexpr uint32_t kField = 4;
  static constexpr auto fields() { return std::tuple(&SessionsAfter::after, &SessionsAfter::limit); }
};
struct LocksOf {
  SessionId session;
  Token after;
  using Answer = HeldLocks;
  Answer ask(const Reads& state) const { return state.locks_of(session, after); }
  static constexpr uint32_t kField = 5;
  static constexpr auto fields() { return std::tuple(&LocksOf::session, &LocksOf::after); }
};
struct ObjectsOf {
  SessionId session;
  OwnedObjects::Place after;
  using Answer = OwnedObjects;
  Answer ask(const Reads& state) const { return state.objects_of(session, after); }
  static constexpr uint32_t kField = 6;
  static constexpr auto fields() {
    using O = ObjectsOf;
    using Place = OwnedObjects::Place;
    return std::tuple(&O::session, part(&O::after, &Place::kind), part(&O::after, &Place::number));
  }
};
struct HeldBy {
  std::string name;
  SessionId session;
  std::string owner;
  using Answer = std::optional<Token>;
  Answer ask(const Reads& state) const { return state.held_by(name, session, owner); }
  static constexpr uint32_t kField = 7;
  static constexpr auto fields() { return std::tuple(&HeldBy::name, &HeldBy::session, &HeldBy::owner); }
};
struct StillHeld {
  std::string name;
  Token token;
  using Answer = bool;
  Answer ask(const Reads& state) const { return state.still_held(name, token); }
  static constexpr uint32_t kField = 8;
  static constexpr auto fields() { return std::tuple(&StillHeld::name, &StillHeld::token); }
};
// With which result a try would be refused now (S-36). An acquire that has passed validate(); no other request is refused.
struct RefusalOf {
  Request request;
  using Answer = std::optional<Result>;
  Answer ask(const Reads& state) const;
  static constexpr uint32_t kField = 9;
};

// ---- objects

struct ObjectOf {
  coordination::Kind kind{};
  std::string name;
  uint64_t limit = 0;
  using Answer = ObjectView;
  Answer ask(const Reads& state) const { return state.object(kind, name, limit); }
  static constexpr uint32_t kField = 10;
  static constexpr auto fields() { return std::tuple(&ObjectOf::kind, &ObjectOf::name, &ObjectOf::limit); }
};
struct MembersOf {
  std::string group;
  using Answer = std::vector<ObjectRow>;
  Answer ask(const Reads& state) const { return state.members_of(group); }
  static constexpr uint32_t kField = 11;
  static constexpr auto fields() { return std::tuple(&MembersOf::group); }
};

// ---- keys and their leases

struct EntryOf {
  std::string key;
  using Answer = Entry;
  Answer ask(const Reads& state) const { return state.entry(key); }
  static constexpr uint32_t kField = 12;
  static constexpr auto fields() { return std::tuple(&EntryOf::key); }
};
struct PageOf {
  RangeOperation range;
  bool rest = false;  // not the first page
  using Answer = KeysRead<RangeReply>;
  Answer ask(const Reads& state) const { return rest ? state.rest_of_range(range) : state.range(range); }
  static constexpr uint32_t kField = 13;
  static constexpr auto fields() { return std::tuple(&PageOf::range, &PageOf::rest); }
};
struct OutcomeOf {
  Transaction transaction;  // that only reads
  using Answer = KeysRead<TransactionReply>;
  Answer ask(const Reads& state) const { return state.read(transaction); }
  static constexpr uint32_t kField = 14;
};
struct SpaceOf {
  using Answer = KeySpace;
  Answer ask(const Reads& state) const { return state.key_space(); }
  static constexpr uint32_t kField = 15;
  static constexpr auto fields() { return std::tuple(); }
};
struct LeaseOf {
  LeaseId lease;
  bool keys = false;
  std::string after;
  using Answer = Leases;
  Answer ask(const Reads& state) const { return state.lease(lease, keys, after); }
  static constexpr uint32_t kField = 16;
  static constexpr auto fields() { return std::tuple(&LeaseOf::lease, &LeaseOf::keys, &LeaseOf::after); }
};
struct LeasesAfter {
  LeaseId after;
  using Answer = Leases;
  Answer ask(const Reads& state) const { return state.leases_after(after, 0); }
  static constexpr uint32_t kField = 17;
  static constexpr auto fields() { return std::tuple(&LeasesAfter::after); }
};
struct ChangesOf {
  ChangesAfter place;
  using Answer = Changes;
  Answer ask(const Reads& state) const { return state.changes(place); }
  static constexpr uint32_t kField = 18;
  static constexpr auto fields() {
    using C = ChangesOf;
    using P = ChangesAfter;
    return std::tuple(part(&C::place, &P::from), part(&C::place, &P::sub), part(&C::place, &P::key), part(&C::place, &P::end),
                      part(&C::place, &P::previous));
  }
};

// ---- permissions

// The lists of remotes, ascending by name.
struct PermissionsFrom {
  std::string remote;  // the first name
  using Answer = PermissionLists;
  Answer ask(const Reads& state) const { return state.permissions(remote); }
  static constexpr uint32_t kField = 19;
  static constexpr auto fields() { return std::tuple(&PermissionsFrom::remote); }
};

// std::monostate: a kind that this version does not know.
using Question =
    std::variant<std::monostate, HoldersOf, QueueOf, SessionOf, SessionsAfter, LocksOf, ObjectsOf, HeldBy, StillHeld, RefusalOf,
                 ObjectOf, MembersOf, EntryOf, PageOf, OutcomeOf, SpaceOf, LeaseOf, LeasesAfter, ChangesOf, PermissionsFrom>;

// The rights that a remote needs to ask it.
Needs needs_of(const Question& question);

// ---- bytes

std::string encode(const Question& question);
absl::StatusOr<Question> decode_question(std::string_view bytes);  // kInvalidArgument: malformed, or of no known kind

// Asks the state and encodes the answer. Unsupported: the question is of no known kind. LimitExceeded: a transaction that looks
// at more keys than one command may.
absl::StatusOr<std::string> encoded_answer(const Reads& state, const Question& question);
// The same bytes, of an answer that was read before.
std::string encode_answer(Changes answer);
// kDataLoss: malformed.
template <typename Q>
absl::StatusOr<typename Q::Answer> decode_answer(std::string_view bytes);

}  // namespace coordkit::machine
