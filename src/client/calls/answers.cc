#include "client/calls/answers.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/last_number.h"
#include "base/printable.h"
#include "client/keys/key_limits.h"
#include "coordkit/client/keys.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

using machine::ResultCode;

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
                                     "release the locks of this owner, then acquire them again, best all at once; if the lock "
                                     "is to be released elsewhere, use another owner (or session) there"));
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
      return make_error(
          Reason::AlreadyWaiting,
          absl::StrCat("this owner waits for ", it,
                       " already, in an earlier call that is under way; use another owner tag for another owner"));
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
      if (!result.why.empty()) return make_error(Reason::PermissionDenied, result.why);
      return make_error(
          Reason::PermissionDenied,
          "the secret is not that of the session, or the session has none; give the secret that Session::secret() returned");
    case ResultCode::Fenced:
      return make_error(Reason::Fenced, "the lock of the fence is not held with its token any more; acquire it again");
    case ResultCode::EmptyKey: return make_error(Reason::EmptyKey, "a key has 1 to 8192 bytes, and this has none");
    case ResultCode::LimitExceeded:
      return make_error(
          Reason::LimitExceeded,
          absl::StrCat(it, " is beyond a limit of the cluster that this version does not know; upgrade this process"));
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

namespace {

Reason reason_for(ResultCode code) {
  if (code == ResultCode::LimitExceeded) return Reason::LimitExceeded;
  return code == ResultCode::TtlTooLarge ? Reason::TtlTooLarge : Reason::InvalidArgument;
}

absl::Status refusal_of(const machine::Objection& objection) {
  if (!objection.sentence.empty()) return make_error(reason_for(objection.code), objection.sentence);
  return status_of(machine::Result{.code = objection.code}, Nameless{"request"});
}

}  // namespace

absl::Status watch_compacted(Revision lowest) {
  return make_error(
      Reason::Compacted,
      absl::StrCat("changes that this watch has not delivered were compacted: read the keys again, and watch from "
                   "the revision after that; the lowest revision to watch from is ",
                   lowest.value()));
}

absl::Status check_lock_name(std::string_view name) { return refusal_of(machine::check_name(name)); }

absl::Status check_key(std::string_view key) {
  if (key.empty()) return make_error(Reason::EmptyKey, "the key is empty; give 1 to 8192 bytes");
  return refusal_of(machine::check_size("key", key.size(), machine::kKeyBytesMax));
}

absl::Status check_range(const RangeOperation& range) {
  const ResultCode code = machine::check(range).code;
  if (code == ResultCode::LimitExceeded) return refusal_of(check_limits(range));
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

absl::Status check_body(const machine::Put& put) {
  if (absl::Status key = check_key(put.key); !key.ok()) return key;
  if (absl::Status limits = refusal_of(check_limits(put)); !limits.ok()) return limits;
  if (!put.sequential || (!put.ignore_value && !put.ignore_lease)) return absl::OkStatus();
  return make_error(Reason::InvalidArgument,
                    "a sequential key is new each time, so there is nothing to keep; leave out ignore_value and ignore_lease");
}

absl::Status check_body(const machine::Delete& erase) {
  const bool everything = erase.key.empty() && erase.end == kNoEnd;
  if (absl::Status key = everything ? absl::OkStatus() : check_key(erase.key); !key.ok()) return key;
  return refusal_of(check_limits(erase));
}

absl::Status check_body(const Transaction& transaction) { return refusal_of(check_limits(transaction)); }
absl::Status check_body(const auto&) { return absl::OkStatus(); }

}  // namespace

absl::Status check_request(const machine::Request& request) {
  const machine::Objection objection = machine::validated(request).objection;
  if (objection.none() || !objection.sentence.empty()) return refusal_of(objection);
  // The limits of operations on keys have their sentences here.
  absl::Status status = std::visit([](const auto& body) { return check_body(body); }, request.body);
  return status.ok() ? refusal_of(objection) : status;
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
  return make_error(Reason::Corrupt, outcome,
                    "the machine's answer cannot be read; upgrade this replica if it is older than the leader");
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
  return LeaderInfo{holder.session, holder.owner_tag, holder.token, holder.since, holder.texts.value};
}

}  // namespace coordkit::client
