#include "sim/keys/lease_witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "coordkit/error.h"

namespace coordkit::sim {
namespace {

using machine::Result;
using machine::ResultCode;

bool same(const LeaseInfo& info, const LeaseModel::Lease& lease) {
  return info.id == lease.id && info.ttl == lease.ttl && info.keeper == lease.keeper && info.remaining >= Duration::zero() &&
         info.remaining <= lease.ttl;
}

bool granted_as(const Result& result, LeaseId id, Duration ttl) {
  return result.code == ResultCode::Ok && result.lease == id && result.ttl == ttl;
}

auto same_as(const absl::StatusOr<GrantedLease>& answer) {
  return [&answer](const Result& result) {
    return granted_as(result, answer->id, answer->ttl) && result.revision == answer->revision;
  };
}

}  // namespace

void LeaseWitness::kept(CallNumber number, const absl::StatusOr<KeyLeaseRef>& answer) {
  rules_.executed(number, answer.status(),
                  [&answer](const Result& result) { return granted_as(result, (*answer)->id(), (*answer)->ttl()); });
}

void LeaseWitness::granted(CallNumber number, const absl::StatusOr<GrantedLease>& answer) {
  rules_.executed(number, answer.status(), same_as(answer));
}

void LeaseWitness::renewed(CallNumber number, LeaseId id, const absl::StatusOr<GrantedLease>& answer) {
  rules_.executed(number, answer.status(), same_as(answer));
  demand_missing(calls_.at(number), id, answer.status());
}

void LeaseWitness::revoked(CallNumber number, LeaseId id, const absl::StatusOr<RevokedLease>& answer) {
  rules_.executed(number, answer.status(), [&answer](const Result& result) {
    return result.code == ResultCode::Ok && result.deleted == answer->deleted && result.revision == answer->revision;
  });
  demand_missing(calls_.at(number), id, answer.status());
}

// The answer that there is no such lease: at some time since the call there was none.
void LeaseWitness::demand_missing(const Call& call, LeaseId id, const absl::Status& answer) const {
  if (!rules_.judges() || reason_of(answer) != Reason::LeaseNotFound) return;
  if (!model_.leases().was_missing(id, call.floor)) {
    fail("INV_K05", call, fmt::format("answered that lease {} does not exist, but it existed all the time", id.value()));
  }
}

// Its keeper learns that it is over, whatever ended it.
void LeaseWitness::given_back(CallNumber number, LeaseId id, const absl::Status& answer) {
  const Call* call = rules_.succeeded(number, answer);
  if (call && model_.leases().alive(id) != nullptr) fail("INV_K05", *call, "answered that the lease has ended, but it lives");
}

void LeaseWitness::seen(CallNumber number, LeaseId id, const absl::StatusOr<LeaseDetails>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return demand_missing(calls_.at(number), id, answer.status());
  rules_.observed(*call, answer->as_of);
  const LeaseModel::Lease* lease = model_.leases().at(id, answer->as_of);
  if (lease == nullptr || !same(answer->lease, *lease) || answer->revision != model_.history().revision_at(answer->as_of)) {
    fail("INV_K05", *call, fmt::format("the answer at {} differs from the log's", answer->as_of.value()));
  }
  const RangeReply all = model_.keys().range_at(RangeOperation::all(), answer->revision);
  std::vector<std::string> keys;
  for (const KeyValue& entry : all.entries) {
    if (entry.lease == id) keys.push_back(entry.key);
  }
  if (keys != answer->lease.keys) {
    fail("INV_K05", *call, fmt::format("answered with {} keys, of {}", answer->lease.keys.size(), keys.size()));
  }
}

// All existing leases; one whose end was applied while the answer was assembled may be missing.
void LeaseWitness::listed(CallNumber number, const absl::StatusOr<LeaseList>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return;
  rules_.observed(*call, answer->as_of);
  const std::vector<LeaseModel::Lease> all = model_.leases().all_at(answer->as_of);
  size_t found = 0;
  for (const LeaseModel::Lease& lease : all) {
    const auto info = std::ranges::find(answer->leases, lease.id, &LeaseInfo::id);
    const bool listed = info != answer->leases.end();
    if (listed ? !same(*info, lease) : !lease.until) {
      fail("INV_K05", *call, fmt::format("lease {} at {} differs from the log's", lease.id.value(), answer->as_of.value()));
    }
    found += listed ? 1 : 0;
  }
  if (found != answer->leases.size()) fail("INV_K05", *call, "answered with leases that did not exist");
}

}  // namespace coordkit::sim
