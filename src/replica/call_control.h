// The far end of AsyncCall: finds the call on the engine's thread and ends it there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "coordkit/call.h"
#include "coordkit/client.h"
#include "replica/call_runner.h"
#include "replica/waiting.h"

namespace coordkit {

class CallControl : public std::enable_shared_from_this<CallControl> {
 public:
  explicit CallControl(std::shared_ptr<CallRunner> host) : host_(std::move(host)) {}

  // On the engine's thread, once: the call has begun.
  void begun(Client& client, CallId id) {
    id_ = id;
    if (cancelled_) client.cancel(id_);
  }
  void begun(Client&, Ticket membership) {
    membership_ = membership;
    if (cancelled_) host_->abandon_members(membership_);
  }
  bool crowded() const { return host_->sheds(); }
  void cancel() {
    if (host_->forked()) return;
    host_->call([self = shared_from_this()](Client& client) {
      self->cancelled_ = true;
      if (self->id_) client.cancel(self->id_);
      if (self->membership_) self->host_->abandon_members(self->membership_);
    });
  }

 private:
  const std::shared_ptr<CallRunner> host_;
  // Of the engine's thread.
  CallId id_;
  Ticket membership_;
  bool cancelled_ = false;
};

// Cancels the call when the token stops, for as long as this lives.
class CancelOnStop {
 public:
  CancelOnStop(const std::stop_token& token, std::shared_ptr<CallControl> control) {
    if (token.stop_possible()) callback_.emplace(token, Cancel{std::move(control)});
  }

 private:
  struct Cancel {
    std::shared_ptr<CallControl> control;
    void operator()() const { control->cancel(); }
  };
  std::optional<std::stop_callback<Cancel>> callback_;
};

// The callback, so that what it throws ends nothing else.
template <typename Answer>
absl::AnyInvocable<void(Answer)> guarded(std::shared_ptr<CallRunner> host, absl::AnyInvocable<void(Answer)> done) {
  return [host = std::move(host), done = std::move(done)](Answer answer) mutable {
    host->run_callback([&] { std::move(done)(std::move(answer)); });
  };
}

// Whether a call may be refused while too many wait: not what gives something back.
enum class WhenCrowded : uint8_t { Goes, IsRefused };

inline const absl::Status& crowded_out() {
  static const absl::Status why =
      make_error(Reason::TooManyRequests, "more calls wait than this replica can begin; wait for some to end");
  return why;
}

// Begins a call from any thread: `start(client, done)` gives its CallId, or the Ticket of a change of members. `done` runs on
// the engine's thread, or here if this process cannot run it.
template <typename Answer, typename Start>
AsyncCall begin(const std::shared_ptr<CallRunner>& host, Start start, absl::AnyInvocable<void(Answer)> done,
                WhenCrowded when_crowded = WhenCrowded::Goes) {
  if (host->forked()) {
    std::move(done)(Answer(forked_away()));
    return {};
  }
  auto control = std::make_shared<CallControl>(host);
  host->call([control, when_crowded, start = std::move(start), done = guarded(host, std::move(done))](Client& client) mutable {
    if (when_crowded == WhenCrowded::IsRefused && control->crowded()) return std::move(done)(Answer(crowded_out()));
    control->begun(client, start(client, std::move(done)));
  });
  return AsyncCall(std::move(control));
}

}  // namespace coordkit
