#include "machine/command.h"
#include "machine/fields.h"
#include "machine/session_commands.h"

namespace coordkit::machine {

using namespace fields;  // the vocabulary of this file

void write(pbf_writer& request, const ResumeSession& resume) {
  pbf_writer out(request, kResumeField);
  put_number(out, 1, resume.id);
  put_bytes(out, 2, resume.secret);
  put_number(out, 3, uint64_t{resume.former_is_gone});
  put_number(out, 4, resume.generation);
}

void write(pbf_writer& request, const KillSession& kill) {
  pbf_writer out(request, kKillField);
  put_number(out, 1, kill.victim);
}

void write(pbf_writer& request, const ForceRelease& force) {
  pbf_writer out(request, kForceReleaseField);
  put_bytes(out, 1, force.name);
  put_number(out, 2, force.token);
}

ResumeSession read_resume(pbf_reader in) {
  ResumeSession resume;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, resume.id); break;
      case bytes(2): get(in, resume.secret); break;
      case number(3): get(in, resume.former_is_gone); break;
      case number(4): get(in, resume.generation); break;
      default: in.skip();
    }
  }
  return resume;
}

KillSession read_kill(pbf_reader in) {
  KillSession kill;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, kill.victim); break;
      default: in.skip();
    }
  }
  return kill;
}

ForceRelease read_force_release(pbf_reader in) {
  ForceRelease force;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, force.name); break;
      case number(2): get(in, force.token); break;
      default: in.skip();
    }
  }
  return force;
}

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
