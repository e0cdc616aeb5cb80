// Acquires in the log. Each ends with a grant or a definite refusal, or, if the caller is gone, with a grant that is released
// (docs/semantics.md S-59).
#pragma once

#include <string>
#include <string_view>

#include "client/calls/calls.h"
#include "client/locks/pending_acquire.h"
#include "client/locks/sticky_lines.h"

namespace coordkit::client {

class Acquires final : public CallOwner {
 public:
  Acquires(SessionTable& table, Requests& requests, Calls& calls, SessionCommands& commands, StickyLines& lines)
      : table_(table), requests_(requests), calls_(calls), commands_(commands), lines_(lines) {}

  // Turns the call into an acquire. It ends if its session does, and the log decides its cancellation.
  void own(CallId id, Duration max_hold = {}, bool proclaims = false);
  // Starts the call, which belongs to this session from here on. Null: the call has ended, now or before.
  Session* begin(CallId id, const SessionRef& of, Now now);
  // The call must have begun, and not ended.
  Session& session_of(const Call& call) { return *table_.find(call.acquire->session); }
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
  // Submits a call that has begun and not ended.
  void submit(Call& call, Terms&& terms, machine::Request&& request);
  // Ends the acquire of a lock that is not granted. An owner that has the lock and proclaims keeps it with this value instead,
  // and gets its existing handle as the answer.
  void refuse(const PendingAcquire& acquire, std::string_view name, const machine::Result& refusal, std::string_view value);
  // The second completion of an acquire that the log had queued (Requests::complete).
  void complete(const PoolRef<PendingAcquire>& acquire, const Completion& completion, Now now);

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
  // False: there is no hold here that its owner could proclaim.
  bool proclaim(CallId id, const SessionRef& session, std::string_view name, Token token, std::string_view value);

  // Posts the cancel if the step wants one.
  AcquireAction take(const Pending& acquire, AcquireEvent event);
  void post_cancel(const Pending& acquire);
  void cancel_answered(const Pending& acquire, const SessionCommands::Result& result, Now now);

  SessionTable& table_;
  Requests& requests_;
  Calls& calls_;
  SessionCommands& commands_;
  StickyLines& lines_;
  Pool<PendingAcquire> pending_;
};

}  // namespace coordkit::client
