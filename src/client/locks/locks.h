// Everything a client does with locks: the calls, sticky locks (S-58), and the ends of holds.
#pragma once

#include <utility>

#include "client/locks/acquires.h"
#include "client/locks/hold_change_calls.h"
#include "client/locks/lock_calls.h"
#include "client/locks/releases.h"
#include "client/locks/sticky_lines.h"

namespace coordkit::client {

class Locks {
 public:
  Locks(const ClientOptions& options, SessionTable& table, Requests& requests, Calls& calls, SessionCommands& commands)
      : table_(table),
        calls_(calls),
        releases_(table, requests, calls, commands, limits_),
        lines_(options, table, requests, calls, commands, releases_, limits_, lent_, statistics_),
        acquires_(table, requests, calls, commands, releases_, lines_, limits_, statistics_),
        changes_(table, requests, calls, commands, releases_, lines_, limits_),
        acquiring_(options, table, requests, calls, lines_, acquires_, statistics_) {}

  CallId release(const HoldRef& hold, DoneCallback&& done, CallDeadline deadline);
  void release_later(const HoldRef& hold);
  LockStatistics seen() const;

  LockCalls& acquiring() { return acquiring_; }
  HoldChanges& changes() { return changes_; }
  Acquires& acquires() { return acquires_; }
  Releases& releases() { return releases_; }
  StickyLines& lines() { return lines_; }
  Statistics& statistics() { return statistics_; }
  const LentLocks& lent() const { return lent_; }

  // ---- the loop
  LeadingTime next_limit() const { return limits_.next(); }
  LaggingTime next_wait() const { return lines_.next_wait(); }
  bool any_due() const { return releases_.any_due() || lines_.any_due(); }
  void clear();

 private:
  SessionTable& table_;
  Calls& calls_;
  HoldLimits limits_;
  LentLocks lent_;
  Statistics statistics_;
  Releases releases_;
  StickyLines lines_;
  Acquires acquires_;
  HoldChanges changes_;
  LockCalls acquiring_;
};

}  // namespace coordkit::client
