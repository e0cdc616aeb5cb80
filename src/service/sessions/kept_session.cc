#include "coordkit/sessions/kept_session.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/backoff.h"
#include "base/random.h"
#include "coordkit/error.h"
#include "coordkit/service.h"
#include "service/calls/callback_stream.h"
#include "service/calls/waiting.h"
#include "service/objects/object_access.h"
#include "service/sessions/open_session.h"
#include "service/shell/host.h"

namespace coordkit {
namespace {

constexpr Duration kPauseMax = std::chrono::hours(24);

absl::Status was_lost() {
  return make_error(Reason::Lost, "the session ended, was ended, or could not be renewed in time; another one is opened");
}

}  // namespace

// One step follows the other. A session is opened, and the answer comes on the engine's thread. It is prepared, and later lost,
// on the callback thread. After a loss and after each failure there is a pause. Only the step that is due makes the next one,
// so one thread at a time uses the fields that have no mutex.
struct KeptSession::Rep : std::enable_shared_from_this<Rep> {
  using Stream = Listener<absl::AnyInvocable<void()>&>;

  Rep(std::shared_ptr<Host> of, KeptSessionOptions what)
      : host(std::move(of)),
        options(std::move(what)),
        random(static_cast<uint64_t>(host->clock().now().leading.time_since_epoch().count())) {}

  void open() {
    uint64_t mine = 0;
    {
      const std::lock_guard lock(mutex);
      mine = ++attempt;
    }
    SessionOptions of{.ttl = options.ttl, .metadata = options.metadata, .timeout = options.timeout};
    of.give_up = options.give_up;
    of.on_phase = [weak = weak_from_this(), mine](SessionPhase phase) {
      const auto self = phase == SessionPhase::Lost ? weak.lock() : nullptr;
      if (self) self->lost(mine);
    };
    open_session_on({host, "KeptSession"}, std::move(of), [weak = weak_from_this()](absl::StatusOr<Session> opened) {
      const auto self = weak.lock();
      if (!self) return;
      self->host->announce([self, opened = std::move(opened)]() mutable {
        if (opened.ok()) return self->prepare(*std::move(opened));
        is_for_good(opened.status()) ? self->finish(opened.status()) : self->pause(opened.status());
      });
    });
  }

  // On the callback thread, as what follows.
  void prepare(Session fresh) {
    absl::Status prepared;
    if (options.prepare) {
      prepared =
          make_error(Reason::HostThrew, Outcome::Unknown, "`prepare` threw; let it return a status that says what went wrong");
      call([&] { prepared = options.prepare(fresh); },
           [&] {
             fresh = Session();
             pause(prepared);
           });
    }
    if (prepared.ok() && fresh.phase() == SessionPhase::Lost) prepared = was_lost();
    if (!prepared.ok()) {
      fresh = Session();
      return pause(prepared);
    }
    began = host->clock().now().leading;
    const std::lock_guard lock(mutex);
    if (!end_why.ok()) return;  // `fresh` goes, and is closed
    current = std::move(fresh);
    wake.notify_all();
  }

  // A session that is not prepared yet is not looked at here: prepare() does that.
  void lost(uint64_t of) {
    Session over;
    {
      const std::lock_guard lock(mutex);
      if (of != attempt || !HandleAccess::handle(current)) return;
      over = std::exchange(current, Session());
    }
    if (host->clock().now().leading - began > options.backoff_max) backoff.reset();
    pause(was_lost());
  }

  void pause(const absl::Status& why) {
    {
      const std::lock_guard lock(mutex);
      if (!end_why.ok()) return;
      last_failure = why;
    }
    const Duration drawn = backoff.next(random);
    const CallRunner::Call not_run = host->post([self = shared_from_this(), drawn](Client& client) {
      if (client.stopped()) return self->finish(closed_already());
      self->host->later(drawn, [weak = self->weak_from_this()] {
        const auto rep = weak.lock();
        if (rep) rep->open();
      });
    });
    if (not_run) finish(closed_already());
    if (options.on_failure) call([&] { options.on_failure(why); }, [] {});
  }

  // There will be no other session.
  void finish(const absl::Status& why) {
    const std::lock_guard lock(mutex);
    if (end_why.ok()) end_why = why;
    wake.notify_all();
  }

  // Runs code of the host's, unless the stream has ended.
  template <typename Run, typename Threw>
  void call(Run run, Threw threw) {
    absl::AnyInvocable<void()> task = [&run] { run(); };
    try {
      stream->tell(task);
    } catch (...) {
      threw();
      throw;
    }
  }

  void end() {
    if (host->forked()) return;
    Session over;
    {
      const std::lock_guard lock(mutex);
      if (end_why.ok()) end_why = make_error(Reason::Closed, "the kept session was ended here; make a new one");
      over = std::exchange(current, Session());
      wake.notify_all();
    }
    stream->end();
  }

  const std::shared_ptr<Host> host;
  const KeptSessionOptions options;
  const std::shared_ptr<Stream> stream = std::make_shared<Stream>([](absl::AnyInvocable<void()>& run) { run(); });

  Random random;
  LeadingTime began;  // of the present session
  Backoff backoff{options.backoff_min, options.backoff_max};

  std::mutex mutex;  // of what follows
  std::condition_variable wake;
  uint64_t attempt = 0;
  Session current;
  absl::Status last_failure;
  absl::Status end_why;  // not OK: there will be no other session
};

KeptSession::KeptSession(const Service& service, KeptSessionOptions options)
    : rep_(std::make_shared<Rep>(HandleAccess::host(service), std::move(options))) {
  const KeptSessionOptions& given = rep_->options;
  const bool legal =
      given.backoff_min > Duration::zero() && given.backoff_min <= given.backoff_max && given.backoff_max <= kPauseMax;
  if (legal) {
    rep_->open();
  } else {
    rep_->finish(make_error(Reason::InvalidArgument,
                            "the pauses must be above zero and at most a day, and backoff_max not below backoff_min: correct "
                            "the options"));
  }
}

KeptSession::~KeptSession() { end(); }

Session KeptSession::current() const {
  if (rep_->host->forked()) return {};
  const std::lock_guard lock(rep_->mutex);
  return rep_->current;
}

absl::StatusOr<Session> KeptSession::wait(Duration timeout) const {
  if (rep_->host->forked()) return forked_away();
  const auto settled = [this] { return HandleAccess::handle(rep_->current) || !rep_->end_why.ok(); };
  {
    const std::lock_guard lock(rep_->mutex);
    if (HandleAccess::handle(rep_->current)) return rep_->current;
    if (!rep_->end_why.ok()) return rep_->end_why;
  }
  if (absl::Status refused = refusal_to_wait(*rep_->host); !refused.ok()) return refused;
  if (rep_->host->on_callback_thread()) return would_wait_for_itself();
  const bool in_time = wait_on(*rep_->host, rep_->wake, rep_->mutex, timeout, settled);
  const std::lock_guard lock(rep_->mutex);
  if (HandleAccess::handle(rep_->current)) return rep_->current;
  if (in_time || !rep_->end_why.ok()) return rep_->end_why;
  return make_error(Reason::CallTimeout, Outcome::NoEffect,
                    rep_->last_failure.ok() ? "no session was opened yet; is there a leader?"
                                            : "there is no session yet; the last attempt: " + rep_->last_failure.ToString());
}

void KeptSession::end() { rep_->end(); }

}  // namespace coordkit
