// The longest time of a hold (docs/semantics.md S-51): measured here, from the moment the grant is known here, by the clock
// that counts suspend. The hold alone is over: not valid by its own reading of the clock (handles.h), announced and released
// in the first turn after that. There is no such timer at the leader: if this process is dead or cut off, its session expires.
#include "base/mutant.h"
#include "client/impl.h"

namespace coordkit {

void Client::Impl::limit_hold(const HoldRef& hold) {
  if (hold->until() == LeadingTime::max() || mutant(Mutant::LongHoldsStay)) return;
  long_holds_.emplace(std::pair(hold->until(), hold->token()), hold->session()->id());
}

void Client::Impl::end_long_holds(LeadingTime now) {
  while (!long_holds_.empty() && long_holds_.begin()->first.first <= now) {
    const auto [key, id] = *long_holds_.begin();
    long_holds_.erase(long_holds_.begin());
    Session* session = sessions_.find(id);
    if (session == nullptr) continue;
    const auto hold = session->holds.find(key.second);
    if (hold == session->holds.end()) continue;  // lost before
    const std::string name = hold->second->name();
    sessions_.lose(*session, key.second);
    give_back(*session, name, key.second);
  }
}

}  // namespace coordkit
