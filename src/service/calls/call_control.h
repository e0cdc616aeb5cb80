// The far end of AsyncCall: finds the call on the engine's thread and ends it there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/thread_shelf.h"
#include "coordkit/call.h"
#include "coordkit/client/ref.h"
#include "coordkit/engine/client.h"
#include "coordkit/error.h"
#include "service/calls/call_runner.h"
#include "service/calls/waiting.h"

namespace coordkit {

// An empty callback: nobody wants the answer.
template <typename Delivered, typename Answer>
void tell(absl::AnyInvocable<void(Delivered)>&& done, Answer&& answer) {
  if (done) std::move(done)(std::forward<Answer>(answer));
}

class CallControl : public RefCounted, public ThreadCached {
 public:
  virtual ~CallControl() { leave(CallRunner::Served::No); }

  // On the engine's thread, once: the call has begun.
  void begun(Client& client, CallId id) { begun(client, Kind::OfClient, id.value()); }
  void begun(Client& client, Ticket of_host) { begun(client, Kind::OfHost, of_host.value()); }
  static void cancel(const Ref<CallControl>& call) {
    if (call->host_->forked()) return;
    call->host_->post([call](Client& client) {
      call->cancelled_ = true;
      call->end_early(client);
    });
  }
  // Its caller waits no longer. True: it had not begun, and never will. Else it is cancelled. A call that is never refused, a
  // release for instance, continues either way.
  static bool give_up(const AsyncCall& of) {
    const Ref<CallControl>& call = of.control_;
    if (call == nullptr || !call->withdrawable_) return false;
    Stage waiting = Stage::Waits;
    if (call->stage_.compare_exchange_strong(waiting, Stage::Withdrawn)) return true;
    cancel(call);
    return false;
  }

 protected:
  CallControl(CallSite site, Counts counts)
      : counts_(counts), withdrawable_(counts == Counts::Yes), name_(site.call), host_(std::move(site.host)) {}
  CallRunner& host() const { return *host_; }
  const char* name() const { return name_; }
  // On the engine's thread, before the call begins. False: it was withdrawn.
  bool take_up() {
    Stage waiting = Stage::Waits;
    return stage_.compare_exchange_strong(waiting, Stage::Begun);
  }
  void leave(CallRunner::Served served) {
    if (std::exchange(counts_, Counts::No) == Counts::Yes) host_->leave(served);
  }

 private:
  enum class Stage : uint8_t { Waits, Begun, Withdrawn };
  enum class Kind : uint8_t { NotBegun, OfClient, OfHost };

  void begun(Client& client, Kind kind, uint64_t id) {
    kind_ = kind;
    id_ = id;
    if (cancelled_) end_early(client);
  }
  void end_early(Client& client) {
    if (kind_ == Kind::OfClient && id_ != 0) client.cancel(CallId(id_));
    if (kind_ == Kind::OfHost && id_ != 0) host_->abandon(Ticket(id_));
  }

