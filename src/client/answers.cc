#include "client/answers.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/mutant.h"
#include "coordkit/client/keys.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

using machine::ResultCode;

constexpr char kRevisionUrl[] = "coordkit/revision";  // in decimal

absl::Status refusal(Reason reason, std::string_view subject, std::string_view sentence) {
  return make_error(reason, absl::StrCat(std::string(subject), ": ", std::string(sentence)));
}

// One that carries a revision.
absl::Status refusal(Reason reason, std::string_view subject, std::string_view sentence, Revision revision) {
  absl::Status status = refusal(reason, subject, absl::StrCat(std::string(sentence), revision.value()));
  status.SetPayload(kRevisionUrl, absl::Cord(std::to_string(revision.value())));
  return status;
}

// A printable stand-in for a name in a sentence: short, and never the raw bytes of a hostile one.
std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (const char byte : name.substr(0, 64)) out += byte >= 0x20 && byte < 0x7f ? byte : '?';
  return out + (name.size() > 64 ? "...\"" : "\"");
}

}  // namespace

absl::Status status_of(const machine::Result& result, std::string_view name) {
  const std::string subject = quoted(name);
  switch (result.code) {
    case ResultCode::Ok:
    case ResultCode::Granted:
    case ResultCode::Queued: return absl::OkStatus();
    case ResultCode::Held:
      return refusal(Reason::Held, subject,
                     "it cannot be had without waiting: somebody else holds it or is before; try later or with a wait");
    case ResultCode::Delayed:
      return refusal(Reason::Delayed, subject,
                     "a holder's session expired, and the delay that it asked for runs; try later or acquire with a wait");
    case ResultCode::Deadlock:
      return refusal(Reason::Deadlock, subject,
                     "to wait would close a circle of owners that wait for each other; release what this owner holds, then "
                     "acquire again, best all locks at once");
    case ResultCode::UpgradeConflict:
      return refusal(Reason::UpgradeConflict, subject,
                     "others share the lock, so this grant cannot become exclusive; release it and acquire exclusively");
    case ResultCode::WaitTimeout:
      return refusal(Reason::WaitTimeout, subject, "the wait was over before it was granted; the caller does not hold it");
    case ResultCode::Cancelled: return refusal(Reason::Cancelled, subject, "the wait was cancelled; the caller holds nothing");
    case ResultCode::Lost:
      return refusal(Reason::Lost, subject,
                     "the session has ended, is being ended, or belongs to another process now; open a new one");
    case ResultCode::AlreadyHeld:
      return refusal(Reason::AlreadyHeld, subject,
                     absl::StrCat("this owner holds the lock already, with token ", result.token.value(),
                                  "; use another owner tag for another thread of control"));
    case ResultCode::AlreadyWaiting:
      return refusal(Reason::AlreadyWaiting, subject, "this owner waits for the lock already; the first wait goes on");
    case ResultCode::NotOwner:
      return refusal(Reason::NotOwner, subject, "the token is not the current hold; it was released or lost before");
    case ResultCode::SessionNotFound:
      return refusal(Reason::SessionNotFound, subject, "the session has ended or never existed; open a new one");
    case ResultCode::NotFound: return refusal(Reason::NotFound, subject, "no such object");
    case ResultCode::KeyNotFound:
      return refusal(Reason::KeyNotFound, subject, "there is no such key whose value or lease could be kept; put it in full");
    case ResultCode::LeaseNotFound:
      return refusal(Reason::LeaseNotFound, subject, "the lease or session to attach it to has ended or never existed");
    case ResultCode::LeaseExists:
      return refusal(Reason::LeaseExists, subject, "there is a lease or session of this id; give another one, or none");
    case ResultCode::NoSpace:
      return refusal(Reason::NoSpace, subject,
                     "the keys have reached the limit that was set for them: delete some, then compact; or raise the limit");
    case ResultCode::ValueProvided:
      return refusal(Reason::ValueProvided, subject, "ignore_value keeps the value; leave the one of the put empty");
    case ResultCode::LeaseProvided:
      return refusal(Reason::LeaseProvided, subject, "ignore_lease keeps the lease; leave the one of the put zero");
    case ResultCode::TooManyOps:
      return refusal(Reason::TooManyOps, subject,
                     "a branch has more than 128 operations or compares, less those of the transactions around it, or it is "
                     "nested more than 8 deep; split it");
    case ResultCode::DuplicateKey:
      return refusal(Reason::DuplicateKey, subject,
                     "a branch puts a key twice, or puts and deletes it; a nested transaction counts with both its branches");
    case ResultCode::InvalidSort: return refusal(Reason::InvalidSort, subject, "the sort target or order is none of the known");
    case ResultCode::Compacted:
      return refusal(Reason::Compacted, subject, "the revision was compacted; the lowest that there is still is ",
                     result.compacted);
    case ResultCode::FutureRevision:
      return refusal(Reason::FutureRevision, subject, "the revision is not there yet; the newest is ", result.revision);
    case ResultCode::PermissionDenied:
      return refusal(Reason::PermissionDenied, subject,
                     "the secret is not the session's, or it was opened without one; give what secret() said");
    case ResultCode::Fenced: return refusal(Reason::Fenced, subject, "the token given as a guard does not hold the lock");
    case ResultCode::EmptyKey: return refusal(Reason::EmptyKey, subject, "the key is empty");
    case ResultCode::LimitExceeded:
      return refusal(Reason::LimitExceeded, subject,
                     "a part of the request is larger than its limit, the hold is counted 65,535 times already, or a range in "
                     "another order than that of the keys is too large for one answer: give a limit");
    case ResultCode::TtlTooLarge: return refusal(Reason::TtlTooLarge, subject, "the time to live is above 9,000,000,000 s");
    case ResultCode::InvalidArgument: return refusal(Reason::InvalidArgument, subject, "the request is malformed");
    case ResultCode::CounterOverflow:
      return refusal(Reason::CounterOverflow, subject, "the counter would leave the range of 64 bits; it is unchanged");
    case ResultCode::Broken:
      return refusal(Reason::Broken, subject, "the barrier broke, because a session it depended on has ended");
    case ResultCode::TooManyParties:
      return refusal(Reason::TooManyParties, subject, "all parties have entered and not all have left; try when they have");
    case ResultCode::AlreadyExists: return refusal(Reason::AlreadyExists, subject, "it is there already");
    case ResultCode::Unsupported: break;
  }
  return refusal(Reason::Unsupported, subject, "the cluster does not know this kind of request yet");
}

