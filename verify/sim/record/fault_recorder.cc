#include "sim/record/fault_recorder.h"

#include <algorithm>
#include <string>

#include "sim/faults/link_faults.h"

namespace coordkit::sim {
namespace {

bool hits_one_node(FaultKind kind) {
  if (of_links(kind)) return kind == FaultKind::Fade;
  return kind != FaultKind::ConnectionLoss && kind != FaultKind::PowerLoss;
}

bool is_a_moment(FaultKind kind) {
  return kind == FaultKind::ConnectionLoss || kind == FaultKind::ClockRate || kind == FaultKind::Rot ||
         kind == FaultKind::StateRot || kind == FaultKind::Stranger || kind == FaultKind::LostFiles ||
         kind >= FaultKind::RotEverywhere;
}

}  // namespace

uint64_t FaultRecorder::begins(FaultKind kind, uint64_t ordinal, uint32_t node, Duration length) {
  Timeline::Fault row{.ordinal = ordinal, .kind = std::string(name_of(kind)), .from = time_of(world_)};
  row.until = is_a_moment(kind) ? row.from : row.from + length;
  if (hits_one_node(kind)) row.lanes.push_back(node);
  const uint64_t number = faults_.add(std::move(row));
  open_.insert(number);
  return number;
}

void FaultRecorder::cuts(uint64_t fault, const std::vector<std::pair<uint32_t, uint32_t>>& links) {
  Timeline::Fault* row = faults_.find(fault);
  if (row == nullptr) return;
  row->links = links;
  for (const auto& [from, to] : links) {
    for (uint32_t end : {from, to}) {
      if (std::find(row->lanes.begin(), row->lanes.end(), end) == row->lanes.end()) row->lanes.push_back(end);
    }
  }
}

void FaultRecorder::ends(uint64_t fault) {
  if (open_.erase(fault) == 0) return;
  Timeline::Fault* row = faults_.find(fault);
  if (row != nullptr) row->until = std::min(row->until.value_or(time_of(world_)), time_of(world_));
}

void FaultRecorder::calm() {
  timeline_.calm_from = time_of(world_);
  while (!open_.empty()) ends(*open_.begin());
}

}  // namespace coordkit::sim
