// The content of a Command entry, in the protobuf wire format (proto/coordkit/v1/log.proto, message LogCommand). Five kinds: a
// request for a machine, the registration of an origin, timers that fired on the leader, a replica's digest, and another
// feature level.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/types.h"

namespace coordkit::engine {

// A command whose caller waits for the answer.
struct Request {
  RequestId id;
  Sequence lowest_unanswered;  // of the same origin: answers below it may be dropped. I: lowest_unanswered <= id.sequence
  MachineId machine;
  std::string_view payload;  // points into the decoded bytes, like the guard
  struct GuardView {
    MachineId machine;
    std::string_view bytes;  // at most kGuardBytesMax
  };
  std::optional<GuardView> guard = {};
  // A request of the same origin that executes before this one; until then this one is not executed. Zero: none. I: after <
  // id.sequence. From feature level 2 on.
  Sequence after = {};
  // The name of the remote that sent it. Empty: it has none, or a member sent it. A gateway has checked it. From feature level
  // 7 on.
  std::string_view name = {};
};

// "I am a new incarnation": must be applied before any request of that origin.
struct RegisterOrigin {
  Origin origin;
  Sequence lowest_unanswered{1};  // nothing below it may run: the origin may have been known before, and dropped
  // A remote's: its gateway's state of this entry did not know it. Void if that of any remote was forgotten since. So a copy
  // that is late does not bring an origin back with commands that were executed before it was forgotten.
  Index as_of = {};
  std::string_view name = {};  // as in Request; points into the decoded bytes
};

// Proposed by a leader only and never forwarded; void unless the entry's term is still the newest leader's (docs/time.md
// T4, T7).
struct FireTimers {
  Term term;
  MachineId machine;
  std::vector<FiredTimer> timers;
};

// "After entry `index` my state had this digest": changes nothing, but replicas compare (divergence.h). A leader accepts it
// only from the replica it names.
struct DigestVote {
  ReplicaId replica;
  Index index;
  uint64_t digest = 0;
  friend bool operator==(const DigestVote&, const DigestVote&) = default;
};

// "From here on entries, messages and rows may use this feature level." Proposed by a leader only, once every member supports
// it, and never forwarded (level_raise.h).
struct RaiseLevel {
  uint64_t level = 0;
  friend bool operator==(const RaiseLevel&, const RaiseLevel&) = default;
};

using LogCommand = std::variant<Request, RegisterOrigin, FireTimers, DigestVote, RaiseLevel>;

inline constexpr size_t kFiredTimersMax = 4096;  // of one entry
// Above the largest possible number of voters, so that an idle cluster does not compare its own comparisons for ever.
inline constexpr uint64_t kDigestEntriesMin = 128;

std::string encode(const Request& request);
void encode(const Request& request, std::string& bytes);  // in the place of what is in `bytes`, whose room is kept
std::string encode(const RegisterOrigin& registration);
std::string encode(const FireTimers& fired);
std::string encode(const DigestVote& vote);
std::string encode(const RaiseLevel& raise);

// kDataLoss: the bytes are no command of this version. The result points into `bytes`.
absl::StatusOr<LogCommand> decode_command(std::string_view bytes);

}  // namespace coordkit::engine
