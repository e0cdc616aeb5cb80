#include "client/answers.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/last_number.h"
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
                        absl::StrCat("somebody else holds ", it, " or is before you in its line; try later, or with a wait"));
    case ResultCode::Delayed:
      return make_error(Reason::Delayed, absl::StrCat("a session expired that held ", it,
                                                      ", and the delay that it asked for runs; try later, or with a wait"));
    case ResultCode::Deadlock:
      return make_error(Reason::Deadlock,
                        absl::StrCat("to wait for ", it,
                                     " would close a circle of owners that wait for each other; release what this owner holds, "
                                     "then acquire again, best all locks at once"));
    case ResultCode::UpgradeConflict:
      return make_error(
          Reason::UpgradeConflict,
          absl::StrCat("others share ", it, ", so this grant cannot become exclusive; release it, then acquire exclusively"));
    case ResultCode::WaitTimeout:
      return make_error(Reason::WaitTimeout,
                        absl::StrCat("the wait for ", it, " was over before its turn came; the caller does not hold it"));
    case ResultCode::Cancelled:
      return make_error(Reason::Cancelled, absl::StrCat("the wait for ", it, " was given up; the caller holds nothing of it"));
    case ResultCode::AlreadyHeld:
      return make_error(Reason::AlreadyHeld, absl::StrCat("this owner has ", it, ", with token ", result.token.value(),
                                                          "; use another owner tag for another thread of control"));
    case ResultCode::AlreadyWaiting:
      return make_error(Reason::AlreadyWaiting,
                        absl::StrCat("this owner stands in the line for ", it, ", and goes on to wait"));
    case ResultCode::NotOwner:
      return make_error(Reason::NotOwner, absl::StrCat("the token is not the current hold of ", it,
                                                       "; it was released or lost before, and there is nothing left to do"));
    default: return absl::OkStatus();
  }
}

absl::Status refusal_of_keys(const machine::Result& result) {
  switch (result.code) {
    case ResultCode::KeyNotFound:
      return make_error(Reason::KeyNotFound, "there is no such key whose value or lease could be kept; put it in full");
    case ResultCode::LeaseNotFound:
      return make_error(Reason::LeaseNotFound, "the lease or session to attach it to has ended or never existed; grant one");
    case ResultCode::LeaseExists:
      return make_error(Reason::LeaseExists, "there is a lease or session of this id; give another one, or none");
    case ResultCode::NoSpace:
      return make_error(Reason::NoSpace,
                        "the keys have reached the limit that was set for them; delete some, then compact, or raise the limit");
    case ResultCode::ValueProvided:
      return make_error(Reason::ValueProvided, "ignore_value keeps the value that is there; leave the one of the put empty");
    case ResultCode::LeaseProvided:
      return make_error(Reason::LeaseProvided, "ignore_lease keeps the lease that is there; leave the one of the put zero");
    case ResultCode::TooManyOps:
      return make_error(Reason::TooManyOps,
                        "a branch has more than 128 operations or compares, less those of the transactions around it, or it is "
                        "nested more than 8 deep; split it");
    case ResultCode::DuplicateKey:
      return make_error(Reason::DuplicateKey,
                        "a branch puts a key twice, or puts and deletes it, and a nested transaction counts with both its "
                        "branches; leave one of them");
    case ResultCode::InvalidSort:
      return make_error(Reason::InvalidSort, "the sort target or order is none of the known; use those of key_operations.h");
    case ResultCode::Compacted:
      return make_error(Reason::Compacted, absl::StrCat("the revision cannot be read any more; the lowest that can be is ",
                                                        result.compacted.value()));
    case ResultCode::FutureRevision:
      return make_error(Reason::FutureRevision,
                        absl::StrCat("the revision is not there yet; the newest is ", result.revision.value()));
    default: return absl::OkStatus();
  }
}

