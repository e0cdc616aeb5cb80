#include "sim/record/recorder.h"

#include <utility>

namespace coordkit::sim {

Recorder::Recorder(Timeline& timeline, const World& world, uint32_t nodes)
    : timeline_(timeline),
      world_(world),
      notes_(timeline, world),
      operations_(timeline, world),
      commands_(timeline, operations_),
      processes_(timeline, world, nodes),
      messages_(timeline, world, commands_),
      faults_(timeline, world),
      entries_(timeline, world, commands_, operations_, notes_),
      grants_(timeline, world, operations_, notes_) {}

void Recorder::stopped(uint32_t node) {
  processes_.stopped(node);
  grants_.process_died(node);
  operations_.process_died(node);
}

void Recorder::answered_at(uint64_t call, Index index) {
  if (operations_.answered_at(call, index)) entries_.carries(index, call);
}

void Recorder::applied(const Model& model, Term term) {
  entries_.applied(model, term);
  grants_.applied(model);
}

// A call that never ends is identified as the oldest one.
void Recorder::violated(const std::string& id, const std::string& what, const Culprit& culprit) {
  Timeline::Violation row{id,           what,         time_of(world_), std::nullopt, culprit.operation, culprit.index,
                          culprit.lock, culprit.token};
  if (world_.node() != kNoNode) row.lane = world_.node();
  if (id == "INV_L08" && !row.operation) row.operation = operations_.oldest_pending();
  timeline_.violation = std::move(row);
}

void Recorder::finish() {
  timeline_.end = time_of(world_);
  messages_.finish();
  processes_.finish();
  operations_.finish();
  entries_.finish();
  grants_.finish();
  faults_.finish();
  notes_.finish();
}

}  // namespace coordkit::sim
