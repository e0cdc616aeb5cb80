#include "lock/records.h"

#include <algorithm>

#include "base/check.h"

namespace coordkit::lock {

Records::Records()
    : claims_(std::make_unique<Claims>()),
      owners_(std::make_unique<Owners>()),
      owners_by_key_(ByOwner{{owners_.get()}}),
      waits_(ByEntry{{claims_.get()}}) {}
Records::~Records() = default;
Records::Records(Records&&) noexcept = default;
Records& Records::operator=(Records&&) noexcept = default;

Lock* Records::find(std::string_view name) const {
  if (locks_.empty()) return nullptr;  // saves the hash where no lock is contended
  const auto found = locks_.find(name);
  return found == locks_.end() ? nullptr : found->get();
}

Owner* Records::find(SessionId session, std::string_view tag) const {
  const auto found = owners_by_key_.find(OwnerKey{session, tag});
  return found == owners_by_key_.end() ? nullptr : &(*owners_)[*found];
}

Claim* Records::find(const Lock& lock, const Owner& owner, ClaimKind kind) const {
  if (owner.indexed) {
    const auto found = places_.find(PlaceKey{&lock, &owner, kind});
    return found == places_.end() ? nullptr : found->second;
  }
  for (Claim* of : {owner.holds.first, owner.waits.first}) {
    for (Claim* claim = of; claim; claim = claim->owner_after) {
      const auto here = [&lock](const Place& place) { return place.lock == &lock; };
      if (kind_of(*claim) == kind && std::ranges::any_of(claim->places(), here)) return claim;
    }
  }
  return nullptr;
}

Claim* Records::find(const Lock& lock, SessionId session, std::string_view tag, ClaimKind kind) const {
  const Owner* owner = find(session, tag);
  return owner == nullptr ? nullptr : find(lock, *owner, kind);
}

Claim* Records::find_hold(Token token) const {
  const auto found = holds_.find(token);
  return found == holds_.end() ? nullptr : &(*claims_)[found->second];
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
  return found == waits_.end() ? nullptr : &(*claims_)[*found];
}

Claim* Records::find_delegation(std::string_view name) const {
  const Lock* lock = find(name);
  if (lock == nullptr || lock->holds.empty()) return nullptr;
  Claim& claim = lock->holds.first->claim();
  return claim.block() ? &claim : nullptr;
}

// The order of an owner's lists depends on history, so it is sorted away.
template <typename Order>
std::vector<Claim*> Records::claims_of(SessionId session, ClaimList Owner::*list, Order order) const {
  std::vector<Claim*> claims;
  for (auto at = owners_by_key_.lower_bound(OwnerKey{session, {}}); at != owners_by_key_.end(); ++at) {
    const Owner& owner = (*owners_)[*at];
    if (owner.session != session) break;
    for (Claim* claim = (owner.*list).first; claim; claim = claim->owner_after) claims.push_back(claim);
  }
  std::ranges::sort(claims, {}, order);
  return claims;
}

std::vector<Claim*> Records::waits_of(SessionId session) const { return claims_of(session, &Owner::waits, &Claim::since); }
std::vector<Claim*> Records::holds_of(SessionId session) const { return claims_of(session, &Owner::holds, &Claim::token); }

ClaimCounts Records::counts(SessionId session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? ClaimCounts{} : found->second;
}

void Records::each_wait(absl::FunctionRef<void(const Claim&)> visit) const {
  for (const Handle handle : waits_) visit((*claims_)[handle]);
}

void Records::each_claim(absl::FunctionRef<void(Claim&)> visit) const {
  claims_->each([&visit](Handle, Claim& claim) {
    if (claim.owner != nullptr) visit(claim);
  });
}

void Records::each_session(absl::FunctionRef<void(SessionId)> visit) const {
  for (const auto& [session, counts] : sessions_) visit(session);
}

Lock& Records::lock(std::string_view name) {
  if (Lock* lock = find(name)) return *lock;
  return **locks_.insert(std::make_unique<Lock>(name)).first;
}

void Records::forget(const Lock& lock) { locks_.erase(locks_.find(lock.name.view())); }

Owner& Records::owner(SessionId session, std::string_view tag) {
  const OwnerKey key{session, tag};
  const auto at = owners_by_key_.lower_bound(key);
  if (at != owners_by_key_.end() && owners_by_key_.key_comp().key(*at) == key) return (*owners_)[*at];
  const Handle handle = owners_->add();
  Owner& owner = (*owners_)[handle];
  owner.session = session;
  owner.tag = ShortText(tag);
  owners_by_key_.insert(at, handle);
  return owner;
}

namespace {

std::unique_ptr<Extension> extension_of(const ClaimView& row) {
  const bool usual = row.timeout == Duration::zero() && row.delay == Duration::zero() && row.count == 1 && row.releases == 0 &&
                     bytes_of(row.texts) == 0 && !row.sticky() && row.others.empty();
  if (usual) return nullptr;
  auto extension = std::make_unique<Extension>();
  extension->timeout = row.timeout;
  extension->delay = row.delay;
  extension->releases = row.releases;
  extension->texts = hold_texts<ShortText>(row.texts);
  extension->count = row.count;
  extension->places = static_cast<uint32_t>(row.others.size());
  if (!row.others.empty()) extension->others = std::make_unique<FurtherPlace[]>(row.others.size());
  if (row.sticky()) extension->block = std::make_unique<Block>(row.block);
  return extension;
}

}  // namespace

Claim& Records::add(const ClaimView& row) {
  const Handle handle = claims_->add();
  Claim& claim = (*claims_)[handle];
  OriginUses& origin = *origins_.try_emplace(row.request.origin, 0).first;
  ++origin.second;
  claim.origin = &origin;
  claim.sequence = row.request.sequence;
  claim.since = row.since;
  claim.token = row.token;
  claim.reentrant = row.reentrant;
  claim.extension = extension_of(row);
  claim.lock = &lock(row.name);
  claim.mode = row.mode;
  for (size_t i = 0; i < row.others.size(); ++i) {
    FurtherPlace& place = claim.others()[i];
    place.further = true;
    place.of = &claim;
    place.lock = &lock(row.others[i].name);
    place.mode = row.others[i].mode;
  }
  for (Place& place : claim.places()) link(claim, place);
  join(owner(row.session, row.tag), claim);
  ClaimCounts& counts = sessions_[row.session];
  ++(claim.held() ? counts.holds : counts.waiters);
  if (claim.held()) {
    holds_.emplace(claim.token, handle);
  } else {
    COORDKIT_CHECK_MSG(waits_.insert(handle).second, "two acquires in one entry");
  }
  return claim;
}

// INV_L05: a queue is ordered by entry.
void Records::link(Claim& claim, Place& place) {
  Lock& lock = *place.lock;
  if (claim.held()) {
    COORDKIT_CHECK_MSG(admits(lock, place.mode), "INV_L01");
    lock.holds.append(place);
  } else {
    COORDKIT_CHECK_MSG(lock.queue.empty() || lock.queue.last->claim().since < claim.since, "INV_L05");
    lock.queue.append(place);
    ++lock.waiting;
  }
}

// Once an owner has its index, it keeps it.
void Records::join(Owner& owner, Claim& claim) {
  claim.owner = &owner;
  (claim.held() ? owner.holds : owner.waits).prepend(claim);
  owner.places += claim.extent();
  const auto index = [this, &owner](Claim* first) {
    for (Claim* each = first; each; each = each->owner_after) {
      for (const Place& place : each->places()) places_.emplace(PlaceKey{place.lock, &owner, kind_of(*each)}, each);
    }
  };
  if (owner.indexed) {
    for (const Place& place : claim.places()) places_.emplace(PlaceKey{place.lock, &owner, kind_of(claim)}, &claim);
  } else if (owner.places > kPlacesLookedAt) {
    owner.indexed = true;
    index(owner.holds.first);
    index(owner.waits.first);
  }
}

void Records::leave(Owner& owner, Claim& claim) {
  (claim.held() ? owner.holds : owner.waits).remove(claim);
  owner.places -= claim.extent();
  if (owner.indexed) {
    for (const Place& place : claim.places()) places_.erase(PlaceKey{place.lock, &owner, kind_of(claim)});
  }
  if (owner.places != 0) return;
  const auto found = owners_by_key_.find(OwnerKey{owner.session, owner.tag.view()});
  const Handle handle = *found;
  owners_by_key_.erase(found);
  owners_->remove(handle);
}

void Records::grant(Claim& wait, Token token) {
  const auto found = waits_.find(wait.since);
  holds_.emplace(token, *found);
  waits_.erase(found);
  for (Place& place : wait.places()) {
    Lock& lock = *place.lock;
    COORDKIT_CHECK_MSG(admits(lock, place.mode), "INV_L01");
    COORDKIT_CHECK_MSG(place.before == nullptr, "INV_L05");
    lock.queue.remove(place);
    --lock.waiting;
    lock.holds.append(place);
  }
  wait.owner->waits.remove(wait);
  wait.owner->holds.prepend(wait);
  ClaimCounts& counts = sessions_[wait.owner->session];
  --counts.waiters;
  ++counts.holds;
}

// The hold also moves to the end of its locks' lists, so that a table restored from rows is the same.
void Records::regrant(Claim& hold, Token token) {
  const auto found = holds_.find(hold.token);
  const Handle handle = found->second;
  holds_.erase(found);
  holds_.emplace(token, handle);
  for (Place& place : hold.places()) {
    place.lock->holds.remove(place);
    place.lock->holds.append(place);
  }
}

void Records::remove(Claim& claim) {
  const Handle handle = handle_of(claim);
  const bool held = claim.held();
  if (held) holds_.erase(claim.token);
  if (!held) waits_.erase(claim.since);
  for (Place& place : claim.places()) {
    Lock& lock = *place.lock;
    (held ? lock.holds : lock.queue).remove(place);
    if (!held) --lock.waiting;
  }
  const auto counts = sessions_.find(claim.owner->session);
  --(held ? counts->second.holds : counts->second.waiters);
  if (counts->second.holds == 0 && counts->second.waiters == 0) sessions_.erase(counts);
  leave(*claim.owner, claim);
  const auto origin = origins_.find(claim.origin->first);
  if (--origin->second == 0) origins_.erase(origin);
  claims_->remove(handle);
}

Records::Handle Records::handle_of(const Claim& claim) const {
  return claim.held() ? holds_.find(claim.token)->second : *waits_.find(claim.since);
}

}  // namespace coordkit::lock