  Counts counts_;
  const bool withdrawable_;
  std::atomic<Stage> stage_{Stage::Waits};
  // Used by the engine's thread.
  Kind kind_ = Kind::NotBegun;
  bool cancelled_ = false;
  const char* const name_;
  const std::shared_ptr<CallRunner> host_;
  uint64_t id_ = 0;
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
class InlineRefusal {
 public:
  InlineRefusal();
  ~InlineRefusal();
  InlineRefusal(const InlineRefusal&) = delete;
  InlineRefusal& operator=(const InlineRefusal&) = delete;
  static bool any();
};

const absl::Status& crowded_out();

// On the thread that made the call, so that a flood costs no one else's time, and without a copy of anything. A call begun
// inside such a callback, or on the engine's thread, is answered by the next turn, so that retrying at once overflows no stack.
template <typename Answer>
AsyncCall refuse(const CallSite& site, absl::AnyInvocable<void(Answer)> done) {
  if (site.host->on_engine_thread() || InlineRefusal::any()) {
    site.host->call_in_line([site, done = std::move(done)](Client&) mutable {
      site.host->run_callback(site.call, [&] { tell(std::move(done), Answer(crowded_out())); });
    });
    return {};
  }
  const InlineRefusal here;
  site.host->run_callback(site.call, [&] { tell(std::move(done), Answer(crowded_out())); });
  return {};
}

// The caller is told what the client answered.
template <typename Answer>
struct AsAnswered {
  using Delivered = Answer;
  Answer convert(Answer answer) { return answer; }
};

// A call until its answer: one object, which its AsyncCall, the host's queue and then the client's callback share. `Converter`
// turns an answer into what the caller is told, and keeps what it needs for that.
template <typename Answer, typename Converter>
class PendingCall : public CallControl {
 public:
  using Done = absl::AnyInvocable<void(typename Converter::Delivered)>;
  PendingCall(CallSite site, Counts counts, Converter&& converter, Done&& done)
      : CallControl(std::move(site), counts), converter_(std::move(converter)), done_(std::move(done)) {
    static_assert(alignof(PendingCall) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }

  // Nothing of the call stays behind in this object, which its AsyncCall may keep. Its callback's exceptions end nothing else,
  // and by then it counts no more.
  void end(Answer&& answer) {
    disconnect();
    Converter converter = std::move(converter_);
    Done done = std::exchange(done_, nullptr);
    leave(served_by(answer));
    host().run_callback(name(), [&] { tell(std::move(done), converter.convert(std::move(answer))); });
  }
  using CallControl::take_up;

  // Its holder answers the call; destroyed without that, because memory ran out on the way, it answers that.
  class Promise {
   public:
    explicit Promise(Ref<PendingCall> call) : call_(std::move(call)) {}
    Promise(Promise&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
    Promise& operator=(Promise&&) = delete;
    ~Promise() {
      if (call_) call_->end_unanswered();
    }
    const Ref<PendingCall>& call() const { return call_; }
    void withdraw() { call_ = nullptr; }  // no answer is wanted
    void operator()(Answer answer) { std::exchange(call_, nullptr)->end(std::move(answer)); }

   private:
    Ref<PendingCall> call_;
  };

 private:
  virtual void disconnect() {}
  void end_unanswered() noexcept try {
    if (!host().forked()) end(Answer(host().unanswered()));
  } catch (...) {  // a callback that cannot even be run is dropped
  }

  [[no_unique_address]] Converter converter_;
  Done done_;
};

// A call that a token may stop.
template <typename Pending>
class StoppableCall final : public Pending {
 public:
  using Pending::Pending;
  // Once it has a user.
  void connect(const std::stop_token& token) { stop_.emplace(token, Cancel{*this}); }

 private:
  // The call's destructor waits until it is done.
  struct Cancel {
    StoppableCall& self;
    void operator()() const {
      if (const auto call = Ref<CallControl>::if_used(self)) CallControl::cancel(call);
    }
  };
  void disconnect() override { stop_.reset(); }
  std::optional<std::stop_callback<Cancel>> stop_;
};

// On the engine's thread.
template <typename Answer, typename Converter, typename Start, typename... With>
void start_pending(typename PendingCall<Answer, Converter>::Promise&& promise, Client& client, Start& start, With&&... with) {
  const Ref<PendingCall<Answer, Converter>> pending = promise.call();
  if (!pending->take_up()) return promise.withdraw();
  const auto id = start(client, std::move(promise), std::forward<With>(with)...);
  pending->begun(client, id);
}

// Begins a call from any thread: `start(client, callback, with...)` gives its CallId, or the Ticket of a membership change. Its
// arguments are kept only if the call does not start here. `done` runs on the engine's thread, or here if this process cannot
// run it. The stop token is connected before the call is sent, so that a stop in between is not missed.
template <typename Answer, typename Start, typename Converter = AsAnswered<Answer>, typename... With>
AsyncCall begin_at(CallSite site, Counts counts, Start&& start, typename PendingCall<Answer, Converter>::Done&& done,
                   Converter&& converter = {}, const std::stop_token& stop = {}, With&&... with) {
  using Pending = PendingCall<Answer, Converter>;
  CallRunner* const host = site.host.get();  // which the call keeps
  Ref<Pending> pending;
  if (stop.stop_possible()) {
    auto stoppable = make_ref<StoppableCall<Pending>>(std::move(site), counts, std::move(converter), std::move(done));
    stoppable->connect(stop);
    pending = std::move(stoppable);
  } else {
    pending = make_ref<Pending>(std::move(site), counts, std::move(converter), std::move(done));
  }
  if (Client* const here = host->client_here(counts)) {
    start_pending<Answer, Converter>(typename Pending::Promise(pending), *here, start, std::forward<With>(with)...);
  } else {
    CallRunner::Call call = [promise = typename Pending::Promise(pending), start = std::forward<Start>(start),
                             ... with = std::forward<With>(with)](Client& client) mutable {
      start_pending<Answer, Converter>(std::move(promise), client, start, std::move(with)...);
    };
    counts == Counts::Yes ? host->call_in_line(std::move(call)) : host->call(std::move(call));
  }
  return AsyncCall(std::move(pending));
}

// A call that releases something, or changes a hold: it is never refused, and overtakes calls that may be.
template <typename Answer, typename Start>
AsyncCall begin(CallSite site, Start&& start, absl::AnyInvocable<void(Answer)> done) {
  if (!site.host->forked()) return begin_at<Answer>(std::move(site), Counts::No, std::forward<Start>(start), std::move(done));
  tell(std::move(done), Answer(forked_away()));
  return {};
}

// A call that begins something: refused, before anything is built, when too much is in progress.
template <typename Answer, typename Start>
AsyncCall begin_in_line(CallSite site, LaggingTime deadline, Start&& start, absl::AnyInvocable<void(Answer)> done) {
  if (site.host->forked()) {
    tell(std::move(done), Answer(forked_away()));
    return {};
  }
  if (!site.host->admit(deadline)) return refuse(site, std::move(done));
  return begin_at<Answer>(std::move(site), Counts::Yes, std::forward<Start>(start), std::move(done));
}

}  // namespace coordkit
