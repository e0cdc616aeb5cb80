#include "transport/secure/certificate_renewals.h"

#include "coordkit/transport/secure_channel.h"
#include "transport/secure/certified.h"

namespace coordkit::tcp {
namespace {

constexpr int kRenewalsOfPeers = 10;  // in idle timeouts: how long peers have for their renewals

}  // namespace

std::shared_ptr<Link> Renewals::next(const Links& links, TimePoint now) const {
  if (options_.channels == nullptr) return nullptr;
  const uint64_t newest = options_.channels->generation();
  for (const auto& link : links.all()) {
    const bool open = link->dialed && link->dialed->established() && !link->guest() && !link->grace_end;
    if (!open || link->dialed->generation() == newest) continue;
    if (link->renewal || link->lookup.pending() || now < link->renew_at) continue;
    return link;
  }
  return nullptr;
}

Renewals::Stale Renewals::next_stale(const Links& links, TimePoint now) {
  if (options_.channels == nullptr) return {};
  if (const uint64_t newest = options_.channels->generation(); newest != generation_) {
    generation_ = newest;
    generation_since_ = now;
  }
  if (!all_could_follow(now)) return {};
  for (const auto& link : links.all()) {
    if (link->accepted && link->accepted->generation() != generation_) return {link->accepted, CloseReason::Renewed};
    const bool older = link->dialed && link->dialed->established() && link->dialed->generation() != generation_;
    const CloseReason wrong = older ? link->dialed->certified_now() : CloseReason::NoReason;
    if (wrong != CloseReason::NoReason) return {link->dialed, wrong};
  }
  return {};
}

bool Renewals::distrusts(CloseReason reason, TimePoint now) const { return names_certificate(reason) && all_could_follow(now); }

bool Renewals::all_could_follow(TimePoint now) const {
  return now - generation_since_ > kRenewalsOfPeers * options_.idle_timeout;
}

}  // namespace coordkit::tcp
