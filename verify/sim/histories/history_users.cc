#include "sim/histories/history_users.h"

#include <fmt/format.h>

#include <utility>

#include "coordkit/error.h"
#include "sim/world/draw.h"

namespace coordkit::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

HistoryUsers::HistoryUsers(World& world, const Plan& plan, const std::vector<std::unique_ptr<Node>>& nodes, Evidence& evidence,
                           Random random)
    : world_(world), plan_(plan), nodes_(nodes), evidence_(evidence), watched_(plan.places()) {
  evidence_.shown.resize(plan.places());
  evidence_.held.resize(plan.places());
  evidence_.remembers.resize(plan.places());
  for (uint32_t place = 0; place < plan.places(); ++place) {
    for (uint32_t i = 0; i < plan.work.workers_per_node; ++i) {
      workers_.push_back({.place = place, .number = workers_.size(), .random = random.fork()});
    }
  }
}

void HistoryUsers::forgets(uint32_t place) {
  evidence_.held[place].clear();
  evidence_.remembers[place] = world_.now();
}

void HistoryUsers::process_started(uint32_t place) {
  forgets(place);
  watch(place);
  for (Worker& worker : workers_) {
    if (worker.place == place) schedule(worker);
  }
}

void HistoryUsers::schedule(Worker& worker) {
  const Duration after = draw(worker.random, {}, plan_.work.think_max);
  world_.schedule(world_.now() + after, EventKind::Worker, worker.place, nodes_[worker.place]->epoch(),
                  ++worker.step << 16 | worker.number);
}

void HistoryUsers::event(const Event& event) {
  Worker& worker = workers_[event.item & 0xffff];
  Node& node = *nodes_[worker.place];
  if (!node.up() || event.epoch != node.epoch() || event.item >> 16 != worker.step) return;
  if (!watched_[worker.place]) watch(worker.place);
  std::string key = fmt::format("key-{}", worker.random.below(plan_.work.keys));
  worker.random.chance(0.5) ? put(worker, std::move(key)) : get(worker, std::move(key));
  node.wake();
}

size_t HistoryUsers::begin(const Worker& worker, std::string key) {
  evidence_.calls.push_back({.place = worker.place, .key = std::move(key), .called = world_.now()});
  return evidence_.calls.size() - 1;
}

// The answer of a dying process reaches nobody.
template <typename F>
auto HistoryUsers::then(Worker& worker, size_t call, F done) {
  return [this, &worker, call, process = nodes_[worker.place]->epoch(), done = std::move(done)](const auto& answer) {
    if (nodes_[worker.place]->epoch() != process) return;
    KeyCall& ended = evidence_.calls[call];
    ended.answered = world_.now();
    ended.end = answer.ok()                                        ? KeyCall::End::Answered
                : outcome_of(answer.status()) == Outcome::NoEffect ? KeyCall::End::Refused
                                                                   : KeyCall::End::Unknown;
    if (answer.ok()) done(ended, *answer);
    schedule(worker);
  };
}

LaggingTime HistoryUsers::draw_deadline(Worker& worker) const {
  return nodes_[worker.place]->clock_now().lagging + draw(worker.random, milliseconds(50), seconds(2));
}

void HistoryUsers::put(Worker& worker, std::string key) {
  const size_t call = begin(worker, key);
  const std::string value = fmt::format("w{}-{}", worker.number, ++worker.values);
  evidence_.calls[call].put = true;
  evidence_.calls[call].value = value;
  const auto done = [](KeyCall& ended, const PutResult& answer) { ended.revision = ended.changed = answer.revision.value(); };
  nodes_[worker.place]->client().put(std::move(key), value, then(worker, call, done), {.deadline = draw_deadline(worker)});
}

void HistoryUsers::get(Worker& worker, std::string key) {
  const size_t call = begin(worker, key);
  const auto done = [](KeyCall& ended, const GetResult& answer) {
    ended.revision = answer.revision.value();
    if (!answer.entry) return;
    ended.value = answer.entry->value;
    ended.changed = answer.entry->mod.value();
  };
  const Consistency consistency = worker.random.chance(0.3) ? Consistency::Lease : Consistency::Linearizable;
  nodes_[worker.place]->client().get(std::move(key), then(worker, call, done), draw_deadline(worker), consistency);
}

void HistoryUsers::watch(uint32_t place) {
  watched_[place] = true;
  WatchOptions wants = WatchOptions::prefix("key-");
  wants.from = Revision(1);
  nodes_[place]->client().watch(wants, [this, place, process = nodes_[place]->epoch()](const WatchBatch& batch) {
    if (nodes_[place]->epoch() == process) given(place, batch);
  });
  nodes_[place]->wake();
}

void HistoryUsers::given(uint32_t place, const WatchBatch& batch) {
  if (batch.what == WatchBatch::What::Ended) watched_[place] = false;
  for (const WatchEvent& event : batch.events) {
    KeyChange change{event.entry.mod.value(), event.entry.key, event.entry.value};
    evidence_.shown[place].insert(change);
    evidence_.held[place].insert(std::move(change));
  }
}

}  // namespace coordkit::sim
