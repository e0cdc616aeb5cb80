// Watches meet the engine here: how they are made, when they read on, and when they are tried again. The rest is watches.h.
#include <algorithm>
#include <utility>

#include "client/impl.h"
#include "coordkit/error.h"

namespace coordkit {
namespace {

constexpr Duration kRoomLooked = std::chrono::milliseconds(20);  // between looks for room that was given back

}  // namespace

WatchId Client::Impl::watch(WatchOptions options, WatchObserver observer) {
  absl::Status door =
      stopped_ ? make_error(Reason::Closed, "the replica is closed; open another one") : client::check_watch(options);
  if (door.ok()) return watches_.add(std::move(options), std::move(observer));
  deliveries_.announce([observer = std::move(observer), door = std::move(door)]() mutable {
    observer({.what = WatchBatch::What::Ended, .revision = {}, .events = nullptr, .why = std::move(door), .room = nullptr});
  });
  if (stopped_) deliveries_.flush();
  return {};
}

void Client::Impl::end_watch(WatchId id, DoneCallback done) {
  absl::Status status =
      watches_.remove(id) ? absl::OkStatus() : make_error(Reason::WatchNotFound, "the watch has ended before, or never was");
  deliveries_.answer([done = std::move(done), status = std::move(status)]() mutable { std::move(done)(std::move(status)); });
  if (stopped_) deliveries_.flush();
}

// One local question each: which revision is the newest here, and is this replica ready to say so.
void Client::Impl::make_watches(Now now) {
  for (const WatchId id : watches_.to_make()) {
    ask_engine({.consistency = Consistency::Local, .deadline = now.lagging + options_.call_timeout},
               [this, id](const Completion& completion, Now later) {
                 const auto state = readable(completion);
                 if (!state.ok()) return watches_.not_made(id);
                 watches_.made(id, (*state)->key_space(), later.lagging);
                 watches_have_more_ = true;  // perhaps: it may start in the past
               });
  }
}

// Whatever was applied is in the state now, and stays in its history for a while: nothing is taken from the entries themselves.
void Client::Impl::tell_watches(Now now) {
  if (watches_.size() == 0) {
    watches_have_more_ = false;  // it was of a watch that has ended since
    return;
  }
  if (engine_.applied() != told_watches_ || watches_have_more_ || watches_.to_look(now.lagging)) {
    told_watches_ = engine_.applied();
    watches_have_more_ = watches_.advance(now.lagging);
  }
  if (watches_.any_to_retry() && !retrying_watches_ && !halted_) retry_watches(now);
}

void Client::Impl::retry_watches(Now now) {
  retrying_watches_ = true;
  const LaggingTime at = watches_.any_without_room() ? now.lagging + kRoomLooked : retry_time(now);
  run_later(std::min(at, retry_time(now)), [this](Now) {
    retrying_watches_ = false;
    watches_.retry();
    watches_have_more_ = true;
  });
}

}  // namespace coordkit
