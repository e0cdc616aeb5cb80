// Messages in a timeline, from sending to arrival or loss.
#pragma once

#include <vector>

#include "coordkit/message.h"
#include "coordkit/transport.h"
#include "sim/command_reader.h"
#include "sim/timeline_rows.h"

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
  Kept<Timeline::Message> messages_;
  Kept<Timeline::Message> routine_;
};

}  // namespace coordkit::sim
