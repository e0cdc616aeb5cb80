// Workers and leases of keys (docs/semantics.md S-29 to S-33). A worker keeps at most one, which ends with its process or is
// released; others are only granted. All ids are known to all workers, so any of them renews, revokes and reads them, attaches
// keys to them, and does so after their end.
#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "sim/draw.h"
#include "sim/workload.h"

namespace coordkit::sim {
namespace {

using machine::Result;
using machine::ResultCode;

constexpr uint64_t kChosen = uint64_t{1} << 40;       // ids of kept leases, each chosen once
constexpr uint64_t kChosenAgain = uint64_t{1} << 41;  // ids that several workers may ask for
constexpr size_t kRemembered = 8;                     // ids that are used

bool granted_as(const Result& result, LeaseId id, Duration ttl) {
  return result.code == ResultCode::Ok && result.lease == id && result.ttl == ttl;
}

auto same_as(const absl::StatusOr<GrantedLease>& answer) {
  return [&answer](const Result& result) {
    return granted_as(result, answer->id, answer->ttl) && result.revision == answer->revision;
  };
}

}  // namespace

void Workload::use_leases(Worker& worker) {
  const uint64_t dice = worker.random.below(100);
  const bool keeps = worker.lease && worker.lease->phase() != SessionPhase::Lost;
  if (dice < 25) return keeps && worker.random.chance(0.3) ? give_back_lease(worker) : keep_lease(worker);
  if (dice < 45 || lease_ids_.empty()) return grant_lease(worker);
  const LeaseId id = known_lease(worker);
  if (dice < 65) return renew_lease(worker, id);
  if (dice < 75) return revoke_lease(worker, id);
  dice < 92 ? look_at_lease(worker, id) : list_leases(worker);
}

LeaseId Workload::known_lease(Worker& worker) { return lease_ids_[worker.random.below(lease_ids_.size())]; }

void Workload::know_lease(LeaseId id) {
  lease_ids_.push_back(id);
  if (lease_ids_.size() > kRemembered) lease_ids_.erase(lease_ids_.begin());
}

void Workload::keep_lease(Worker& worker) {
  KeepLeaseOptions options;
  options.ttl = draw(worker.random, plan_.work.ttl_min, plan_.work.ttl_max);
  options.id = LeaseId(worker.random.chance(0.5) ? 0 : kChosen + ++chosen_leases_);
  options.deadline = call_deadline(worker);
  const Engine& engine = *nodes_[worker.node]->engine();
  const auto call = witness_.begin_command(worker.node, Witness::Kind::Command, "lease",
                                           machine::GrantLease{.id = options.id,
                                                               .ttl = options.ttl,
                                                               .node = engine.self(),
                                                               .boot = engine.boot(),
                                                               .incarnation = engine.store().value()});
  auto done = then(worker, [this, &worker, call](absl::StatusOr<KeyLeaseRef>& answer) {
    witness_.executed(call, answer.status(),
                      [&answer](const Result& result) { return granted_as(result, (*answer)->id(), (*answer)->ttl()); });
    if (!answer.ok()) return;
    worker.lease = *answer;
    leases_.kept(worker.node, worker.lease);
    know_lease(worker.lease->id());
    reach(Situation::LeaseKept);
  });
  client(worker).leases().keep(std::move(options), std::move(done));
}

void Workload::give_back_lease(Worker& worker) {
  const KeyLeaseRef lease = std::exchange(worker.lease, nullptr);
  const auto call = witness_.begin(worker.node, Witness::Kind::Close, "lease");
  auto done =
      then(worker, [this, call, id = lease->id()](absl::Status& answer) { witness_.lease_given_back(call, id, answer); });
  client(worker).leases().revoke(lease, std::move(done), call_deadline(worker));
}

void Workload::grant_lease(Worker& worker) {
  const LeaseId wanted(worker.random.chance(0.5) ? 0 : kChosenAgain + worker.random.below(4));
  const Duration ttl = draw(worker.random, plan_.work.ttl_min, plan_.work.ttl_max);
  const auto call =
      witness_.begin_command(worker.node, Witness::Kind::Command, "lease", machine::GrantLease{.id = wanted, .ttl = ttl});
  auto done = then(worker, [this, call](absl::StatusOr<GrantedLease>& answer) {
    witness_.executed(call, answer.status(), same_as(answer));
    if (answer.ok()) know_lease(answer->id);
    if (reason_of(answer.status()) == Reason::LeaseExists) reach(Situation::LeaseRefused);
  });
  client(worker).leases().grant(wanted, ttl, std::move(done), call_deadline(worker));
}

void Workload::renew_lease(Worker& worker, LeaseId id) {
  const auto call = witness_.begin_command(worker.node, Witness::Kind::Command, "lease", machine::RenewLease{.id = id});
  auto done = then(worker, [this, call, id](absl::StatusOr<GrantedLease>& answer) {
    witness_.lease_executed(call, id, answer.status(), same_as(answer));
    if (answer.ok()) reach(Situation::LeaseRenewed);
  });
  client(worker).leases().renew(id, std::move(done), call_deadline(worker));
}

void Workload::revoke_lease(Worker& worker, LeaseId id) {
  const auto call = witness_.begin_command(worker.node, Witness::Kind::Command, "lease", machine::RevokeLease{.id = id});
  auto done = then(worker, [this, call, id](absl::StatusOr<RevokedLease>& answer) {
    witness_.lease_executed(call, id, answer.status(), [&answer](const Result& result) {
      return result.code == ResultCode::Ok && result.deleted == answer->deleted && result.revision == answer->revision;
    });
    if (answer.ok() && answer->deleted != 0) reach(Situation::LeaseRevokedWithKeys);
  });
  client(worker).leases().revoke(id, std::move(done), call_deadline(worker));
}

void Workload::look_at_lease(Worker& worker, LeaseId id) {
  const auto call = witness_.begin(worker.node, Witness::Kind::Object, "lease");
  auto done = then(worker, [this, call, id](absl::StatusOr<LeaseDetails>& answer) {
    witness_.lease_seen(call, id, answer);
    if (answer.ok() && !answer->lease.keys.empty()) reach(Situation::LeaseSeen);
  });
  client(worker).leases().time_to_live(id, true, std::move(done), call_deadline(worker));
}

void Workload::list_leases(Worker& worker) {
  const auto call = witness_.begin(worker.node, Witness::Kind::Object, "leases");
  auto done = then(worker, [this, call](absl::StatusOr<LeaseList>& answer) { witness_.leases_listed(call, answer); });
  client(worker).leases().list(std::move(done), call_deadline(worker));
}

}  // namespace coordkit::sim
