// Sticky locks at their node (docs/semantics.md S-58). A lock acquired as sticky stays with its session after the release. It
// is granted to the session's owners here, first come first served, until another session asks for it in the log.
//
// An acquire of such a name joins the line of the name (line.h). If the session has the delegation, the first in line gets
// the lock from it. Otherwise its acquire goes to the log like any other, and the rest of the line waits behind it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "client/calls/calls.h"
#include "client/locks/lent_delegations.h"
#include "client/locks/lent_locks.h"
#include "client/locks/line.h"
#include "client/locks/pending_acquire.h"
#include "client/sessions/commands_in_order.h"

namespace coordkit::client {

class StickyLines {
 public:
  StickyLines(const ClientOptions& options, SessionTable& table, Requests& requests, Calls& calls, SessionCommands& commands)
      : options_(options), table_(table), requests_(requests), calls_(calls), commands_(commands) {}

  // The first in a line that has no lock: its acquire, which must be sent to the log after a join() and after each line served.
  struct Fetch {
    CallId call;
    machine::Acquire body;
  };
  std::optional<Fetch> take_fetch();

  // True: the line handles the acquire, or it was answered. False: the caller must send it to the log.
  bool join(CallId id, Session& session, machine::Acquire& body, Now now);
  bool join(CallId id, Session& session, const machine::AcquireAll& body, Now now);
  void leave(Session& session, CallId id, const PendingAcquire& acquire);  // the call has ended, in any way

  // ---- reports of the log
  void delegated(Session& session, const PendingAcquire& acquire, const machine::Result& result, Now now);
  void fetched(const PendingAcquire& acquire);  // the acquire has ended in the log
  void asked(const machine::DelegationAsked& asked, Now now);
  void look_for_asked(Now now);  // entries were skipped, and with them requests for delegations
  HoldRef adopt(Session& session, const machine::HeldLock& lock);

  // ---- local holds
  // Answered at once while the session is valid: no other session can have had the lock. In jeopardy, once its fate is known.
  CallId release(Session& session, const HoldRef& hold, DoneCallback&& done, CallDeadline deadline);
  bool release(Session& session, const HoldRef& hold);  // false: it had already ended
  void lose(Session& session, const HoldRef& hold);     // this hold only: its time is over, or the log refuses its token
  void released(const HoldRef& hold);                   // by another thread
  const LentLocks& lent() const { return lent_; }

  // ---- the loop
  void wake(SessionId session);  // work that its lines held back may continue
  void look_again(Now now);      // at what time alone may have changed
  bool serve_next(Now now);      // one line that has work to do; false: none has
  void end_waits(LaggingTime now);
  bool any_due() const { return !due_.empty(); }
  LaggingTime next_wait() const { return waits_.empty() ? LaggingTime::max() : waits_.begin()->first; }
  void clear();

 private:
  bool answer_release(CallId id, const SessionRef& of, Now now);
  void answer_releases(Now now);
  static absl::Status own_claim(const Session& session, const Line& line, const std::string& tag, const std::string& name);
  void stand_aside(Session& session, const std::string& name, Now now);
  static bool may_try(const Session& session, const Line& line, Now now);
  void enqueue(CallId id, Session& session, machine::Acquire& body, Now now);
  void serve(Session& session, const std::string& name, Now now);
  static bool prefers_line(const Line& line, Now now);
  void ask(Line& line, Now now);
  void ask_for_surplus(Session& session, Now now);
  void grant_locally(Session& session, Line& line, Now now);
  void hand_over(Session& session, Line& line, CallId id, std::string_view owner_tag, Now now);
  void fetch(Line& line, Now now);
  void give_back(Session& session, const std::string& name);
  void refill(Session& session, const std::string& name);
  bool asked_in_log(const Session& session, const std::string& name, Token token) const;

  const ClientOptions& options_;
  SessionTable& table_;
  Requests& requests_;
  Calls& calls_;
  SessionCommands& commands_;
  LentLocks lent_;
  std::vector<Fetch> fetches_;
  absl::btree_set<std::pair<LaggingTime, CallId>> waits_;       // ends of timed waits in lines
  absl::btree_set<std::pair<SessionId, std::string>> due_;      // lines with work to do
  absl::btree_set<std::pair<SessionId, std::string>> stalled_;  // lines waiting for their session to become valid
  SessionId served_;                                            // the session of the last line that was served
  std::vector<std::pair<CallId, SessionRef>> in_doubt_;         // releases of local holds of sessions in jeopardy
};

}  // namespace coordkit::client
