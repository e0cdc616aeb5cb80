// Watches of keys: read by coordkit_watch_next(), or delivered as completions.
#include <memory>
#include <new>
#include <utility>

#include "c/c_completions.h"
#include "c/c_errors.h"
#include "c/c_handles.h"
#include "coordkit/c/coordkit_remote.h"
#include "coordkit/client/watch_events.h"
#include "coordkit/error.h"
#include "coordkit/keys/watch.h"
#include "coordkit/remote.h"

namespace coordkit::c {
namespace {

// Fills entries with a batch, and answers false for a report that says nothing. The revision is that up to which everything
// was delivered, so that a program can resume from the next one. When a watch with a place to start from begins, that is the
// revision before the place.
bool fill(coordkit_entries& entries, WatchBatch batch, Revision from) {
  if (batch.what == WatchBatch::What::Pending) return false;
  const bool begins_earlier = batch.what == WatchBatch::What::Created && from != Revision();
  entries.seen = std::move(batch.events);
  entries.revision = begins_earlier ? Revision(from.value() - 1) : batch.revision;
  return true;
}

// Puts batches among the completions.
class BatchesToCompletions {
 public:
  BatchesToCompletions(std::shared_ptr<Completions> completions, uint64_t tag, Revision from)
      : stream_(std::move(completions), tag), from_(from) {}

  void operator()(WatchBatch batch) {
    if (stream_.ended()) return;
    if (batch.what == WatchBatch::What::Ended) return stream_.end(std::move(batch.why));
    try {
      stream_.add([&](CallEnd& end) {
        end.entries = std::make_unique<coordkit_entries>();
        if (!fill(*end.entries, std::move(batch), from_)) return false;
        end.revision = end.entries->revision.value();
        return true;
      });
    } catch (const std::bad_alloc&) {
      stream_.end(no_room_);
    }
  }

 private:
  Stream stream_;
  Revision from_;
  absl::Status no_room_ = make_error(Reason::OutOfMemory, Outcome::NoEffect, "a batch found no memory; watch again");
};

WatchOptions watch_options(Arguments& given, const char* key, size_t key_size, int32_t prefix, uint64_t from) {
  WatchOptions made =
      prefix != 0 ? WatchOptions::prefix(given.text("key", key, key_size)) : WatchOptions::of(given.key(key, key_size));
  made.from = Revision(from);
  return made;
}

}  // namespace
}  // namespace coordkit::c

using namespace coordkit;     // NOLINT: what follows is outside of every namespace
using namespace coordkit::c;  // NOLINT

coordkit_status coordkit_watch_open(coordkit_remote* remote, const char* key, size_t key_size, int32_t prefix,
                                    uint64_t from_revision, uint64_t tag, coordkit_watch** watch, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    given.needs(watch, "watch");
    WatchOptions options = watch_options(given, key, key_size, prefix, from_revision);
    if (!given.ok()) return given.status();
    if (absl::Status usable = remote->completions->usable(); !usable.ok()) return usable;
    const Remote& service = *remote->remote;
    const Revision from = options.from;
    auto made = std::make_unique<coordkit_watch>();
    made->from = from;
    made->watch = tag == 0 ? Watch(service, std::move(options))
                           : Watch(service, std::move(options), BatchesToCompletions(remote->completions, tag, from));
    *watch = made.release();
    return absl::OkStatus();
  });
}

// The entries are made before a batch is taken: it must not be lost for want of memory.
coordkit_status coordkit_watch_next(coordkit_watch* watch, int64_t timeout_ms, coordkit_entries** entries,
                                    coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(watch, "watch");
    given.needs(entries, "entries");
    if (!given.ok()) return given.status();
    auto made = std::make_unique<coordkit_entries>();
    while (true) {
      absl::StatusOr<WatchBatch> batch = watch->watch.next(timeout_from(timeout_ms));
      if (!batch.ok()) return batch.status();
      if (!fill(*made, *std::move(batch), watch->from)) continue;
      *entries = made.release();
      return absl::OkStatus();
    }
  });
}

void coordkit_watch_free(coordkit_watch* watch) {
  guarded(nullptr, [&] {
    delete watch;
    return absl::OkStatus();
  });
}
