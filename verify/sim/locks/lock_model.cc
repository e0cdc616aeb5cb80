#include "sim/locks/lock_model.h"

#include <algorithm>
#include <span>
#include <utility>

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

namespace {

bool share(LockMode a, LockMode b) { return a == LockMode::Shared && b == LockMode::Shared; }

// Both on a common name, and not both sharing it.
bool clash(const LockModel::Claim& a, const LockModel::Claim& b) {
  return std::ranges::any_of(a.names, [&](const NamedLock& mine) {
    const LockMode* other = b.mode_on(mine.name);
    return other && !share(mine.mode, *other);
  });
}

bool meet(const LockModel::Claim& a, const LockModel::Claim& b) {
  return std::ranges::any_of(a.names, [&](const NamedLock& mine) { return b.mode_on(mine.name) != nullptr; });
}

}  // namespace

const LockMode* LockModel::Claim::mode_on(std::string_view name) const {
  const auto found = std::ranges::find(names, name, &NamedLock::name);
  return found == names.end() ? nullptr : &found->mode;
}

void LockModel::begin_entry() {
  grants_ += granted_.size();
  granted_.clear();
  touched_.clear();
}

void LockModel::touch(const Claim& claim) {
  for (const NamedLock& each : claim.names) touched_.insert(each.name);
}

// ---- acquires

