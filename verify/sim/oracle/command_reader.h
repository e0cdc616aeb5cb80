// Says in words what commands and entries of the log are, and which calls asked for them. So the chain call, forward, entry,
// commit, apply, answer needs no help from the engine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordkit/raft/entry.h"
#include "coordkit/sim/timeline.h"
#include "sim/record/operation_recorder.h"

namespace coordkit::sim {

// Tokens and session ids come from one counter, and are counted from where it began.
std::string counted(uint64_t number, const Timeline& timeline);

class CommandReader {
 public:
  struct Description {
    std::string text;
    std::vector<uint64_t> operations;
  };

  CommandReader(const Timeline& timeline, const OperationRecorder& operations) : timeline_(timeline), operations_(operations) {}

  Description read(const raft::Entry& entry) const;
  Description read(std::string_view command) const;

 private:
  const Timeline& timeline_;
  const OperationRecorder& operations_;
};

}  // namespace coordkit::sim
