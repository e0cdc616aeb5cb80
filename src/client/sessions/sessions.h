// Sessions of this process. They are opened through the log, renewed beside it, taken over from another process, and ended
// for good once lost (timing rules: docs/time.md). A kept lease of keys is treated as a session here (docs/decisions/0012).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "client/calls/calls.h"
#include "client/calls/requests.h"
#include "client/sessions/belongings.h"
#include "client/sessions/session_renewals.h"
#include "client/sessions/session_table.h"
#include "coordkit/client/resumed_holds.h"

namespace coordkit::client {

// A session in the state of the machine, for the process that had it.
enum class Standing : uint8_t { Ours, Ending, Gone };
Standing standing_in(const std::optional<machine::SessionInfo>& info, const TimerGroup& ours);

class Sessions {
 public:
  Sessions(ClientOptions& options, Deliveries& deliveries, Requests& requests, Calls& calls)
      : options_(options), requests_(requests), calls_(calls), table_(options, deliveries), renewals_(options, table_) {}

  SessionTable& table() { return table_; }

  // ---- calls (client.h)
  CallId open(OpenOptions options, Callback<SessionRef> done);
  CallId close(const SessionRef& session, DoneCallback done, CallDeadline deadline);
  CallId resume(SessionId session, std::string secret, ResumeOptions options, Callback<ResumedSession> done);
  CallId kill(SessionId session, DoneCallback done, CallDeadline deadline);
  CallId force_release(std::string name, Token token, Callback<SessionId> done, CallDeadline deadline);

  // The terms of an open or resume, for the time when it is acknowledged.
  static OnPhase shared(absl::AnyInvocable<void(SessionPhase)> on_phase);
  struct Terms {
    std::string metadata = {};
    std::string secret = {};
    Duration give_up{};
    OnPhase on_phase = {};  // may be null
  };
  using OnOpened = absl::AnyInvocable<void(CallId, const Session&)>;  // answers the call
  // For a session or a lease of keys. Errors: the machine's.
  CallId open(machine::Request request, Duration ttl, Terms terms, AnyCallback callback, CallDeadline deadline,
              OnOpened opened);

  // ---- reports of the log
  void ended(SessionId id);
  void resumed_elsewhere(Index index, const machine::SessionResumed& resumed);
  void ending(SessionId id);
  // A command of the session was answered Lost: it has ended or belongs to another process, or it is ending and must be closed.
  void check_lost(Session& session);
  // Whether the session has ended or belongs to another process, as far as this replica's own state knows. The state had the
  // session once, when it was opened or resumed here, and never goes back. A session that it still has may be over all the
  // same. False if the replica has halted: the state after half a step proves nothing.
  bool gone(const Session& session) const;

  // ---- for the loop to carry on
  // The session that the last completion took over. Its call is not answered yet: the answer has what the session holds.
  struct Resumed {
    CallId call;
    SessionRef session;
    Belongings belongings;
  };
  std::optional<Resumed> take_resumed() { return std::exchange(resumed_, std::nullopt); }
  // Resumed sessions that their previous processes no longer trust, since the last call: work that was held back may continue.
  std::vector<SessionId> take_settled() { return std::exchange(settled_, {}); }

  // ---- the loop
  void gap(Duration late, LeadingTime now);  // LT-9; late max: the clock stepped back
  void run_timers(LeadingTime now) { table_.run_timers(now); }
  void end_lost();  // consequences of lost sessions: no renewals, no calls, a close
  void renew(LeadingTime now);
  void confirm(const RenewReply& reply, Now now);
  void leader_known(LeadingTime now) { renewals_.hurry(now); }
  void lose_all(SessionEvent why);
  void question_all();
  LeadingTime next_event() const { return std::min(table_.next_timer(), renewals_.next_due()); }
  void stop();
  void fill(ClientStatus& status) const;
  const RenewalStatistics& renewal_statistics() const { return renewals_.statistics(); }

 private:
  struct Opening {          // its outcome is unknown
    LeadingTime reference;  // min: a gap came between
    Duration ttl{};
  };

  void start_open(CallId id, Now now, const machine::Request& request, Duration ttl, Terms terms, OnOpened opened);
  void opened(CallId id, uint64_t opening, const Completion& completion, Now now, Terms terms, OnOpened answer);
  void post_close(SessionId id);
  void question(SessionId id);
  Standing standing(const Session& session, const machine::Reads& state) const;
  void follow(Session& session, Standing standing);

  // ---- resumes (session_resume.cc)
  struct Resume {
    machine::ResumeSession body;
    Terms terms;
    Index known;           // what this process knew of the state when it was called
    uint64_t opening = 0;  // of openings_, once it is submitted
    CallId call = {};
  };
  // A resume that took effect.
  struct Taken {
    Duration ttl{};
    bool previous_gone = false;
    Index at;            // the entry
    LaggingTime when{};  // the answer
  };
  absl::Status refusal_of_resume(SessionId session);
  void start_resume(Resume resume, Now now);
  void submit_resume(Resume resume, Now now);
  void resumed(Resume resume, const Completion& completion, Now now);
  void take_over(Resume resume, const Taken& taken, absl::StatusOr<Belongings> found, Now now);
  void previous_over(SessionId id, Index at, Now now);

  ClientOptions& options_;
  Requests& requests_;
  Calls& calls_;
  SessionTable table_;
  Renewals renewals_;
  absl::btree_map<uint64_t, Opening> openings_;  // including resumes
  absl::btree_map<SessionId, CallId> resuming_;  // by resumes with unknown outcome, whose callers may be gone
  uint64_t last_opening_ = 0;
  std::optional<Resumed> resumed_;
  std::vector<SessionId> settled_;
};

}  // namespace coordkit::client
