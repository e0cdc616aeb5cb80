#include "client/watches/watches.h"

#include <algorithm>

#include "client/calls/answers.h"
#include "client/calls/times.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

constexpr int kReadsAtOnce = 16;       // per turn, for the front and for all others together
constexpr size_t kTellsAtOnce = 4096;  // per turn, by the front; a revision is delivered whole
constexpr size_t kEventBytes = 64;
constexpr Duration kProgressEveryMin = std::chrono::milliseconds(100);
constexpr Duration kWaitsMax = std::chrono::seconds(30);  // of a question at the end of history
constexpr Duration kWaitsMin = std::chrono::milliseconds(100);

std::optional<KeyValue> entry_of(machine::EntryRow row) {
  return KeyValue{std::move(row.key), std::move(row.value), row.create, row.mod, row.version, row.lease};
}

WatchEvent event_of(machine::ChangeRow row) {
  WatchEvent event{*entry_of(std::move(row.entry)), std::nullopt};
  if (!row.previous.empty()) {
    event.previous = entry_of(std::move(row.previous.front()));
    event.previous->key = event.entry.key;
  }
  return event;
}

size_t bytes_of(const WatchEvents& events) {
  size_t bytes = kEventBytes;
  for (const WatchEvent& event : events) {
    bytes += kEventBytes + event.entry.key.size() + event.entry.value.size();
    if (event.previous) bytes += kEventBytes + event.previous->value.size();
  }
  return bytes;
}

bool wants(const WatchOptions& options, const WatchEvent& event) { return event.deleted() ? options.deletes : options.puts; }

WatchEvents without_previous(const WatchEvents& events) {
  std::vector<WatchEvent> out;
  out.reserve(events.size());
  for (const WatchEvent& event : events) out.push_back({event.entry, std::nullopt});
  return WatchEvents(std::move(out));
}

}  // namespace

absl::Status check_watch(const WatchOptions& options) {
  if (!options.end.empty() && options.end != kNoEnd && options.end <= options.key) {
    return make_error(Reason::EmptyRange, "the interval to watch is empty: its end must lie above its key");
  }
  if (!options.puts && !options.deletes) {
    return make_error(Reason::InvalidArgument,
                      "a watch without puts and without deletes would never get an event; ask for one of the two");
  }
  if (options.progress_every < kProgressEveryMin) {
    return make_error(Reason::InvalidArgument,
                      "progress_every is below 100 ms: give it 100 ms at least, or ask_progress() for single reports");
  }
  return absl::OkStatus();
}

// ---- adding and removing

WatchId Watches::add(WatchOptions options, WatchObserver observer) {
  const WatchId id(++last_id_);
  auto one = std::make_unique<One>();
  one->options = std::move(options);
  if (one->options.key.empty()) one->options.key = std::string(1, '\0');
  one->listener = std::make_shared<Listener>();
  one->listener->observer = std::move(observer);
  all_.emplace(id, std::move(one));
  wanting_.insert(id);
  return id;
}

bool Watches::remove(WatchId id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return false;
  found->second->listener->deaf = true;
  erase(id);
  return true;
}

void Watches::erase(WatchId id) {
  const auto found = all_.find(id);
  One& one = *found->second;
  if (one.state == State::Live) leave_front(id, one);
  for (auto* set : {&wanting_, &failed_, &behind_, &full_, &asking_}) set->erase(id);
  due_progress_.erase({one.progress_due, id});
  const auto over = all_.extract(found);  // destroys user code only after it is removed from here
}

void Watches::end(WatchId id, Revision revision, absl::Status why) {
  deliver(*all_.find(id)->second, {.what = WatchBatch::What::Ended, .revision = revision, .why = std::move(why)}, 0);
  erase(id);
}

void Watches::stop(const absl::Status& why) {
  while (!all_.empty()) end(all_.begin()->first, {}, why);
}

bool Watches::ask_progress(WatchId id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return false;
  ++found->second->progress_asked;
  asking_.insert(id);
  return true;
}

// ---- creating

std::vector<WatchId> Watches::to_make() {
  std::vector<WatchId> out;
  if (wanting_.empty()) return out;
  for (const WatchId id : std::exchange(wanting_, {})) {
    all_.find(id)->second->state = State::Asked;
    out.push_back(id);
  }
  return out;
}

