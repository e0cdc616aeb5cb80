// The far end of AsyncCall: finds the call on the engine's thread and ends it there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/thread_shelf.h"
#include "coordkit/call.h"
#include "coordkit/client.h"
#include "coordkit/error.h"
#include "replica/call_runner.h"
#include "replica/waiting.h"

namespace coordkit {

class CallControl {
 public:
  explicit CallControl(std::shared_ptr<CallRunner> host) : host_(std::move(host)) {}

  // On the engine's thread, once: the call has begun.
  void begun(Client& client, CallId id) { begun(client, Kind::OfClient, id.value()); }
  void begun(Client& client, Ticket membership) { begun(client, Kind::OfMembers, membership.value()); }
  static void cancel(const std::shared_ptr<CallControl>& call) {
    if (call->host_->forked()) return;
    call->host_->call([call](Client& client) {
      call->cancelled_ = true;
      call->end_early(client);
    });
  }
  // Cancels the call when the token stops, until it has ended.
  static void connect(const std::shared_ptr<CallControl>& call, const std::stop_token& token) {
    if (token.stop_possible()) call->stop_ = std::make_unique<std::stop_callback<Cancel>>(token, Cancel{call});
  }

 protected:
  ~CallControl() = default;
  CallRunner& host() const { return *host_; }
  void disconnect() { stop_.reset(); }

 private:
  struct Cancel {
    std::weak_ptr<CallControl> control;
    void operator()() const {
      if (const auto alive = control.lock()) cancel(alive);
    }
  };
  enum class Kind : uint8_t { NotBegun, OfClient, OfMembers };

  void begun(Client& client, Kind kind, uint64_t id) {
    kind_ = kind;
    id_ = id;
    if (cancelled_) end_early(client);
  }
  void end_early(Client& client) {
    if (kind_ == Kind::OfClient && id_ != 0) client.cancel(CallId(id_));
    if (kind_ == Kind::OfMembers && id_ != 0) host_->abandon_members(Ticket(id_));
  }

  const std::shared_ptr<CallRunner> host_;
  std::unique_ptr<std::stop_callback<Cancel>> stop_;  // null: it cannot stop
  // Used by the engine's thread.
  uint64_t id_ = 0;
  Kind kind_ = Kind::NotBegun;
  bool cancelled_ = false;
};

inline CallRunner::Served served_by(const absl::Status& answer) {
  if (answer.ok()) return CallRunner::Served::Yes;
  const std::optional<Reason> why = reason_of(answer);
  const bool unserved = why == Reason::CallTimeout || why == Reason::NoLeader || why == Reason::TooManyRequests;
  return unserved ? CallRunner::Served::No : CallRunner::Served::Yes;
}
template <typename T>
CallRunner::Served served_by(const absl::StatusOr<T>& answer) {
  return served_by(answer.status());
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
    host->call_in_line([host, done = std::move(done)](Client&) mutable {
      host->run_callback([&] { std::move(done)(Answer(crowded_out())); });
    });
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
  PendingCall(const std::shared_ptr<CallRunner>& host, Counts counts, Done done)
      : CallControl(host), counts_(counts), done_(std::move(done)) {}
  ~PendingCall() {
    leave(CallRunner::Served::No);
    if (!ended_) std::destroy_at(&done_);
  }
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  // Nothing of the call stays behind in this object, which its AsyncCall may keep. Its callback's exceptions end nothing else,
  // and by then it counts no more.
  void end(Answer answer) {
    disconnect();
    Done done = std::move(done_);
    std::destroy_at(&done_);
    ended_ = true;
    leave(served_by(answer));
    host().run_callback([&] { std::move(done)(std::move(answer)); });
  }

 private:
  void leave(CallRunner::Served served) {
    if (std::exchange(counts_, Counts::No) == Counts::Yes) host().leave(served);
  }
  Counts counts_;
  bool ended_ = false;
  union {        // with ended_ an optional that takes no room for its flag
    Done done_;  // NOLINT(readability-identifier-naming): a member of this class, as the others are
  };
};

// On the engine's thread.
template <typename Answer, typename Done, typename Start>
void start_pending(const std::shared_ptr<PendingCall<Answer, Done>>& pending, Start& start, Client& client) {
  // A copy that is not const, because moving one that is would copy it.
  pending->begun(client, start(client, [kept = pending](Answer answer) { kept->end(std::move(answer)); }));
}

// Begins a call from any thread: `start(client, callback)` gives its CallId, or the Ticket of a membership change. `done` runs
// on the engine's thread, or here if this process cannot run it. The stop token is connected before the call is sent, so that a
// stop in between is not missed.
template <typename Answer, typename Start, typename Done>
AsyncCall begin_at(const std::shared_ptr<CallRunner>& host, Counts counts, Start&& start, Done&& done,
                   const std::stop_token& stop = {}) {
  auto pending = make_shelved<PendingCall<Answer, std::decay_t<Done>>>(host, counts, std::forward<Done>(done));
  CallControl::connect(pending, stop);
  if (Client* const here = host->client_here(counts)) {
    start_pending(pending, start, *here);
  } else {
    CallRunner::Call call = [pending, start = std::forward<Start>(start)](Client& client) mutable {
      start_pending(pending, start, client);
    };
    counts == Counts::Yes ? host->call_in_line(std::move(call)) : host->call(std::move(call));
  }
  return AsyncCall(std::move(pending));
}

// A call that releases something, or changes a hold: it is never refused, and overtakes calls that may be.
template <typename Answer, typename Start>
AsyncCall begin(const std::shared_ptr<CallRunner>& host, Start&& start, absl::AnyInvocable<void(Answer)> done) {
  if (!host->forked()) return begin_at<Answer>(host, Counts::No, std::forward<Start>(start), std::move(done));
  std::move(done)(Answer(forked_away()));
  return {};
}

// A call that begins something: refused, before anything is built, when too much is in progress.
template <typename Answer, typename Start>
AsyncCall begin_in_line(const std::shared_ptr<CallRunner>& host, LaggingTime deadline, Start&& start,
                        absl::AnyInvocable<void(Answer)> done) {
  if (host->forked()) {
    std::move(done)(Answer(forked_away()));
    return {};
  }
  if (!host->admit(deadline)) return refuse(host, std::move(done));
  return begin_at<Answer>(host, Counts::Yes, std::forward<Start>(start), std::move(done));
}

}  // namespace coordkit
