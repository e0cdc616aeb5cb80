#include "coordkit/client/handles.h"

#include "base/thread_shelf.h"
#include "client/locks/lent_delegations.h"
#include "client/sessions/lifecycle.h"

namespace coordkit {

SessionState::~SessionState() { delete delegations(); }

Delegations& SessionWriter::delegations(SessionState& state, size_t idle_max) {
  if (state.delegations() == nullptr) state.delegations_.store(new Delegations(idle_max), std::memory_order_release);
  return *state.delegations();
}

void* HoldState::operator new(size_t bytes) { return ThreadShelf::take(bytes); }
void HoldState::operator delete(void* hold, size_t bytes) noexcept { ThreadShelf::give_back(hold, bytes); }

}  // namespace coordkit
