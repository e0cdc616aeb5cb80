#include "coordkit/keys/mirror.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "service/calls/callback_stream.h"
#include "service/calls/subscription.h"
#include "service/calls/waiting.h"
#include "service/objects/object_access.h"
#include "service/shell/host.h"

namespace coordkit {

// A range fixes the revision, a watch begins right after it. The copy changes on the callback thread only, where the watch
// delivers: at its first batch, Created, the range's answer is installed. So nothing can come between them, and the
// observer always sees the copy as it is.
struct Mirror::Rep : std::enable_shared_from_this<Rep> {
  Rep(std::shared_ptr<Host> of, MirrorOptions what, MirrorObserver tell)
      : host(std::move(of)), options(std::move(what)), observer(std::make_shared<Observer>(std::move(tell))) {}
  Rep(const Rep&) = delete;
  Rep& operator=(const Rep&) = delete;

  using Snapshot = std::shared_ptr<RangeResult>;
  using Observer = Listener<const MirrorSeen&, const MirrorEntries&>;

  void read() {
    if (ended) return;
    host->call([weak = weak_from_this(), key = options.key, end = options.end](Client& client) {
      client.keys().range({.key = key, .end = end}, [weak](absl::StatusOr<RangeResult> found) {
        if (const auto self = weak.lock()) self->answered(std::move(found));
      });
    });
  }

  // On the engine's thread. Any error that is not permanent is retried.
  void answered(absl::StatusOr<RangeResult> found) {
    if (found.ok()) return follow(std::make_shared<RangeResult>(*std::move(found)));
    if (!is_for_good(found.status())) {
      return host->later(host->retry_after(), [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->read();
      });
    }
    host->announce([weak = weak_from_this(), why = found.status()] {
      if (const auto self = weak.lock()) self->finish(why);
    });
  }

  void follow(Snapshot snapshot) {
    host->call([weak = weak_from_this(), snapshot = std::move(snapshot)](Client& client) mutable {
      const auto self = weak.lock();
      if (!self || self->ended) return;
      const WatchOptions what{.key = self->options.key,
                              .end = self->options.end,
                              .from = Revision(snapshot->revision.value() + 1),
                              .room = self->options.room};
      self->watch = client.watch(what, [weak, snapshot = std::move(snapshot)](const WatchBatch& batch) mutable {
        if (const auto rep = weak.lock()) rep->told(batch, snapshot);
      });
    });
  }

  // On the callback thread.
  void told(const WatchBatch& batch, Snapshot& snapshot) {
    if (ended) return;
    progress_asked = false;  // what was asked of an earlier watch is not answered by this one
    switch (batch.what) {
      case WatchBatch::What::Created: return install(std::exchange(snapshot, nullptr));
      case WatchBatch::What::Events: return change(batch);
      case WatchBatch::What::Ended:
        if (reason_of(batch.why) == Reason::Compacted) return read();
        return finish(batch.why);
      case WatchBatch::What::Progress: return reach(batch.revision);
      case WatchBatch::What::Pending: return;
    }
  }

  void install(const Snapshot& snapshot) {
    MirrorEntries fresh;
    for (KeyValue& entry : snapshot->entries) {
      std::string key = entry.key;
      fresh.emplace(std::move(key), std::move(entry));
    }
    const MirrorSeen seen{.what = shown ? MirrorSeen::What::Resync : MirrorSeen::What::Snapshot,
                          .revision = snapshot->revision};
    {
      const std::lock_guard lock(mutex);
      entries.swap(fresh);
      shown = snapshot->revision;
      wake.notify_all();
    }
    tell(seen);
  }

  void change(const WatchBatch& batch) {
    {
      const std::lock_guard lock(mutex);
      for (const WatchEvent& event : batch.events) {
        if (event.deleted()) {
          entries.erase(event.entry.key);
        } else {
          entries.insert_or_assign(event.entry.key, event.entry);
        }
      }
      shown = batch.revision;
    }
    tell({.what = MirrorSeen::What::Changes, .revision = batch.revision, .events = batch.events});
  }

  // Other keys have changed and these have not, so the copy is as good at the later revision.
  void reach(Revision revision) {
    const std::lock_guard lock(mutex);
    shown = std::max(shown, revision);
  }

  // The answer moves `shown`. One question at a time, however often a caller looks.
  void ask_progress() {
    if (host->forked() || progress_asked.exchange(true)) return;
    host->post([weak = weak_from_this()](Client& client) {
      if (const auto self = weak.lock()) client.ask_progress(self->watch);
    });
  }

