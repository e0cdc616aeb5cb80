#include "remote/rights.h"

#include "coordkit/error.h"
#include "engine/calls/origins.h"

namespace coordkit::remote {

bool Rights::in_force() const { return engine_.feature_level() >= engine::Origins::kNamesLevel; }

const machine::Reads* Rights::state() const {
  const StateMachine* const machine = engine_.machine(kCoordination);
  const bool readable = !halted_ && engine_.core() != nullptr && machine != nullptr;
  return readable ? machine->reads() : nullptr;
}

absl::Status Rights::permission(const Remote& remote, const machine::Needs& needs) const {
  if (!in_force()) return absl::OkStatus();
  if (impostor(remote)) return make_error(Reason::PermissionDenied, "another remote has the id of this one; start it again");
  if (state() != nullptr) {
    const std::optional<std::string> why = state()->denial(remote, needs);
    return why ? make_error(Reason::PermissionDenied, *why) : absl::OkStatus();
  }
  if (engine_.machine(kCoordination) == nullptr) return absl::OkStatus();  // then there are no permissions
  return make_error(Reason::ReplicaFailed, "this gateway has no state to look at any more; another one will answer");
}

absl::Status Rights::permission(const Remote& remote, MachineId machine, const std::string& question) const {
  if (machine != kCoordination) {
    machine::Needs needs{.verb = "ask a machine of the host"};
    needs.everything(Right::Read);
    return permission(remote, needs);
  }
  const absl::StatusOr<machine::Question> decoded = machine::decode_question(question);
  return decoded.ok() ? permission(remote, machine::needs_of(*decoded)) : decoded.status();
}

}  // namespace coordkit::remote
