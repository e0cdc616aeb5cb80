#include "sim/record/note_recorder.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace coordkit::sim {

void NoteRecorder::add(std::optional<uint32_t> lane, Timeline::Weight weight, std::string text) {
  notes_.add({lane, time_of(world_), weight, std::move(text)});
}

void NoteRecorder::traced(const TraceRecord& record) {
  // These have a form of their own.
  constexpr std::string_view kElsewhere[] = {"receives message", "fault ", "is frozen", "call ends"};
  const std::string_view format = record.format;
  for (std::string_view start : kElsewhere) {
    if (format.starts_with(start)) return;
  }
  const auto& v = record.values;
  const bool members = format.find("members") != format.npos || format.find("change") != format.npos;
  add(record.node == kNoNode ? std::nullopt : std::optional(record.node),
      members ? Timeline::Weight::Members : Timeline::Weight::Plain,
      fmt::format(fmt::runtime(record.format), v[0], v[1], v[2], v[3]));
}

}  // namespace coordkit::sim