Result LockModel::acquire(Claim claim, const machine::Wait& wait, uint64_t flags, Index index) {
  touch(claim);
  if (const Claim* mine = own(claim)) {
    Claim& existing = claims_[static_cast<size_t>(mine - claims_.data())];
    if (!existing.held()) return {.code = ResultCode::AlreadyWaiting, .since = existing.since};
    const bool again = claim.reentrant && existing.reentrant && claim.names == existing.names;
    if (!again) return {.code = ResultCode::AlreadyHeld, .token = existing.token, .since = existing.since};
    if (existing.count == 65'535) return {.code = ResultCode::LimitExceeded};
    ++existing.count;
    return {.code = ResultCode::Granted, .token = existing.token, .since = existing.since, .releases = existing.releases};
  }
  if (wait.kind == machine::Wait::Kind::None) {
    if (const auto refusal = in_the_way_of_a_try(claim)) {
      if (*refusal == ResultCode::Held) ask(claim);
      return {.code = *refusal};
    }
  }
  uint64_t position = 0;
  for (const NamedLock& each : claim.names) position = std::max<uint64_t>(position, queue(each.name).size());
  claim.since = index;
  claim.timed = wait.kind == machine::Wait::Kind::Timed;
  claims_.push_back(std::move(claim));
  if (grantable(claims_.back())) {
    grant(claims_.back(), index);
    return {.code = ResultCode::Granted, .token = claims_.back().token, .since = index};
  }
  // Nothing waits behind the newest wait, so an owner without any other claim blocks no one. Most have none.
  const auto others = std::span(claims_).first(claims_.size() - 1);
  const bool alone = std::ranges::none_of(others, [&](const Claim& other) { return other.same_owner(claims_.back()); });
  if ((flags & machine::kNoDeadlockCheck) == 0 && !alone && closes_circle(claims_.back())) {
    claims_.pop_back();
    return {.code = ResultCode::Deadlock};
  }
  ask(claims_.back());
  return {.code = ResultCode::Queued, .position = position};
}

// A sticky claim blocks only another sticky one: its hold is the session's.
const LockModel::Claim* LockModel::own(const Claim& like) const {
  for (const NamedLock& each : like.names) {
    for (const bool sticky : {false, true}) {
      if (sticky && like.block == 0) continue;
      for (const Claim& claim : claims_) {
        if (claim.same_owner(like) && claim.mode_on(each.name) && (claim.block != 0) == sticky) return &claim;
      }
    }
  }
  return nullptr;
}

// ---- delegations (S-58)

LockModel::Claim* LockModel::delegation(const std::string& name) {
  const auto hold = std::ranges::find_if(claims_, [&](const Claim& c) { return c.held() && c.block != 0 && c.mode_on(name); });
  return hold == claims_.end() ? nullptr : &*hold;
}

void LockModel::ask(const Claim& behind) {
  for (const NamedLock& each : behind.names) {
    if (Claim* hold = delegation(each.name)) hold->asked = true;
  }
}

Result LockModel::run(const machine::RefillBlock& asked, Index) {
  Claim* hold = find(asked.session, std::nullopt, asked.name, asked.token);
  if (!hold || hold->block == 0) return {.code = ResultCode::NotOwner};
  hold->first = Token(++counter_);
  hold->last = Token(counter_ += hold->block - 1);
  hold->newest = Token();
  return {.code = ResultCode::Granted, .token = hold->first};
}

void LockModel::regrant_all(SessionId session, Index index) {
  std::vector<Claim*> held;
  for (Claim& claim : claims_) {
    if (claim.session == session && claim.held()) held.push_back(&claim);
  }
  std::ranges::sort(held, {}, [](const Claim* claim) { return claim->token; });
  for (Claim* claim : held) {
    claim->renewed = true;
    claim->releases = 0;
    grant(*claim, index);
  }
}

bool LockModel::guard_met(const std::string& name, Token token) {
  if (!current(name, token)) return false;
  if (Claim* hold = delegation(name)) hold->newest = token;
  return true;
}

bool LockModel::current(const std::string& name, Token token) const {
  const Claim* claim = hold(name, token);
  return claim && (claim->block == 0 || (claim->covers(token) && token >= claim->newest));
}

// A try overtakes no one; if it has several names, the first that is not free is reported.
std::optional<ResultCode> LockModel::in_the_way_of_a_try(const Claim& attempt) const {
  for (const NamedLock& each : attempt.names) {
    if (delays_.contains(each.name)) return ResultCode::Delayed;
    for (const Claim& other : claims_) {
      const LockMode* mode = other.mode_on(each.name);
      if (mode && (!other.held() || !share(*mode, each.mode))) return ResultCode::Held;
    }
  }
  return std::nullopt;
}

bool LockModel::grantable(const Claim& wait) const {
  if (std::ranges::any_of(wait.names, [&](const NamedLock& each) { return delays_.contains(each.name); })) return false;
  return std::ranges::none_of(claims_, [&](const Claim& other) {
    return other.held() ? clash(wait, other) : other.since < wait.since && meet(wait, other);
  });
}

void LockModel::grant(Claim& claim, Index index) {
  claim.token = Token(++counter_);
  claim.since = index;
  claim.timed = false;
  if (claim.block != 0) {
    claim.first = claim.token;
    claim.last = Token(counter_ += claim.block - 1);
    claim.newest = Token();
  }
  touch(claim);
  granted_.push_back(claim);
}

void LockModel::decide_waits(Index index, std::vector<Ended>& ended) {
  for (;;) {
    const auto next = std::ranges::find_if(claims_, [&](const Claim& claim) { return !claim.held() && grantable(claim); });
    if (next == claims_.end()) return;
    grant(*next, index);
    if (next->block != 0 && !queue(next->names.front().name).empty()) next->asked = true;
    ended.push_back({next->request, {.code = ResultCode::Granted, .token = next->token, .since = index}});
  }
}

// ---- the ends of waits and holds

Result LockModel::cancel(SessionId session, const RequestId& acquire, std::vector<Ended>& ended) {
  const auto claim =
      std::ranges::find_if(claims_, [&](const Claim& c) { return c.request == acquire && c.session == session; });
  if (claim != claims_.end() && claim->held()) {
    return {.code = ResultCode::Granted, .token = claim->token, .since = claim->since};
  }
  if (claim != claims_.end()) {
    touch(*claim);
    ended.push_back({acquire, {.code = ResultCode::Cancelled}});
    claims_.erase(claim);
  }
  return {.code = ResultCode::Cancelled};
}

void LockModel::time_out(Index queued, std::vector<Ended>& ended) {
  const auto wait = std::ranges::find_if(claims_, [&](const Claim& c) { return !c.held() && c.timed && c.since == queued; });
  if (wait == claims_.end()) return;
  touch(*wait);
  ended.push_back({wait->request, {.code = ResultCode::WaitTimeout}});
  claims_.erase(wait);
}

LockModel::Claim* LockModel::find(SessionId session, const std::optional<std::string>& tag, const std::string& name,
                                  Token token) {
  const auto hold = std::ranges::find_if(claims_, [&](const Claim& claim) {
    return claim.held() && claim.token == token && claim.session == session && claim.mode_on(name) &&
           (!tag || *tag == claim.owner_tag);
  });
  return hold == claims_.end() ? nullptr : &*hold;
}

// The n-th release of a counted hold includes all earlier ones.
Result LockModel::release(SessionId session, const std::optional<std::string>& tag, const std::string& name, Token token,
                          uint64_t number) {
  Claim* hold = find(session, tag, name, token);
  if (!hold) return {.code = ResultCode::NotOwner};
  const uint64_t counts = number == 0 ? 1 : number > hold->releases ? number - hold->releases : 0;
  touch(*hold);
  if (counts >= hold->count) {
    claims_.erase(claims_.begin() + (hold - claims_.data()));
    ++releases_;
  } else {
    hold->count -= static_cast<uint32_t>(counts);
    hold->releases += counts;
  }
  return {.code = ResultCode::Ok};
}

// Waits end oldest first, and the locks of an expired session's holds are delayed in token order.
void LockModel::end(SessionId session, bool expired, std::vector<Ended>& ended) {
  std::vector<Claim> holds;
  for (const Claim& claim : claims_) {
    if (claim.session != session) continue;
    touch(claim);
    if (claim.held()) {
      holds.push_back(claim);
    } else {
      ended.push_back({claim.request, {.code = ResultCode::Lost}});
    }
  }
  std::erase_if(claims_, [session](const Claim& claim) { return claim.session == session; });
  std::ranges::sort(holds, {}, &Claim::token);
  for (const Claim& hold : holds) {
    if (!expired || hold.delay == Duration::zero()) continue;
    for (const NamedLock& each : hold.names) {
      Delay& delay = delays_[each.name];
      delay = {++counter_, std::max(delay.duration, hold.delay)};
    }
  }
}

void LockModel::end_waits(SessionId session, std::vector<Ended>& ended) {
  const auto waits = [session](const Claim& claim) { return claim.session == session && !claim.held(); };
  for (const Claim& claim : claims_) {
    if (!waits(claim)) continue;
    touch(claim);
    ended.push_back({claim.request, {.code = ResultCode::Lost}});
  }
  std::erase_if(claims_, waits);
}

void LockModel::end_delay(uint64_t id) {
  const auto delay = std::ranges::find_if(delays_, [id](const auto& item) { return item.second.id == id; });
  if (delay == delays_.end()) return;
  touched_.insert(delay->first);
  delays_.erase(delay);
}

Result LockModel::run(const machine::ClearDelay& asked, Index) {
  const auto delay = delays_.find(asked.name);
  if (delay == delays_.end()) return {.code = ResultCode::NotFound};
  end_delay(delay->second.id);
  return {.code = ResultCode::Ok};
}

// ---- changes of a hold

Result LockModel::regrant(Claim& hold, LockMode mode, Index index) {
  hold.names.front().mode = mode;
  hold.releases = 0;
  grant(hold, index);
  return {.code = ResultCode::Granted, .token = hold.token, .since = index};
}

Result LockModel::run(const machine::Downgrade& asked, Index index) {
  Claim* hold = find(asked.session, asked.owner_tag, asked.name, asked.token);
  if (!hold) return {.code = ResultCode::NotOwner};
  const bool simple =
      hold->names.size() == 1 && hold->count == 1 && hold->block == 0 && hold->names.front().mode == LockMode::Exclusive;
  return simple ? regrant(*hold, LockMode::Shared, index) : Result{.code = ResultCode::InvalidArgument};
}

Result LockModel::run(const machine::Upgrade& asked, Index index) {
  Claim* hold = find(asked.session, asked.owner_tag, asked.name, asked.token);
  if (!hold) return {.code = ResultCode::NotOwner};
  const bool simple = hold->names.size() == 1 && hold->count == 1 && hold->names.front().mode == LockMode::Shared;
  if (!simple) return {.code = ResultCode::InvalidArgument};
  if (holds(asked.name).size() > 1) return {.code = ResultCode::UpgradeConflict};
  if (delays_.contains(asked.name)) return {.code = ResultCode::Delayed};
  hold->names.front().mode = LockMode::Exclusive;
  const bool circle = waits_for_itself({hold->session, hold->owner_tag});
  hold->names.front().mode = LockMode::Shared;
  return circle ? Result{.code = ResultCode::Deadlock} : regrant(*hold, LockMode::Exclusive, index);
}

Result LockModel::run(const machine::UpdateValue& asked, Index) {
  Claim* hold = find(asked.session, asked.owner_tag, asked.name, asked.token);
  if (Claim* sticky = delegation(asked.name)) hold = sticky->session == asked.session ? sticky : nullptr;
  if (!hold || (hold->block != 0 && !guard_met(asked.name, asked.token))) return {.code = ResultCode::NotOwner};
  hold->texts.value = asked.value;
  touch(*hold);
  return {.code = ResultCode::Ok};
}

// ---- cycles of waits (S-49)

// The owners that must act before this wait can end. Behind a compatible waiter, a wait inherits what that waiter waits for.
void LockModel::collect_blockers(const Claim& wait, std::set<const Claim*>& seen, std::set<Owner>& owners) const {
  if (!seen.insert(&wait).second) return;
  for (const Claim& other : claims_) {
    if (&other == &wait || (!other.held() && other.since >= wait.since) || !meet(wait, other)) continue;
    if (other.held() && other.block != 0) continue;  // given back on request
    if (clash(wait, other)) owners.emplace(other.session, other.owner_tag);
    if (!other.held()) collect_blockers(other, seen, owners);
  }
}

bool LockModel::closes_circle(const Claim& wait) const {
  const Owner owner(wait.session, wait.owner_tag);
  std::set<const Claim*> seen;
  std::set<Owner> met, pending;
  collect_blockers(wait, seen, pending);
  while (!pending.empty()) {
    const Owner next = pending.extract(pending.begin()).value();
    if (next == owner) return true;
    if (!met.insert(next).second) continue;
    for (const Claim& claim : claims_) {
      if (!claim.held() && Owner(claim.session, claim.owner_tag) == next) collect_blockers(claim, seen, pending);
    }
  }
  return false;
}

bool LockModel::waits_for_itself(const Owner& owner) const {
  return std::ranges::any_of(claims_, [&](const Claim& claim) {
    return !claim.held() && Owner(claim.session, claim.owner_tag) == owner && closes_circle(claim);
  });
}

// ---- queries

const LockModel::Claim* LockModel::hold(const std::string& name, Token token) const {
  const auto hold = std::ranges::find_if(
      claims_, [&](const Claim& c) { return c.held() && (c.token == token || c.covers(token)) && c.mode_on(name); });
  return hold == claims_.end() ? nullptr : &*hold;
}

std::vector<LockModel::Claim> LockModel::holds(const std::string& name) const {
  std::vector<Claim> holds;
  for (const Claim& claim : claims_) {
    if (claim.held() && claim.mode_on(name)) holds.push_back(claim);
  }
  std::ranges::sort(holds, {}, &Claim::token);
  return holds;
}

std::vector<LockModel::Claim> LockModel::queue(const std::string& name) const {
  std::vector<Claim> queue;
  for (const Claim& claim : claims_) {
    if (!claim.held() && claim.mode_on(name)) queue.push_back(claim);
  }
  return queue;
}

std::vector<Token> LockModel::tokens_of(SessionId session) const {
  std::vector<Token> tokens;
  for (const Claim& claim : claims_) {
    if (claim.held() && claim.session == session) tokens.push_back(claim.token);
  }
  std::ranges::sort(tokens);
  return tokens;
}

std::set<std::string> LockModel::names() const {
  std::set<std::string> names;
  for (const Claim& claim : claims_) {
    for (const NamedLock& each : claim.names) names.insert(each.name);
  }
  for (const auto& [name, delay] : delays_) names.insert(name);
  return names;
}

}  // namespace coordkit::sim