void Watches::made(WatchId id, const machine::KeySpace& state, LaggingTime now) {
  const auto found = all_.find(id);
  if (found == all_.end() || found->second->state != State::Asked) return;
  One& one = *found->second;
  const Revision following(state.revision.value() + 1);
  const Revision from = one.options.from ? one.options.from : following;
  if (from < state.compacted) return end(id, state.compacted, watch_compacted(state.compacted));
  deliver(one, {.what = WatchBatch::What::Created, .revision = state.revision}, 0);
  one.quiet_since = now;
  one.progress_due = later(now, one.options.progress_every);
  due_progress_.insert({one.progress_due, id});
  one.ahead = one.options.from > state.revision;
  // The front may have continued to read since this answer. Then it has passed changes that this watch still needs.
  const bool not_read_yet = front_.live.empty() || front_.next.revision <= from;
  if (!elsewhere() && from >= following && (not_read_yet || one.ahead)) return join_front(id, one, from);
  one.start = from;
  one.state = State::CatchingUp;
  one.next = {from, 0};
  behind_.insert(id);
}

void Watches::not_made(WatchId id) {
  const auto found = all_.find(id);
  if (found == all_.end() || found->second->state != State::Asked) return;
  found->second->state = State::Failed;
  failed_.insert(id);
}

void Watches::retry() {
  for (const WatchId id : std::exchange(failed_, {})) {
    One& one = *all_.find(id)->second;
    one.state = one.next.revision ? State::CatchingUp : State::Wanting;
    (one.next.revision ? behind_ : wanting_).insert(id);
  }
}

void Watches::look_for_room() {
  for (const WatchId id : std::exchange(full_, {})) {
    One& one = *all_.find(id)->second;
    if (one.taken->load(std::memory_order_acquire) > one.options.room / 2) {
      full_.insert(id);
      continue;
    }
    one.state = State::CatchingUp;
    behind_.insert(id);
  }
}

// A partially read revision is read from its start, so that it comes from one state.
void Watches::restored() {
  front_.next.sub = 0;
  front_.read.clear();
  for (const WatchId id : behind_) {
    One& one = *all_.find(id)->second;
    one.next.sub = 0;
    one.read.clear();
  }
}

// ---- the front

// No watch receives anything before its start. Only if all Live watches start in the future can the front be beyond the next
// revision. Then a watch that joins takes it back.
void Watches::join_front(WatchId id, One& one, Revision next) {
  one.state = State::Live;
  one.start = next;
  if (front_.live.empty() || next < front_.next.revision) front_.start_at(next);
  front_.live.insert(id);
  front_.index.add(id, one.options.key, one.options.end);
  if (one.options.previous) ++front_.previous;
}

void Watches::leave_front(WatchId id, One& one) {
  front_.live.erase(id);
  front_.index.remove(id, one.options.key, one.options.end);
  if (one.options.previous) --front_.previous;
}

bool Watches::advance_front(LaggingTime now) {
  size_t told = 0;
  for (int reads = 0; !front_.live.empty(); ++reads) {
    if (reads == kReadsAtOnce || told >= kTellsAtOnce) return true;
    auto reply =
        read_({.from = front_.next.revision, .sub = front_.next.sub, .key = {}, .end = {}, .previous = front_.previous != 0});
    if (!reply) return false;
    if (reply->gone) {
      skip_gone(reply->compacted);
      continue;
    }
    for (machine::ChangeRow& row : reply->changes) {
      if (!front_.read.empty() && front_.read.back().entry.mod != row.entry.mod) {
        told += tell_front(now);
        if (told >= kTellsAtOnce) {
          front_.next = {row.entry.mod, 0};  // from there it continues in the next turn
          return true;
        }
      }
      front_.read.push_back(event_of(std::move(row)));
    }
    front_.next = {reply->next, reply->next_sub};
    if (reply->next_sub == 0) told += tell_front(now);
    if (reply->next_sub == 0 && reply->next > reply->revision) return false;
  }
  return false;
}

// A watch that starts later has missed nothing.
void Watches::skip_gone(Revision compacted) {
  Revision first = Revision(UINT64_MAX);
  for (const WatchId id : absl::btree_set<WatchId>(front_.live)) {
    const Revision start = all_.find(id)->second->start;
    if (start < compacted) {
      end(id, compacted, watch_compacted(compacted));
    } else {
      first = std::min(first, start);
    }
  }
  front_.start_at(first);
}

// Delivers one complete revision and returns the number of watches that got it. Watches that it concerns in full share the
// same events.
size_t Watches::tell_front(LaggingTime now) {
  if (front_.read.empty()) return 0;
  std::vector<WatchId> concerned;
  const Revision revision = front_.read.back().entry.mod;
  for (uint32_t place = 0; place < front_.read.size(); ++place) {
    const WatchEvent& event = front_.read[place];
    front_.index.visit(event.entry.key, [&](WatchId id) {
      One& one = *all_.find(id)->second;
      if (revision < one.start || !wants(one.options, event)) return;
      if (one.hits.empty()) concerned.push_back(id);
      one.hits.push_back(place);
    });
  }
  // Decided when it was read: the watches that wanted them may have left since.
  const bool previous = std::ranges::any_of(front_.read, [](const WatchEvent& event) { return event.previous.has_value(); });
  SharedRevision shared{.whole = WatchEvents(std::exchange(front_.read, {})), .plain = {}, .previous = previous};
  for (const WatchId id : concerned) tell_hits(id, *all_.find(id)->second, shared, now);
  return concerned.size();
}

