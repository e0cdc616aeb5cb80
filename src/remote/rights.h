// The rights of remotes at their gateway: their names, and the permissions of the state that is here (docs/semantics.md S-76).
// Commands are judged by apply.
//
// Threads: one owner, the gateway's. Lifetime: the engine outlives it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "coordkit/engine/engine.h"
#include "machine/questions.h"

namespace coordkit::remote {

class Rights {
 public:
  explicit Rights(Engine& engine) : engine_(engine) {}

  // A remote as its link says: its origin and name.
  using Remote = machine::RemoteCaller;
  // Below this level there are neither names nor permissions.
  bool in_force() const;
  // Its origin is registered here, under its name.
  bool registered(const Remote& remote) const { return engine_.name_of_remote(remote.origin) == remote.name; }
  // Its origin is that of a remote with another name.
  bool impostor(const Remote& remote) const {
    return engine_.name_of_remote(remote.origin).value_or(remote.name) != remote.name;
  }
  // Why not: PermissionDenied, or that this replica has halted.
  absl::Status permission(const Remote& remote, const machine::Needs& needs) const;
  // For the answer to a question, which was read from this state or an earlier one.
  absl::Status permission(const Remote& remote, MachineId machine, const std::string& question) const;

  // Null: there is none, or it may include half a step.
  const machine::Reads* state() const;
  void halted() { halted_ = true; }

 private:
  Engine& engine_;
  bool halted_ = false;
};

}  // namespace coordkit::remote
