// The writes to a log that its process has submitted and that are not yet durable, in order. Each is due after a latency of
// its own, but not before an earlier one; all that are due go in one batch, which may have to wait for space.
#pragma once

#include <deque>
#include <vector>

#include "coordkit/ports/log_store.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class WriteQueue {
 public:
  void begin() { durable_ = WriteNumber(); }  // a process, which starts its write numbers again
  // Returns when it is due.
  TrueTime add(LogWrite write, TrueTime at);
  // All that wait for their latency are due by then. There are some: pending().
  void hurry(TrueTime at);
  // Writes that are due join the batch, which is returned.
  const std::vector<LogWrite>& take_due(TrueTime now);
  const std::vector<LogWrite>& batch() const { return batch_; }
  void batch_written();
  // Returns the writes that the process leaves undone.
  std::vector<LogWrite> end();

  bool pending() const { return !pending_.empty(); }
  bool batch_waits() const { return !batch_.empty(); }
  size_t size() const { return batch_.size() + pending_.size(); }
  WriteNumber durable() const { return durable_; }  // of this process
  WriteNumber newest() const;
  TrueTime last_due() const { return last_due_; }

 private:
  struct Pending {
    LogWrite write;
    TrueTime due;
  };
  std::deque<Pending> pending_;
  std::vector<LogWrite> batch_;  // being written, or waiting for space
  TrueTime last_due_{};
  WriteNumber durable_;
};

}  // namespace coordkit::sim
