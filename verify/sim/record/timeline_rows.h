// Shared by the recorders of a timeline: the time of an event, and how rows get into the timeline.
#pragma once

#include <vector>

#include "coordkit/sim/timeline.h"
#include "sim/world/bounded_list.h"
#include "sim/world/world.h"

namespace coordkit::sim {

inline Duration time_of(const World& world) { return world.now().time_since_epoch(); }

// The page says what was dropped.
template <typename Row>
void count_dropped(const BoundedList<Row>& rows, const char* what, Timeline& timeline) {
  if (rows.dropped() > 0) timeline.dropped.emplace_back(what, rows.dropped());
}

template <typename Row>
void hand_over(BoundedList<Row>& rows, const char* what, Timeline& timeline, std::vector<Row>& into) {
  count_dropped(rows, what, timeline);
  into = rows.take();
}

}  // namespace coordkit::sim
