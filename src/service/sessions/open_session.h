// How a session is opened on a host: for Replica, and for KeptSession, which opens one again and again.
#pragma once

#include <memory>
#include <utility>

#include "service/calls/call_control.h"
#include "service/objects/object_access.h"
#include "service/sessions/phases.h"

namespace coordkit {

inline AsyncCall open_session_on(CallSite site, SessionOptions options, Callback<Session> done) {
  const std::shared_ptr<CallRunner> host = site.host;
  const LaggingTime deadline = host->deadline(options.timeout);
  return begin_in_line<absl::StatusOr<Session>>(
      std::move(site), deadline,
      [host, options = std::move(options), deadline](Client& client, Callback<Session> answer) mutable {
        Phases phases(options.on_phase);
        return client.open_session(
            {.ttl = options.ttl,
             .metadata = std::move(options.metadata),
             .deadline = deadline,
             .on_phase = std::move(options.on_phase),
             .give_up = options.give_up},
            [host = std::move(host), phases = std::move(phases),
             answer = std::move(answer)](absl::StatusOr<SessionRef> state) mutable {
              if (!state.ok()) return std::move(answer)(state.status());
              std::move(answer)(HandleAccess::session(std::move(host), *std::move(state), std::move(phases)));
            });
      },
      std::move(done));
}

}  // namespace coordkit
