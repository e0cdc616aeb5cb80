// A claim's record as a view, and as the id of its row.
#pragma once

#include "lock/claim.h"
#include "lock/claim_hash.h"

namespace coordkit::lock {

inline ClaimView view_of(const Claim& claim) {
  ClaimView view{.name = claim.lock->name.view(),
                 .mode = claim.mode,
                 .tag = claim.owner->tag.view(),
                 .texts = claim.texts(),
                 .session = claim.owner->session,
                 .request = claim.request(),
                 .since = claim.since,
                 .token = claim.token,
                 .timeout = claim.timeout(),
                 .delay = claim.delay(),
                 .reentrant = claim.reentrant,
                 .count = claim.count(),
                 .releases = claim.releases(),
                 .others = {},
                 .block = claim.block() ? *claim.block() : Block()};
  for (const Place& place : claim.others()) view.others.push_back({place.lock->name.view(), place.mode});
  return view;
}

inline RowId row_of(const Claim& claim) {
  return claim.held() ? RowId{RowId::Kind::Hold, claim.token.value()} : RowId{RowId::Kind::Wait, claim.since.value()};
}

}  // namespace coordkit::lock
