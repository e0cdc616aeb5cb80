#include "sim/locks/lock_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/oracle/violation.h"
#include "sim/record/recorder.h"

namespace coordkit::sim {
namespace {

// Does its session still have that hold, in another form? An owner that changes the mode of its hold has two handles of it for
// a moment; and a session that changed hands gets new tokens for its sticky locks, and may convert the rest.
bool goes_on(const HoldState& hold, const LockModel::Claim& claim) {
  const bool same_owner = hold.owner_tag() == claim.owner_tag && !hold.delegation();
  return hold.session()->id() == claim.session && (claim.renewed || same_owner);
}

}  // namespace

void LockObserver::opened(uint32_t node, const SessionRef& session) {
  sessions_.push_back({node, session});
  if (model_.sessions().find(session->id()) == nullptr) refuse_valid(KnownSession{node, session});
}

void LockObserver::granted(uint32_t node, const HoldRef& hold) {
  if (Recorder* recorder = world_.recorder()) recorder->grants().notified(node, hold);
  std::erase_if(holds_, [](const Known& k) { return k.hold->released(); });
  const Known fresh{node, hold};
  judge_order(fresh);
  if (over(*hold)) {  // before it was known
    refuse_valid(fresh);
    superseded_.push_back(fresh);
    return;
  }
  holds_.push_back(fresh);
}

// Was it lost before its owner learned of it? Not if its session changed hands meanwhile and still has it: its previous owner
// may trust it until its time is over, and grant a sticky lock through it again.
bool LockObserver::over(const HoldState& hold) const {
  if (model_.locks().hold(hold.name(), hold.token()) != nullptr) return false;
  const SessionModel::Session* session = model_.sessions().find(hold.session()->id());
  return session == nullptr || !session->resumed ||
         std::ranges::none_of(model_.locks().holds(hold.name()),
                              [&hold](const LockModel::Claim& claim) { return goes_on(hold, claim); });
}

void LockObserver::resumed(uint32_t node, const ResumedSession& resumed) {
  opened(node, resumed.session);
  taken_over_.insert(resumed.session->id());
  if (const SessionModel::Session* session = model_.sessions().find(resumed.session->id()))
    resumed_at_[resumed.session] = session->resumed;
  for (const HoldRef& hold : resumed.holds) {
    granted(node, hold);
    if (!holds_.empty() && holds_.back().hold == hold) holds_.back().trusted = false;
  }
}

// S-58: what a session grants by itself is granted while it may be trusted, to one owner at a time, with rising tokens. Grants
// by entries are checked in entry_applied().
void LockObserver::judge_order(const Known& fresh) {
  const HoldState& hold = *fresh.hold;
  if (beliefs_ == TrustCheck::Ignored) return;
  const bool valid = hold.valid(reading(fresh.node));
  const Culprit culprit{.lock = hold.name(), .token = hold.token()};
  if (hold.delegation() && !by_entries_.contains(hold.token())) {
    if (!valid && !hold.lost()) {
      throw Violation(
          "INV_L02", fmt::format("n{} grants {} locally although it may not be trusted", fresh.node + 1, hold.name()), culprit);
    }
    for (const Known& earlier : holds_) {
      if (earlier.hold->name() == hold.name() && earlier.hold != fresh.hold) refuse_valid(earlier);
    }
  }
  if (!valid || hold.terms().mode == LockMode::Shared || hold.terms().counted) return;
  Token& newest = newest_[hold.name()];
  if (hold.delegation() && hold.token() <= newest) {
    throw Violation("INV_L04",
                    fmt::format("n{} grants {} locally with token {} after {}", fresh.node + 1, hold.name(),
                                hold.token().value(), newest.value()),
                    culprit);
  }
  newest = std::max(newest, hold.token());
}

void LockObserver::process_died(uint32_t node) {
  const auto dead = [&](const auto& known) { return known.node == node; };
  std::erase_if(holds_, dead);
  std::erase_if(sessions_, dead);
  std::erase_if(superseded_, dead);
  std::erase_if(expired_, dead);
}

namespace {

// Another owner's, and not both sharing every name they have in common.
bool conflict(const HoldState& earlier, const LockModel::Claim& grant) {
  if (goes_on(earlier, grant)) return false;
  const auto clashes = [&grant](const std::string& name, LockMode mode) {
    const LockMode* other = grant.mode_on(name);
    return other && (mode == LockMode::Exclusive || *other == LockMode::Exclusive);
  };
  const HoldTerms& terms = earlier.terms();
  return clashes(earlier.name(), terms.mode) ||
         std::ranges::any_of(terms.others, [&](const NamedLock& other) { return clashes(other.name, other.mode); });
}

}  // namespace

void LockObserver::entry_applied() {
  for (const LockModel::Claim& granted : model_.locks().granted()) {
    if (granted.block != 0) by_entries_.insert(granted.first);
    const auto over = [&](const Known& earlier) {
      if (earlier.hold->released()) return true;
      if (!conflict(*earlier.hold, granted)) return false;
      refuse_valid(earlier);
      superseded_.push_back(earlier);
      return true;
    };
    std::erase_if(holds_, over);
  }
  for (const Model::Ended& ended : model_.ended()) {
    taken_over_.erase(ended.session);
    std::erase_if(sessions_, [&](const KnownSession& known) {
      if (known.session->id() != ended.session) return false;
      // A process that closes its session no longer trusts it; any other process that had it must not, either.
      refuse_valid(known);
      if (ended.expired) expired_.push_back(known);
      return true;
    });
  }
}

void LockObserver::looked(uint32_t node) {
  std::erase_if(superseded_, [](const Known& k) { return k.hold->released() || k.hold->lost(); });
  std::erase_if(expired_, [](const KnownSession& k) { return k.session->phase() == SessionPhase::Lost; });
  for (const Known& known : superseded_) {
    if (known.node == node) refuse_valid(known);
  }
  for (const KnownSession& known : expired_) {
    if (known.node == node) refuse_valid(known);
  }
  for (Known& known : holds_) {
    if (known.node != node) continue;
    known.trusted = known.trusted || known.hold->valid(reading(node));
    if (known.trusted) demand_announcement(known);
  }
  if (!taken_over_.empty()) refuse_two_at_once(node);
}

// S-45: a process that takes a session over does not trust it before the previous one has stopped.
void LockObserver::refuse_two_at_once(uint32_t node) {
  if (beliefs_ == TrustCheck::Ignored) return;
  for (const KnownSession& one : sessions_) {
    if (one.node != node || !taken_over_.contains(one.session->id()) || !one.session->valid(reading(node))) continue;
    for (const KnownSession& other : sessions_) {
      const bool same = other.session->id() == one.session->id() && other.session != one.session;
      if (!same || !other.session->valid(reading(other.node))) continue;
      throw Violation(
          "INV_L02",
          fmt::format("n{} and n{} trust session {} at the same time", node + 1, other.node + 1, one.session->id().value()),
          {.index = model_.applied()});
    }
  }
}

// The first turn at or after the deadline has notified the owner.
void LockObserver::demand_announcement(const Known& known) const {
  const HoldState& hold = *known.hold;
  if (beliefs_ == TrustCheck::Ignored || hold.released() || hold.suspended()) return;
  if (hold.valid(reading(known.node)) || hold.lost_token().stop_requested()) return;
  throw Violation("INV_L16",
                  fmt::format("n{} had a turn after its hold of {} with token {} turned invalid, but its owner was not told",
                              known.node + 1, hold.name(), hold.token().value()),
                  {.lock = hold.name(), .token = hold.token()});
}

void LockObserver::refuse_valid(const Known& known) const {
  if (beliefs_ == TrustCheck::Ignored || !known.hold->valid(reading(known.node))) return;
  throw Violation("INV_L02",
                  fmt::format("n{} may trust its hold of {} with token {} after another grant was applied at {}",
                              known.node + 1, known.hold->name(), known.hold->token().value(), model_.applied().value()),
                  {.index = model_.applied(), .lock = known.hold->name(), .token = known.hold->token()});
}

void LockObserver::refuse_valid(const KnownSession& known) const {
  if (beliefs_ == TrustCheck::Ignored || !known.session->valid(reading(known.node))) return;
  throw Violation(
      "INV_L10", fmt::format("n{} may trust session {} after its end was applied", known.node + 1, known.session->id().value()),
      {.index = model_.applied()});
}

Index LockObserver::held_since(const HoldState& hold) const {
  const auto resumed = resumed_at_.find(hold.session());
  return resumed == resumed_at_.end() ? hold.since() : std::max(hold.since(), resumed->second);
}

// INV_L14: nothing from an older owner after a newer one, but owners that share come in any order among themselves. By the
// shown tokens, and by the fate of the holds in the log, whatever their tokens say. Once a write under a newer hold was
// accepted, none of a process that had the lock before is.
void LockObserver::resource_admits(const std::string& lock, Token token, LockMode mode, Index held, bool accepted) {
  if (Recorder* recorder = world_.recorder()) recorder->grants().resource(lock, token, accepted);
  if (!accepted) return;
  Accepted& so_far = accepted_[lock];
  const Token newer = mode == LockMode::Exclusive ? so_far.highest : so_far.exclusive;
  if (token < newer) {
    throw Violation("INV_L14", fmt::format("the resource of {} takes token {} after {}", lock, token.value(), newer.value()),
                    {.lock = lock, .token = token});
  }
  const Index later = mode == LockMode::Exclusive ? so_far.held : so_far.held_exclusively;
  if (held < later) {
    throw Violation(
        "INV_L14",
        fmt::format(
            "the resource of {} takes a write of its holder by entry {}, with token {}, after one of its holder by entry {}",
            lock, held.value(), token.value(), later.value()),
        {.index = held, .lock = lock, .token = token});
  }
  so_far.highest = std::max(so_far.highest, token);
  so_far.held = std::max(so_far.held, held);
  if (mode == LockMode::Exclusive) {
    so_far.exclusive = token;
    so_far.held_exclusively = held;
  }
}

}  // namespace coordkit::sim
