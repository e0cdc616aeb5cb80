// The messages of a link between a remote and its gateway, and their bytes (proto/coordkit/v1/link.proto). A link is a
// connection of a transport: it keeps order, and may lose frames. So a gateway numbers what a remote must not miss. A remote
// that sees a gap sends its arrival again.
//
// Decoders take hostile bytes: counts and lengths are capped, unknown fields are skipped, an unknown kind is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/engine/engine.h"

namespace coordkit::remote {

inline constexpr uint64_t kLinkVersion = 1;
inline constexpr size_t kCommandsMax = 4096;  // of one message, as everything below
inline constexpr size_t kAnswersMax = 4096;
inline constexpr size_t kEventsMax = 4096;
inline constexpr size_t kQueuedMax = 1 << 16;
inline constexpr size_t kFrameBytesMax = 16 << 20;

// ---- from a remote

// A command that a machine has queued, and whose end the remote awaits.
struct Awaited {
  MachineId machine;
  Sequence sequence;
};
// The first message at a gateway, and again after a gap. The gateway answers with the number 1.
struct Arrival {
  uint64_t version = kLinkVersion;
  Origin origin;                // its replica is the id that the connection has proven
  uint64_t rate_error_ppm = 0;  // as the cluster's
  std::vector<Awaited> queued;  // ascending by sequence
  // The newest entry of which any gateway has told this remote. A gateway answers once it has applied that: an older state may
  // not know the remote, or what it awaits.
  Index seen;
  // The name of this remote; empty: it has none. The gateway compares it with the one that the connection proves.
  std::string name;
};
struct Commands {
  std::vector<SharedBytes> payloads;  // of Command entries: requests of this origin, or its registration
};
struct Question {
  uint64_t id = 0;  // of this remote, never used again
  MachineId machine;
  Consistency consistency = Consistency::Linearizable;
  Index at_least;
  Duration time_left{};
  std::string question;
  Duration waits{};  // a piece of history may be awaited for so long; zero: it is answered at once
};
struct Withdrawal {  // of a question
  uint64_t id = 0;
};
struct Interest {  // in the events of one subject of a machine
  MachineId machine;
  std::string subject;
  bool wanted = false;
};
struct Renewal {
  std::string request;  // an encoded RenewRequest
};
using FromRemote = std::variant<Arrival, Commands, Question, Withdrawal, Interest, Renewal>;

// ---- from a gateway; all but Renewed have a number, which counts from 1 after an arrival

// The gateway has sent all answers and events up to `applied`.
struct Standing {
  uint64_t number = 0;
  Index applied;
  uint64_t feature_level = 0;
  ReplicaId leader;         // zero: none known
  bool registered = false;  // the state knows the remote's origin
};
struct Answers {
  uint64_t number = 0;
  std::vector<RemoteAnswer> answers;
};
struct Told {  // the answer to a question
  uint64_t number = 0;
  uint64_t id = 0;
  absl::Status status;
  SharedBytes bytes;
  Index index;
  std::optional<Duration> age;
};
struct Happened {
  uint64_t number = 0;
  std::vector<MachineEvent> events;
};
struct Renewed {
  std::string reply;  // an encoded RenewReply
};
using FromGateway = std::variant<Standing, Answers, Told, Happened, Renewed>;

std::string encode(const FromRemote& message);
std::string encode(const FromGateway& message);
// kDataLoss: malformed, beyond a limit, or of a kind that this version does not know.
absl::StatusOr<FromRemote> decode_from_remote(std::string_view frame);
absl::StatusOr<FromGateway> decode_from_gateway(std::string_view frame);

// Renewals overtake what waits in the other lane.
Lane lane_of(const FromRemote& message);
Lane lane_of(const FromGateway& message);

}  // namespace coordkit::remote
