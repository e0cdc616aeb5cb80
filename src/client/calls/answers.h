// Turns the machine's results into statuses on which a caller can act.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/client/coordination.h"
#include "coordkit/engine/engine.h"
#include "machine/command.h"
#include "machine/reads.h"
#include "machine/result.h"

namespace coordkit::client {

// The subject of a request that has no name of its own: "session", "key".
struct Nameless {
  std::string_view word;
};

// A semaphore, barrier, queue or the like.
struct Object {
  std::string_view name;
};

// Ok for Ok, Granted and Queued; else the reason with a sentence about the subject. A lock or coordination object appears by
// its name, a session or a key by its kind.
absl::Status status_of(const machine::Result& result, std::string_view name);
absl::Status status_of(const machine::Result& result, Nameless kind);
absl::Status status_of(const machine::Result& result, Object object);

// Why a watch ends that was too slow, or that begins too early. `lowest`: the lowest revision from which a watch can start.
absl::Status watch_compacted(Revision lowest);

// Input check: refuses everything that apply would refuse in any state, with a sentence that says what to change.
absl::Status check_request(const machine::Request& request);
absl::Status check_lock_name(std::string_view name);  // or the name of a semaphore, barrier and the like
absl::Status check_key(std::string_view key);
absl::Status check_range(const RangeOperation& range);

// The answer to a range in another order than that of the keys would be larger than one answer may be.
absl::Status unordered_range_too_large();

// The result in a completed submission: the engine's own failure, Corrupt, or the result with any code.
absl::StatusOr<machine::Result> result_of(const Completion& completion);

// The same, but any code other than Ok becomes the status of `subject`.
absl::StatusOr<machine::Result> done_of(const Completion& completion, Nameless subject);

// The outcome of a session's command that waits for nothing: a command refused because of the session has had no effect.
absl::Status status_of_command(const absl::StatusOr<machine::Result>& result, Object object);

// Refusals and endings shared by calls of several kinds.
absl::Status no_session();            // the caller gave none
absl::Status session_over();          // before the call, or before its command had its turn
absl::Status lost_while_acquiring();  // the session was lost meanwhile
absl::Status no_grant();              // the caller gave none
absl::Status hold_lost();             // with its session, before the call
absl::Status hold_over();             // alone, before the call

// The reason why there is nothing to release.
absl::Status released_or_lost(const HoldState& hold);

// For an answer that cannot be understood: Corrupt.
absl::Status unreadable(Outcome outcome = Outcome::NoEffect);

// Whether apply certainly executed the request's prior releases. It always did, with two exceptions: it refused the request's
// form, or its session, which may have moved to another process before or after.
bool was_executed(const machine::Result& result);

// The leader of an election, from the holders of its lock. A shared holder leads nothing.
std::optional<LeaderInfo> leader_of(const machine::Holders& held);

}  // namespace coordkit::client
