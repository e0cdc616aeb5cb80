// Messages in a timeline, from sending to arrival or loss.
#pragma once

#include <vector>

#include "coordkit/engine/engine_message.h"
#include "coordkit/ports/transport.h"
#include "sim/oracle/command_reader.h"
#include "sim/record/timeline_rows.h"

namespace coordkit::sim {

class MessageRecorder {
 public:
  MessageRecorder(Timeline& timeline, const World& world, const CommandReader& commands);

  uint64_t sent(uint32_t from, uint32_t to, const Message& message);
  void arrived(uint64_t message);
  void lost(uint64_t message);
  void finish();

 private:
  Timeline::Message* find(uint64_t id);
  void fill(Timeline::Message& row, const Message& message) const;

  Timeline& timeline_;
  const World& world_;
  const CommandReader& commands_;
  BoundedList<Timeline::Message> messages_;
  BoundedList<Timeline::Message> routine_;
};

}  // namespace coordkit::sim
