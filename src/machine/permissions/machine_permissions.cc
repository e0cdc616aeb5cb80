#include "machine/permissions/machine_permissions.h"

#include <utility>

namespace coordkit::machine {

Answer MachinePermissions::execute(SetPermissions& set, ApplyStep& step) {
  if (set.remove) {
    return Result{.code = state_.permissions.remove(set.remote) ? ResultCode::Ok : ResultCode::NotFound};
  }
  const bool fits = state_.permissions.set(set.remote, std::move(set.list), step.index);
  return Result{.code = fits ? ResultCode::Ok : ResultCode::LimitExceeded};
}

Answer MachinePermissions::refusal(const Command& command, const Needs& needs) const {
  std::optional<std::string> why = denial(state_, {*command.remote, command.request.origin}, needs);
  if (!why) return std::nullopt;
  return Result{.code = ResultCode::PermissionDenied, .why = *std::move(why)};
}

}  // namespace coordkit::machine
