#include "lock/table_view.h"

#include <algorithm>
#include <limits>

#include "lock/block.h"
#include "lock/claim_view.h"

namespace coordkit::lock {

Mode mode_on(const ClaimView& claim, std::string_view name) {
  for (const Wanted& other : claim.others) {
    if (other.name == name) return other.mode;
  }
  return claim.mode;
}

uint32_t TableView::waiting(std::string_view name) const {
  const Lock* lock = records_.find(name);
  return lock ? lock->waiting : 0;
}

bool TableView::delayed(std::string_view name) const {
  const Lock* lock = records_.find(name);
  return lock && lock->delay != 0;
}

bool TableView::free(std::string_view name) const {
  if (compact_.find(name) != 0) return false;
  const Lock* lock = records_.find(name);
  return !lock || lock->holds.empty();
}

void TableView::holders(std::string_view name, Visitor visit) const {
  if (const CompactHolds::Handle handle = compact_.find(name)) return visit(compact_.view(handle));
  const Lock* lock = records_.find(name);
  if (!lock) return;
  for (const Place* place = lock->holds.first; place; place = place->after) visit(view_of(place->claim()));
}

void TableView::queue(std::string_view name, WhileVisitor visit) const {
  const Lock* lock = records_.find(name);
  if (!lock) return;
  for (const Place* place = lock->queue.first; place; place = place->after) {
    if (!visit(view_of(place->claim()))) return;
  }
}

std::optional<ClaimView> TableView::claim(std::string_view name, SessionId session, std::string_view tag,
                                          ClaimKind kind) const {
  if (const CompactHolds::Handle handle = compact_.find(name)) {
    const ClaimView hold = compact_.view(handle);
    const bool it = hold.session == session && hold.tag == tag && kind == ClaimKind::Plain;
    return it ? std::optional(hold) : std::nullopt;
  }
  const Lock* lock = records_.find(name);
  const Claim* claim = lock ? records_.find(*lock, session, tag, kind) : nullptr;
  if (!claim) return std::nullopt;
  return view_of(*claim);
}

std::optional<Mode> TableView::held(std::string_view name, Token token) const {
  if (const CompactHolds::Handle handle = compact_.find(name)) {
    const ClaimView hold = compact_.view(handle);
    return hold.token == token ? std::optional(hold.mode) : std::nullopt;
  }
  if (const Claim* sticky = records_.find_delegation(name)) {
    return may_be_current(*sticky->block(), token) ? std::optional(Mode::Exclusive) : std::nullopt;
  }
  const Claim* hold = records_.find_hold(token);
  if (!hold) return std::nullopt;
  for (const Place& place : hold->places()) {
    if (place.lock->name.view() == name) return place.mode;
  }
  return std::nullopt;
}

bool TableView::would_ask(const Attempt& attempt) const {
  for (const Wanted& wanted : attempt.names) {
    const Claim* claim = records_.find_delegation(wanted.name);
    if (claim && !claim->block()->asked) return true;
  }
  return false;
}

ClaimCounts TableView::counts(SessionId session) const {
  ClaimCounts counts = records_.counts(session);
  counts.holds += compact_.count(session);
  return counts;
}

// Holds are in two places, so they are merged.
void TableView::holds_of(SessionId session, Token after, WhileVisitor visit) const {
  const std::vector<Claim*> claims = records_.holds_of(session);
  auto next = std::ranges::upper_bound(claims, after, {}, &Claim::token);
  bool wanted = true;
  const auto visit_claims_before = [&](Token token) {
    for (; wanted && next != claims.end() && (*next)->token < token; ++next) wanted = visit(view_of(**next));
    return wanted;
  };
  compact_.of_session(session, after, [&](CompactHolds::Handle handle) {
    const ClaimView hold = compact_.view(handle);
    wanted = visit_claims_before(hold.token) && visit(hold);
    return wanted;
  });
  visit_claims_before(Token(std::numeric_limits<uint64_t>::max()));
}

void TableView::every_session(absl::FunctionRef<void(SessionId)> visit) const {
  records_.each_session(visit);
  compact_.each([&](CompactHolds::Handle handle) { visit(compact_.view(handle).session); });
}

void TableView::timed_waits(Visitor visit) const {
  records_.each_wait([&](const Claim& wait) {
    if (wait.timeout() > Duration::zero()) visit(view_of(wait));
  });
}

void TableView::requested(std::span<const RequestId> requests, Visitor visit) const {
  if (requests.empty()) return;
  const auto wanted = [&requests, origin = requests.front().origin](const RequestId& request) {
    return request.origin == origin && std::ranges::binary_search(requests, request.sequence, {}, &RequestId::sequence);
  };
  records_.each_claim([&](const Claim& claim) {
    if (wanted(claim.request())) visit(view_of(claim));
  });
  compact_.each([&](CompactHolds::Handle handle) {
    const ClaimView hold = compact_.view(handle);
    if (wanted(hold.request)) visit(hold);
  });
}

}  // namespace coordkit::lock
