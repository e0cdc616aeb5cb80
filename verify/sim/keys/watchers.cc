#include "sim/keys/watchers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

using What = WatchBatch::What;

constexpr size_t kShown = 20;  // of many

std::string shown(const std::vector<WatchEvent>& events) {
  std::string out;
  for (const WatchEvent& event : events) {
    if (&event - events.data() == kShown) return out + fmt::format(" and {} more", events.size() - kShown);
    out +=
        fmt::format(" {}{}@{}.{}", event.deleted() ? "-" : "+", event.entry.key, event.entry.mod.value(), event.entry.version);
    if (event.previous) out += fmt::format("(was @{})", event.previous->mod.value());
  }
  return out.empty() ? " nothing" : out;
}

bool concerns(const WatchOptions& wants, const std::string& key) {
  if (wants.end.empty()) return key == wants.key;
  return key >= wants.key && (wants.end == kNoEnd || key < wants.end);
}

}  // namespace

Watchers::Watchers(World& world, const Plan& plan, const Callers& nodes, const Model& model, SituationCounts& situations,
                   Random random)
    : RoamingProgramsOf(world, nodes, model, situations, EventKind::Watcher, plan.work.watcher_pause_max, plan.work.watchers,
                        random),
      plan_(plan) {}

void Watchers::act(Watcher& watcher) {
  watcher.kept.clear();
  if (!watcher.open) {
    if (!winding_down_ && (!watcher.next || watcher.random.chance(0.2))) begin_anew(watcher);
    return open(watcher);
  }
  if (nodes_[watcher.node]->frozen() || winding_down_) return;
  const uint64_t dice = watcher.random.below(100);
  if (dice < 10) {
    ++watcher.progress_owed;
    nodes_[watcher.node]->client().ask_progress(watcher.watch);
    nodes_[watcher.node]->wake();
  } else if (dice < 20) {
    close(watcher);
  }
}

