#include "client/calls/answers.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/last_number.h"
#include "client/keys/key_limits.h"
#include "coordkit/client/keys.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

using machine::ResultCode;

// A printable stand-in for a name in a sentence: short, and never the raw bytes of a hostile one.
std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (const char byte : name.substr(0, 64)) out += byte >= 0x20 && byte < 0x7f ? byte : '?';
  return out + (name.size() > 64 ? "...\"" : "\"");
}

absl::Status refusal_of_lock(const machine::Result& result, const std::string& it) {
  switch (result.code) {
    case ResultCode::Held:
      return make_error(Reason::Held,
                        absl::StrCat("another owner holds ", it,
                                     ", or waits for it before this one; try again later, or acquire it with time to wait"));
    case ResultCode::Delayed:
      return make_error(Reason::Delayed, absl::StrCat("a session that held ", it,
                                                      " expired, and the lock-delay that it asked for is not over; try again "
                                                      "later, or acquire it with time to wait"));
    case ResultCode::Deadlock:
      return make_error(Reason::Deadlock,
                        absl::StrCat("a wait for ", it,
                                     " would be a deadlock: its holder waits, directly or through others, for this owner; "
                                     "release what this owner holds, then acquire again, best all locks at once; if "
                                     "somebody else is to release it, give the two an owner (or a session) each"));
    case ResultCode::UpgradeConflict:
      return make_error(
          Reason::UpgradeConflict,
          absl::StrCat("others share ", it, ", so this grant cannot become exclusive; release it, then acquire exclusively"));
    case ResultCode::WaitTimeout:
      return make_error(
          Reason::WaitTimeout,
          absl::StrCat("the time to wait for ", it, " is over, and it was not acquired; try again later, or wait longer"));
    case ResultCode::Cancelled:
      return make_error(Reason::Cancelled, absl::StrCat("the wait for ", it, " was cancelled, and it was not acquired"));
    case ResultCode::AlreadyHeld:
      return make_error(Reason::AlreadyHeld,
                        absl::StrCat("this owner holds ", it, " already, with token ", result.token.value(),
                                     "; release it first, or use another owner tag for another owner"));
    case ResultCode::AlreadyWaiting:
      return make_error(Reason::AlreadyWaiting,
                        absl::StrCat("this owner waits for ", it,
                                     " already, in an earlier call that goes on; use another owner tag for another owner"));
    case ResultCode::NotOwner:
      return make_error(Reason::NotOwner, absl::StrCat(it,
                                                       " is not held with this token: it was released or lost before, and "
                                                       "there is nothing left to do"));
    default: return absl::OkStatus();
  }
}

absl::Status refusal_of_keys(const machine::Result& result) {
  switch (result.code) {
    case ResultCode::KeyNotFound:
      return make_error(Reason::KeyNotFound, "the key does not exist, so there is no value or lease to keep; put it with both");
    case ResultCode::LeaseNotFound:
      return make_error(Reason::LeaseNotFound,
                        "the lease or session with this id has ended or never existed; grant a new lease");
    case ResultCode::LeaseExists:
      return make_error(Reason::LeaseExists, "a lease or session with this id exists already; give another id, or none");
    case ResultCode::NoSpace:
      return make_error(Reason::NoSpace,
                        "the keys have reached the limit that was set for them; delete some, then compact, or raise the limit");
    case ResultCode::ValueProvided:
      return make_error(Reason::ValueProvided,
                        "the put has a value, and ignore_value keeps the one that is there; leave one of the two out");
    case ResultCode::LeaseProvided:
      return make_error(Reason::LeaseProvided,
                        "the put has a lease, and ignore_lease keeps the one that is there; leave one of the two out");
    case ResultCode::TooManyOps:
      return make_error(
          Reason::TooManyOps,
          "the transaction has more than 128 conditions or operations in a branch, those of the transactions around "
          "it included, or is nested more than 8 deep; split it");
    case ResultCode::DuplicateKey:
      return make_error(Reason::DuplicateKey,
                        "a branch of the transaction puts a key twice, or puts and deletes it, where nested transactions count "
                        "with both branches; leave one of the two operations out");
    case ResultCode::InvalidSort:
      return make_error(Reason::InvalidSort, "the sort target or the order is unknown; use those of key_operations.h");
    case ResultCode::Compacted:
      return make_error(Reason::Compacted,
                        absl::StrCat("the revision was compacted; the lowest that can be read is ", result.compacted.value()));
    case ResultCode::FutureRevision:
      return make_error(Reason::FutureRevision,
                        absl::StrCat("the revision does not exist yet; the newest is ", result.revision.value()));
    default: return absl::OkStatus();
  }
}

