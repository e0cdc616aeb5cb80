// What a Command entry carries, in the protobuf wire format (proto/coordkit/v1/log.proto, message LogCommand). Three kinds:
// a request for a machine, the registration of an origin, and timers that fired on the leader.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/state_machine.h"
#include "coordkit/types.h"

namespace coordkit::engine {

// A command of somebody who waits for the answer.
struct Request {
  RequestId id;
  Sequence lowest_unanswered;  // of the same origin: answers below it may be forgotten. I: lowest_unanswered <= id.sequence
  MachineId machine;
  std::string_view payload;  // points into the decoded bytes, like the guard
  struct GuardView {
    MachineId machine;
    std::string_view bytes;  // at most kGuardBytesMax
  };
  std::optional<GuardView> guard = {};
};

// "I am a new incarnation": must be applied before any request of that origin.
struct RegisterOrigin {
  Origin origin;
};

// Proposed by a leader only and never forwarded; void unless the entry's term is still the newest leader's (docs/time.md
// T4, T7).
struct FireTimers {
  Term term;
  MachineId machine;
  std::vector<FiredTimer> timers;
};

using LogCommand = std::variant<Request, RegisterOrigin, FireTimers>;

inline constexpr size_t kFiredTimersMax = 4096;  // of one entry

std::string encode(const Request& request);
std::string encode(const RegisterOrigin& registration);
std::string encode(const FireTimers& fired);

// kDataLoss: bytes that are no command of this version. The result points into `bytes`.
absl::StatusOr<LogCommand> decode_command(std::string_view bytes);

}  // namespace coordkit::engine