// `it`: the subject in mid-sentence; `absent`: the phrase for a missing one.
absl::Status refusal_of(const machine::Result& result, const std::string& it, const std::string& absent) {
  if (absl::Status lock = refusal_of_lock(result, it); !lock.ok()) return lock;
  if (absl::Status keys = refusal_of_keys(result); !keys.ok()) return keys;
  switch (result.code) {
    case ResultCode::Lost:
      return make_error(Reason::Lost,
                        "the session has ended, is being ended, or belongs to another process now; open a new one");
    case ResultCode::SessionNotFound:
      return make_error(Reason::SessionNotFound, "the session has ended or never existed; open a new one");
    case ResultCode::NotFound:
      return make_error(Reason::NotFound, absl::StrCat("there is ", absent, "; look at its name or id"));
    case ResultCode::PermissionDenied:
      return make_error(Reason::PermissionDenied,
                        "the secret is not the session's, or it was opened without one; give what secret() said");
    case ResultCode::Fenced:
      return make_error(Reason::Fenced, "the lock of the fence is not held with its token any more; acquire it anew");
    case ResultCode::EmptyKey: return make_error(Reason::EmptyKey, "a key has 1 to 8192 bytes, and this has none");
    case ResultCode::LimitExceeded:
      return make_error(
          Reason::LimitExceeded,
          "a part of the request is larger than its limit, the hold is counted 65,535 times already, or a range in "
          "another order than that of the keys is too large for one answer; give a limit");
    case ResultCode::TtlTooLarge:
      return make_error(Reason::TtlTooLarge, "the time to live is above 9,000,000,000 s; give a shorter one");
    case ResultCode::InvalidArgument:
      return make_error(Reason::InvalidArgument,
                        absl::StrCat(it, " is malformed; look at the limits in the header of the call"));
    case ResultCode::CounterOverflow:
      return make_error(Reason::CounterOverflow, absl::StrCat(it, " would leave the range of 64 bits; it is as it was"));
    case ResultCode::Broken:
      return make_error(Reason::Broken, absl::StrCat(it, " broke, because a session it depended on has ended; make it anew"));
    case ResultCode::TooManyParties:
      return make_error(Reason::TooManyParties,
                        absl::StrCat("all parties of ", it, " have entered and not all have left; try when they have"));
    case ResultCode::AlreadyExists:
      return make_error(Reason::AlreadyExists, absl::StrCat(it, " is there already; use it, or another name"));
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
      return make_error(Reason::Held,
                        absl::StrCat(it, " is in use, empty or closed just now; try later, or with a wait where there is one"));
    case ResultCode::WaitTimeout:
      return make_error(Reason::WaitTimeout,
                        absl::StrCat("the wait for ", it, " was over first; the caller got nothing of it"));
    case ResultCode::NotFound:
      return make_error(Reason::NotFound,
                        absl::StrCat("there is nothing of ", it, " to do this to, or no longer; look at its name"));
    case ResultCode::AlreadyExists:
      return make_error(Reason::AlreadyExists,
                        absl::StrCat(it, " is there already, or has this owner already; use what is there, or another name"));
    case ResultCode::InvalidArgument:
      return make_error(Reason::InvalidArgument,
                        absl::StrCat(it, " is entered by others with another number of parties; all have to give the same"));
    default: return status_of(result, object.name);
  }
}

absl::Status status_of_command(const absl::StatusOr<machine::Result>& result, Object object) {
  if (!result.ok()) return result.status();
  return result->code == ResultCode::Lost ? session_over() : status_of(*result, object);
}

