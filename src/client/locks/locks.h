// Everything a client does with locks: the calls, sticky locks (S-58), and the ends of holds.
#pragma once

#include <vector>

#include "client/locks/acquires.h"
#include "client/locks/hold_change_calls.h"
#include "client/locks/lock_calls.h"
#include "client/locks/sticky_lines.h"

namespace coordkit::client {

class Locks {
 public:
  Locks(const ClientOptions& options, SessionTable& table, Requests& requests, Calls& calls, SessionCommands& commands)
      : table_(table),
        calls_(calls),
        commands_(commands),
        lines_(options, table, requests, calls, commands),
        acquires_(table, requests, calls, commands, lines_),
        changes_(table, requests, calls, commands, lines_),
        acquiring_(options, requests, calls, lines_, acquires_) {}

  CallId release(const HoldRef& hold, DoneCallback&& done, CallDeadline deadline);
  void release_later(const HoldRef& hold);
  // The locks that a resumed session has.
  std::vector<HoldRef> adopt(Session& session, const std::vector<machine::HeldLock>& locks);

  LockCalls& acquiring() { return acquiring_; }
  HoldChanges& changes() { return changes_; }
  Acquires& acquires() { return acquires_; }
  StickyLines& lines() { return lines_; }

  // ---- the loop
  LeadingTime next_limit() const { return table_.limits().next(); }
  LaggingTime next_wait() const { return lines_.next_wait(); }
  bool any_due() const { return lines_.any_due(); }
  void clear();

 private:
  SessionTable& table_;
  Calls& calls_;
  SessionCommands& commands_;
  StickyLines lines_;
  Acquires acquires_;
  HoldChanges changes_;
  LockCalls acquiring_;
};

}  // namespace coordkit::client