// `it`: the subject in mid-sentence; `absent`: the phrase for a missing subject.
absl::Status refusal_of(const machine::Result& result, const std::string& it, const std::string& absent) {
  if (absl::Status lock = refusal_of_lock(result, it); !lock.ok()) return lock;
  if (absl::Status keys = refusal_of_keys(result); !keys.ok()) return keys;
  switch (result.code) {
    case ResultCode::Lost:
      return make_error(Reason::Lost,
                        "the session has ended, is being ended, or belongs to another process now; open a new one");
    case ResultCode::SessionNotFound:
      return make_error(Reason::SessionNotFound, "the session has ended or never existed; open a new one");
    case ResultCode::NotFound: return make_error(Reason::NotFound, absl::StrCat("there is ", absent, "; check its name or id"));
    case ResultCode::PermissionDenied:
      return make_error(Reason::PermissionDenied,
                        "the secret is not that of the session, or the session has none; give what Session::secret() said");
    case ResultCode::Fenced:
      return make_error(Reason::Fenced, "the lock of the fence is not held with its token any more; acquire it again");
    case ResultCode::EmptyKey: return make_error(Reason::EmptyKey, "a key has 1 to 8192 bytes, and this has none");
    case ResultCode::LimitExceeded:
      return make_error(Reason::LimitExceeded,
                        absl::StrCat(it, " is beyond a limit of the cluster that this version does not know; upgrade it"));
    case ResultCode::TtlTooLarge:
      return make_error(Reason::TtlTooLarge, "the time to live is above 9,000,000,000 s; give a shorter one");
    case ResultCode::InvalidArgument:
      return make_error(Reason::InvalidArgument,
                        absl::StrCat(it, " is malformed; look at the limits in the header of the call"));
    case ResultCode::CounterOverflow:
      return make_error(Reason::CounterOverflow,
                        absl::StrCat("the change would take ", it, " out of the range of 64 bits; it was not changed"));
    case ResultCode::Broken:
      return make_error(Reason::Broken,
                        absl::StrCat(it, " is broken, because a session it depended on has ended; make a new one"));
    case ResultCode::TooManyParties:
      return make_error(Reason::TooManyParties,
                        absl::StrCat("all parties of ", it, " have entered, and not all have left; try again when they have"));
    case ResultCode::AlreadyExists:
      return make_error(Reason::AlreadyExists, absl::StrCat(it, " exists already; use it, or another name"));
    default: break;
  }
  return make_error(Reason::Unsupported,
                    "the cluster does not know this kind of request yet; upgrade its replicas before you use it");
}

bool success(machine::ResultCode code) {
  return code == ResultCode::Ok || code == ResultCode::Granted || code == ResultCode::Queued;
}

}  // namespace

absl::Status status_of(const machine::Result& result, std::string_view name) {
  if (success(result.code)) return absl::OkStatus();
  const std::string subject = quoted(name);
  if (result.code == ResultCode::LimitExceeded) {
    return make_error(Reason::LimitExceeded, absl::StrCat("this owner has acquired ", subject,
                                                          " 65,535 times, which is the most; release it before it is acquired "
                                                          "again"));
  }
  return refusal_of(result, subject, absl::StrCat("nothing named ", subject));
}

absl::Status status_of(const machine::Result& result, Nameless kind) {
  if (success(result.code)) return absl::OkStatus();
  const std::string word(kind.word);
  return refusal_of(result, absl::StrCat("the ", word), absl::StrCat("no such ", word));
}

