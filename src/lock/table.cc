#include "lock/table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "lock/deadlock.h"

namespace coordkit::lock {
namespace {

// Heap order: the wait queued first comes out first. A multi-lock may be in the heap several times, and the wait of one that
// is granted by then is over; so the order is kept beside it.
bool queued_later(const std::pair<Index, Claim*>& a, const std::pair<Index, Claim*>& b) { return a.first > b.first; }

Decision decided(Decision::Kind kind, const Claim& waiter) {
  return {kind, waiter.request, waiter.owner->session, waiter.since, waiter.timeout > Duration::zero(), {}};
}

// S-38: the answer to an owner that has a claim already. Granted: count it up.
AcquireVerdict repeated(const Claim& own, const Attempt& attempt) {
  using Kind = AcquireVerdict::Kind;
  if (!own.held()) return {Kind::AlreadyWaiting, {}, own.since};
  const bool again = attempt.reentrant && own.reentrant && own.one.mode == attempt.names.front().mode;
  if (!again) return {Kind::AlreadyHeld, own.token, own.since};
  if (own.count == kCountMax) return {Kind::TooDeep};
  return {.kind = Kind::Granted, .token = own.token, .since = own.since, .releases = own.releases};
}

}  // namespace

bool grantable(const Claim& waiter) {
  const auto next_in_line = [](const Place& place) {
    return place.before == nullptr && admits(*place.lock, place.mode) && place.lock->delay == 0;
  };
  return std::ranges::all_of(waiter.places(), next_in_line);
}

Table::Table() = default;
Table::~Table() = default;
Table::Table(Table&&) noexcept = default;
Table& Table::operator=(Table&&) noexcept = default;

// A try and a free lock are decided at once; every other acquire joins the end of each of its queues (S-36, S-38, S-53).
AcquireVerdict Table::acquire(const Attempt& attempt, TokenCounter& tokens) {
  using Kind = AcquireVerdict::Kind;
  COORDKIT_CHECK_MSG(touched_.empty(), "a step without decide_waits()");
  if (!attempt.waits) {
    if (const std::optional<AcquireVerdict> verdict = refusal(attempt)) {
      if (verdict->kind == Kind::Held) ask(attempt);
      return *verdict;
    }
  }
  const Wanted& first = attempt.names.front();
  const bool free = attempt.names.size() == 1 && !find(first.name) && resting_.find(first.name) == 0;
  if (free && grant_at_rest(attempt, Token(tokens.last() + 1))) {
    return {Kind::Granted, Token(tokens.next()), attempt.index};
  }
  for (const Wanted& wanted : attempt.names) {
    if (Lock* woken = wake(wanted.name)) touch(*woken);
  }
  if (Claim* own = own_claim(attempt)) {
    const AcquireVerdict verdict = repeated(*own, attempt);
    if (verdict.kind == Kind::Granted) rewrite(*own, [](Claim& claim) { ++claim.count; });
    return verdict;
  }
  uint64_t position = 0;
  for (const Wanted& wanted : attempt.names) position = std::max<uint64_t>(position, waiting(wanted.name));
  Claim& claim = add({.name = first.name,
                      .mode = first.mode,
                      .tag = attempt.tag,
                      .value = attempt.value,
                      .session = attempt.session,
                      .request = attempt.request,
                      .since = attempt.index,
                      .timeout = attempt.timeout,
                      .delay = attempt.delay,
                      .reentrant = attempt.reentrant,
                      .others = {attempt.names.begin() + 1, attempt.names.end()},
                      .block = {.size = attempt.block}});
  digest_ += claim_hash(view_of(claim));
  changed(claim);
  if (grantable(claim)) {
    hold(claim, Token(tokens.next()), attempt.index, tokens);
    return {Kind::Granted, claim.token, claim.since};
  }
  if (!attempt.may_close_cycle && closes_cycle(claim)) {
    remove(claim);
    return {Kind::Deadlock};
  }
  ask(attempt);
  return {Kind::Queued, {}, attempt.index, position};
}

// The claim that this owner has on one of the names already. A sticky one belongs to its session rather than to its owner: it
// blocks another sticky one only.
Claim* Table::own_claim(const Attempt& attempt) const {
  const auto owner = owners_.find(OwnerKey{attempt.session, attempt.tag});
  if (owner == owners_.end()) return nullptr;
  for (const Wanted& wanted : attempt.names) {
    const Lock* lock = find(wanted.name);
    if (lock == nullptr) continue;
    if (Claim* own = find(*lock, **owner, ClaimKind::Plain)) return own;
    if (Claim* own = attempt.block != 0 ? find(*lock, **owner, ClaimKind::Sticky) : nullptr) return own;
  }
  return nullptr;
}

std::optional<AcquireVerdict> Table::refusal(const Attempt& attempt) const {
  for (const Wanted& wanted : attempt.names) {
    const auto verdict = refusal_at_rest(wanted, attempt);
    if (verdict && verdict->kind == AcquireVerdict::Kind::AlreadyHeld) return verdict;
  }
  const Claim* own = own_claim(attempt);
  if (!own) return refused_try(attempt);
  const AcquireVerdict verdict = repeated(*own, attempt);
  return verdict.kind == AcquireVerdict::Kind::Granted ? std::nullopt : std::optional(verdict);
}

// A try overtakes no one: it is refused if anything blocks it on one of the names.
std::optional<AcquireVerdict> Table::refused_try(const Attempt& attempt) const {
  using Kind = AcquireVerdict::Kind;
  for (const Wanted& wanted : attempt.names) {
    if (const auto verdict = refusal_at_rest(wanted, attempt)) return verdict;
    const Lock* lock = find(wanted.name);
    if (!lock) continue;
    if (lock->delay != 0) return AcquireVerdict{Kind::Delayed};
    if (!lock->queue.empty() || !admits(*lock, wanted.mode)) return AcquireVerdict{Kind::Held};
  }
  return std::nullopt;
}

bool Table::release(const HoldKey& key, uint64_t number) {
  if (const Resting::Handle handle = resting_.find(key.name)) {
    const ClaimView hold = resting_.view(handle);
    const bool owner = hold.session == key.session && (!key.tag || hold.tag == *key.tag);
    if (!owner || hold.token != key.token) return false;
    end_at_rest(handle);
    return true;
  }
  Claim* claim = find_hold(key);
  if (!claim) return false;
  const uint64_t counts = number == 0 ? 1 : number > claim->releases ? number - claim->releases : 0;
  if (counts >= claim->count) {
    remove(*claim);
  } else if (counts > 0) {
    rewrite(*claim, [counts](Claim& hold) {
      hold.count -= static_cast<uint32_t>(counts);
      hold.releases += counts;
    });
  }
  return true;
}

CancelVerdict Table::cancel(SessionId session, std::string_view tag, std::string_view name, const RequestId& acquire,
                            Decisions& decisions) {
  if (const Resting::Handle handle = resting_.find(name)) {
    const ClaimView hold = resting_.view(handle);
    if (hold.session != session || hold.tag != tag || hold.request != acquire) return {};
    return {CancelVerdict::Kind::Granted, hold.token, hold.since};
  }
  const Lock* lock = find(name);
  Claim* claim = lock ? find(*lock, session, tag, ClaimKind::Plain) : nullptr;
  if (lock && (!claim || claim->request != acquire)) claim = find(*lock, session, tag, ClaimKind::Sticky);
  if (!claim || claim->request != acquire) return {};
  if (claim->held()) return {CancelVerdict::Kind::Granted, claim->token, claim->since};
  decisions.waits.push_back(decided(Decision::Kind::Cancelled, *claim));
  remove(*claim);
  return {CancelVerdict::Kind::Cancelled, {}, {}};
}

bool Table::time_out(Index queued, Decisions& decisions) {
  const auto found = waiters_.find(queued);
  if (found == waiters_.end() || found->second->timeout <= Duration::zero()) return false;
  decisions.waits.push_back(decided(Decision::Kind::WaitTimeout, *found->second));
  remove(*found->second);
  return true;
}

// The order of the session's lists depends on history, so it is sorted away: waits by entry, then holds by token.
std::vector<Claim*> Table::claims_of(SessionId session, Which which) const {
  std::vector<Claim*> claims;
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return claims;
  for (const Owner* owner = found->second.owners.first; owner; owner = owner->session_after) {
    for (Claim* claim = owner->waits.first; claim; claim = claim->owner_after) claims.push_back(claim);
    if (which == Which::Waits) continue;
    for (Claim* claim = owner->holds.first; claim; claim = claim->owner_after) claims.push_back(claim);
  }
  std::ranges::sort(
      claims, [](const Claim* a, const Claim* b) { return std::pair(a->token, a->since) < std::pair(b->token, b->since); });
  return claims;
}

void Table::end_waits(SessionId session, Decisions& decisions) {
  for (Claim* wait : claims_of(session, Which::Waits)) {
    decisions.waits.push_back(decided(Decision::Kind::Lost, *wait));
    remove(*wait);
  }
}

void Table::end(SessionId session, Ending how, TokenCounter& tokens, Decisions& decisions) {
  end_waits(session, decisions);
  for (const Resting::Handle handle : resting_.of_session(session)) end_at_rest(handle);
  const bool delays = how == Ending::Expired;
  for (Claim* claim : claims_of(session, Which::All)) {
    if (!claim->held()) continue;
    if (delays && claim->delay > Duration::zero()) {
      for (const Place& place : claim->places()) begin_delay(*place.lock, claim->delay, tokens, decisions);
    }
    remove(*claim);
  }
  COORDKIT_CHECK_MSG(!sessions_.contains(session), "INV_L07");
}

// Another delay of the same name may have run for any part of its time: the longer of the two starts over.
void Table::begin_delay(Lock& lock, Duration duration, TokenCounter& tokens, Decisions& decisions) {
  if (lock.delay != 0) {
    duration = std::max(duration, delays_.at(lock.delay).duration);
    end_delay(lock.delay, decisions);
  }
  lock.delay = tokens.next();
  delays_.emplace(lock.delay, Delay{&lock, duration});
  digest_ += delay_hash({lock.delay, lock.name.view(), duration});
  decisions.delays.push_back({DelayChange::Kind::Begun, lock.delay, duration});
}

bool Table::end_delay(uint64_t id, Decisions& decisions) {
  const auto found = delays_.find(id);
  if (found == delays_.end()) return false;
  const Delay& delay = found->second;
  digest_ -= delay_hash({id, delay.lock->name.view(), delay.duration});
  if (delay.stored) erased_.push_back({RowId::Kind::Delay, id});
  delay.lock->delay = 0;
  touch(*delay.lock);
  delays_.erase(found);
  decisions.delays.push_back({DelayChange::Kind::Over, id});
  return true;
}

bool Table::clear_delay(std::string_view name, Decisions& decisions) {
  const Lock* lock = find(name);
  return lock && lock->delay != 0 && end_delay(lock->delay, decisions);
}

// A grant can make only the next ones in the same queues grantable, so the candidates are the heads of touched queues,
// refilled after each grant; the heap keeps the order of S-48 over all names.
void Table::decide_waits(Index index, TokenCounter& tokens, Decisions& decisions) {
  if (touched_.empty() && led_.empty() && asked_.empty()) return;
  const auto nominate = [this](const Lock& lock) {
    if (lock.queue.empty()) return;
    Claim& head = *lock.queue.first->claim;
    candidates_.emplace_back(head.since, &head);
    std::ranges::push_heap(candidates_, queued_later);
  };
  for (const Lock* lock : touched_) nominate(*lock);
  while (!candidates_.empty()) {
    std::ranges::pop_heap(candidates_, queued_later);
    Claim& next = *candidates_.back().second;
    candidates_.pop_back();
    if (next.held() || !grantable(next)) continue;
    Decision decision = decided(Decision::Kind::Granted, next);
    decision.token = Token(tokens.next());
    hold(next, decision.token, index, tokens);
    decisions.waits.push_back(decision);
    for (const Place& place : next.places()) nominate(*place.lock);
  }
  for (Lock* lock : touched_) {
    lock->touched = false;
    COORDKIT_CHECK_MSG(lock->queue.empty() || !grantable(*lock->queue.first->claim), "INV_L06");
    const bool empty = lock->holds.empty() && lock->queue.empty() && lock->delay == 0;
    if (put_to_rest(*lock) || empty) locks_.erase(locks_.find(lock->name.view()));
  }
  touched_.clear();
  std::ranges::move(led_, std::back_inserter(decisions.led));
  led_.clear();
  std::ranges::move(asked_, std::back_inserter(decisions.asked));
  asked_.clear();
}

}  // namespace coordkit::lock
