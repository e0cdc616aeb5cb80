#include "machine/sessions/session_commands.h"

#include "machine/locks/lock_commands.h"

namespace coordkit::machine {

ResultCode check(const ResumeSession& resume) {
  if (!resume.id || resume.secret.empty()) return ResultCode::InvalidArgument;
  return resume.secret.size() <= kSecretBytesMax ? ResultCode::Ok : ResultCode::LimitExceeded;
}

ResultCode check(const KillSession& kill) { return kill.victim ? ResultCode::Ok : ResultCode::InvalidArgument; }

ResultCode check(const ForceRelease& force) {
  if (force.name.empty() || !force.token) return ResultCode::InvalidArgument;
  return force.name.size() <= kNameBytesMax ? ResultCode::Ok : ResultCode::LimitExceeded;
}

}  // namespace coordkit::machine
