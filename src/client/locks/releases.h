// Releases. A hold is invalid from the call on. Its end in the log is pursued until it is acknowledged or the session is
// over. So a lock cannot leak while renewals continue (docs/time.md T10; docs/semantics.md S-43).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "base/pool.h"
#include "base/spare_nodes.h"
#include "client/calls/calls.h"
#include "client/locks/hold_limits.h"
#include "client/sessions/commands_in_order.h"

namespace coordkit::client {

class Releases {
 public:
  Releases(SessionTable& table, Requests& requests, Calls& calls, SessionCommands& commands, HoldLimits& limits)
      : table_(table), requests_(requests), calls_(calls), commands_(commands), limits_(limits) {}

  // Answered when the log has released the hold, which must not be one that its session keeps here (S-58).
  CallId release(Session& session, const HoldRef& hold, DoneCallback&& done, CallDeadline deadline);
  // The same without a caller. Null: the hold was already released, so this has no effect.
  PendingRelease* give_back(Session& session, const HoldRef& hold);
  // For a grant that never got a handle, or on behalf of its handle.
  PendingRelease& give_back(Session& session, std::string&& name, Token token, bool counted);
  // For a hold that was changed and now has this token: callers that wait for its release wait for this one.
  void give_back(Session& session, const HoldRef& hold, Token changed);

  void previous_over(Session& session);  // the releases that it held back may be posted
  void forget(SessionId session) { due_.erase(session); }
  // Puts all releases of a session in one turn into one command.
  void post_due();
  bool any_due() const { return !due_.empty(); }
  void clear() { due_.clear(); }

 private:
  struct Posted {
    SessionRef session;
    ReleaseNumber last;
    std::vector<ReleaseNumber> before;
  };
  void post(Session& session, std::span<const ReleaseNumber> batch);
  void answered(const Posted& posted, const SessionCommands::Result& result, Now now);
  void not_released(Session& session, ReleaseNumber number, const absl::Status& why);

  SessionTable& table_;
  Requests& requests_;
  Calls& calls_;
  SessionCommands& commands_;
  HoldLimits& limits_;
  absl::btree_set<SessionId, std::less<SessionId>, SpareNodes<SessionId>> due_;  // sessions with releases that are to be posted
  std::vector<SessionId> posting_;
  std::vector<ReleaseNumber> batch_;
  Pool<Posted> posted_;
};

}  // namespace coordkit::client
