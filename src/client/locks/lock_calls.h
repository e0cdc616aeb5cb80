// Calls that acquire locks: one, several at once, or an election's. They go from the call to the line of a sticky lock or to
// the log.
#pragma once

#include <string>
#include <vector>

#include "base/pool.h"
#include "client/locks/acquires.h"
#include "client/locks/sticky_lines.h"
#include "coordkit/client/coordination.h"

namespace coordkit::client {

class LockCalls {
 public:
  LockCalls(const ClientOptions& options, Requests& requests, Calls& calls, StickyLines& lines, Acquires& acquires)
      : options_(options), requests_(requests), calls_(calls), lines_(lines), acquires_(acquires) {}

  CallId acquire(const SessionRef& session, std::string&& name, AcquireOptions&& options, Callback<HoldRef>&& done) {
    return acquire(session, std::move(name), std::move(options), /*proclaims=*/false, std::move(done));
  }
  CallId acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options, Callback<HoldRef> done);
  CallId campaign(const SessionRef& session, std::string name, CampaignOptions options, Callback<HoldRef> done);

  // All that the lines of sticky locks have to do now.
  void serve_lines(Now now);

 private:
  // A call between its entry and its start.
  struct Entered {
    SessionRef session;
    machine::Request request = {};
  };
  CallId acquire(const SessionRef& session, std::string&& name, AcquireOptions&& options, bool proclaims,
                 Callback<HoldRef>&& done);
  template <typename Body, typename Fill>
  CallId enter(const SessionRef& session, Fill fill, const AcquireOptions& options, bool proclaims, Callback<HoldRef>&& done);
  template <typename Body>
  void start(CallId id, const SessionRef& session, machine::Request&& request, Now now);
  // Starts a call that has begun, with a request of that kind. The log decides; for a try that cannot be granted, one
  // confirmed read decides.
  template <typename Body>
  void go_to_log(CallId id, machine::Request&& request);
  void send_fetches();
  template <typename Body>
  bool seems_held(const Session& session, const Body& body) const;
  template <typename Body>
  void confirm_held(CallId id, machine::Request&& request);
  template <typename Body>
  void submit(Call& call, machine::Request&& request);

  const ClientOptions& options_;
  Requests& requests_;
  Calls& calls_;
  StickyLines& lines_;
  Acquires& acquires_;
  Pool<Entered> entered_;
};

}  // namespace coordkit::client