// Another interval, from an arbitrary revision.
void Watchers::begin_anew(Watcher& watcher) {
  Random& random = watcher.random;
  watcher.wants = WatchOptions::prefix("k");
  const uint64_t kind = random.below(3);
  const char* family = random.chance(0.5) ? "key-" : "kt-";
  const std::string one = fmt::format("{}{}", family, random.below(plan_.work.keys));
  if (kind == 0) watcher.wants = WatchOptions::of(one);
  if (kind == 1) watcher.wants = {.key = one, .end = std::string(kNoEnd)};
  watcher.wants.previous = random.chance(0.5);
  watcher.wants.puts = random.chance(0.8);
  watcher.wants.deletes = !watcher.wants.puts || random.chance(0.8);
  watcher.wants.room = random.chance(0.5) ? random.between(100, 3000) : size_t{16} << 20;
  watcher.wants.progress_every = Duration(random.between(100'000'000, 5'000'000'000));
  const uint64_t newest = model_.keys().revision().value();
  watcher.next = {};
  if (random.chance(0.5)) watcher.next = Revision(random.between(model_.keys().compacted().value() + 1, newest + 3));
}

void Watchers::open(Watcher& watcher) {
  const uint32_t node = static_cast<uint32_t>(watcher.random.below(nodes_.size()));
  if (!nodes_[node]->up() || nodes_[node]->frozen() || watcher.wants.key.empty()) return;
  move_to(watcher, node);
  watcher.made = false;
  watcher.progress_owed = 0;
  watcher.wants.from = watcher.next;
  watcher.watch = nodes_[node]->client().watch(watcher.wants, [this, &watcher, round = watcher.round](WatchBatch batch) {
    if (!looking_) return;
    if (round != watcher.round) fail("INV_W07", watcher, "events after its end");
    take(watcher, std::move(batch));
  });
  nodes_[node]->wake();
}

void Watchers::close(Watcher& watcher) {
  nodes_[watcher.node]->client().end_watch(watcher.watch, [this, number = watcher.number](const absl::Status& status) {
    const std::optional<Reason> reason = reason_of(status);
    if (looking_ && !status.ok() && reason != Reason::WatchNotFound) fail("INV_W07", all_[number], status.ToString());
  });
  nodes_[watcher.node]->wake();
  watcher.open = false;
  ++watcher.round;
}

// ---- what it receives

void Watchers::take(Watcher& watcher, WatchBatch batch) {
  switch (batch.what) {
    case What::Created:
      if (watcher.made) fail("INV_W05", watcher, "made twice");
      watcher.made = true;
      if (!watcher.next) watcher.next = batch.revision.next();
      if (watcher.next > batch.revision.next()) reach(Situation::WatchOfTheFuture);
      break;
    case What::Events: take_events(watcher, batch); break;
    case What::Progress: take_progress(watcher, batch.revision); break;
    case What::Pending:
      if (batch.revision != watcher.next) fail("INV_W05", watcher, "pending for another revision");
      break;
    case What::Ended:
      watcher.open = false;
      ++watcher.round;
      if (reason_of(batch.why) == Reason::Compacted) {
        if (watcher.next >= batch.revision || batch.revision > model_.keys().compacted()) {
          fail("INV_W05", watcher, "nothing it needs is compacted: " + batch.why.ToString());
        }
        reach(Situation::WatchCompacted);
        watcher.next = batch.revision.next();
      } else if (const auto why = reason_of(batch.why); why == Reason::Stopped || why == Reason::ReplicaFailed) {
        reach(Situation::WatchLostItsReplica);
      } else {
        fail("INV_W05", watcher, batch.why.ToString());
      }
      break;
  }
  if (!batch.events.empty()) watcher.kept.push_back(std::move(batch));
}

void Watchers::take_events(Watcher& watcher, const WatchBatch& batch) {
  if (!watcher.made) fail("INV_W05", watcher, "events before it was made");
  if (batch.events.empty()) fail("INV_W03", watcher, "a batch of nothing");
  if (batch.revision < watcher.next) fail("INV_W01", watcher, fmt::format("revision {} again", batch.revision.value()));
  if (batch.events.front().entry.mod != batch.revision) reach(Situation::WatchCaughtUp);
  std::vector<WatchEvent> should = expected(watcher, batch.revision);
  // Earlier history may be compacted; it must not differ otherwise.
  for (size_t i = 0; i < should.size() && i < batch.events.size(); ++i) {
    const bool forgotten = !batch.events[i].previous && should[i].entry.mod <= model_.keys().compacted();
    if (!watcher.wants.previous || forgotten) should[i].previous.reset();
  }
  if (batch.events.all() != should) {
    fail("INV_W02", watcher, fmt::format("got{} where the log has{}", shown(batch.events.all()), shown(should)));
  }
  watcher.next = batch.revision.next();
}

void Watchers::take_progress(Watcher& watcher, Revision revision) {
  if (revision.next() < watcher.next) fail("INV_W04", watcher, fmt::format("progress at revision {}", revision.value()));
  const std::vector<WatchEvent> undelivered = expected(watcher, revision);
  if (!undelivered.empty())
    fail("INV_W04", watcher, fmt::format("progress at revision {} before{}", revision.value(), shown(undelivered)));
  watcher.next = revision.next();
  reach(Situation::WatchProgressed);
}

// The events that concern it from its place up to there.
std::vector<WatchEvent> Watchers::expected(const Watcher& watcher, Revision upto) const {
  std::vector<WatchEvent> out;
  const std::vector<KeyModel::Change>& changes = model_.keys().changes();
  const auto from = std::ranges::lower_bound(changes, watcher.next, {}, &KeyModel::Change::revision);
  for (auto change = from; change != changes.end() && change->revision <= upto; ++change) {
    if (!concerns(watcher.wants, change->key)) continue;
    if (change->now ? !watcher.wants.puts : !watcher.wants.deletes) continue;
    WatchEvent event{{.key = change->key, .mod = change->revision}, std::nullopt};
    if (change->now) event.entry = entry_of(change->key, *change->now);
    if (change->before) event.previous = entry_of(change->key, *change->before);
    out.push_back(std::move(event));
  }
  return out;
}

// ---- the end

bool Watchers::all_caught_up() const {
  return std::ranges::all_of(all_, [this](const Watcher& watcher) {
    return watcher.wants.key.empty() || (watcher.next && expected(watcher, model_.keys().revision()).empty());
  });
}

std::string Watchers::missing() const {
  for (const Watcher& watcher : all_) {
    const std::vector<WatchEvent> undelivered =
        watcher.next ? expected(watcher, model_.keys().revision()) : std::vector<WatchEvent>();
    if (undelivered.empty()) continue;
    return fmt::format("watcher {} on n{} has not been told{}", watcher.number, watcher.node + 1, shown(undelivered));
  }
  return {};
}

void Watchers::fail(const char* id, const Watcher& watcher, const std::string& what) const {
  throw Violation(
      id, fmt::format("watcher {} on n{}, at revision {}: {}", watcher.number, watcher.node + 1, watcher.next.value(), what));
}

}  // namespace coordkit::sim