void Watches::tell_hits(WatchId id, One& one, SharedRevision& shared, LaggingTime now) {
  const std::vector<uint32_t> hits = std::exchange(one.hits, {});
  WatchEvents from = shared.whole;
  if (shared.previous && !one.options.previous) {
    if (shared.plain.empty()) shared.plain = without_previous(shared.whole);
    from = shared.plain;
  }
  if (hits.size() == from.size()) {
    tell(id, one, std::move(from), now);
    return;
  }
  std::vector<WatchEvent> own;
  own.reserve(hits.size());
  for (const uint32_t place : hits) own.push_back(from[place]);
  tell(id, one, WatchEvents(std::move(own)), now);
}

// ---- those behind

// Serves them in turn, so that a watch with much to read does not delay another.
bool Watches::advance_behind(LaggingTime now) {
  for (int reads = 0; reads != kReadsAtOnce && !behind_.empty(); ++reads) {
    auto at = behind_.upper_bound(served_);
    if (at == behind_.end()) at = behind_.begin();
    served_ = *at;
    if (!catch_up(served_, *all_.find(served_)->second, now)) return false;
  }
  return !behind_.empty();
}

// False: nothing can be read now.
bool Watches::catch_up(WatchId id, One& one, LaggingTime now) {
  auto reply = read_({.from = one.next.revision,
                      .sub = one.next.sub,
                      .key = one.options.key,
                      .end = one.options.end,
                      .previous = one.options.previous});
  if (!reply) return false;
  const Revision next = reply->next;
  if (!take_piece(id, one, *std::move(reply), now)) return true;
  behind_.erase(id);
  one.ahead = false;  // it has passed its start, whatever that was
  join_front(id, one, next);
  return true;
}

// True: the watch has everything that there is. It may have ended, or have no room.
bool Watches::take_piece(WatchId id, One& one, machine::Changes piece, LaggingTime now) {
  if (piece.gone) {
    end(id, piece.compacted, watch_compacted(piece.compacted));
    return false;
  }
  for (machine::ChangeRow& row : piece.changes) {
    WatchEvent event = event_of(std::move(row));
    if (wants(one.options, event)) one.read.push_back(std::move(event));
  }
  one.next = {piece.next, piece.next_sub};
  return tell_read(id, one, now) && piece.at_end();
}

// Delivers the whole revisions that were read. False: there was no room.
bool Watches::tell_read(WatchId id, One& one, LaggingTime now) {
  const auto split = std::find_if(one.read.begin(), one.read.end(), [&](const WatchEvent& event) {
    return one.next.sub != 0 && event.entry.mod == one.next.revision;
  });
  if (split == one.read.begin()) return true;
  std::vector<WatchEvent> rest(std::make_move_iterator(split), std::make_move_iterator(one.read.end()));
  one.read.erase(split, one.read.end());
  const Place next = one.next;
  if (!tell(id, one, WatchEvents(std::exchange(one.read, {})), now)) return false;
  one.next = next;
  one.read = std::move(rest);
  return true;
}

// ---- those whose history is elsewhere

std::vector<WantedPiece> Watches::to_ask(LaggingTime now) {
  std::vector<WantedPiece> out;
  if (!elsewhere()) return out;
  for (const WatchId id : std::exchange(behind_, {})) {
    One& one = *all_.find(id)->second;
    const Duration quiet = until(now, later(one.quiet_since, one.options.progress_every));
    const bool at_once = one.progress_asked != 0 || one.fetch.overdue;
    one.fetch = {.asked = now,
                 .waits = at_once ? Duration::zero() : std::clamp(quiet, kWaitsMin, kWaitsMax),
                 .progress = one.progress_asked,
                 .at_end = false,
                 .overdue = one.fetch.overdue};
    one.state = State::Fetching;
    out.push_back({.id = id,
                   .place = {.from = one.next.revision,
                             .sub = one.next.sub,
                             .key = one.options.key,
                             .end = one.options.end,
                             .previous = one.options.previous},
                   .waits = one.fetch.waits});
  }
  return out;
}

