#include "client/watches/watch_feed.h"

#include <utility>

#include "coordkit/error.h"

namespace coordkit::client {
namespace {

constexpr Duration kRoomLooked = std::chrono::milliseconds(20);  // between checks for freed room

}  // namespace

Watches::Read WatchFeed::reader() {
  if (requests_.state_is_elsewhere()) return {};
  return [this](const machine::ChangesAfter& place) {
    const machine::Reads* state = requests_.reads();
    return state ? std::optional(state->changes(place)) : std::nullopt;
  };
}

WatchId WatchFeed::add(WatchOptions options, WatchObserver observer, absl::Status refusal) {
  if (refusal.ok()) refusal = check_watch(options);
  if (refusal.ok()) return watches_.add(std::move(options), std::move(observer));
  deliveries_.announce([observer = std::move(observer), refusal = std::move(refusal)]() mutable {
    observer({.what = WatchBatch::What::Ended, .revision = {}, .events = {}, .why = std::move(refusal)});
  });
  return {};
}

// A question that waits says nothing of the present. Another one is asked in its place.
void WatchFeed::ask_progress(WatchId id) {
  if (!watches_.ask_progress(id)) return;
  if (watches_.interrupt(id)) withdraw(id);
  more_ = true;
}

void WatchFeed::end(WatchId id, DoneCallback done) {
  withdraw(id);
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
  ask(now);
}

void WatchFeed::ask(Now now) {
  for (WantedPiece& wanted : watches_.to_ask(now.lagging)) {
    const WatchId id = wanted.id;
    const LaggingTime deadline = now.lagging + wanted.waits + options_.call_timeout;
    questions_[id] = requests_.ask({.consistency = Consistency::Local, .deadline = deadline, .waits = wanted.waits},
                                   machine::ChangesOf{std::move(wanted.place)},
                                   [this, id](const machine::ChangesOf&, auto&& piece, const Completion&, Now later) {
                                     questions_.erase(id);
                                     watches_.answered(id, std::move(piece), later.lagging);
                                     more_ = true;
                                   });
  }
}

void WatchFeed::withdraw(WatchId id) {
  const auto found = questions_.find(id);
  if (found == questions_.end()) return;
  requests_.forget(found->second);
  questions_.erase(found);
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
  if (watches_.any_without_room() && !looking_) look_for_room(now);
}

void WatchFeed::retry(Now now) {
  retrying_ = true;
  requests_.retry(now, [this](Now) {
    retrying_ = false;
    watches_.retry();
    more_ = true;
  });
}

void WatchFeed::look_for_room(Now now) {
  looking_ = true;
  requests_.run_at(now.lagging + kRoomLooked, [this](Now) {
    looking_ = false;
    watches_.look_for_room();
    more_ = true;
  });
}

}  // namespace coordkit::client