  void finish(const absl::Status& status) {
    {
      const std::lock_guard lock(mutex);
      if (why.ok()) why = status;
      wake.notify_all();
    }
    tell({.what = MirrorSeen::What::Ended, .revision = shown, .why = status});
  }

  // Only this thread changes the entries: no lock is needed to read them.
  void tell(const MirrorSeen& seen) {
    try {
      observer->tell(seen, entries);
    } catch (...) {
      was_told();
      throw;
    }
    was_told();
  }
  void was_told() {
    const std::lock_guard lock(mutex);
    has_told = true;
    wake.notify_all();
  }

  // In a forked child there is nothing to end, and no lock may be taken.
  void end() {
    if (host->forked()) return;
    if (!ended.exchange(true)) {
      const Subscription ends(
          host, observer, [self = shared_from_this()](Client& client) { client.end_watch(self->watch, [](absl::Status) {}); });
    }
    observer->end();
  }
  // Ends every wait for the first copy.
  void close() {
    const std::lock_guard lock(mutex);
    if (why.ok()) why = make_error(Reason::Closed, "the mirror was ended here; make a new one");
    wake.notify_all();
  }

  const std::shared_ptr<Host> host;
  const MirrorOptions options;
  const std::shared_ptr<Observer> observer;

  WatchId watch;                   // on the engine's thread only
  std::atomic<bool> ended{false};  // by the handle
  std::atomic<bool> progress_asked{false};

  std::mutex mutex;
  std::condition_variable wake;
  MirrorEntries entries;
  Revision shown;
  bool has_told = false;  // the observer, of the first copy or of the end
  absl::Status why;       // it has ended
};

Mirror::Mirror(const Service& service, MirrorOptions options, MirrorObserver observer)
    : Mirror(HandleAccess::host(service), std::move(options), std::move(observer)) {}

Mirror::Mirror(std::shared_ptr<Host> host, MirrorOptions options, MirrorObserver observer)
    : rep_(std::make_shared<Rep>(std::move(host), std::move(options), std::move(observer))) {
  const std::string& end = rep_->options.end;
  if (end.empty() || end == kNoEnd || rep_->options.key < end) {
    rep_->read();
    return;
  }
  rep_->host->announce([rep = rep_] {
    rep->finish(make_error(Reason::EmptyRange, "the interval to follow is empty: its end must lie above its key"));
  });
}

Mirror& Mirror::operator=(Mirror&& other) noexcept {
  if (this == &other) return *this;
  if (rep_) rep_->end();
  rep_ = std::move(other.rep_);
  return *this;
}

Mirror::~Mirror() {
  if (rep_) rep_->end();
}

void Mirror::end() {
  if (!rep_) return;
  rep_->end();
  if (!rep_->host->forked()) rep_->close();
}

template <typename Ready>
absl::Status Mirror::wait_until(Duration timeout, Ready ready) const {
  if (!rep_) return make_error(Reason::Closed, "this mirror follows nothing: make it of a replica or a remote");
  if (absl::Status refused = refusal_to_wait(*rep_->host); !refused.ok()) return refused;
  if (rep_->host->on_callback_thread()) return would_wait_for_itself();
  const auto settled = [&] { return ready(*rep_) || !rep_->why.ok(); };
  if (!wait_on(*rep_->host, rep_->wake, rep_->mutex, timeout, settled)) {
    return make_error(Reason::CallTimeout, Outcome::NoEffect, "the keys could not be read yet; is there a leader?");
  }
  const std::lock_guard lock(rep_->mutex);
  return ready(*rep_) ? absl::OkStatus() : rep_->why;
}

absl::Status Mirror::wait_ready(Duration timeout) const {
  return wait_until(timeout, [](const Rep& rep) { return static_cast<bool>(rep.shown); });
}

absl::Status Mirror::wait_told(Duration timeout) const {
  return wait_until(timeout, [](const Rep& rep) { return rep.has_told; });
}

std::optional<KeyValue> Mirror::get(const std::string& key) const {
  if (!rep_) return std::nullopt;
  const std::lock_guard lock(rep_->mutex);
  const auto found = rep_->entries.find(key);
  if (found == rep_->entries.end()) return std::nullopt;
  return found->second;
}

MirrorEntries Mirror::entries() const {
  if (!rep_) return {};
  const std::lock_guard lock(rep_->mutex);
  return rep_->entries;
}

Revision Mirror::revision() const {
  if (!rep_) return {};
  rep_->ask_progress();
  const std::lock_guard lock(rep_->mutex);
  return rep_->shown;
}

}  // namespace coordkit
