#include "lock/table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "lock/claim_hash.h"

namespace coordkit::lock {
namespace {

// Exclusive is the only mode so far: compatible with nothing.
bool compatible_with_holds(const Lock& lock) { return lock.holds.empty() || mutant(Mutant::TwoHolders); }

// S-48: nobody stands before it in any of its queues, and no hold is in the way.
bool grantable(const Claim& waiter) {
  const auto next_in_line = [](const Place& place) { return place.before == nullptr && compatible_with_holds(*place.lock); };
  return std::ranges::all_of(waiter.places(), next_in_line);
}

// Heap order: the wait queued first comes out first.
bool queued_later(const Claim* a, const Claim* b) {
  return mutant(Mutant::YoungestWaitFirst) ? a->since < b->since : a->since > b->since;
}

Decision decided(Decision::Kind kind, const Claim& waiter) {
  return {kind, waiter.request, waiter.session, waiter.since, waiter.timeout > Duration::zero(), {}};
}

}  // namespace

Table::Table() = default;
Table::~Table() = default;
Table::Table(Table&&) noexcept = default;
Table& Table::operator=(Table&&) noexcept = default;

// A try and a free lock are decided at once; everybody else joins the end of the queue (S-36, S-38).
AcquireVerdict Table::acquire(const Attempt& attempt, TokenCounter& tokens) {
  using Kind = AcquireVerdict::Kind;
  COORDKIT_CHECK_MSG(touched_.empty(), "a step without settle()");
  Lock* existing = find(attempt.name);
  if (existing) {
    if (const Claim* own = find(*existing, attempt.session, attempt.tag)) {
      if (own->held()) return {Kind::AlreadyHeld, own->token, own->since};
      return {Kind::AlreadyWaiting, {}, own->since};
    }
    if (!attempt.waits) return {Kind::Held};  // it exists, so somebody holds it or stands before
  }
  Lock& lock = lock_of(attempt.name);
  const uint64_t position = lock.waiting;
  Claim& claim = add(lock, {.name = attempt.name,
                            .tag = attempt.tag,
                            .value = attempt.value,
                            .session = attempt.session,
                            .request = attempt.request,
                            .since = attempt.index,
                            .timeout = attempt.timeout});
  if (!grantable(claim)) return {Kind::Queued, {}, attempt.index, position};
  hold(claim, Token(tokens.next()), attempt.index);
  return {Kind::Granted, claim.token, claim.since};
}

bool Table::release(SessionId session, std::optional<std::string_view> tag, std::string_view name, Token token) {
  const Lock* lock = find(name);
  if (!lock) return false;
  for (const Place* place = lock->holds.first; place; place = place->after) {
    Claim& claim = *place->claim;
    if (claim.token != token) continue;
    const bool owner = claim.session == session || mutant(Mutant::AnyoneReleases);
    if (!owner || (tag && claim.tag() != *tag)) return false;
    remove(claim);
    return true;
  }
  return false;
}

CancelVerdict Table::cancel(SessionId session, std::string_view tag, std::string_view name, const RequestId& acquire,
                            std::vector<Decision>& decisions) {
  const Lock* lock = find(name);
  Claim* claim = lock ? find(*lock, session, tag) : nullptr;
  if (!claim || claim->request != acquire) return {};
  if (claim->held()) return {CancelVerdict::Kind::Granted, claim->token, claim->since};
  decisions.push_back(decided(Decision::Kind::Cancelled, *claim));
  if (!mutant(Mutant::CancelledStays)) remove(*claim);
  return {CancelVerdict::Kind::Cancelled, {}, {}};
}

bool Table::time_out(Index queued, std::vector<Decision>& decisions) {
  const auto found = waiters_.find(queued);
  if (found == waiters_.end() || found->second->timeout <= Duration::zero()) return false;
  decisions.push_back(decided(Decision::Kind::WaitTimeout, *found->second));
  remove(*found->second);
  return true;
}

// The order of the session's list depends on history, so it is sorted away: waits by entry, then holds by token.
void Table::end(SessionId session, std::vector<Decision>& decisions) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  std::vector<Claim*> claims;
  claims.reserve(found->second.counts.holds + found->second.counts.waiters);
  for (Claim* claim = found->second.first; claim; claim = claim->session_after) claims.push_back(claim);
  std::ranges::sort(
      claims, [](const Claim* a, const Claim* b) { return std::pair(a->token, a->since) < std::pair(b->token, b->since); });
  for (Claim* claim : claims) {
    if (!claim->held() && mutant(Mutant::DeadWaitersStay)) continue;
    if (!claim->held()) decisions.push_back(decided(Decision::Kind::Lost, *claim));
    remove(*claim);
  }
  COORDKIT_CHECK_MSG(!sessions_.contains(session), "INV_L07");
}

void Table::end_waits(SessionId session, std::vector<Decision>& decisions) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  std::vector<Claim*> waits;
  for (Claim* claim = found->second.first; claim; claim = claim->session_after) {
    if (!claim->held()) waits.push_back(claim);
  }
  std::ranges::sort(waits, {}, [](const Claim* wait) { return wait->since; });
  for (Claim* wait : waits) {
    decisions.push_back(decided(Decision::Kind::Lost, *wait));
    remove(*wait);
  }
}

