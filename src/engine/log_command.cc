#include "engine/log_command.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/fields.h"

namespace coordkit::engine {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

constexpr uint32_t kRequest = 1;
constexpr uint32_t kRegister = 2;
constexpr uint32_t kFire = 3;
constexpr uint32_t kDigestVote = 4;
constexpr uint32_t kRaiseLevel = 5;

void write_origin(pbf_writer& out, const Origin& origin) {
  out.add_uint64(1, origin.replica.value());
  out.add_fixed64(2, origin.store.value());
  out.add_uint64(3, origin.boot.value());
}

// Reads one field of an origin; false: it is another field.
bool read_origin_field(pbf_reader& in, Origin& origin) {
  switch (in.tag_and_type()) {
    case fields::number(1): origin.replica = ReplicaId(in.get_uint64()); return true;
    case fields::fixed(2): origin.store = StoreId(in.get_fixed64()); return true;
    case fields::number(3): origin.boot = BootCounter(in.get_uint64()); return true;
    default: return false;
  }
}

Request::GuardView read_guard(pbf_reader in) {
  Request::GuardView guard;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): guard.machine = MachineId(in.get_uint64()); break;
      case fields::bytes(2): guard.bytes = fields::view(in); break;
      default: in.skip();
    }
  }
  return guard;
}

Request read_request(pbf_reader in) {
  Request request;
  while (in.next()) {
    if (read_origin_field(in, request.id.origin)) continue;
    switch (in.tag_and_type()) {
      case fields::number(4): request.id.sequence = Sequence(in.get_uint64()); break;
      case fields::number(5): request.lowest_unanswered = Sequence(in.get_uint64()); break;
      case fields::number(6): request.machine = MachineId(in.get_uint64()); break;
      case fields::bytes(7): request.payload = fields::view(in); break;
      case fields::bytes(8): request.guard = read_guard(in.get_message()); break;
      case fields::number(9): request.after = Sequence(in.get_uint64()); break;
      default: in.skip();
    }
  }
  return request;
}

RegisterOrigin read_registration(pbf_reader in) {
  RegisterOrigin registration;
  while (in.next()) {
    if (read_origin_field(in, registration.origin)) continue;
    if (in.tag_and_type() == fields::number(4)) {
      registration.lowest_unanswered = Sequence(in.get_uint64());
    } else {
      in.skip();
    }
  }
  return registration;
}

FiredTimer read_timer(pbf_reader in) {
  FiredTimer timer;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): timer.id = TimerId(in.get_uint64()); break;
      case fields::number(2): timer.generation = Generation(in.get_uint64()); break;
      default: in.skip();
    }
  }
  return timer;
}

absl::StatusOr<LogCommand> read_fired(pbf_reader in) {
  FireTimers fired;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): fired.term = Term(in.get_uint64()); break;
      case fields::number(2): fired.machine = MachineId(in.get_uint64()); break;
      case fields::bytes(3):
        if (fired.timers.size() == kFiredTimersMax) return absl::DataLossError("an entry with too many timers");
        fired.timers.push_back(read_timer(in.get_message()));
        break;
      default: in.skip();
    }
  }
  return LogCommand(std::move(fired));
}

absl::StatusOr<LogCommand> read_vote(pbf_reader in) {
  DigestVote vote;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): vote.replica = ReplicaId(in.get_uint64()); break;
      case fields::number(2): vote.index = Index(in.get_uint64()); break;
      case fields::fixed(3): vote.digest = in.get_fixed64(); break;
      default: in.skip();
    }
  }
  if (!vote.replica || !vote.index) return absl::DataLossError("a digest of nobody or of nothing");
  return LogCommand(vote);
}

absl::StatusOr<LogCommand> read_raise(pbf_reader in) {
  RaiseLevel raise;
  while (in.next()) {
    if (in.tag_and_type() == fields::number(1)) {
      raise.level = in.get_uint64();
    } else {
      in.skip();
    }
  }
  if (raise.level == 0) return absl::DataLossError("a feature level of nothing");
  return LogCommand(raise);
}

absl::StatusOr<LogCommand> checked(Request request) {
  const RequestId& id = request.id;
  if (!id.origin.replica || !id.sequence || request.lowest_unanswered > id.sequence || request.after >= id.sequence) {
    return absl::DataLossError("a request without a sound id");
  }
  if (request.guard && request.guard->bytes.size() > kGuardBytesMax) return absl::DataLossError("a guard beyond its limit");
  return LogCommand(request);
}

}  // namespace

std::string encode(const Request& request) {
  std::string bytes;
  encode(request, bytes);
  return bytes;
}

void encode(const Request& request, std::string& bytes) {
  bytes.clear();
  bytes.reserve(request.payload.size() + (request.guard ? request.guard->bytes.size() + 16 : 0) + 64);
  pbf_writer out(bytes);
  {
    pbf_writer body(out, kRequest);
    write_origin(body, request.id.origin);
    body.add_uint64(4, request.id.sequence.value());
    body.add_uint64(5, request.lowest_unanswered.value());
    body.add_uint64(6, request.machine.value());
    body.add_bytes(7, request.payload.data(), request.payload.size());
    if (request.guard) {
      pbf_writer guard(body, 8);
      guard.add_uint64(1, request.guard->machine.value());
      guard.add_bytes(2, request.guard->bytes.data(), request.guard->bytes.size());
    }
    if (request.after) body.add_uint64(9, request.after.value());
  }
}

std::string encode(const RegisterOrigin& registration) {
  std::string bytes;
  pbf_writer out(bytes);
  {
    pbf_writer body(out, kRegister);
    write_origin(body, registration.origin);
    body.add_uint64(4, registration.lowest_unanswered.value());
  }
  return bytes;
}

std::string encode(const FireTimers& fired) {
  std::string bytes;
  pbf_writer out(bytes);
  {
    pbf_writer body(out, kFire);
    body.add_uint64(1, fired.term.value());
    body.add_uint64(2, fired.machine.value());
    for (const FiredTimer& timer : fired.timers) {
      pbf_writer one(body, 3);
      one.add_uint64(1, timer.id.value());
      one.add_uint64(2, timer.generation.value());
    }
  }
  return bytes;
}

std::string encode(const DigestVote& vote) {
  std::string bytes;
  pbf_writer out(bytes);
  {
    pbf_writer body(out, kDigestVote);
    body.add_uint64(1, vote.replica.value());
    body.add_uint64(2, vote.index.value());
    body.add_fixed64(3, vote.digest);
  }
  return bytes;
}

std::string encode(const RaiseLevel& raise) {
  std::string bytes;
  pbf_writer out(bytes);
  {
    pbf_writer body(out, kRaiseLevel);
    body.add_uint64(1, raise.level);
  }
  return bytes;
}

absl::StatusOr<LogCommand> decode_command(std::string_view bytes) try {
  pbf_reader in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::bytes(kRequest): return checked(read_request(in.get_message()));
      case fields::bytes(kRegister): return LogCommand(read_registration(in.get_message()));
      case fields::bytes(kFire): return read_fired(in.get_message());
      case fields::bytes(kDigestVote): return read_vote(in.get_message());
      case fields::bytes(kRaiseLevel): return read_raise(in.get_message());
      default: in.skip();
    }
  }
  return absl::DataLossError("a command of a kind that this version does not know");
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed command: ") + error.what());
}

}  // namespace coordkit::engine
