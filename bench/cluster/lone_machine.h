// coordkit's machine by itself, without engine, network and disk: what its state costs.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.h"

namespace coordkit::bench {

class LoneMachine {
 public:
  LoneMachine() { machine_.bootstrap(ClusterId(1), uint64_t{1} << 31); }

  void apply(const Origin& origin, machine::Request::Body body) {
    const std::string payload = machine::encode(machine::Request{std::move(body), {}});
    const Command command{index_ = index_.next(), {origin, Sequence(++sequence_)}, payload};
    output_.results.clear();
    output_.events.clear();
    machine_.apply({&command, 1}, output_);
  }
  SessionId opened() const { return machine::decode_result(output_.results.back().bytes.view())->session; }
  const std::vector<TimerOp>& timer_ops() const { return output_.timer_ops; }
  void forget_output() { output_ = {}; }
  void forget_changes() {  // what waits for a checkpoint
    CheckpointBatch batch;
    machine_.checkpoint(batch);
  }

 private:
  machine::Machine machine_;
  ApplyOutput output_;
  Index index_;
  uint64_t sequence_ = 0;
};

}  // namespace coordkit::bench