// A grant can make only the next ones in the same queues grantable, so the candidates are the heads of touched queues,
// refilled after each grant; the heap keeps the order of S-48 over all names.
void Table::settle(Index index, TokenCounter& tokens, std::vector<Decision>& decisions) {
  const auto nominate = [this](const Lock& lock) {
    if (lock.queue.empty()) return;
    candidates_.push_back(lock.queue.first->claim);
    std::ranges::push_heap(candidates_, queued_later);
  };
  for (const Lock* lock : touched_) nominate(*lock);
  while (!candidates_.empty()) {
    std::ranges::pop_heap(candidates_, queued_later);
    Claim& next = *candidates_.back();
    candidates_.pop_back();
    if (next.held() || !grantable(next)) continue;
    Decision decision = decided(Decision::Kind::Granted, next);
    decision.token = Token(mutant(Mutant::TokenRepeats) ? tokens.last() : tokens.next());
    hold(next, decision.token, index);
    decisions.push_back(decision);
    for (const Place& place : next.places()) nominate(*place.lock);
  }
  for (Lock* lock : touched_) {
    lock->touched = false;
    COORDKIT_CHECK_MSG(lock->queue.empty() || !grantable(*lock->queue.first->claim), "INV_L06");
    if (lock->holds.empty() && lock->queue.empty() && !mutant(Mutant::NamesAreKept)) locks_.erase(lock->name.first());
  }
  touched_.clear();
}

Lock* Table::find(std::string_view name) const {
  const auto found = locks_.find(name);
  return found == locks_.end() ? nullptr : found->get();
}

Claim* Table::find(const Lock& lock, SessionId session, std::string_view tag) const {
  const auto found = owners_.find(OwnerKey{&lock, session, tag});
  return found == owners_.end() ? nullptr : found->get();
}

Lock& Table::lock_of(std::string_view name) {
  if (Lock* lock = find(name)) return *lock;
  return **locks_.insert(std::make_unique<Lock>(name)).first;
}

// Queues a claim at the end. INV_L05: a queue is ordered by entry.
Claim& Table::add(Lock& lock, const ClaimView& row) {
  auto fresh = std::make_unique<Claim>();
  Claim& claim = *fresh;
  claim.place.claim = &claim;
  claim.place.lock = &lock;
  claim.session = row.session;
  claim.request = row.request;
  claim.since = row.since;
  claim.timeout = row.timeout;
  claim.text = PackedText(row.tag, row.value);
  COORDKIT_CHECK_MSG(lock.queue.empty() || lock.queue.last->claim->since < claim.since, "INV_L05");
  owners_.insert(std::move(fresh));
  link(claim);
  lock.queue.append(claim.place);
  ++lock.waiting;
  COORDKIT_CHECK_MSG(waiters_.emplace(claim.since, &claim).second, "two acquires in one entry");
  ++sessions_[claim.session].counts.waiters;
  digest_ += claim_hash(claim);
  changed(claim);
  return claim;
}

// Turns a waiter into a hold.
void Table::hold(Claim& claim, Token token, Index index) {
  digest_ -= claim_hash(claim);
  forget_row(claim);
  waiters_.erase(claim.since);
  for (Place& place : claim.places()) {
    Lock& lock = *place.lock;
    COORDKIT_CHECK_MSG(compatible_with_holds(lock), "INV_L01");
    COORDKIT_CHECK_MSG(place.before == nullptr, "INV_L05");
    lock.queue.remove(place);
    --lock.waiting;
    lock.holds.append(place);
  }
  OfSession& session = sessions_[claim.session];
  --session.counts.waiters;
  ++session.counts.holds;
  claim.token = token;
  claim.since = index;
  claim.timeout = Duration::zero();
  digest_ += claim_hash(claim);
  changed(claim);
}

void Table::remove(Claim& claim) {
  digest_ -= claim_hash(claim);
  forget_row(claim);
  unchanged(claim);
  if (!claim.held()) waiters_.erase(claim.since);
  for (Place& place : claim.places()) {
    (claim.held() ? place.lock->holds : place.lock->queue).remove(place);
    if (!claim.held()) --place.lock->waiting;
    if (!mutant(Mutant::NobodyIsWoken)) touch(*place.lock);
  }
  unlink(claim);
  owners_.erase(OwnerKey{claim.place.lock, claim.session, claim.tag()});
}

void Table::link(Claim& claim) {
  OfSession& session = sessions_[claim.session];
  claim.session_after = session.first;
  if (session.first) session.first->session_before = &claim;
  session.first = &claim;
}

void Table::unlink(Claim& claim) {
  const auto session = sessions_.find(claim.session);
  --(claim.held() ? session->second.counts.holds : session->second.counts.waiters);
  (claim.session_before ? claim.session_before->session_after : session->second.first) = claim.session_after;
  if (claim.session_after) claim.session_after->session_before = claim.session_before;
  if (!session->second.first) sessions_.erase(session);
}

void Table::touch(Lock& lock) {
  if (std::exchange(lock.touched, true)) return;
  touched_.push_back(&lock);
}

}  // namespace coordkit::lock
