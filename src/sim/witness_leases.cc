// The witness for leases of keys: answers match what the log made of the lease, and reads show what was so.
#include <fmt/format.h>

#include <algorithm>

#include "sim/witness.h"

namespace coordkit::sim {
namespace {

bool same(const LeaseInfo& told, const LeaseModel::Lease& lease) {
  return told.id == lease.id && told.ttl == lease.ttl && told.keeper == lease.keeper && told.remaining >= Duration::zero() &&
         told.remaining <= lease.ttl;
}

}  // namespace

void Witness::lease_executed(CallNumber number, LeaseId id, const absl::Status& answer, const Told& told) {
  demand_missing(calls_[number], id, answer);
  executed(number, answer, told);
}

// A caller that is told that there is no such lease: at some time since the call there was none.
void Witness::demand_missing(const Call& call, LeaseId id, const absl::Status& answer) const {
  if (duty_ == Duty::Count || reason_of(answer) != Reason::LeaseNotFound) return;
  if (!model_.leases().was_missing(id, call.floor)) {
    fail("INV_K05", call, fmt::format("told that lease {} does not exist, which did all the time", id.value()));
  }
}

// By its keeper, which is told that it is over, whatever ended it.
void Witness::lease_given_back(CallNumber number, LeaseId id, const absl::Status& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer);
  if (model_.leases().alive(id) != nullptr) fail("INV_K05", call, "told that the lease has ended, but it lives");
}

void Witness::lease_seen(CallNumber number, LeaseId id, const absl::StatusOr<LeaseDetails>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  demand_missing(call, id, answer.status());
  if (!answer.ok()) return refused(call, answer.status());
  observed(call, answer->as_of);
  const LeaseModel::Lease* lease = model_.leases().at(id, answer->as_of);
  if (lease == nullptr || !same(answer->lease, *lease) || answer->revision != model_.history().revision_at(answer->as_of)) {
    fail("INV_K05", call, fmt::format("what was told of it at {} differs from the log's", answer->as_of.value()));
  }
  const RangeReply all = model_.keys().range_at(RangeOperation::all(), answer->revision);
  std::vector<std::string> keys;
  for (const KeyValue& entry : all.entries) {
    if (entry.lease == id) keys.push_back(entry.key);
  }
  if (keys != answer->lease.keys) {
    fail("INV_K05", call, fmt::format("told {} keys, of {}", answer->lease.keys.size(), keys.size()));
  }
}

// All existing leases; one whose end was applied while the answer was assembled may be missing.
void Witness::leases_listed(CallNumber number, const absl::StatusOr<LeaseList>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  observed(call, answer->as_of);
  const std::vector<LeaseModel::Lease> all = model_.leases().all_at(answer->as_of);
  size_t found = 0;
  for (const LeaseModel::Lease& lease : all) {
    const auto told = std::ranges::find(answer->leases, lease.id, &LeaseInfo::id);
    const bool listed = told != answer->leases.end();
    if (listed ? !same(*told, lease) : !lease.until) {
      fail("INV_K05", call, fmt::format("lease {} at {} differs from the log's", lease.id.value(), answer->as_of.value()));
    }
    found += listed ? 1 : 0;
  }
  if (found != answer->leases.size()) fail("INV_K05", call, "told of leases that were not there");
}

}  // namespace coordkit::sim
