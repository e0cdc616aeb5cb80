// Calls that acquire locks: one, several at once, or an election's. From the call to the line of a sticky lock or to the log.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "base/pool.h"
#include "client/acquires.h"
#include "client/sticky_lines.h"
#include "coordkit/client/coordination.h"

namespace coordkit::client {

class LockCalls {
 public:
  LockCalls(const ClientOptions& options, SessionTable& table, Requests& requests, Calls& calls, StickyLines& lines,
            Acquires& acquires, Statistics& statistics)
      : options_(options),
        table_(table),
        requests_(requests),
        calls_(calls),
        lines_(lines),
        acquires_(acquires),
        statistics_(statistics) {}

  CallId acquire(const SessionRef& session, std::string name, AcquireOptions options, Callback<HoldRef> done) {
    return acquire(session, std::move(name), std::move(options), /*proclaims=*/false, std::move(done));
  }
  CallId acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options, Callback<HoldRef> done);
  CallId campaign(const SessionRef& session, std::string name, CampaignOptions options, Callback<HoldRef> done);

  // For a call that has begun: the log decides, or, for a try that cannot be granted, one confirmed read.
  template <typename Body>
  void go_to_log(CallId id, Body&& body);

 private:
  // A call between its entry and its start.
  template <typename Body>
  struct Entered {
    SessionRef session;
    Body body;
  };
  template <typename Body>
  Pool<Entered<Body>>& pool() {
    return std::get<Pool<Entered<Body>>>(entered_);
  }
  CallId acquire(const SessionRef& session, std::string name, AcquireOptions options, bool proclaims, Callback<HoldRef> done);
  template <typename Body>
  CallId enter(const SessionRef& session, Body body, const AcquireOptions& options, bool proclaims, Callback<HoldRef> done);
  template <typename Body>
  void start(CallId id, const SessionRef& session, Body&& body, Now now);
  template <typename Body>
  bool seems_held(const Session& session, const Body& body) const;
  template <typename Body>
  void confirm_held(CallId id, Body body);
  template <typename Body>
  void held(CallId id, const Body& body, const machine::Result& refusal);
  template <typename Body>
  void submit(CallId id, Body&& body);

  const ClientOptions& options_;
  SessionTable& table_;
  Requests& requests_;
  Calls& calls_;
  StickyLines& lines_;
  Acquires& acquires_;
  Statistics& statistics_;
  std::tuple<Pool<Entered<machine::Acquire>>, Pool<Entered<machine::AcquireAll>>> entered_;
};

}  // namespace coordkit::client
