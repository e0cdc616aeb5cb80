#include "lock/records.h"

#include <algorithm>

#include "base/check.h"

namespace coordkit::lock {

Records::Records() = default;
Records::~Records() = default;
Records::Records(Records&&) noexcept = default;
Records& Records::operator=(Records&&) noexcept = default;

Lock* Records::find(std::string_view name) const {
  if (locks_.empty()) return nullptr;  // saves the hash where no lock is contended
  const auto found = locks_.find(name);
  return found == locks_.end() ? nullptr : found->get();
}

Owner* Records::find(SessionId session, std::string_view tag) const {
  const auto found = owners_.find(OwnerKey{session, tag});
  return found == owners_.end() ? nullptr : found->get();
}

Claim* Records::find(const Lock& lock, const Owner& owner, ClaimKind kind) const {
  const PlaceKey key{&lock, &owner, kind};
  if (const auto found = claims_.find(key); found != claims_.end()) return found->get();
  const auto further = further_places_.find(key);
  return further == further_places_.end() ? nullptr : further->second;
}

Claim* Records::find(const Lock& lock, SessionId session, std::string_view tag, ClaimKind kind) const {
  const Owner* owner = find(session, tag);
  return owner == nullptr ? nullptr : find(lock, *owner, kind);
}

Claim* Records::find_hold(Token token) const {
  const auto found = holds_.find(token);
  return found == holds_.end() ? nullptr : found->second;
}

Claim* Records::find_hold(const HoldKey& key) const {
  Claim* claim = find_hold(key.token);
  if (claim == nullptr) return nullptr;
  const bool owner = claim->owner->session == key.session;
  if (!owner || (key.tag && claim->owner->tag.view() != *key.tag)) return nullptr;
  const auto here = [&key](const Place& place) { return place.lock->name.view() == key.name; };
  return std::ranges::any_of(claim->places(), here) ? claim : nullptr;
}

Claim* Records::find_wait(Index queued) const {
  const auto found = waits_.find(queued);
  return found == waits_.end() ? nullptr : found->second;
}

Claim* Records::find_delegation(std::string_view name) const {
  const Lock* lock = find(name);
  if (lock == nullptr || lock->holds.empty()) return nullptr;
  Claim* claim = lock->holds.first->claim;
  return claim->block ? claim : nullptr;
}

// The order of the session's lists depends on history, so it is sorted away.
template <typename Order>
std::vector<Claim*> Records::claims_of(SessionId session, ClaimList Owner::*list, Order order) const {
  std::vector<Claim*> claims;
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return claims;
  for (const Owner* owner = found->second.owners.first; owner; owner = owner->session_after) {
    for (Claim* claim = (owner->*list).first; claim; claim = claim->owner_after) claims.push_back(claim);
  }
  std::ranges::sort(claims, {}, order);
  return claims;
}

std::vector<Claim*> Records::waits_of(SessionId session) const { return claims_of(session, &Owner::waits, &Claim::since); }
std::vector<Claim*> Records::holds_of(SessionId session) const { return claims_of(session, &Owner::holds, &Claim::token); }

ClaimCounts Records::counts(SessionId session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? ClaimCounts{} : found->second.counts;
}

void Records::each_claim(absl::FunctionRef<void(Claim&)> visit) const {
  for (const auto& claim : claims_) visit(*claim);
}

void Records::each_session(absl::FunctionRef<void(SessionId)> visit) const {
  for (const auto& [session, claims] : sessions_) visit(session);
}

Lock& Records::lock(std::string_view name) {
  if (Lock* lock = find(name)) return *lock;
  return **locks_.insert(std::make_unique<Lock>(name)).first;
}

void Records::forget(const Lock& lock) { locks_.erase(locks_.find(lock.name.view())); }

Owner& Records::owner(SessionId session, std::string_view tag) {
  if (Owner* owner = find(session, tag)) return *owner;
  Owner& owner = **owners_.insert(std::make_unique<Owner>(session, tag)).first;
  sessions_[session].owners.append(owner);
  return owner;
}

Claim& Records::add(const ClaimView& row) {
  auto fresh = std::make_unique<Claim>();
  Claim& claim = *fresh;
  claim.owner = &owner(row.session, row.tag);
  claim.request = row.request;
  claim.since = row.since;
  claim.token = row.token;
  claim.timeout = row.timeout;
  claim.delay = row.delay;
  claim.reentrant = row.reentrant;
  claim.count = row.count;
  claim.releases = row.releases;
  claim.value = ShortText(row.value);
  if (row.sticky()) claim.block = std::make_unique<Block>(row.block);
  claim.extent = static_cast<uint32_t>(1 + row.others.size());
  if (claim.extent > 1) claim.several = std::make_unique<Place[]>(claim.extent);
  for (uint32_t i = 0; i < claim.extent; ++i) {
    const Wanted wanted = i == 0 ? Wanted{row.name, row.mode} : row.others[i - 1];
    Place& place = claim.places()[i];
    place.lock = &lock(wanted.name);
    place.mode = wanted.mode;
    link(claim, place);
    if (i > 0) further_places_.emplace(PlaceKey{place.lock, claim.owner}, &claim);
  }
  claims_.insert(std::move(fresh));
  (claim.held() ? claim.owner->holds : claim.owner->waits).append(claim);
  ClaimCounts& counts = sessions_[row.session].counts;
  ++(claim.held() ? counts.holds : counts.waiters);
  if (claim.held()) {
    holds_.emplace(claim.token, &claim);
  } else {
    COORDKIT_CHECK_MSG(waits_.emplace(claim.since, &claim).second, "two acquires in one entry");
  }
  return claim;
}

// INV_L05: a queue is ordered by entry.
void Records::link(Claim& claim, Place& place) {
  place.claim = &claim;
  Lock& lock = *place.lock;
  if (claim.held()) {
    COORDKIT_CHECK_MSG(admits(lock, place.mode), "INV_L01");
    lock.holds.append(place);
  } else {
    COORDKIT_CHECK_MSG(lock.queue.empty() || lock.queue.last->claim->since < claim.since, "INV_L05");
    lock.queue.append(place);
    ++lock.waiting;
  }
}

void Records::grant(Claim& wait, Token token) {
  waits_.erase(wait.since);
  for (Place& place : wait.places()) {
    Lock& lock = *place.lock;
    COORDKIT_CHECK_MSG(admits(lock, place.mode), "INV_L01");
    COORDKIT_CHECK_MSG(place.before == nullptr, "INV_L05");
    lock.queue.remove(place);
    --lock.waiting;
    lock.holds.append(place);
  }
  wait.owner->waits.remove(wait);
  wait.owner->holds.append(wait);
  OfSession& session = sessions_[wait.owner->session];
  --session.counts.waiters;
  ++session.counts.holds;
  holds_.emplace(token, &wait);
}

// In the order of its locks too, so that a table restored from rows is the same.
void Records::regrant(Claim& hold, Token token) {
  holds_.erase(hold.token);
  holds_.emplace(token, &hold);
  for (Place& place : hold.places()) {
    place.lock->holds.remove(place);
    place.lock->holds.append(place);
  }
}

void Records::remove(Claim& claim) {
  const bool held = claim.held();
  if (held) holds_.erase(claim.token);
  if (!held) waits_.erase(claim.since);
  for (Place& place : claim.places()) {
    Lock& lock = *place.lock;
    (held ? lock.holds : lock.queue).remove(place);
    if (!held) --lock.waiting;
    if (&place != &claim.places().front()) further_places_.erase(PlaceKey{&lock, claim.owner});
  }
  Owner& owner = *claim.owner;
  (held ? owner.holds : owner.waits).remove(claim);
  ClaimCounts& counts = sessions_[owner.session].counts;
  --(held ? counts.holds : counts.waiters);
  claims_.erase(claims_.find(PlaceKey{&claim.lock(), &owner, kind_of(claim)}));
  if (owner.holds.empty() && owner.waits.empty()) forget(owner);
}

void Records::forget(Owner& owner) {
  const auto session = sessions_.find(owner.session);
  session->second.owners.remove(owner);
  if (session->second.owners.empty()) sessions_.erase(session);
  owners_.erase(owners_.find(OwnerKey{owner.session, owner.tag.view()}));
}

}  // namespace coordkit::lock
