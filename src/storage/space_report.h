// How much room a log has left on its disk, as its sink was told. It is low while the next segment is neither there nor can be
// made; one that compaction frees is as good as one that is made.
//
// Threads: as said below; they agree on what is told last.
#pragma once

#include <atomic>
#include <mutex>

#include "coordkit/ports/log_store.h"

namespace coordkit::storage {

class SpaceReport {
 public:
  // ---- the thread that uses the log
  void tell(LogSink& sink) { sink_ = &sink; }
  void is(LogSpace space) {
    const std::lock_guard lock(mutex_);
    become(space);
  }
  // After each change of the log.
  void wants_spare(bool wanted) {
    const std::lock_guard lock(mutex_);
    wanted_ = wanted;
    if (!wanted && space_ == LogSpace::Low) become(LogSpace::Ample);
  }

  // ---- the one that makes spares: it has no room for another
  void no_room() {
    const std::lock_guard lock(mutex_);
    if (wanted_ && space_ == LogSpace::Ample) become(LogSpace::Low);
  }

  // ---- any, the sink's too while it is told
  LogSpace now() const { return space_; }

 private:
  void become(LogSpace space) {
    if (space_.exchange(space) != space) sink_->log_space(space);
  }

  LogSink* sink_ = nullptr;
  std::mutex mutex_;  // held to change the next two
  std::atomic<LogSpace> space_{LogSpace::Ample};
  bool wanted_ = true;
};

}  // namespace coordkit::storage