// A gateway that answers a waiting question at once, without a change, is asked again at the pace of retries.
void Watches::answered(WatchId id, absl::StatusOr<machine::Changes> piece, LaggingTime now) {
  const auto found = all_.find(id);
  if (found == all_.end() || found->second->state != State::Fetching) return;
  One& one = *found->second;
  const auto pause = [&] {
    one.state = State::Failed;
    behind_.erase(id);
    failed_.insert(id);
  };
  if (absl::IsPermissionDenied(piece.status())) return end(id, {}, piece.status());  // of this remote
  if (!piece.ok()) return pause();
  one.state = State::CatchingUp;
  behind_.insert(id);
  const bool started = piece->revision >= one.start;
  const bool too_early = piece->changes.empty() && one.fetch.waits != Duration::zero() && now < one.fetch.asked + kWaitsMin / 2;
  if (!take_piece(id, one, *std::move(piece), now)) return;
  one.ahead = one.ahead && !started;
  one.fetch.at_end = true;
  if (std::exchange(one.fetch.overdue, false)) due_progress_.insert({one.progress_due, id});
  if (too_early) pause();
}

bool Watches::interrupt(WatchId id) {
  const auto found = all_.find(id);
  if (found == all_.end() || found->second->state != State::Fetching) return false;
  One& one = *found->second;
  if (one.fetch.waits == Duration::zero()) return false;
  one.state = State::CatchingUp;
  behind_.insert(id);
  return true;
}

// ---- delivering

// False: there is no room. When there is room again, it continues with the first of these events.
bool Watches::tell(WatchId id, One& one, WatchEvents events, LaggingTime now) {
  const size_t bytes = bytes_of(events);
  const size_t taken = one.taken->load(std::memory_order_acquire);
  if (taken != 0 && taken + bytes > one.options.room) {
    if (one.state == State::Live) leave_front(id, one);
    behind_.erase(id);
    one.state = State::Full;
    one.next = {events.front().entry.mod, 0};
    one.read.clear();
    full_.insert(id);
    return false;
  }
  one.quiet_since = now;
  const Revision revision = events.back().entry.mod;
  deliver(one, {.what = WatchBatch::What::Events, .revision = revision, .events = std::move(events)}, bytes);
  return true;
}

void Watches::deliver(One& one, WatchBatch batch, size_t bytes) {
  if (bytes != 0) {
    one.taken->fetch_add(bytes, std::memory_order_relaxed);
    batch.events =
        batch.events.in(std::shared_ptr<void>(static_cast<void*>(one.taken.get()), [taken = one.taken, bytes](void*) {
          taken->fetch_sub(bytes, std::memory_order_release);
        }));
  }
  deliveries_.announce([listener = one.listener, batch = std::move(batch)]() mutable {
    if (!listener->deaf) listener->observer(std::move(batch));
  });
}

// ---- progress

// The revision up to which this watch has received everything; nullopt: that is not known now.
std::optional<Revision> Watches::progress_of(const One& one) const {
  if (elsewhere()) return one.fetch.at_end ? std::optional(Revision(one.next.revision.value() - 1)) : std::nullopt;
  if (one.state != State::Live || front_.next.sub != 0) return std::nullopt;
  if (front_.next.revision < one.start) return std::nullopt;
  return Revision(front_.next.revision.value() - 1);
}

void Watches::report_asked_progress() {
  for (const WatchId id : std::exchange(asking_, {})) {
    One& one = *all_.find(id)->second;
    const bool pending = start_is_missing(one);
    const std::optional<Revision> revision = progress_of(one);
    uint64_t reports = pending || revision ? one.progress_asked : 0;
    if (elsewhere() && reports != 0) reports = std::min(reports, std::exchange(one.fetch.progress, 0));
    one.progress_asked -= reports;
    if (one.progress_asked != 0) asking_.insert(id);
    for (; reports != 0; --reports) {
      if (pending) {
        deliver(one, {.what = WatchBatch::What::Pending, .revision = one.start}, 0);
      } else {
        deliver(one, {.what = WatchBatch::What::Progress, .revision = *revision}, 0);
      }
    }
  }
}

// Reports only to watches that received everything and consumed it. The others are checked again.
void Watches::report_due_progress(LaggingTime now) {
  while (!due_progress_.empty() && due_progress_.begin()->first <= now) {
    const WatchId id = due_progress_.begin()->second;
    due_progress_.erase(due_progress_.begin());
    One& one = *all_.find(id)->second;
    if (later(one.quiet_since, one.options.progress_every) <= now) {
      if (elsewhere() && !one.fetch.at_end) {
        one.fetch.overdue = true;
        continue;
      }
      const std::optional<Revision> revision = progress_of(one);
      if (revision && !start_is_missing(one) && one.taken->load(std::memory_order_acquire) == 0) {
        deliver(one, {.what = WatchBatch::What::Progress, .revision = *revision}, 0);
      }
      one.quiet_since = now;
    }
    one.progress_due = later(one.quiet_since, one.options.progress_every);
    due_progress_.insert({one.progress_due, id});
  }
}

bool Watches::advance(LaggingTime now) {
  bool more = elsewhere() ? !behind_.empty() : advance_front(now);
  if (!elsewhere()) more |= advance_behind(now);
  report_asked_progress();
  report_due_progress(now);
  return more;
}

}  // namespace coordkit::client
