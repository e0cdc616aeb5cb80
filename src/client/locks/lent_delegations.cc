#include "client/locks/lent_delegations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace coordkit {

// The grant checks the deadline, so that no owner starts work that cannot be trusted. HoldState::valid() checks it again, and
// that protects others.
HoldRef Delegations::acquire(const SessionRef& session, std::string_view name, std::string_view owner_tag, LeadingTime now) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  const DelegationRef& delegation = found->second;
  const bool idle = delegation->open_ && delegation->current_ == nullptr && delegation->next_ <= delegation->grant_.last;
  if (!idle || !session->valid(now)) return nullptr;
  ++granted_;
  return make(session, delegation, owner_tag, LeadingTime::max());
}

// The caller must hold the mutex.
HoldRef Delegations::make(const SessionRef& session, const DelegationRef& delegation, std::string_view owner_tag,
                          LeadingTime until) {
  const Delegation::Grant& grant = delegation->grant_;
  const Token token = delegation->next_;
  ++held_;
  delegation->next_ = token.next();
  delegation->current_ =
      make_ref<HoldState>(session, grant.name, owner_tag, token, grant.since, until, HoldTerms{}, delegation);
  delegation->in_use_.store(token.value(), std::memory_order_relaxed);
  return delegation->current_;
}

Delegations::Released Delegations::release(const HoldState& hold) {
  HoldRef over;  // destroyed without the mutex
  const std::lock_guard lock(mutex_);
  Delegation& delegation = *hold.delegation();
  if (delegation.current_.get() != &hold) return Released::NotCurrent;
  over = std::move(delegation.current_);
  delegation.in_use_.store(0, std::memory_order_relaxed);
  delegation.last_use_ = ++uses_;
  --held_;
  const bool done = delegation.open_ && hold.until() == LeadingTime::max() && idle() <= idle_max_;
  return done ? Released::Done : Released::Serve;
}

std::vector<HoldRef> Delegations::in_use() const {
  std::vector<HoldRef> holds;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, delegation] : by_name_) {
    if (delegation->current_) holds.push_back(delegation->current_);
  }
  std::ranges::sort(holds, {}, &HoldState::token);  // the order of the map is arbitrary
  return holds;
}

uint64_t Delegations::granted() const {
  const std::lock_guard lock(mutex_);
  return granted_;
}

DelegationRef Delegations::add(Delegation::Grant grant) {
  const std::lock_guard lock(mutex_);
  DelegationRef& slot = by_name_[grant.name];
  COORDKIT_CHECK(slot == nullptr);
  slot = std::make_shared<Delegation>(std::move(grant));
  slot->last_use_ = slot->looked_at_ = ++uses_;
  by_use_.insert(by_use_.end(), slot.get());
  return slot;
}

Delegations::Look Delegations::look(const Delegation& delegation) const {
  const std::lock_guard lock(mutex_);
  return {delegation.current_, delegation.next_ > delegation.grant_.last};
}

bool Delegations::current(const HoldState& hold) const {
  const std::lock_guard lock(mutex_);
  return hold.delegation() && hold.delegation()->current_.get() == &hold;
}

HoldRef Delegations::grant(const SessionRef& session, const DelegationRef& delegation, std::string_view owner_tag,
                           LeadingTime until) {
  const std::lock_guard lock(mutex_);
  COORDKIT_CHECK_MSG(delegation->current_ == nullptr, "INV_L02");
  COORDKIT_CHECK_MSG(delegation->next_ <= delegation->grant_.last, "INV_L04");
  return make(session, delegation, owner_tag, until);
}

void Delegations::refill(Delegation& delegation, Token first) {
  const std::lock_guard lock(mutex_);
  Delegation::Grant& grant = delegation.grant_;
  COORDKIT_CHECK_MSG(first > grant.last && delegation.current_ == nullptr, "INV_L04");
  const uint64_t size = grant.last.value() - grant.first.value() + 1;
  grant.first = delegation.next_ = first;
  grant.last = Token(first.value() + size - 1);
}

void Delegations::set_open(Delegation& delegation, bool open) {
  const std::lock_guard lock(mutex_);
  delegation.open_ = open;
}

void Delegations::remove(const DelegationRef& delegation) {
  const std::lock_guard lock(mutex_);
  COORDKIT_CHECK_MSG(delegation->current_ == nullptr, "INV_L02");
  by_use_.erase(delegation.get());
  by_name_.erase(delegation->grant_.name);
}

// Looks from the front until enough were found whose place is right: any lock behind them was used more recently.
std::vector<std::string> Delegations::surplus() {
  std::vector<std::string> names;
  const std::lock_guard lock(mutex_);
  const size_t many = idle() - std::min(idle(), idle_max_);
  for (auto place = by_use_.begin(); names.size() < many;) {
    Delegation& delegation = **place;
    if (delegation.current_) delegation.last_use_ = ++uses_;
    if (delegation.looked_at_ == delegation.last_use_) {
      names.push_back(delegation.grant_.name);
      ++place;
      continue;
    }
    const auto next = std::next(place);
    auto node = by_use_.extract(place);
    delegation.looked_at_ = delegation.last_use_;
    const auto moved = by_use_.insert(std::move(node)).position;
    place = std::next(moved) == next ? moved : next;
  }
  return names;
}

std::vector<HoldRef> Delegations::clear() {
  std::vector<HoldRef> holds = in_use();
  const std::lock_guard lock(mutex_);
  former_.reserve(by_name_.size());
  for (const auto& [name, delegation] : by_name_) {
    delegation->open_ = false;
    delegation->current_ = nullptr;  // in_use_ stays
    former_.push_back(delegation);
  }
  by_use_.clear();
  held_ = 0;
  by_name_.clear();
  return holds;
}

size_t Delegations::size() const {
  const std::lock_guard lock(mutex_);
  return by_name_.size();
}

}  // namespace coordkit
