// The far end of AsyncCall: finds the call on the engine's thread and ends it there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "coordkit/call.h"
#include "coordkit/client.h"
#include "coordkit/error.h"
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
  // Used by the engine's thread.
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

// The slot of a call that may be refused: taken when it is made, released when the call is answered.
class Place {
 public:
  // For a call that is never refused: it takes none.
  explicit Place(std::shared_ptr<CallRunner> host) : host_(std::move(host)) {}
  // nullopt: the call is refused.
  static std::optional<Place> admit(const std::shared_ptr<CallRunner>& host, LaggingTime deadline) {
    if (!host->admit(deadline)) return std::nullopt;
    Place place(host);
    place.counts_ = true;
    return place;
  }
  Place(Place&& other) noexcept = default;  // which then has no host
  Place& operator=(Place&&) = delete;
  ~Place() { leave(CallRunner::Served::No); }

  CallRunner& host() const { return *host_; }
  const std::shared_ptr<CallRunner>& shared_host() const { return host_; }
  bool counts() const { return counts_; }
  void leave(CallRunner::Served served) {
    if (host_ && std::exchange(counts_, false)) host_->leave(served);
  }

 private:
  std::shared_ptr<CallRunner> host_;
  bool counts_ = false;
};

inline bool was_served(const absl::Status& answer) {
  if (answer.ok()) return true;
  const std::optional<Reason> why = reason_of(answer);
  return why != Reason::CallTimeout && why != Reason::NoLeader && why != Reason::TooManyRequests;
}
template <typename T>
bool was_served(const absl::StatusOr<T>& answer) {
  return was_served(answer.status());
}

// Wraps the callback, so that its exceptions end nothing else, and that the call's slot is free when it runs.
template <typename Answer>
absl::AnyInvocable<void(Answer)> guarded(Place place, absl::AnyInvocable<void(Answer)> done) {
  return [place = std::move(place), done = std::move(done)](Answer answer) mutable {
    if (place.counts()) place.leave(was_served(answer) ? CallRunner::Served::Yes : CallRunner::Served::No);
    place.host().run_callback([&] { std::move(done)(std::move(answer)); });
  };
}

// While it lives, this thread runs the callback of a call that was refused.
class RefusalHere {
 public:
  RefusalHere();
  ~RefusalHere();
  RefusalHere(const RefusalHere&) = delete;
  RefusalHere& operator=(const RefusalHere&) = delete;
  static bool any();
};

const absl::Status& crowded_out();

// On the thread that made the call, so that a flood costs no one else's time, and without a copy of anything. A call begun
// inside such a callback, or on the engine's thread, is answered by the next turn, so that retrying at once overflows no stack.
template <typename Answer>
AsyncCall refuse(const std::shared_ptr<CallRunner>& host, absl::AnyInvocable<void(Answer)> done) {
  if (host->on_engine_thread() || RefusalHere::any()) {
    host->call_in_line(
        [done = guarded(Place(host), std::move(done))](Client&) mutable { std::move(done)(Answer(crowded_out())); });
    return {};
  }
  const RefusalHere here;
  host->run_callback([&] { std::move(done)(Answer(crowded_out())); });
  return {};
}

// Begins a call from any thread: `start(client, done)` gives its CallId, or the Ticket of a membership change. `done` runs on
// the engine's thread, or here if this process cannot run it.
template <typename Answer, typename Start>
AsyncCall begin_at(Place place, Start start, absl::AnyInvocable<void(Answer)> done) {
  const std::shared_ptr<CallRunner> host = place.shared_host();
  auto control = std::make_shared<CallControl>(host);
  const bool in_line = place.counts();
  CallRunner::Call call = [control, start = std::move(start), done = guarded(std::move(place), std::move(done))](
                              Client& client) mutable { control->begun(client, start(client, std::move(done))); };
  in_line ? host->call_in_line(std::move(call)) : host->call(std::move(call));
  return AsyncCall(std::move(control));
}

// A call that releases something, or changes a hold: it is never refused, and overtakes calls that may be.
template <typename Answer, typename Start>
AsyncCall begin(const std::shared_ptr<CallRunner>& host, Start start, absl::AnyInvocable<void(Answer)> done) {
  if (!host->forked()) return begin_at<Answer>(Place(host), std::move(start), std::move(done));
  std::move(done)(Answer(forked_away()));
  return {};
}

// A call that begins something: refused, before anything is built, when too much is in progress.
template <typename Answer, typename Start>
AsyncCall begin_in_line(const std::shared_ptr<CallRunner>& host, LaggingTime deadline, Start start,
                        absl::AnyInvocable<void(Answer)> done) {
  if (host->forked()) {
    std::move(done)(Answer(forked_away()));
    return {};
  }
  std::optional<Place> place = Place::admit(host, deadline);
  return place ? begin_at<Answer>(*std::move(place), std::move(start), std::move(done)) : refuse(host, std::move(done));
}

}  // namespace coordkit
