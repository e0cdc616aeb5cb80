#include "sim/keys/lease_model.h"

#include <algorithm>

#include "machine/command.h"

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

namespace {

bool lived(const LeaseModel::Lease& lease, Index at) { return lease.from <= at && (!lease.until || lease.until > at); }

}  // namespace

Result LeaseModel::run(const machine::GrantLease& grant, Index index, const std::function<bool(LeaseId)>& of_session) {
  const auto taken = [&](LeaseId id) { return alive(id) != nullptr || of_session(id); };
  if (grant.id && taken(grant.id)) return {.code = ResultCode::LeaseExists};
  LeaseId id = grant.id ? grant.id : LeaseId((uint64_t{1} << 62) + index.value());
  while (!grant.id && taken(id)) id = id.next();
  const Duration ttl = std::max(grant.ttl, machine::kTtlMin);
  const SessionId number(++counter_);
  leases_.push_back({.id = id, .number = number, .ttl = ttl, .keeper = grant.node, .from = index});
  return {.session = number, .ttl = ttl, .lease = id};
}

Result LeaseModel::run(const machine::RenewLease& renew) {
  Lease* lease = find(renew.id);
  if (lease == nullptr) return {.code = ResultCode::LeaseNotFound};
  lease->generation = lease->generation.next();
  return {.session = lease->number, .ttl = lease->ttl, .lease = lease->id};
}

void LeaseModel::end(LeaseId id, Index index, bool expired) {
  Lease& lease = *find(id);
  lease.until = index;
  lease.expired = expired;
}

LeaseModel::Lease* LeaseModel::find(LeaseId id) {
  const auto living = std::ranges::find_if(leases_, [id](const Lease& lease) { return lease.id == id && !lease.until; });
  return living == leases_.end() ? nullptr : &*living;
}

const LeaseModel::Lease* LeaseModel::alive(LeaseId id) const { return const_cast<LeaseModel*>(this)->find(id); }

const LeaseModel::Lease* LeaseModel::due(uint64_t timer, Generation generation) const {
  const auto due = std::ranges::find_if(leases_, [&](const Lease& lease) {
    return lease.number.value() == timer && !lease.until && lease.generation == generation;
  });
  return due == leases_.end() ? nullptr : &*due;
}

const LeaseModel::Lease* LeaseModel::at(LeaseId id, Index at) const {
  const auto found = std::ranges::find_if(leases_, [&](const Lease& lease) { return lease.id == id && lived(lease, at); });
  return found == leases_.end() ? nullptr : &*found;
}

std::vector<LeaseModel::Lease> LeaseModel::all_at(Index at) const {
  std::vector<Lease> all;
  std::ranges::copy_if(leases_, std::back_inserter(all), [at](const Lease& lease) { return lived(lease, at); });
  return all;
}

bool LeaseModel::expired(LeaseId id) const {
  const auto newest = std::ranges::find(leases_.rbegin(), leases_.rend(), id, &Lease::id);
  return newest != leases_.rend() && newest->expired;
}

bool LeaseModel::was_missing(LeaseId id, Index from) const {
  return std::ranges::none_of(leases_,
                              [&](const Lease& lease) { return lease.id == id && lease.from <= from && !lease.until; });
}

}  // namespace coordkit::sim
