#include "remote/link.h"

#include <utility>

#include "base/field_io.h"

namespace coordkit::remote {

using codec::Describes;
using codec::require;

struct LinkRules : codec::SparseRules {
  template <typename T>
  static T value(uint64_t number) {
    if constexpr (std::is_same_v<T, bool>) {
      return number != 0;
    } else if constexpr (std::is_enum_v<T>) {
      require(number <= 255, "an enumerator out of range");
      return static_cast<T>(number);
    } else {
      return static_cast<T>(number);
    }
  }
};

template <typename Io>
void describe(Io& io, Describes<Awaited> auto& m) {
  io.number(1, m.machine);
  io.number(2, m.sequence);
}
template <typename Io>
void describe(Io& io, Describes<Arrival> auto& m) {
  io.number(1, m.version);
  io.number(2, m.origin.replica);
  io.fixed(3, m.origin.store);
  io.number(4, m.origin.boot);
  io.number(5, m.rate_error_ppm);
  io.repeated(6, m.queued, kQueuedMax);
  io.number(7, m.seen);
  io.bytes(8, m.name);
}
template <typename Io>
void describe(Io& io, Describes<Commands> auto& m) {
  io.repeated(1, m.payloads, kCommandsMax, kFrameBytesMax);
}
template <typename Io>
void describe(Io& io, Describes<Question> auto& m) {
  io.number(1, m.id);
  io.number(2, m.machine);
  io.number(3, m.consistency);
  io.number(4, m.at_least);
  io.signed_number(5, m.time_left);
  io.bytes(6, m.question);
  io.signed_number(7, m.waits);
}
template <typename Io>
void describe(Io& io, Describes<Withdrawal> auto& m) {
  io.number(1, m.id);
}
template <typename Io>
void describe(Io& io, Describes<Interest> auto& m) {
  io.number(1, m.machine);
  io.bytes(2, m.subject);
  io.number(3, m.wanted);
}
template <typename Io>
void describe(Io& io, Describes<Renewal> auto& m) {
  io.bytes(1, m.request);
}
template <typename Io>
void describe(Io& io, Describes<Standing> auto& m) {
  io.number(1, m.number);
  io.number(2, m.applied);
  io.number(3, m.feature_level);
  io.number(4, m.leader);
  io.number(5, m.registered);
}
template <typename Io>
void describe(Io& io, Describes<RemoteAnswer> auto& m) {
  io.number(1, m.request.origin.replica);
  io.fixed(2, m.request.origin.store);
  io.number(3, m.request.origin.boot);
  io.number(4, m.request.sequence);
  io.number(5, m.stage);
  io.number(6, m.refused);
  io.bytes(7, m.bytes);
  io.number(8, m.index);
  io.number(9, m.overtook);
}
template <typename Io>
void describe(Io& io, Describes<Answers> auto& m) {
  io.number(1, m.number);
  io.repeated(2, m.answers, kAnswersMax);
}
template <typename Io>
void describe(Io& io, Describes<Told> auto& m) {
  io.number(1, m.number);
  io.number(2, m.id);
  uint64_t code = 0;
  std::string sentence;
  std::optional<uint64_t> age;
  if constexpr (!Io::kReads) {
    code = static_cast<uint64_t>(m.status.code());
    sentence = std::string(m.status.message());
    if (m.age) age = static_cast<uint64_t>(m.age->count());
  }
  io.number(3, code);
  io.bytes(4, sentence);
  io.bytes(5, m.bytes);
  io.number(6, m.index);
  io.number(7, age);
  if constexpr (Io::kReads) {
    require(code <= static_cast<uint64_t>(absl::StatusCode::kUnauthenticated), "an unknown status code");
    if (code != 0) m.status = absl::Status(static_cast<absl::StatusCode>(code), sentence);
    if (age) m.age = Duration(static_cast<Duration::rep>(*age));
  }
}
template <typename Io>
void describe(Io& io, Describes<MachineEvent> auto& m) {
  io.number(1, m.machine);
  io.number(2, m.index);
  io.bytes(3, m.bytes);
}
template <typename Io>
void describe(Io& io, Describes<Happened> auto& m) {
  io.number(1, m.number);
  io.repeated(2, m.events, kEventsMax);
}
template <typename Io>
void describe(Io& io, Describes<Renewed> auto& m) {
  io.bytes(1, m.reply);
}

namespace {

// A frame is the number of the kind and the body.
template <typename Variant>
std::string encoded(const Variant& message) {
  std::string frame(1, static_cast<char>(message.index() + 1));
  std::visit([&frame](const auto& one) { codec::append<LinkRules>(frame, one); }, message);
  return frame;
}

template <typename Variant, size_t kKind = 0>
void read(std::string_view frame, size_t kind, Variant& message) {
  if constexpr (kKind < std::variant_size_v<Variant>) {
    if (kind != kKind) return read<Variant, kKind + 1>(frame, kind, message);
    codec::read<LinkRules>(frame, message.template emplace<kKind>());
  } else {
    throw codec::Malformed("a kind of message that this version does not know");
  }
}

template <typename Variant>
absl::StatusOr<Variant> decoded(std::string_view frame) try {
  require(!frame.empty() && frame.size() <= kFrameBytesMax, "an empty or oversized frame");
  Variant message;
  read(frame.substr(1), static_cast<uint8_t>(frame.front()) - size_t{1}, message);
  return message;
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("a malformed message of a link: ") + error.what());
}

}  // namespace

std::string encode(const FromRemote& message) { return encoded(message); }
std::string encode(const FromGateway& message) { return encoded(message); }
absl::StatusOr<FromRemote> decode_from_remote(std::string_view frame) { return decoded<FromRemote>(frame); }
absl::StatusOr<FromGateway> decode_from_gateway(std::string_view frame) { return decoded<FromGateway>(frame); }

Lane lane_of(const FromRemote& message) { return std::holds_alternative<Renewal>(message) ? Lane::Control : Lane::Bulk; }
Lane lane_of(const FromGateway& message) { return std::holds_alternative<Renewed>(message) ? Lane::Control : Lane::Bulk; }

}  // namespace coordkit::remote