absl::Status status_of(const machine::Result& result, Object object) {
  const std::string it = quoted(object.name);
  switch (result.code) {
    case ResultCode::Held:
      return make_error(Reason::Held, absl::StrCat(it, " is in use, empty or closed now; try again later, or wait for it"));
    case ResultCode::WaitTimeout:
      return make_error(
          Reason::WaitTimeout,
          absl::StrCat("the time to wait for ", it, " is over, and the caller got nothing; try again later, or wait longer"));
    case ResultCode::NotFound:
      return make_error(Reason::NotFound,
                        absl::StrCat(it, " does not exist, or this caller has no part in it (any more); check the name"));
    case ResultCode::AlreadyExists:
      return make_error(Reason::AlreadyExists,
                        absl::StrCat(it, " exists already, or this owner is in it already; use what exists, or another name"));
    case ResultCode::InvalidArgument:
      return make_error(
          Reason::InvalidArgument,
          absl::StrCat("others entered ", it, " with another number of parties; every party has to give the same number"));
    default: return status_of(result, object.name);
  }
}

absl::Status status_of_command(const absl::StatusOr<machine::Result>& result, Object object) {
  if (!result.ok()) return result.status();
  return result->code == ResultCode::Lost ? session_over() : status_of(*result, object);
}

absl::Status watch_compacted(Revision lowest) {
  return make_error(
      Reason::Compacted,
      absl::StrCat("changes that this watch has not delivered were compacted: read the keys again, and watch from "
                   "the revision after that; the lowest revision to watch from is ",
                   lowest.value()));
}

absl::Status check_lock_name(std::string_view name) {
  if (name.empty()) return make_error(Reason::InvalidArgument, "the name is empty; give 1 to 1024 bytes");
  if (name.size() > machine::kNameBytesMax) {
    return make_error(Reason::LimitExceeded, absl::StrCat("the name has ", name.size(), " bytes; at most 1024 are allowed"));
  }
  return absl::OkStatus();
}

absl::Status check_key(std::string_view key) {
  if (key.empty()) return make_error(Reason::EmptyKey, "the key is empty; give 1 to 8192 bytes");
  if (key.size() > machine::kKeyBytesMax) {
    return make_error(Reason::LimitExceeded, absl::StrCat("the key has ", key.size(), " bytes; at most 8192 are allowed"));
  }
  return absl::OkStatus();
}

absl::Status check_range(const RangeOperation& range) {
  const ResultCode code = machine::check(range);
  if (code == ResultCode::LimitExceeded) return check_limits(range);
  if (code == ResultCode::InvalidArgument && range.limit < 0)
    return make_error(Reason::InvalidArgument, "the limit of the range is negative; give 0 for all entries, or more");
  return status_of({.code = code}, Nameless{"range"});
}

absl::Status unordered_range_too_large() {
  return make_error(
      Reason::LimitExceeded,
      "a range that is not sorted by key comes in one answer, and this one has more than 10,000 entries or 4 MiB; "
      "give it a limit, or sort it by key");
}

