// Changes to a hold that stays: another mode, another value (docs/semantics.md S-46). Also the end of a hold that is found to
// be invalid.
//
// A conversion gives the hold a new token and kills the old one. So it is pursued until its outcome is known, even without
// its caller. A new hold without a caller is released: no hold stays unknown (S-59).
#pragma once

#include <string>

#include "base/flat_table.h"
#include "client/calls/calls.h"
#include "client/locks/sticky_lines.h"

namespace coordkit::client {

class HoldChanges final : public CallOwner {
 public:
  HoldChanges(SessionTable& table, Requests& requests, Calls& calls, SessionCommands& commands, StickyLines& lines)
      : table_(table), requests_(requests), calls_(calls), commands_(commands), lines_(lines) {}

  CallId convert(const HoldRef& hold, LockMode to, Callback<HoldRef> done, CallDeadline deadline);
  CallId update_value(const HoldRef& hold, std::string value, DoneCallback done, CallDeadline deadline);
  void token_refuted(const HoldRef& hold);  // the log says that it is not held
  // Ends holds whose maximum time has passed. They are invalid by their own reading of the clock, and are announced and
  // released here (S-51).
  void end_long_holds(LeadingTime now);

  void ended(CallId id, const Call& call) override;

 private:
  absl::Status refusal_of(const HoldRef& hold);
  void start(CallId id, const HoldRef& hold, LockMode to, Now now);
  void converted(CallId id, const HoldRef& hold, LockMode to, const SessionCommands::Result& result, Now now);
  void replace(CallId id, Session& session, const HoldRef& hold, LockMode to, const machine::Result& result);
  void outcome_lost(CallId id, const HoldRef& hold, absl::Status why, Now now);
  void reclaim(const HoldRef& hold, Now now);
  void start_update(CallId id, const HoldRef& hold, machine::Request&& request);

  SessionTable& table_;
  Requests& requests_;
  Calls& calls_;
  SessionCommands& commands_;
  StickyLines& lines_;
  FlatMap<CallId, HoldRef> suspended_;  // by downgrades; valid again if these end before they are sent
};

}  // namespace coordkit::client
