#include "engine/apply/machine_factory.h"

#include <string>

#include "base/thrown.h"
#include "coordkit/error.h"

namespace coordkit::engine {

absl::StatusOr<std::unique_ptr<StateMachine>> made_machine(const OwnMachine& own) {
  std::string why = "it returned null";
  try {
    std::unique_ptr<StateMachine> made = own.make ? own.make() : nullptr;
    if (made != nullptr) return made;
  } catch (...) {
    why = what_was_thrown();
  }
  return make_error(Reason::InvalidArgument, "the factory of machine " + std::to_string(own.id.value()) + " failed: " + why);
}

}  // namespace coordkit::engine