namespace {

absl::Status check_body(const machine::OpenSession& open) {
  if (open.ttl <= Duration::zero()) {
    return make_error(Reason::InvalidArgument, "the time to live is not above zero; give 50 ms or more");
  }
  if (open.ttl > machine::kTtlMax)
    return make_error(Reason::TtlTooLarge, "the time to live is above 9,000,000,000 s; give a shorter one");
  if (open.metadata.size() > machine::kMetadataBytesMax) {
    return too_large("session's metadata", open.metadata.size(), machine::kMetadataBytesMax);
  }
  return absl::OkStatus();
}

absl::Status check_body(const machine::GrantLease& grant) {
  if (grant.ttl <= Duration::zero()) {
    return make_error(Reason::InvalidArgument, "the time to live is not above zero; give 50 ms or more");
  }
  if (grant.ttl > machine::kTtlMax)
    return make_error(Reason::TtlTooLarge, "the time to live is above 9,000,000,000 s; give a shorter one");
  return absl::OkStatus();
}

absl::Status check_body(const machine::ResumeSession& resume) {
  if (!resume.id) return make_error(Reason::InvalidArgument, "the session id is 0: give what Session::id() said");
  if (resume.secret.empty())
    return make_error(Reason::InvalidArgument, "the secret is empty: give what Session::secret() said");
  if (resume.secret.size() > machine::kSecretBytesMax) {
    return too_large("secret", resume.secret.size(), machine::kSecretBytesMax);
  }
  return absl::OkStatus();
}

absl::Status check_body(const machine::KillSession& kill) {
  return kill.victim
             ? absl::OkStatus()
             : make_error(Reason::InvalidArgument, "the session id is 0; give the id of a session, which sessions() lists");
}

absl::Status check_body(const machine::ForceRelease& force) {
  if (absl::Status name = check_lock_name(force.name); !name.ok()) return name;
  return force.token
             ? absl::OkStatus()
             : make_error(Reason::InvalidArgument, "the token is 0; give the token of the hold to end, which holders() lists");
}

absl::Status check_body(const machine::ClearDelay& clear) { return check_lock_name(clear.name); }

absl::Status check_owner(std::string_view tag) {
  if (tag.size() <= machine::kOwnerTagBytesMax) return absl::OkStatus();
  return too_large("owner tag", tag.size(), machine::kOwnerTagBytesMax);
}
absl::Status check_wait(const machine::Wait& wait) {
  if (wait.kind != machine::Wait::Kind::Timed || wait.timeout > Duration::zero()) return absl::OkStatus();
  return make_error(Reason::InvalidArgument,
                    "the time to wait is not above zero; to try once without a wait, use LockWait::none()");
}

// The checks that both kinds of acquire have in common.
absl::Status check_terms(const auto& acquire) {
  if (acquire.value.size() > machine::kLockValueBytesMax) {
    return too_large("hold's value", acquire.value.size(), machine::kLockValueBytesMax);
  }
  if (absl::Status owner = check_owner(acquire.owner_tag); !owner.ok()) return owner;
  if (absl::Status wait = check_wait(acquire.wait); !wait.ok()) return wait;
  if (acquire.delay < Duration::zero() || acquire.delay > machine::kLockDelayMax) {
    return make_error(Reason::InvalidArgument, "the lock-delay is not between zero and 60 s");
  }
  return absl::OkStatus();
}

absl::Status check_body(const machine::Acquire& acquire) {
  if (absl::Status name = check_lock_name(acquire.name); !name.ok()) return name;
  const bool plain = acquire.mode == LockMode::Exclusive && (acquire.flags & machine::kReentrant) == 0;
  if (acquire.block != 0 && !plain) {
    return make_error(Reason::InvalidArgument,
                      "a sticky acquire cannot be shared or re-entrant: leave out `sticky`, or the other option");
  }
  return check_terms(acquire);
}

absl::Status check_body(const machine::AcquireAll& acquire) {
  if (acquire.locks.empty()) return make_error(Reason::InvalidArgument, "the list of locks is empty; give 1 to 128 names");
  if (acquire.locks.size() > machine::kLocksMax) {
    return make_error(Reason::LimitExceeded,
                      absl::StrCat(acquire.locks.size(), " locks are named; at most 128 are acquired at once"));
  }
  std::vector<std::string_view> names;
  for (const NamedLock& lock : acquire.locks) {
    if (absl::Status name = check_lock_name(lock.name); !name.ok()) return name;
    names.push_back(lock.name);
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return make_error(Reason::InvalidArgument, quoted(*twice) + " is named twice; name each lock once");
  }
  if ((acquire.flags & machine::kReentrant) != 0) {
    return make_error(Reason::InvalidArgument,
                      "several locks acquired at once cannot be re-entrant: leave out `reentrant`, or acquire them one by one");
  }
  return check_terms(acquire);
}

absl::Status check_hold(const auto& command) {
  if (absl::Status name = check_lock_name(command.name); !name.ok()) return name;
  return check_owner(command.owner_tag.value_or(""));
}
absl::Status check_body(const machine::Release& release) { return check_hold(release); }
absl::Status check_body(const machine::Downgrade& downgrade) { return check_hold(downgrade); }
absl::Status check_body(const machine::Upgrade& upgrade) { return check_hold(upgrade); }

absl::Status check_body(const machine::UpdateValue& update) {
  if (absl::Status hold = check_hold(update); !hold.ok()) return hold;
  if (update.value.size() <= machine::kLockValueBytesMax) return absl::OkStatus();
  return too_large("hold's value", update.value.size(), machine::kLockValueBytesMax);
}

absl::Status check_body(const machine::Put& put) {
  if (absl::Status key = check_key(put.key); !key.ok()) return key;
  if (absl::Status limits = check_limits(put); !limits.ok()) return limits;
  if (!put.sequential || (!put.ignore_value && !put.ignore_lease)) return absl::OkStatus();
  return make_error(Reason::InvalidArgument,
                    "a sequential key is new each time, so there is nothing to keep; leave out ignore_value and ignore_lease");
}

absl::Status check_body(const machine::Delete& erase) {
  const bool everything = erase.key.empty() && erase.end == kNoEnd;
  if (absl::Status key = everything ? absl::OkStatus() : check_key(erase.key); !key.ok()) return key;
  return check_limits(erase);
}

absl::Status check_body(const Transaction& transaction) { return check_limits(transaction); }
absl::Status check_body(const machine::Compact& compact) {
  return compact.at ? absl::OkStatus()
                    : make_error(Reason::InvalidArgument, "the revision to compact up to is 0; give 1 or more");
}

// The specific checks of each kind of semaphore, barrier and the like.
absl::Status check_value(const char* what, size_t size, size_t limit) {
  return size <= limit ? absl::OkStatus() : too_large(what, size, limit);
}
absl::Status check_amount(const char* what, uint64_t amount, uint64_t least) {
  if (amount < least) return make_error(Reason::InvalidArgument, absl::StrCat("the ", what, " is 0; give 1 or more"));
  if (amount <= static_cast<uint64_t>(machine::kAmountMax)) return absl::OkStatus();
  return make_error(Reason::LimitExceeded, absl::StrCat("the ", what, " is ", amount, "; at most 2^63 - 1 is allowed"));
}
absl::Status check_rest(const machine::SetSemaphoreLimit& one) { return check_amount("limit of the semaphore", one.limit, 0); }
absl::Status check_rest(const machine::AcquirePermits& one) {
  if (absl::Status limit = check_amount("limit of the semaphore", one.initial_limit.value_or(0), 0); !limit.ok()) return limit;
  return check_amount("number of permits", one.count, 1);
}
absl::Status check_rest(const machine::CreateLatch& one) { return check_amount("count of the latch", one.count, 1); }
absl::Status check_rest(const machine::CountDown& one) {
  return check_amount("number by which the latch is counted down", one.by, 1);
}
absl::Status check_rest(const machine::EnterBarrier& one) { return check_amount("number of parties", one.parties, 1); }
absl::Status check_rest(const machine::ChangeCounter& one) {
  const bool allocates = one.operation == machine::ChangeCounter::Operation::Allocate;
  if (!allocates || one.operand > 0) return absl::OkStatus();
  return make_error(Reason::InvalidArgument,
                    absl::StrCat("the number of ids to allocate is ", one.operand, "; give 1 or more"));
}
absl::Status check_rest(const machine::Enqueue& one) {
  return check_value("item's value", one.value.size(), machine::kItemBytesMax);
}
absl::Status check_rest(const machine::JoinGroup& one) {
  return check_value("member's value", one.value.size(), machine::kMemberValueBytesMax);
}
absl::Status check_rest(const machine::UpdateMember& one) {
  return check_value("member's value", one.value.size(), machine::kMemberValueBytesMax);
}
absl::Status check_rest(const machine::ClaimItem& one) {
  if (one.term >= Duration::zero()) return absl::OkStatus();
  return make_error(Reason::InvalidArgument,
                    "the term of the claim is negative; give zero for one that lasts as long as the session, or more");
}
absl::Status check_rest(const auto&) { return absl::OkStatus(); }

absl::Status check_body(const machine::CoordinationCommand& command) {
  const auto check = [](const auto& one) -> absl::Status {
    if (absl::Status name = check_lock_name(one.name); !name.ok()) return name;
    if constexpr (requires { one.wait; }) {
      if (absl::Status wait = check_wait(one.wait); !wait.ok()) return wait;
    }
    if constexpr (requires { one.owner_tag; }) {
      if (absl::Status owner = check_owner(one.owner_tag); !owner.ok()) return owner;
    }
    return check_rest(one);
  };
  return std::visit(check, command);
}
absl::Status check_body(const auto&) { return absl::OkStatus(); }

}  // namespace