absl::Status check_lock_name(std::string_view name) {
  if (name.empty()) return make_error(Reason::InvalidArgument, "the lock name is empty; give 1 to 1024 bytes");
  if (name.size() > machine::kNameBytesMax) {
    return make_error(Reason::LimitExceeded,
                      absl::StrCat("the lock name has ", name.size(), " bytes; at most 1024 are allowed"));
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
  if (open.ttl > machine::kTtlMax) return make_error(Reason::TtlTooLarge, "the time to live is above 9,000,000,000 s");
  if (open.metadata.size() > machine::kMetadataBytesMax) {
    return too_large("session's metadata", open.metadata.size(), machine::kMetadataBytesMax);
  }
  return absl::OkStatus();
}

absl::Status check_body(const machine::GrantLease& grant) {
  if (grant.ttl <= Duration::zero()) {
    return make_error(Reason::InvalidArgument, "the time to live must be above zero; values below 50 ms are raised to it");
  }
  if (grant.ttl > machine::kTtlMax) return make_error(Reason::TtlTooLarge, "the time to live is above 9,000,000,000 s");
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
  return kill.victim ? absl::OkStatus() : make_error(Reason::InvalidArgument, "no session is named");
}

absl::Status check_body(const machine::ForceRelease& force) {
  if (absl::Status name = check_lock_name(force.name); !name.ok()) return name;
  return force.token ? absl::OkStatus() : make_error(Reason::InvalidArgument, "no token: give that of the hold to end");
}

// What both kinds of acquire have in common.
absl::Status check_terms(const auto& acquire) {
  if (acquire.value.size() > machine::kLockValueBytesMax) {
    return too_large("hold's value", acquire.value.size(), machine::kLockValueBytesMax);
  }
  if (acquire.owner_tag.size() > machine::kOwnerTagBytesMax) {
    return too_large("owner tag", acquire.owner_tag.size(), machine::kOwnerTagBytesMax);
  }
  if (acquire.wait.kind == machine::Wait::Kind::Timed && acquire.wait.timeout <= Duration::zero()) {
    return make_error(Reason::InvalidArgument, "a timed wait must be above zero; use LockWait::none() to try once");
  }
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
absl::Status check_body(const auto&) { return absl::OkStatus(); }

}  // namespace

absl::Status check_request(const machine::Request& request) {
  absl::Status status = std::visit([](const auto& body) { return check_body(body); }, request.body);
  if (!status.ok()) return status;
  // Whatever the sentences above did not foresee, the machine's own predicate still refuses before the log.
  const ResultCode code = machine::validate(request);
  return code == ResultCode::Ok ? absl::OkStatus() : status_of(machine::Result{.code = code}, "request");
}

}  // namespace coordkit::client

namespace coordkit {

std::optional<Revision> revision_of(const absl::Status& refusal) {
  const absl::optional<absl::Cord> payload = refusal.GetPayload(client::kRevisionUrl);
  uint64_t revision = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &revision)) return std::nullopt;
  return Revision(revision);
}

}  // namespace coordkit

namespace coordkit::client {

absl::StatusOr<machine::Result> result_of(const Completion& completion) {
  if (!completion.status.ok()) return completion.status;
  auto result = machine::decode_result(completion.bytes);
  if (!result.ok()) return unreadable(Outcome::Unknown);
  return result;
}

absl::StatusOr<machine::Result> done_of(const Completion& completion, std::string_view subject) {
  auto result = result_of(completion);
  if (result.ok() && result->code != ResultCode::Ok) return status_of(*result, subject);
  return result;
}

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
    case ResultCode::SessionNotFound: return false;
    case ResultCode::Lost: return mutant(Mutant::LostCarrierCounts);
    default: return true;
  }
}

std::optional<LeaderInfo> leader_of(const machine::HoldersReply& reply) {
  if (reply.holders.empty() || reply.holders.front().mode != LockMode::Exclusive) return std::nullopt;
  const machine::HolderInfo& holder = reply.holders.front();
  return LeaderInfo{holder.session, holder.owner_tag, holder.token, holder.since, holder.value};
}

}  // namespace coordkit::client
