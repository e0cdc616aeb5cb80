// The commands about sessions beyond open and close: taking one over after a restart (docs/semantics.md S-45), and the two-step
// end of somebody else's (S-57). Part of machine::Request; see command.h for the rules of the encoding.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "coordkit/types.h"
#include "machine/result.h"

namespace coordkit::machine {

inline constexpr size_t kSecretBytesMax = 64;  // of a session, as shown by a resume; at least 1

// Binds a session to the process that asks: to the origin of the request itself.
struct ResumeSession {
  SessionId id;  // not `session`: it does not belong to who asks yet
  std::string secret;
  bool former_is_gone = false;  // the caller vouches that no process that had it can still trust it
  Generation generation;        // of the session, as far as the caller's replica knew: a later process is not vouched for
  friend bool operator==(const ResumeSession&, const ResumeSession&) = default;
};

// Marks a session as ending: it is renewed no more and expires a full TTL later.
struct KillSession {
  SessionId victim;
  friend bool operator==(const KillSession&, const KillSession&) = default;
};

// The same for the session that holds this lock with this token.
struct ForceRelease {
  std::string name;
  Token token;
  friend bool operator==(const ForceRelease&, const ForceRelease&) = default;
};

// Their numbers among Request's fields, never reused.
enum SessionCommandField : uint32_t { kResumeField = 30, kKillField = 31, kForceReleaseField = 32 };

void write(protozero::pbf_writer& request, const ResumeSession& resume);
void write(protozero::pbf_writer& request, const KillSession& kill);
void write(protozero::pbf_writer& request, const ForceRelease& force);
ResumeSession read_resume(protozero::pbf_reader in);
KillSession read_kill(protozero::pbf_reader in);
ForceRelease read_force_release(protozero::pbf_reader in);

ResultCode check(const ResumeSession& resume);
ResultCode check(const KillSession& kill);
ResultCode check(const ForceRelease& force);

}  // namespace coordkit::machine
