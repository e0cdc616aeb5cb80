// Session commands beyond open and close. A resume takes a session over after a restart (docs/semantics.md S-45). The others
// end another client's session in two steps (S-57). They are part of machine::Request; command.h has the rules of the
// encoding.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "coordkit/types.h"
#include "machine/objection.h"

namespace coordkit::machine {

inline constexpr size_t kSecretBytesMax = 64;  // of a session, as presented by a resume; at least 1

// Binds a session to the requesting process: to the origin of the request itself.
struct ResumeSession {
  SessionId id;  // not `session`: it does not belong to the caller yet
  std::string secret;
  bool previous_is_gone = false;  // the caller vouches that no previous process can still trust it
  Generation generation;          // of the session, as the caller's replica knows it: no later process is vouched for
  static constexpr uint32_t kField = 30;
  static constexpr auto fields() {
    using R = ResumeSession;
    return std::tuple(&R::id, &R::secret, &R::previous_is_gone, &R::generation);
  }
  friend bool operator==(const ResumeSession&, const ResumeSession&) = default;
};

// Marks a session as ending: it is no longer renewed and expires a full TTL later.
struct KillSession {
  SessionId victim;
  static constexpr uint32_t kField = 31;
  static constexpr auto fields() { return std::tuple(&KillSession::victim); }
  friend bool operator==(const KillSession&, const KillSession&) = default;
};

// The same for the session that holds this lock with this token.
struct ForceRelease {
  std::string name;
  Token token;
  static constexpr uint32_t kField = 32;
  static constexpr auto fields() { return std::tuple(&ForceRelease::name, &ForceRelease::token); }
  friend bool operator==(const ForceRelease&, const ForceRelease&) = default;
};

Objection check(const ResumeSession& resume);
Objection check(const KillSession& kill);
Objection check(const ForceRelease& force);

}  // namespace coordkit::machine
