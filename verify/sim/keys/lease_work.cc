#include "sim/keys/lease_work.h"

#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "sim/world/draw.h"

namespace coordkit::sim {
namespace {

constexpr uint64_t kChosen = uint64_t{1} << 40;       // ids of kept leases, each chosen once
constexpr uint64_t kChosenAgain = uint64_t{1} << 41;  // ids that several workers may ask for
constexpr size_t kRemembered = 8;                     // ids that are used

}  // namespace

void LeaseWork::act(Worker& worker) {
  const uint64_t dice = worker.random.below(100);
  const bool keeps = worker.lease && worker.lease->phase() != SessionPhase::Lost;
  if (dice < 25) return keeps && worker.random.chance(0.3) ? give_back(worker) : keep(worker);
  if (dice < 45 || ids_.empty()) return grant(worker);
  const LeaseId id = known(worker);
  if (dice < 65) return renew(worker, id);
  if (dice < 75) return revoke(worker, id);
  dice < 92 ? look_at(worker, id) : list(worker);
}

LeaseId LeaseWork::known(Worker& worker) const { return ids_[worker.random.below(ids_.size())]; }

void LeaseWork::know(LeaseId id) {
  ids_.push_back(id);
  if (ids_.size() > kRemembered) ids_.erase(ids_.begin());
}

void LeaseWork::keep(Worker& worker) {
  KeepLeaseOptions options;
  options.ttl = draw(worker.random, work_.ttl_min, work_.ttl_max);
  options.id = LeaseId(worker.random.chance(0.5) ? 0 : kChosen + ++chosen_);
  options.deadline = calls_.deadline(worker);
  const Engine& engine = calls_.engine(worker);
  const auto call = witness_.calls().begin_command(worker.node, CallKind::Command, "lease",
                                                   machine::GrantLease{.id = options.id,
                                                                       .ttl = options.ttl,
                                                                       .node = engine.self(),
                                                                       .boot = engine.boot(),
                                                                       .incarnation = engine.store().value()});
  auto done = calls_.then(worker, [this, &worker, call](absl::StatusOr<KeyLeaseRef>& answer) {
    witness_.leases().kept(call, answer);
    if (!answer.ok()) return;
    worker.lease = *answer;
    observer_.kept(worker.node, worker.lease);
    know(worker.lease->id());
    calls_.reach(Situation::LeaseKept);
  });
  calls_.client(worker).leases().keep(std::move(options), std::move(done));
}

void LeaseWork::give_back(Worker& worker) {
  const KeyLeaseRef lease = std::exchange(worker.lease, nullptr);
  const auto call = witness_.calls().begin(worker.node, CallKind::Close, "lease");
  auto done = calls_.then(
      worker, [this, call, id = lease->id()](absl::Status& answer) { witness_.leases().given_back(call, id, answer); });
  calls_.client(worker).leases().revoke(lease, std::move(done), calls_.deadline(worker));
}

void LeaseWork::grant(Worker& worker) {
  const LeaseId wanted(worker.random.chance(0.5) ? 0 : kChosenAgain + worker.random.below(4));
  const Duration ttl = draw(worker.random, work_.ttl_min, work_.ttl_max);
  const auto call =
      witness_.calls().begin_command(worker.node, CallKind::Command, "lease", machine::GrantLease{.id = wanted, .ttl = ttl});
  auto done = calls_.then(worker, [this, call](absl::StatusOr<GrantedLease>& answer) {
    witness_.leases().granted(call, answer);
    if (answer.ok()) know(answer->id);
    if (reason_of(answer.status()) == Reason::LeaseExists) calls_.reach(Situation::LeaseRefused);
  });
  calls_.client(worker).leases().grant(wanted, ttl, std::move(done), calls_.deadline(worker));
}

void LeaseWork::renew(Worker& worker, LeaseId id) {
  const auto call = witness_.calls().begin_command(worker.node, CallKind::Command, "lease", machine::RenewLease{.id = id});
  auto done = calls_.then(worker, [this, call, id](absl::StatusOr<GrantedLease>& answer) {
    witness_.leases().renewed(call, id, answer);
    if (answer.ok()) calls_.reach(Situation::LeaseRenewed);
  });
  calls_.client(worker).leases().renew(id, std::move(done), calls_.deadline(worker));
}

void LeaseWork::revoke(Worker& worker, LeaseId id) {
  const auto call = witness_.calls().begin_command(worker.node, CallKind::Command, "lease", machine::RevokeLease{.id = id});
  auto done = calls_.then(worker, [this, call, id](absl::StatusOr<RevokedLease>& answer) {
    witness_.leases().revoked(call, id, answer);
    if (answer.ok() && answer->deleted != 0) calls_.reach(Situation::LeaseRevokedWithKeys);
  });
  calls_.client(worker).leases().revoke(id, std::move(done), calls_.deadline(worker));
}

void LeaseWork::look_at(Worker& worker, LeaseId id) {
  const auto call = witness_.calls().begin(worker.node, CallKind::Look, "lease");
  auto done = calls_.then(worker, [this, call, id](absl::StatusOr<LeaseDetails>& answer) {
    witness_.leases().seen(call, id, answer);
    if (answer.ok() && !answer->lease.keys.empty()) calls_.reach(Situation::LeaseSeen);
  });
  calls_.client(worker).leases().time_to_live(id, true, std::move(done), calls_.deadline(worker));
}

void LeaseWork::list(Worker& worker) {
  const auto call = witness_.calls().begin(worker.node, CallKind::Look, "leases");
  auto done = calls_.then(worker, [this, call](absl::StatusOr<LeaseList>& answer) { witness_.leases().listed(call, answer); });
  calls_.client(worker).leases().list(std::move(done), calls_.deadline(worker));
}

}  // namespace coordkit::sim
