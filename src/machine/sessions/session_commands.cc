#include "machine/sessions/session_commands.h"

namespace coordkit::machine {

Objection check(const ResumeSession& resume) {
  if (!resume.id) return invalid("the session id is 0: give the id that Session::id() returned");
  if (resume.secret.empty()) return invalid("the secret is empty: give the secret that Session::secret() returned");
  return check_size("secret", resume.secret.size(), kSecretBytesMax);
}

Objection check(const KillSession& kill) {
  return kill.victim ? Objection() : invalid("the session id is 0; give the id of a session, which sessions() lists");
}

Objection check(const ForceRelease& force) {
  if (!force.name.empty() && !force.token) {
    return invalid("the token is 0; give the token of the hold to end, which holders() lists");
  }
  return check_name(force.name);
}

}  // namespace coordkit::machine
