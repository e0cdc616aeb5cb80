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

 protected:
  ~CallControl() = default;
  // Cancels the call when the token stops, until disconnect().
  void connect(const std::stop_token& token) {
    if (token.stop_possible()) stop_ = std::make_unique<std::stop_callback<Cancel>>(token, Cancel{weak_from_this()});
  }
  void disconnect() { stop_.reset(); }

 private:
  struct Cancel {
    std::weak_ptr<CallControl> control;
    void operator()() const {
      if (const auto alive = control.lock()) alive->cancel();
    }
  };

  const std::shared_ptr<CallRunner> host_;
  std::unique_ptr<std::stop_callback<Cancel>> stop_;  // null: it cannot stop
  // Used by the engine's thread.
  CallId id_;
  Ticket membership_;
  bool cancelled_ = false;
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

// Runs the callback so that its exceptions end nothing else, and that the call's slot is free by then.
template <typename Answer, typename Done>
void run_guarded(Place& place, Done& done, Answer answer) {
  if (place.counts()) place.leave(was_served(answer) ? CallRunner::Served::Yes : CallRunner::Served::No);
  place.host().run_callback([&] { std::move(done)(std::move(answer)); });
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
        [place = Place(host), done = std::move(done)](Client&) mutable { run_guarded(place, done, Answer(crowded_out())); });
    return {};
  }
  const RefusalHere here;
  host->run_callback([&] { std::move(done)(Answer(crowded_out())); });
  return {};
}

// A call until its answer: one object, which its AsyncCall, the host's queue and then the client's callback share.
template <typename Answer, typename Done>
class PendingCall final : public CallControl {
 public:
  PendingCall(Place place, Done done) : CallControl(place.shared_host()), place_(std::move(place)), done_(std::move(done)) {}

  using CallControl::connect;
  // Nothing of the call stays behind in this object, which its AsyncCall may keep.
  void end(Answer answer) {
    disconnect();
    Place place = *std::exchange(place_, std::nullopt);
    Done done = *std::exchange(done_, std::nullopt);
    run_guarded(place, done, std::move(answer));
  }

 private:
  std::optional<Place> place_;  // both empty once it has ended
  std::optional<Done> done_;
};

// Begins a call from any thread: `start(client, callback)` gives its CallId, or the Ticket of a membership change. `done` runs
// on the engine's thread, or here if this process cannot run it. The stop token is connected before the call is sent, so that a
// stop in between is not missed.
template <typename Answer, typename Start, typename Done>
AsyncCall begin_at(Place place, Start start, Done done, const std::stop_token& stop = {}) {
  const std::shared_ptr<CallRunner> host = place.shared_host();
  const bool in_line = place.counts();
  auto pending = std::make_shared<PendingCall<Answer, Done>>(std::move(place), std::move(done));
  pending->connect(stop);
  CallRunner::Call call = [pending, start = std::move(start)](Client& client) mutable {
    pending->begun(client, start(client, [pending](Answer answer) { pending->end(std::move(answer)); }));
  };
  in_line ? host->call_in_line(std::move(call)) : host->call(std::move(call));
  return AsyncCall(std::move(pending));
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
