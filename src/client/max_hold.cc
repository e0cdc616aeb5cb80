// The longest time of a hold (docs/semantics.md S-51): measured here, from the moment the grant is known here, by the clock
// that counts suspend. The hold alone is over: not valid by its own reading of the clock (handles.h), announced and released
// in the first turn after that. There is no such timer at the leader: if this process is dead or cut off, its session expires.
#include <algorithm>

#include "client/impl.h"

namespace coordkit {

void Client::Impl::limit_hold(const HoldRef& hold) {
  if (hold->until() == LeadingTime::max()) return;
  long_holds_.emplace(std::pair(hold->until(), hold->token()), hold->session()->id());
}

void Client::Impl::end_long_holds(LeadingTime now) {
  while (!long_holds_.empty() && long_holds_.begin()->first.first <= now) {
    const auto [key, id] = *long_holds_.begin();
    long_holds_.erase(long_holds_.begin());
    Session* session = sessions_.find(id);
    if (session == nullptr) continue;
    const auto [first, last] = session->holds.equal_range(key.second);
    const auto due = std::find_if(first, last, [&key](const auto& each) { return each.second->until() == key.first; });
    if (due == last) continue;  // lost before
    const HoldRef hold = due->second;
    sessions_.lose(*session, hold);
    give_back(*session, hold->name(), hold->token(), hold->terms().counted);
  }
}

}  // namespace coordkit
