#include "lock/lock_table.h"

#include <algorithm>

#include "base/check.h"
#include "lock/deadlock.h"

namespace coordkit::lock {
namespace {

Decision decided(Decision::Kind kind, const Claim& waiter) {
  return {kind, waiter.request(), waiter.owner->session, waiter.since, waiter.timeout() > Duration::zero(), {}};
}

// S-38: the answer to an owner that has a claim already. Granted: counts it up.
AcquireVerdict repeated(const Claim& own, const Attempt& attempt) {
  using Kind = AcquireVerdict::Kind;
  if (!own.held()) return {Kind::AlreadyWaiting, {}, own.since};
  const bool again = attempt.reentrant && own.reentrant && own.mode == attempt.names.front().mode;
  if (!again) return {Kind::AlreadyHeld, own.token, own.since};
  if (own.count() == kCountMax) return {Kind::TooDeep};
  return {.kind = Kind::Granted, .token = own.token, .since = own.since, .releases = own.releases()};
}

// The fields that a claim has from its acquire, held or waiting.
ClaimView claim_of(const Attempt& attempt) {
  const Wanted& first = attempt.names.front();
  return {.name = first.name,
          .mode = first.mode,
          .tag = attempt.tag,
          .texts = attempt.texts,
          .session = attempt.session,
          .request = attempt.request,
          .since = attempt.index,
          .delay = attempt.delay,
          .reentrant = attempt.reentrant,
          .others = {},
          .block = {.size = attempt.block}};
}

// The usual acquire as a hold: one free lock, nothing unusual.
ClaimView hold_of(const Attempt& attempt, Token token) {
  ClaimView hold = claim_of(attempt);
  hold.token = token;
  return hold;
}

ClaimView wait_of(const Attempt& attempt) {
  ClaimView wait = claim_of(attempt);
  wait.timeout = attempt.timeout;
  wait.others.assign(attempt.names.begin() + 1, attempt.names.end());
  return wait;
}

}  // namespace

// A try and a free lock are decided at once; every other acquire joins the end of each of its queues (S-36, S-38, S-53).
AcquireVerdict Table::acquire(const Attempt& attempt, TokenCounter& tokens) {
  using Kind = AcquireVerdict::Kind;
  COORDKIT_CHECK_MSG(claims_.touched().empty(), "a step without decide_waits()");
  if (!attempt.waits) {
    if (const std::optional<AcquireVerdict> verdict = refusal(attempt)) {
      if (verdict->kind == Kind::Held) delegations().ask(attempt);
      return *verdict;
    }
  }
  const bool plain = attempt.names.size() == 1 && !claims_.records().find(attempt.names.front().name);
  if (plain && claims_.add_at_rest(hold_of(attempt, Token(tokens.last() + 1)))) {
    return {Kind::Granted, Token(tokens.next()), attempt.index};
  }
  for (const Wanted& wanted : attempt.names) claims_.wake(wanted.name);
  if (Claim* own = own_claim(attempt)) {
    const AcquireVerdict verdict = repeated(*own, attempt);
    if (verdict.kind == Kind::Granted) claims_.rewrite(*own, [](Claim& claim) { ++claim.make_extension().count; });
    return verdict;
  }
  uint64_t position = 0;
  for (const Wanted& wanted : attempt.names) position = std::max<uint64_t>(position, view().waiting(wanted.name));
  Claim& claim = claims_.add(wait_of(attempt));
  if (grantable(claim)) {
    grant(claim, Token(tokens.next()), attempt.index, tokens);
    return {Kind::Granted, claim.token, claim.since};
  }
  if (!attempt.may_close_cycle && closes_cycle(claim)) {
    claims_.remove(claim);
    return {Kind::Deadlock};
  }
  delegations().ask(attempt);
  return {Kind::Queued, {}, attempt.index, position};
}

// S-58: a waiter behind a sticky hold counts as asking for it.
void Table::grant(Claim& wait, Token token, Index index, TokenCounter& tokens) {
  claims_.grant(wait, token, index, tokens);
  if (wait.block() && wait.lock->waiting > 0) delegations().ask(*wait.lock);
}

// The claim that this owner already has on one of the names. A sticky claim belongs to its session rather than to its owner:
// it blocks only another sticky one.
Claim* Table::own_claim(const Attempt& attempt) const {
  const Records& records = claims_.records();
  const Owner* owner = records.find(attempt.session, attempt.tag);
  if (owner == nullptr) return nullptr;
  for (const Wanted& wanted : attempt.names) {
    const Lock* lock = records.find(wanted.name);
    if (lock == nullptr) continue;
    if (Claim* own = records.find(*lock, *owner, ClaimKind::Plain)) return own;
    if (Claim* own = attempt.block != 0 ? records.find(*lock, *owner, ClaimKind::Sticky) : nullptr) return own;
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

// A try overtakes no waiter: it is refused if anything blocks it on one of the names.
std::optional<AcquireVerdict> Table::refused_try(const Attempt& attempt) const {
  using Kind = AcquireVerdict::Kind;
  for (const Wanted& wanted : attempt.names) {
    if (const auto verdict = refusal_at_rest(wanted, attempt)) return verdict;
    const Lock* lock = claims_.records().find(wanted.name);
    if (!lock) continue;
    if (lock->delay != 0) return AcquireVerdict{Kind::Delayed};
    if (!lock->queue.empty() || !admits(*lock, wanted.mode)) return AcquireVerdict{Kind::Held};
  }
  return std::nullopt;
}

// The reason why an acquire cannot be granted now at a lock at rest, if there is one.
std::optional<AcquireVerdict> Table::refusal_at_rest(const Wanted& wanted, const Attempt& attempt) const {
  using Kind = AcquireVerdict::Kind;
  const CompactHolds::Handle handle = claims_.compact().find(wanted.name);
  if (handle == 0) return std::nullopt;
  const CompactHolds::Record& hold = claims_.compact()[handle];
  const bool own = hold.session == attempt.session && hold.tag() == attempt.tag;
  if (own) return AcquireVerdict{Kind::AlreadyHeld, hold.token, hold.since};
  if (compatible(hold.mode(), wanted.mode)) return std::nullopt;
  return AcquireVerdict{Kind::Held};
}

bool Table::release(const HoldKey& key, uint64_t number) {
  if (const CompactHolds::Found found = claims_.compact().find(key.name)) {
    const CompactHolds::Record& hold = claims_.compact()[found];
    const bool owner = hold.session == key.session && (!key.tag || hold.tag() == *key.tag);
    if (!owner || hold.token != key.token) return false;
    claims_.remove(found);
    return true;
  }
  Claim* claim = claims_.records().find_hold(key);
  if (!claim) return false;
  const uint64_t counts = number == 0 ? 1 : number > claim->releases() ? number - claim->releases() : 0;
  if (counts >= claim->count()) {
    claims_.remove(*claim);
  } else if (counts > 0) {
    claims_.rewrite(*claim, [counts](Claim& hold) {
      hold.extension->count -= static_cast<uint32_t>(counts);
      hold.extension->releases += counts;
    });
  }
  return true;
}

CancelVerdict Table::cancel(SessionId session, std::string_view tag, std::string_view name, const RequestId& acquire,
                            Decisions& decisions) {
  if (const CompactHolds::Handle handle = claims_.compact().find(name)) {
    const ClaimView hold = claims_.compact().view(handle);
    if (hold.session != session || hold.tag != tag || hold.request != acquire) return {};
    return {CancelVerdict::Kind::Granted, hold.token, hold.since};
  }
  const Records& records = claims_.records();
  const Lock* lock = records.find(name);
  Claim* claim = lock ? records.find(*lock, session, tag, ClaimKind::Plain) : nullptr;
  if (lock && (!claim || claim->request() != acquire)) claim = records.find(*lock, session, tag, ClaimKind::Sticky);
  if (!claim || claim->request() != acquire) return {};
  if (claim->held()) return {CancelVerdict::Kind::Granted, claim->token, claim->since};
  decisions.waits.push_back(decided(Decision::Kind::Cancelled, *claim));
  claims_.remove(*claim);
  return {CancelVerdict::Kind::Cancelled, {}, {}};
}

bool Table::time_out(Index queued, Decisions& decisions) {
  Claim* wait = claims_.records().find_wait(queued);
  if (!wait || wait->timeout() <= Duration::zero()) return false;
  decisions.waits.push_back(decided(Decision::Kind::WaitTimeout, *wait));
  claims_.remove(*wait);
  return true;
}

void Table::end_waits(SessionId session, Decisions& decisions) {
  for (Claim* wait : claims_.records().waits_of(session)) {
    decisions.waits.push_back(decided(Decision::Kind::Lost, *wait));
    claims_.remove(*wait);
  }
}

void Table::end(SessionId session, Ending how, TokenCounter& tokens, Decisions& decisions) {
  end_waits(session, decisions);
  for (const CompactHolds::Handle hold : claims_.compact().of_session(session)) claims_.remove(claims_.compact().find(hold));
  const bool delays = how == Ending::Expired;
  for (Claim* hold : claims_.records().holds_of(session)) {
    if (delays && hold->delay() > Duration::zero()) {
      for (const Place& place : hold->places()) delays_.begin(*place.lock, hold->delay(), tokens, claims_, decisions);
    }
    claims_.remove(*hold);
  }
  const ClaimCounts left = claims_.records().counts(session);
  COORDKIT_CHECK_MSG(left.holds == 0 && left.waiters == 0, "INV_L07");
}

bool Table::clear_delay(std::string_view name, Decisions& decisions) {
  const Lock* lock = claims_.records().find(name);
  return lock && lock->delay != 0 && end_delay(lock->delay, decisions);
}

void Table::decide_waits(Index index, TokenCounter& tokens, Decisions& decisions) {
  if (nothing_touched()) return;
  for (const Lock* lock : claims_.touched()) order_.nominate(*lock);
  while (Claim* next = order_.next()) {
    Decision decision = decided(Decision::Kind::Granted, *next);
    decision.token = Token(tokens.next());
    grant(*next, decision.token, index, tokens);
    decisions.waits.push_back(decision);
    for (const Place& place : next->places()) order_.nominate(*place.lock);
  }
  claims_.end_step();
  claims_.notices().move_to(decisions);
}

void Table::collect(Claims::Visitor put, Delays::Visitor put_delay, absl::FunctionRef<void(RowId)> erase) {
  delays_.take_erased(erase);
  claims_.take_erased(erase);
  delays_.take_changed(put_delay);
  claims_.take_changed(put);
}

void Table::forget_stored() {
  delays_.forget_stored();
  claims_.forget_stored();
}

}  // namespace coordkit::lock
