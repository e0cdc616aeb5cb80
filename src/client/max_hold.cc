// The longest time of a hold (docs/semantics.md S-51): measured here, from the moment the grant is known here, by the clock
// that counts suspend. The hold alone is over: not valid by its own reading of the clock (handles.h), announced and released
// in the first turn after that. There is no such timer at the leader: if this process is dead or cut off, its session expires.
#include <algorithm>

#include "base/mutant.h"
#include "client/impl.h"

namespace coordkit {

void Client::Impl::limit_hold(const HoldRef& hold) {
  if (hold->until() == LeadingTime::max() || mutant(Mutant::LongHoldsStay)) return;
  long_holds_.emplace(hold->until(), hold);
}

void Client::Impl::unlimit_hold(const HoldRef& hold) {
  const auto [first, last] = long_holds_.equal_range(hold->until());
  const auto found = std::find_if(first, last, [&hold](const auto& each) { return each.second == hold; });
  if (found != last) long_holds_.erase(found);
}

// Of a counted hold the handle alone: the others have times of their own.
void Client::Impl::end_long_holds(LeadingTime now) {
  while (!long_holds_.empty() && long_holds_.begin()->first <= now) {
    const HoldRef hold = long_holds_.begin()->second;
    long_holds_.erase(long_holds_.begin());
    Session* session = same_life(hold->session());
    if (session != nullptr && hold->delegation()) {
      if (session->state->delegations()->current(*hold)) lose_locally(*session, hold);
      continue;
    }
    if (session == nullptr || !client::SessionTable::holds(*session, hold)) continue;  // lost before
    sessions_.lose(*session, hold);
    give_back(*session, hold->name(), hold->token(), hold->terms().counted);
  }
}

}  // namespace coordkit