absl::Status watch_compacted(Revision lowest) {
  return make_error(Reason::Compacted,
                    absl::StrCat("what the watch has not seen yet was compacted: read the keys anew and watch "
                                 "on from what you read; the lowest revision to watch from is ",
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

namespace {

absl::Status too_large(std::string_view what, size_t size, size_t limit) {
  return make_error(Reason::LimitExceeded,
                    absl::StrCat("the ", std::string(what), " has ", size, " bytes; at most ", limit, " are allowed"));
}

absl::Status check_body(const machine::OpenSession& open) {
  if (open.ttl <= Duration::zero()) {
    return make_error(Reason::InvalidArgument, "the time to live must be above zero; values below 50 ms are raised to it");
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
    return make_error(Reason::InvalidArgument, "the time to live must be above zero; values below 50 ms are raised to it");
  }
  if (grant.ttl > machine::kTtlMax)
    return make_error(Reason::TtlTooLarge, "the time to live is above 9,000,000,000 s; give a shorter one");
  return absl::OkStatus();
}

absl::Status check_body(const machine::ResumeSession& resume) {
  if (!resume.id) return make_error(Reason::InvalidArgument, "no session is named: give the id that the session had");
  if (resume.secret.empty()) return make_error(Reason::InvalidArgument, "the secret is empty: give what secret() said");
  if (resume.secret.size() > machine::kSecretBytesMax) {
    return too_large("secret", resume.secret.size(), machine::kSecretBytesMax);
  }
  return absl::OkStatus();
}

absl::Status check_body(const machine::KillSession& kill) {
  return kill.victim ? absl::OkStatus() : make_error(Reason::InvalidArgument, "no session is named; give its id");
}

absl::Status check_body(const machine::ForceRelease& force) {
  if (absl::Status name = check_lock_name(force.name); !name.ok()) return name;
  return force.token ? absl::OkStatus() : make_error(Reason::InvalidArgument, "no token: give that of the hold to end");
}

absl::Status check_body(const machine::ClearDelay& clear) { return check_lock_name(clear.name); }

absl::Status check_owner(std::string_view tag) {
  if (tag.size() <= machine::kOwnerTagBytesMax) return absl::OkStatus();
  return too_large("owner tag", tag.size(), machine::kOwnerTagBytesMax);
}
absl::Status check_wait(const machine::Wait& wait) {
  if (wait.kind != machine::Wait::Kind::Timed || wait.timeout > Duration::zero()) return absl::OkStatus();
  return make_error(Reason::InvalidArgument, "a timed wait must be above zero; use LockWait::none() to try once");
}

// What both kinds of acquire have in common.
absl::Status check_terms(const auto& acquire) {
  if (acquire.value.size() > machine::kLockValueBytesMax) {
    return too_large("hold's value", acquire.value.size(), machine::kLockValueBytesMax);
  }
  if (absl::Status owner = check_owner(acquire.owner_tag); !owner.ok()) return owner;
  if (absl::Status wait = check_wait(acquire.wait); !wait.ok()) return wait;
  if (acquire.delay < Duration::zero() || acquire.delay > machine::kLockDelayMax) {
    return make_error(Reason::InvalidArgument, "the lock-delay must be between zero and 60 s");
  }
  return absl::OkStatus();
}

absl::Status check_body(const machine::Acquire& acquire) {
  if (absl::Status name = check_lock_name(acquire.name); !name.ok()) return name;
  const bool plain = acquire.mode == LockMode::Exclusive && (acquire.flags & machine::kReentrant) == 0;
  if (acquire.block != 0 && !plain) {
    return make_error(Reason::InvalidArgument, "a sticky acquire is exclusive and not re-entrant: drop one of the options");
  }
  return check_terms(acquire);
}

absl::Status check_body(const machine::AcquireAll& acquire) {
  if (acquire.locks.empty()) return make_error(Reason::InvalidArgument, "no lock is named; give 1 to 128 names");
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
    return make_error(Reason::InvalidArgument, "several locks at once cannot be re-entrant; acquire them one by one, or once");
  }
  return check_terms(acquire);
}

absl::Status check_body(const machine::UpdateValue& update) {
  if (update.value.size() <= machine::kLockValueBytesMax) return absl::OkStatus();
  return too_large("hold's value", update.value.size(), machine::kLockValueBytesMax);
}

absl::Status check_body(const machine::Put& put) {
  if (absl::Status key = check_key(put.key); !key.ok()) return key;
  if (put.value.size() > machine::kValueBytesMax) return too_large("value", put.value.size(), machine::kValueBytesMax);
  return absl::OkStatus();
}

absl::Status check_body(const machine::Delete& erase) {
  const bool everything = erase.key.empty() && erase.end == kNoEnd;
  return everything ? absl::OkStatus() : check_key(erase.key);
}

// Of semaphores, barriers and the like, what is specific to each.
absl::Status check_some(const std::string& what, bool some) {
  return some ? absl::OkStatus() : make_error(Reason::InvalidArgument, what + " must be 1 or more");
}
absl::Status check_value(std::string_view what, size_t size, size_t limit) {
  return size <= limit ? absl::OkStatus() : too_large(what, size, limit);
}
absl::Status check_rest(const machine::AcquirePermits& one) { return check_some("the number of permits", one.count > 0); }
absl::Status check_rest(const machine::CreateLatch& one) { return check_some("the count of a latch", one.count > 0); }
absl::Status check_rest(const machine::CountDown& one) { return check_some("what a latch is counted down by", one.by > 0); }
absl::Status check_rest(const machine::EnterBarrier& one) { return check_some("the number of parties", one.parties > 0); }
absl::Status check_rest(const machine::ChangeCounter& one) {
  const bool allocates = one.operation == machine::ChangeCounter::Operation::Allocate;
  return check_some("how many numbers are allocated", !allocates || one.operand > 0);
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
  return make_error(Reason::InvalidArgument, "a claim's term must not be below zero; zero: it lasts as long as the session");
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

// The machine's own predicate refuses all that has a sentence above, and more.
absl::Status check_request(const machine::Request& request) {
  const ResultCode code = machine::validate(request);
  if (code == ResultCode::Ok) return absl::OkStatus();
  absl::Status status = std::visit([](const auto& body) { return check_body(body); }, request.body);
  return status.ok() ? status_of(machine::Result{.code = code}, Nameless{"request"}) : status;  // no sentence of its own
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
