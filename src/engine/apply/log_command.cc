#include "engine/apply/log_command.h"

#include <utility>

#include "base/fields.h"
#include "engine/loop/engine_fields.h"

namespace coordkit::engine {

template <typename Io>
void describe_origin(Io& io, Describes<Origin> auto& origin) {
  io.number(1, origin.replica);
  io.fixed(2, origin.store);
  io.number(3, origin.boot);
}

template <typename Io>
void describe(Io& io, Describes<Request::GuardView> auto& guard) {
  io.number(1, guard.machine);
  io.bytes(2, guard.bytes);
}

template <typename Io>
void describe(Io& io, Describes<Request> auto& request) {
  describe_origin(io, request.id.origin);
  io.number(4, request.id.sequence);
  io.number(5, request.lowest_unanswered);
  io.number(6, request.machine);
  io.bytes(7, request.payload);
  io.message(8, request.guard);
  io.number_if_any(9, request.after);
  io.bytes_if_any(10, request.name);
}

template <typename Io>
void describe(Io& io, Describes<RegisterOrigin> auto& registration) {
  describe_origin(io, registration.origin);
  io.number(4, registration.lowest_unanswered);
  io.number_if_any(5, registration.as_of);
  io.bytes_if_any(6, registration.name);
}

template <typename Io>
void describe(Io& io, Describes<FiredTimer> auto& timer) {
  io.number(1, timer.id);
  io.number(2, timer.generation);
}

template <typename Io>
void describe(Io& io, Describes<FireTimers> auto& fired) {
  io.number(1, fired.term);
  io.number(2, fired.machine);
  io.repeated_first(3, fired.timers, kFiredTimersMax + 1);  // one too many, for checked() to refuse
}

template <typename Io>
void describe(Io& io, Describes<DigestVote> auto& vote) {
  io.number(1, vote.replica);
  io.number(2, vote.index);
  io.fixed(3, vote.digest);
}

template <typename Io>
void describe(Io& io, Describes<RaiseLevel> auto& raise) {
  io.number(1, raise.level);
}

namespace {

constexpr uint32_t kRequest = 1;
constexpr uint32_t kRegister = 2;
constexpr uint32_t kFire = 3;
constexpr uint32_t kDigestVote = 4;
constexpr uint32_t kRaiseLevel = 5;

template <typename Command>
std::string encoded_as(uint32_t kind, const Command& command) {
  std::string bytes;
  codec::Writer<FieldRules>(bytes).message(kind, command);
  return bytes;
}

// The fault of a command; null: it has none.
const char* fault_of(const Request& request) {
  const RequestId& id = request.id;
  if (!id.origin.replica || !id.sequence || request.lowest_unanswered > id.sequence || request.after >= id.sequence) {
    return "a request without a valid id";
  }
  if (request.guard && request.guard->bytes.size() > kGuardBytesMax) return "a guard beyond its limit";
  return nullptr;
}
const char* fault_of(const RegisterOrigin&) { return nullptr; }
const char* fault_of(const FireTimers& fired) {
  return fired.timers.size() > kFiredTimersMax ? "an entry with too many timers" : nullptr;
}
const char* fault_of(const DigestVote& vote) {
  return !vote.replica || !vote.index ? "a digest without a replica or an index" : nullptr;
}
const char* fault_of(const RaiseLevel& raise) { return raise.level == 0 ? "a feature level of 0" : nullptr; }

// Read where it stays: this happens to every entry, and a command is large.
template <typename Command>
absl::StatusOr<LogCommand> read_as(protozero::pbf_reader& in) {
  absl::StatusOr<LogCommand> read(absl::in_place, std::in_place_type<Command>);
  Command& command = *std::get_if<Command>(&*read);
  codec::Budget budget;
  codec::Reader<FieldRules>::read_message(in.get_message(), command, budget);
  if (const char* fault = fault_of(command)) read = absl::DataLossError(fault);
  return read;
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
  codec::Writer<FieldRules>(bytes).message(kRequest, request);
}

std::string encode(const RegisterOrigin& registration) { return encoded_as(kRegister, registration); }
std::string encode(const FireTimers& fired) { return encoded_as(kFire, fired); }
std::string encode(const DigestVote& vote) { return encoded_as(kDigestVote, vote); }
std::string encode(const RaiseLevel& raise) { return encoded_as(kRaiseLevel, raise); }

absl::StatusOr<LogCommand> decode_command(std::string_view bytes) try {
  protozero::pbf_reader in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::bytes(kRequest): return read_as<Request>(in);
      case fields::bytes(kRegister): return read_as<RegisterOrigin>(in);
      case fields::bytes(kFire): return read_as<FireTimers>(in);
      case fields::bytes(kDigestVote): return read_as<DigestVote>(in);
      case fields::bytes(kRaiseLevel): return read_as<RaiseLevel>(in);
      default: in.skip();
    }
  }
  return absl::DataLossError("a command of a kind that this version does not know");
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed command: ") + error.what());
}

}  // namespace coordkit::engine
