// From the machine's results to statuses a caller can act on.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/client/coordination.h"
#include "coordkit/engine.h"
#include "machine/command.h"
#include "machine/reads.h"
#include "machine/result.h"

namespace coordkit::client {

// What a request was about that has no name to call it by: "session", "key".
struct Nameless {
  std::string_view word;
};

// Ok for Ok, Granted and Queued; else the reason with a sentence about the subject: a lock, or something of coordination by its
// name, a session or a key by its kind.
absl::Status status_of(const machine::Result& result, std::string_view name);
absl::Status status_of(const machine::Result& result, Nameless kind);

// Why a watch ends that was too slow, or begins too early. `lowest`: the lowest revision that can be watched from.
absl::Status watch_compacted(Revision lowest);

// The door: what apply would refuse whatever the state, with a sentence that says what to change.
absl::Status check_request(const machine::Request& request);
absl::Status check_lock_name(std::string_view name);
absl::Status check_key(std::string_view key);

// The result in a completed submission. The engine's own failure, Corrupt, or the result whatever its code.
absl::StatusOr<machine::Result> result_of(const Completion& completion);

// The same, but every other code than Ok is the status of `subject`.
absl::StatusOr<machine::Result> done_of(const Completion& completion, Nameless subject);

// What calls of several kinds are refused with, or end with.
absl::Status no_session();            // none was given
absl::Status session_over();          // before the call
absl::Status lost_while_acquiring();  // the session, since
absl::Status no_grant();              // none was given
absl::Status hold_lost();             // with its session, before the call

// Of an answer that makes no sense: Corrupt.
absl::Status unreadable(Outcome outcome = Outcome::None);

// Whether apply certainly got as far as the request's prior releases: everything but a refusal of the request's form, or of its
// session, which may have gone elsewhere before or after.
bool was_executed(const machine::Result& result);

// Who leads an election, by the holders of its lock. Whoever shares a lock leads nothing.
std::optional<LeaderInfo> leader_of(const machine::Holders& held);

}  // namespace coordkit::client
