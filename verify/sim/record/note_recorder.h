// Notes in a timeline: events in words, with a place and a weight.
#pragma once

#include <optional>
#include <string>

#include "sim/record/timeline_rows.h"

namespace coordkit::sim {

class NoteRecorder {
 public:
  NoteRecorder(Timeline& timeline, const World& world) : timeline_(timeline), world_(world), notes_(timeline.limits.notes) {}

  void add(std::optional<uint32_t> lane, Timeline::Weight weight, std::string text);
  void traced(const TraceRecord& record);
  void finish() { hand_over(notes_, "other events", timeline_, timeline_.notes); }

 private:
  Timeline& timeline_;
  const World& world_;
  BoundedList<Timeline::Note> notes_;
};

}  // namespace coordkit::sim
