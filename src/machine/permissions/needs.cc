#include "machine/permissions/needs.h"

#include "absl/strings/str_cat.h"
#include "base/printable.h"

namespace coordkit::machine {
namespace {

constexpr size_t kNamesShown = 4;

// ---- sessions

// Nothing that this version runs.
void add_needs(std::monostate, Needs& needs) {
  needs.verb = "an unknown command";
  needs.everything(Right::Admin);
}
void add_needs(const OpenSession& open, Needs& needs) {
  needs.verb = "open a session";
  needs.all.push_back({.of = Need::Of::Process, .process = {open.node, open.boot, open.incarnation, {}}});
}
void add_needs(const CloseSession& close, Needs& needs) { needs = {.verb = "close session", .number = close.session.value()}; }
// Its secret is the proof.
void add_needs(const ResumeSession& resume, Needs& needs) {
  needs = {.verb = "take over session", .number = resume.id.value()};
}
void add_needs(const KillSession& kill, Needs& needs) {
  needs = {.verb = "end session", .number = kill.victim.value()};
  needs.everything(Right::Admin);
}
void add_needs(const ForceRelease& force, Needs& needs) {
  needs.verb = "end the session that holds";
  needs.name(Right::Admin, force.name);
}

// ---- locks

void add_needs(const Acquire& acquire, Needs& needs) {
  needs.verb = "acquire";
  needs.name(Right::Lock, acquire.name);
}
void add_needs(const AcquireAll& acquire, Needs& needs) {
  needs.verb = "acquire";
  for (const NamedLock& lock : acquire.locks) needs.name(Right::Lock, lock.name);
}
void add_needs(const Release& release, Needs& needs) { needs = {.verb = "release", .subject = release.name}; }
void add_needs(const CancelAcquire& cancel, Needs& needs) { needs = {.verb = "cancel the wait for", .subject = cancel.name}; }
void add_needs(const Downgrade& downgrade, Needs& needs) {
  needs.verb = "downgrade";
  needs.name(Right::Lock, downgrade.name);
}
void add_needs(const Upgrade& upgrade, Needs& needs) {
  needs.verb = "upgrade";
  needs.name(Right::Lock, upgrade.name);
}
void add_needs(const UpdateValue& update, Needs& needs) {
  needs.verb = "update the value of";
  needs.name(Right::Lock, update.name);
}
void add_needs(const RefillBlock& refill, Needs& needs) {
  needs.verb = "take more tokens of";
  needs.name(Right::Lock, refill.name);
}
void add_needs(const ClearDelay& clear, Needs& needs) {
  needs.verb = "end the lock-delay of";
  needs.name(Right::Admin, clear.name);
}

// ---- keys

void add_put(const Put& put, Needs& needs) {
  needs.name(Right::Write, put.key);
  if (put.previous) needs.name(Right::Read, put.key);
  if (put.lease) needs.attached(Right::Write, put.lease);
}
void add_delete(const Delete& erase, Needs& needs) {
  needs.interval(Right::Write, erase.key, erase.end);
  if (erase.previous) needs.interval(Right::Read, erase.key, erase.end);
}
void add_needs(const Put& put, Needs& needs) {
  needs.verb = "put";
  add_put(put, needs);
}
void add_needs(const Delete& erase, Needs& needs) {
  needs.verb = "delete";
  add_delete(erase, needs);
}

void add_compare(const Compare& compare, Needs& needs) {
  switch (compare.target) {
    case Compare::Target::Version:
    case Compare::Target::Create:
    case Compare::Target::Mod:
    case Compare::Target::Value:
    case Compare::Target::Lease: return needs.interval(Right::Read, compare.key, compare.end);
    case Compare::Target::LockHeld:
    case Compare::Target::LockHeldExclusively:
    case Compare::Target::LockFree: return needs.name({Right::Read, Right::Lock}, compare.key);
  }
  needs.everything(Right::Admin);  // of no known kind
}

void add_all(const Transaction& transaction, Needs& needs);

struct OfOperation {
  Needs& needs;
  void operator()(std::monostate) const { needs.everything(Right::Admin); }
  void operator()(const RangeOperation& range) const { needs.interval(Right::Read, range.key, range.end); }
  void operator()(const PutOperation& put) const { add_put(put, needs); }
  void operator()(const DeleteOperation& erase) const { add_delete(erase, needs); }
  void operator()(const std::vector<Transaction>& nested) const {
    for (const Transaction& one : nested) add_all(one, needs);
  }
};

// Both branches: the taken one says something about the state, too. check() has bounded the nesting.
void add_all(const Transaction& transaction, Needs& needs) {
  for (const Compare& compare : transaction.compares) add_compare(compare, needs);
  for (const Operation& operation : transaction.then) std::visit(OfOperation{needs}, operation.body);
  for (const Operation& operation : transaction.otherwise) std::visit(OfOperation{needs}, operation.body);
}
void add_needs(const Transaction& transaction, Needs& needs) {
  needs.verb = "run a transaction on";
  add_all(transaction, needs);
}
void add_needs(const Compact&, Needs& needs) {
  needs.verb = "compact";
  needs.everything(Right::Admin);
}
void add_needs(const SetKeyQuota&, Needs& needs) {
  needs.verb = "set the quota of";
  needs.everything(Right::Admin);
}

// ---- leases: everything that is attached to one ends and lives with it

void add_needs(const GrantLease& grant, Needs& needs) {
  needs = {.verb = "grant lease", .number = grant.id.value()};
  if (!grant.node) return;
  needs.all.push_back({.of = Need::Of::Process, .process = {grant.node, grant.boot, grant.incarnation, {}}});
}
void add_needs(const RenewLease& renew, Needs& needs) {
  needs = {.verb = "renew lease", .number = renew.id.value()};
  needs.attached(Right::Write, renew.id);
}
void add_needs(const RevokeLease& revoke, Needs& needs) {
  needs = {.verb = "revoke lease", .number = revoke.id.value()};
  needs.attached(Right::Write, revoke.id);
}

// ---- objects

void add_needs(const SetSemaphoreLimit& set, Needs& needs) {
  needs.verb = "set the limit of semaphore";
  needs.name(Right::Lock, set.name);
}
void add_needs(const AcquirePermits& acquire, Needs& needs) {
  needs.verb = "acquire permits of";
  needs.name(Right::Lock, acquire.name);
}
void add_needs(const DeleteSemaphore& erase, Needs& needs) {
  needs.verb = "delete semaphore";
  needs.name(Right::Lock, erase.name);
}
void add_needs(const CreateLatch& create, Needs& needs) {
  needs.verb = "create latch";
  needs.name(Right::Lock, create.name);
}
void add_needs(const CountDown& count, Needs& needs) {
  needs.verb = "count down";
  needs.name(Right::Lock, count.name);
}
void add_needs(const AwaitLatch& await, Needs& needs) {
  needs.verb = "await latch";
  needs.name(Right::Lock, await.name);
}
void add_needs(const DeleteLatch& erase, Needs& needs) {
  needs.verb = "delete latch";
  needs.name(Right::Lock, erase.name);
}
void add_needs(const CloseBarrier& close, Needs& needs) {
  needs.verb = "close barrier";
  needs.name(Right::Lock, close.name);
}
void add_needs(const OpenBarrier& open, Needs& needs) {
  needs.verb = "open barrier";
  needs.name(Right::Lock, open.name);
}
void add_needs(const AwaitBarrier& await, Needs& needs) {
  needs.verb = "await barrier";
  needs.name(Right::Lock, await.name);
}
void add_needs(const EnterBarrier& enter, Needs& needs) {
  needs.verb = "enter barrier";
  needs.name(Right::Lock, enter.name);
}
void add_needs(const LeaveBarrier& leave, Needs& needs) { needs = {.verb = "leave barrier", .subject = leave.name}; }
void add_needs(const Enqueue& enqueue, Needs& needs) {
  needs.verb = "put an item into";
  needs.name(Right::Write, enqueue.name);
}
void add_needs(const ClaimItem& claim, Needs& needs) {
  needs.verb = "claim an item of";
  needs.name(Right::Lock, claim.name);
}
void add_needs(const AcknowledgeItem& acknowledge, Needs& needs) {
  needs = {.verb = "acknowledge an item of", .subject = acknowledge.name};
}
void add_needs(const ChangeCounter& change, Needs& needs) {
  needs.verb = "change counter";
  needs.name(Right::Write, change.name);
}
void add_needs(const JoinGroup& join, Needs& needs) {
  needs.verb = "join";
  needs.name(Right::Write, join.name);
}
void add_needs(const UpdateMember& update, Needs& needs) {
  needs.verb = "update a member of";
  needs.name(Right::Write, update.name);
}
void add_needs(const LeaveGroup& leave, Needs& needs) { needs = {.verb = "leave", .subject = leave.name}; }

// ---- permissions

void add_needs(const SetPermissions& set, Needs& needs) {
  needs = {.verb = "set the permissions of remote", .subject = set.remote};
  needs.everything(Right::Admin);
}

std::string words_of(const Need& need) {
  if (need.end.empty()) return quoted(need.key);
  if (need.key.empty() && need.end == kNoEnd) return "every name";
  return absl::StrCat(quoted(need.key), " to ", need.end == kNoEnd ? "the last" : quoted(need.end));
}

}  // namespace

std::string AnyOf::words() const {
  std::string words;
  const auto add = [&](Right right, std::string_view word) {
    if (!has(right)) return;
    words += words.empty() ? "" : " or ";
    words += word;
  };
  add(Right::Read, "read");
  add(Right::Write, "write");
  add(Right::Lock, "lock");
  add(Right::Admin, "administer");
  return words;
}

Needs needs_of(const Request& request) {
  Needs needs{};
  const auto of = [&needs](const auto& body) { add_needs(body, needs); };
  // Not an overload, because each command of an object would convert to it.
  const auto of_any = [&]<typename Body>(const Body& body) {
    if constexpr (std::is_same_v<Body, CoordinationCommand>) {
      std::visit(of, body);
    } else {
      of(body);
    }
  };
  std::visit(of_any, request.body);
  return needs;
}

Needs needs_of(const Transaction& transaction) {
  Needs needs{};
  add_needs(transaction, needs);
  return needs;
}

std::string words_of(const Needs& needs) {
  std::string words(needs.verb);
  if (needs.number != 0) return absl::StrCat(words, " ", needs.number);
  if (!needs.subject.empty()) return absl::StrCat(words, " ", quoted(needs.subject));
  size_t names = 0;
  std::string_view last;
  for (const Need& need : needs.all) {
    const bool same = names != 0 && need.key == last;  // as a put that reads its previous value
    if (need.of != Need::Of::Names || same) continue;
    last = need.key;
    if (++names <= kNamesShown) absl::StrAppend(&words, names == 1 ? " " : ", ", words_of(need));
  }
  if (names > kNamesShown) absl::StrAppend(&words, " and ", names - kNamesShown, " more");
  return words;
}

}  // namespace coordkit::machine
