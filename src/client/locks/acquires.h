// Acquires in the log. Each ends with a grant or a definite refusal, or, if the caller is gone, with a grant that is released
// (docs/semantics.md S-59).
#pragma once

#include <string>
#include <string_view>

#include "client/calls/calls.h"
#include "client/locks/pending_acquire.h"
#include "client/locks/releases.h"
#include "client/locks/statistics.h"
#include "client/locks/sticky_lines.h"

namespace coordkit::client {

class Acquires final : public CallOwner {
 public:
  Acquires(SessionTable& table, Requests& requests, Calls& calls, SessionCommands& commands, Releases& releases,
           StickyLines& lines, HoldLimits& limits, Statistics& statistics)
      : table_(table),
        requests_(requests),
        calls_(calls),
        commands_(commands),
        releases_(releases),
        lines_(lines),
        limits_(limits),
        statistics_(statistics) {}

  // Turns the call into an acquire. It ends if its session does, and the log decides its cancellation.
  void own(CallId id, Duration max_hold = {}, bool proclaims = false);
  // Starts the call, which belongs to this session from here on. Null: the call has ended, now or before.
  Session* begin(CallId id, const SessionRef& of, Now now);
  // The purpose of a submitted acquire.
  struct Terms {
    std::string_view name;
    std::string_view owner_tag = {};
    HoldTerms hold = {};
    uint64_t block = 0;  // of a sticky acquire
    Duration delay{};    // of a sticky acquire
    bool of_lock = false;
    std::string proclaimed = {};  // if it proclaims
  };
  // Submits a call that has begun and not ended, with its session.
  void submit(Call& call, Session& session, Terms&& terms, machine::Request&& request);
  // The second completion of an acquire that the log had queued (Requests::complete).
  void complete(const PoolRef<PendingAcquire>& acquire, const Completion& completion, Now now);
  // For an owner that has the lock: it keeps the lock with another value, and gets its existing handle as the answer.
  void proclaim(CallId id, const SessionRef& session, std::string_view name, Token token, std::string value);

  // ---- CallOwner
  bool cancel(Call& call) override;
  void abandoned(const Call& call) override;
  bool pursues(const Call& call) override;
  void ended(CallId id, const Call& call) override;

 private:
  using Pending = PoolRef<PendingAcquire>;

  void answered(const Pending& acquire, const Completion& completion, const SessionCommands::Result& result, Now now);
  void queued(const Pending& acquire, Ticket ticket);
  void failed(const Pending& acquire, absl::Status status);
  void granted(const PendingAcquire& acquire, const machine::Result& result, Now now);

  // Posts the cancel if the step wants one.
  AcquireAction take(const Pending& acquire, AcquireEvent event);
  void post_cancel(const Pending& acquire);
  void cancel_answered(const Pending& acquire, const SessionCommands::Result& result, Now now);

  SessionTable& table_;
  Requests& requests_;
  Calls& calls_;
  SessionCommands& commands_;
  Releases& releases_;
  StickyLines& lines_;
  HoldLimits& limits_;
  Statistics& statistics_;
  Pool<PendingAcquire> pending_;
};

}  // namespace coordkit::client
