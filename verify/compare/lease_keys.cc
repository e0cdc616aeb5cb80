#include "compare/lease_keys.h"

#include <utility>

namespace coordkit::sim::compare {
namespace {

using std::chrono::milliseconds;

constexpr Duration kStoreSweep = milliseconds(500);
constexpr Duration kDeadlineLook = milliseconds(1000);

}  // namespace

LeaseStore::LeaseStore(Scene& scene, Duration ttl) : scene_(scene), ttl_(ttl) { sweep(); }

uint64_t LeaseStore::grant() {
  leases_[++last_lease_] = scene_.reading(kService) + ttl_;
  return last_lease_;
}

bool LeaseStore::keep_alive(uint64_t lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return false;
  found->second = scene_.reading(kService) + ttl_;
  return true;
}

std::optional<uint64_t> LeaseStore::put(uint64_t lease) {
  if (!leases_.contains(lease)) return std::nullopt;
  for (const auto& [revision, owner] : keys_) {
    if (owner == lease) return revision;
  }
  keys_[++revision_] = lease;
  return revision_;
}

std::optional<uint64_t> LeaseStore::last_before(uint64_t revision) const {
  const auto at = keys_.lower_bound(revision);
  if (at == keys_.begin()) return std::nullopt;
  return std::prev(at)->first;
}

void LeaseStore::when_deleted(uint64_t revision, Scene::Act act) {
  if (!exists(revision)) return act();
  watches_.emplace(revision, std::move(act));
}

void LeaseStore::remove(uint64_t revision) {
  if (keys_.erase(revision) == 0) return;
  ++revision_;
  while (true) {
    auto watch = watches_.extract(revision);
    if (watch.empty()) return;
    watch.mapped()();
  }
}

void LeaseStore::sweep() {
  const LeadingTime now = scene_.reading(kService);
  std::set<uint64_t> ended;
  std::erase_if(leases_, [&](const auto& lease) { return lease.second <= now && ended.insert(lease.first).second; });
  std::vector<uint64_t> orphans;
  for (const auto& [revision, lease] : keys_) {
    if (ended.contains(lease)) orphans.push_back(revision);
  }
  for (const uint64_t revision : orphans) remove(revision);
  scene_.after(kStoreSweep, [this] { sweep(); });
}

LeaseKeyLock::LeaseKeyLock(Scene& scene, LeaseStore& store, uint32_t machine)
    : scene_(scene), store_(store), machine_(machine) {
  watch_deadline();
}

template <typename There, typename Back>
void LeaseKeyLock::call(There there, Back back) {
  scene_.request(machine_, kService, [this, there = std::move(there), back = std::move(back)]() mutable {
    auto answer = there();
    scene_.respond(machine_, kService,
                   [back = std::move(back), answer = std::move(answer)]() mutable { back(std::move(answer)); });
  });
}

// ---- the session

void LeaseKeyLock::open() {
  call([this] { return store_.grant(); },
       [this](uint64_t lease) {
         lease_ = lease;
         answered(true);
         enqueue();
       });
}

void LeaseKeyLock::keep_alive() {
  if (!alive_) return;
  call([this, lease = lease_] { return std::pair(lease, store_.keep_alive(lease)); },
       [this](std::pair<uint64_t, bool> answer) {
         if (answer.first == lease_ && alive_) answered(answer.second);
       });
}

// The decisive rule: the deadline counts from now, when the answer is read.
void LeaseKeyLock::answered(bool lives) {
  alive_ = lives;
  if (!lives) return;
  deadline_ = scene_.reading(machine_) + store_.ttl();
  scene_.process(machine_).after(store_.ttl() / 3, [this, lease = lease_] {
    if (lease == lease_) keep_alive();
  });
}

void LeaseKeyLock::watch_deadline() {
  scene_.process(machine_).after(kDeadlineLook, [this] {
    if (alive_ && deadline_ < scene_.reading(machine_)) alive_ = false;
    watch_deadline();
  });
}

// ---- the lock

void LeaseKeyLock::acquire(std::function<void()> granted) {
  granted_ = std::move(granted);
  alive_ ? enqueue() : open();
}

void LeaseKeyLock::enqueue() {
  call([this, lease = lease_] { return store_.put(lease); },
       [this](std::optional<uint64_t> revision) {
         if (!revision) {
           alive_ = false;
           return open();
         }
         revision_ = *revision;
         wait_for_turn();
       });
}

void LeaseKeyLock::wait_for_turn() {
  call([this, revision = revision_] { return store_.last_before(revision); },
       [this](std::optional<uint64_t> before) {
         if (!before) return look_at_own_key();
         scene_.request(machine_, kService, [this, awaited = *before] {
           store_.when_deleted(awaited, [this] { scene_.respond(machine_, kService, [this] { wait_for_turn(); }); });
         });
       });
}

void LeaseKeyLock::look_at_own_key() {
  call([this, revision = revision_] { return store_.exists(revision); },
       [this](bool mine) {
         if (!mine || !alive_) {
           alive_ = false;
           return open();
         }
         held_ = true;
         std::exchange(granted_, nullptr)();
       });
}

void LeaseKeyLock::release() {
  if (!std::exchange(held_, false)) return;
  scene_.request(machine_, kService, [this, revision = revision_] { store_.remove(revision); });
}

}  // namespace coordkit::sim::compare
