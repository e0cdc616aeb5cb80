// All that a client found of a resumed session, as the handles of door 1.
#pragma once

#include <memory>
#include <utility>

#include "coordkit/sessions/resumed.h"
#include "service/objects/object_access.h"

namespace coordkit {

// The client's handles as the caller's.
inline Resumed handles_of(std::shared_ptr<CallRunner> host, ResumedSession found, Phases phases) {
  Resumed out{.session = HandleAccess::session(std::move(host), std::move(found.session), std::move(phases))};
  for (const HoldRef& hold : found.holds) HandleAccess::handle(out.session)->owner_tags().taken(hold->owner_tag());
  const auto grant = [&out](HoldRef& hold) { return HandleAccess::grant(out.session, std::move(hold)); };
  for (HoldRef& hold : found.holds) out.grants.push_back(grant(hold));
  for (HeldPermits& permits : found.permits) out.permits.push_back({grant(permits.hold), permits.permits});
  for (HoldRef& place : found.places) out.places.push_back(grant(place));
  for (ClaimedItem& item : found.items) {
    out.items.push_back({grant(item.hold), item.item, item.deliveries, std::move(item.value)});
  }
  out.memberships = std::move(found.memberships);
  return out;
}

}  // namespace coordkit