// The machine's own predicate refuses everything that has a sentence above, and more.
absl::Status check_request(const machine::Request& request) {
  const ResultCode code = machine::validate(request);
  if (code == ResultCode::Ok) return absl::OkStatus();
  absl::Status status = std::visit([](const auto& body) { return check_body(body); }, request.body);
  return status.ok() ? status_of(machine::Result{.code = code}, Nameless{"request"}) : status;  // it has no sentence of its own
}

}  // namespace coordkit::client

namespace coordkit {

std::optional<Revision> revision_of(const absl::Status& refusal) {
  const std::optional<Reason> reason = reason_of(refusal);
  if (reason != Reason::Compacted && reason != Reason::FutureRevision) return std::nullopt;
  const std::optional<uint64_t> revision = last_number(sentence_of(refusal));
  return revision ? std::optional(Revision(*revision)) : std::nullopt;
}

}  // namespace coordkit

namespace coordkit::client {

absl::StatusOr<machine::Result> result_of(const Completion& completion) {
  absl::StatusOr<machine::Result> result = completion.status.ok() ? machine::decode_result(completion.bytes.view())
                                                                  : absl::StatusOr<machine::Result>(completion.status);
  if (completion.status.ok() && !result.ok()) result = unreadable(Outcome::Unknown);
  return result;
}

absl::StatusOr<machine::Result> done_of(const Completion& completion, Nameless subject) {
  auto result = result_of(completion);
  if (result.ok() && result->code != ResultCode::Ok) return status_of(*result, subject);
  return result;
}

absl::Status no_session() { return make_error(Reason::InvalidArgument, "no session was given; open one first"); }
absl::Status session_over() {
  return make_error(Reason::Lost, Outcome::NoEffect,
                    "the session has ended, is being ended, or belongs to another process now; open a new one");
}
absl::Status lost_while_acquiring() {
  return make_error(Reason::Lost, "the session ended while the acquire was under way; open a new one");
}
absl::Status no_grant() {
  return make_error(Reason::InvalidArgument, "no grant was given; pass the one that acquire() answered");
}
absl::Status hold_over() {
  return make_error(Reason::Lost,
                    "the grant was lost before: its longest time was over, or the log had ended it; acquire it again");
}
absl::Status released_or_lost(const HoldState& hold) {
  if (hold.lost()) return hold_over();
  return make_error(Reason::NotOwner, "the grant was released before; there is nothing left to do");
}
absl::Status hold_lost() { return make_error(Reason::Lost, "the session ended before, and the hold with it; open a new one"); }

absl::Status unreadable(Outcome outcome) {
  return make_error(Reason::Corrupt, outcome, "the machine's answer cannot be read; is this replica too old?");
}

bool was_executed(const machine::Result& result) {
  switch (result.code) {
    case ResultCode::InvalidArgument:
    case ResultCode::EmptyKey:
    case ResultCode::LimitExceeded:
    case ResultCode::TtlTooLarge:
    case ResultCode::Unsupported:
    case ResultCode::SessionNotFound:
    case ResultCode::Lost: return false;
    default: return true;
  }
}

std::optional<LeaderInfo> leader_of(const machine::Holders& held) {
  if (held.holders.empty() || held.holders.front().mode != LockMode::Exclusive) return std::nullopt;
  const machine::HolderInfo& holder = held.holders.front();
  return LeaderInfo{holder.session, holder.owner_tag, holder.token, holder.since, holder.value};
}

}  // namespace coordkit::client
