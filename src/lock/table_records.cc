// How the records of the lock table are found, linked and forgotten: everything below the rules.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "lock/claim_view.h"
#include "lock/table.h"

namespace coordkit::lock {

Lock* Table::find(std::string_view name) const {
  const auto found = locks_.find(name);
  return found == locks_.end() ? nullptr : found->get();
}

Claim* Table::find(const Lock& lock, const Owner& owner, ClaimKind kind) const {
  const PlaceKey key{&lock, &owner, kind};
  if (const auto found = claims_.find(key); found != claims_.end()) return found->get();
  const auto further = further_places_.find(key);
  return further == further_places_.end() ? nullptr : further->second;
}

Claim* Table::find(const Lock& lock, SessionId session, std::string_view tag, ClaimKind kind) const {
  const auto owner = owners_.find(OwnerKey{session, tag});
  return owner == owners_.end() ? nullptr : find(lock, **owner, kind);
}

Claim* Table::find_hold(const HoldKey& key) const {
  const auto found = holds_.find(key.token);
  if (found == holds_.end()) return nullptr;
  Claim& claim = *found->second;
  const bool owner = claim.owner->session == key.session;
  if (!owner || (key.tag && claim.owner->tag.view() != *key.tag)) return nullptr;
  const auto here = [&key](const Place& place) { return place.lock->name.view() == key.name; };
  return std::ranges::any_of(claim.places(), here) ? &claim : nullptr;
}

Lock& Table::lock_of(std::string_view name) {
  if (Lock* lock = find(name)) return *lock;
  return **locks_.insert(std::make_unique<Lock>(name)).first;
}

Owner& Table::owner_of(SessionId session, std::string_view tag) {
  const auto found = owners_.find(OwnerKey{session, tag});
  if (found != owners_.end()) return **found;
  Owner& owner = **owners_.insert(std::make_unique<Owner>(session, tag)).first;
  sessions_[session].owners.append(owner);
  return owner;
}

// Adds the records of a claim: at the end of its queues, or as a hold. INV_L05: a queue is ordered by
// entry. The caller says whether its row is to be written.
Claim& Table::add(const ClaimView& row) {
  auto fresh = std::make_unique<Claim>();
  Claim& claim = *fresh;
  claim.owner = &owner_of(row.session, row.tag);
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
    place.claim = &claim;
    place.lock = &lock_of(wanted.name);
    place.mode = wanted.mode;
    PlaceList& queue = place.lock->queue;
    if (claim.held()) {
      COORDKIT_CHECK_MSG(admits(*place.lock, place.mode), "INV_L01");
      place.lock->holds.append(place);
    } else {
      COORDKIT_CHECK_MSG(queue.empty() || queue.last->claim->since < claim.since, "INV_L05");
      queue.append(place);
      ++place.lock->waiting;
    }
    if (i > 0) further_places_.emplace(PlaceKey{place.lock, claim.owner}, &claim);
  }
  claims_.insert(std::move(fresh));
  (claim.held() ? claim.owner->holds : claim.owner->waits).append(claim);
  Counts& counts = sessions_[row.session].counts;
  ++(claim.held() ? counts.holds : counts.waiters);
  if (claim.held()) {
    holds_.emplace(claim.token, &claim);
  } else {
    COORDKIT_CHECK_MSG(waiters_.emplace(claim.since, &claim).second, "two acquires in one entry");
  }
  return claim;
}

// Turns a waiter into a hold, on all of its names. A sticky one reserves its block, and a waiter behind it has asked for it.
void Table::hold(Claim& claim, Token token, Index index, TokenCounter& tokens) {
  forget_row(claim);
  waiters_.erase(claim.since);
  for (Place& place : claim.places()) {
    Lock& lock = *place.lock;
    COORDKIT_CHECK_MSG(admits(lock, place.mode), "INV_L01");
    COORDKIT_CHECK_MSG(place.before == nullptr, "INV_L05");
    lock.queue.remove(place);
    --lock.waiting;
    lock.holds.append(place);
    if (place.mode == Mode::Exclusive) note_leader(lock.name.view());
  }
  claim.owner->waits.remove(claim);
  claim.owner->holds.append(claim);
  OfSession& session = sessions_[claim.owner->session];
  --session.counts.waiters;
  ++session.counts.holds;
  rewrite(claim, [&](Claim& now) {
    now.token = token;
    now.since = index;
    now.timeout = Duration::zero();
    if (now.block) reserve(*now.block, token, tokens);
  });
  holds_.emplace(token, &claim);
  if (claim.block && claim.lock().waiting > 0) ask(claim.lock());
}

void Table::remove(Claim& claim) {
  digest_ -= claim_hash(view_of(claim));
  forget_row(claim);
  unchanged(claim);
  for (const Place& place : claim.places()) {
    if (claim.held() && place.mode == Mode::Exclusive) note_leader(place.lock->name.view());
    touch(*place.lock);
  }
  drop(claim);
}

// Forgets the records of a claim.
void Table::drop(Claim& claim) {
  const bool held = claim.held();
  if (held) holds_.erase(claim.token);
  if (!held) waiters_.erase(claim.since);
  for (Place& place : claim.places()) {
    Lock& lock = *place.lock;
    (held ? lock.holds : lock.queue).remove(place);
    if (!held) --lock.waiting;
    if (&place != &claim.places().front()) further_places_.erase(PlaceKey{&lock, claim.owner});
  }
  Owner& owner = *claim.owner;
  (held ? owner.holds : owner.waits).remove(claim);
  Counts& counts = sessions_[owner.session].counts;
  --(held ? counts.holds : counts.waiters);
  claims_.erase(claims_.find(PlaceKey{&claim.lock(), &owner, kind_of(claim)}));
  if (owner.holds.empty() && owner.waits.empty()) forget(owner);
}

void Table::forget(Owner& owner) {
  const auto session = sessions_.find(owner.session);
  session->second.owners.remove(owner);
  if (session->second.owners.empty()) sessions_.erase(session);
  owners_.erase(owners_.find(OwnerKey{owner.session, owner.tag.view()}));
}

void Table::touch(Lock& lock) {
  if (std::exchange(lock.touched, true)) return;
  touched_.push_back(&lock);
}

void Table::changed(Claim& claim) {
  if (claim.dirty_slot != 0) return;
  dirty_.push_back(&claim);
  claim.dirty_slot = static_cast<uint32_t>(dirty_.size());
}

// The last one of the list takes its slot, so that short-lived claims leave nothing behind (REG_F76).
void Table::unchanged(Claim& claim) {
  if (claim.dirty_slot == 0) return;
  dirty_.back()->dirty_slot = claim.dirty_slot;
  dirty_[claim.dirty_slot - 1] = dirty_.back();
  dirty_.pop_back();
  claim.dirty_slot = 0;
}

// Its row, if a checkpoint has it, must be erased: the claim ends or becomes another row.
void Table::forget_row(Claim& claim) {
  if (claim.stored) erased_.push_back(row_of(claim));
  claim.stored = false;
}

}  // namespace coordkit::lock
