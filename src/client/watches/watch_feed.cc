#include "client/watches/watch_feed.h"

#include <algorithm>
#include <utility>

#include "coordkit/error.h"

namespace coordkit::client {
namespace {

constexpr Duration kRoomLooked = std::chrono::milliseconds(20);  // between checks for freed room

}  // namespace

WatchId WatchFeed::add(WatchOptions options, WatchObserver observer, absl::Status refusal) {
  if (refusal.ok()) refusal = check_watch(options);
  if (refusal.ok()) return watches_.add(std::move(options), std::move(observer));
  deliveries_.announce([observer = std::move(observer), refusal = std::move(refusal)]() mutable {
    observer({.what = WatchBatch::What::Ended, .revision = {}, .events = {}, .why = std::move(refusal)});
  });
  return {};
}

void WatchFeed::end(WatchId id, DoneCallback done) {
  absl::Status status =
      watches_.remove(id) ? absl::OkStatus() : make_error(Reason::WatchNotFound, "the watch has ended or never existed");
  deliveries_.answer([done = std::move(done), status = std::move(status)]() mutable { std::move(done)(std::move(status)); });
}

// Makes one local read each: it gives the newest revision here, and says whether this replica is ready to answer.
void WatchFeed::make(Now now) {
  for (const WatchId id : watches_.to_make()) {
    requests_.ask({.consistency = Consistency::Local, .deadline = now.lagging + options_.call_timeout}, machine::SpaceOf{},
                  [this, id](const machine::SpaceOf&, const auto& space, const Completion&, Now later) {
                    if (!space.ok()) return watches_.not_made(id);
                    watches_.made(id, *space, later.lagging);
                    more_ = true;  // possibly: it may start in the past
                  });
  }
}

// Applied changes are in the state now, and stay in its history for a while. So nothing is taken from the entries themselves.
// After a halt the state may include half a step.
void WatchFeed::tell(Now now) {
  if (requests_.halted()) {
    watches_.stop(make_error(Reason::ReplicaFailed, Outcome::NoEffect,
                             "this replica has stopped; watch on another one from the revision after the last"));
  }
  if (watches_.size() == 0) {
    more_ = false;  // it belonged to a watch that has ended since
    return;
  }
  if (requests_.applied() != seen_ || more_ || watches_.to_look(now.lagging)) {
    seen_ = requests_.applied();
    more_ = watches_.advance(now.lagging);
  }
  if (watches_.any_to_retry() && !retrying_) retry(now);
}

void WatchFeed::retry(Now now) {
  retrying_ = true;
  const LaggingTime at = watches_.any_without_room() ? now.lagging + kRoomLooked : requests_.retry_time(now);
  requests_.run_at(std::min(at, requests_.retry_time(now)), [this](Now) {
    retrying_ = false;
    watches_.retry();
    more_ = true;
  });
}

}  // namespace coordkit::client
