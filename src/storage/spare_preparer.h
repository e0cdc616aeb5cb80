// A thread that makes the next segment of a log beside the one that uses it, in small synced pieces, so that the commit path
// never waits for a large fill. A full disk, or a process without a free descriptor, is
// tried again until that is over.
//
// Threads: ordered(), order() and taken() belong to the thread that uses the log.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/statusor.h"
#include "base/thread.h"
#include "coordkit/file_system.h"

namespace coordkit::storage {

// A segment's number and bytes.
struct Spare {
  uint32_t number = 0;
  uint64_t capacity = 0;
};

class SparePreparer {
 public:
  // Called from this thread: `made` with each spare that is ready, or once with why no more will come; `waits` when there is no
  // room, never after stop().
  struct Reports {
    std::function<void(absl::StatusOr<Spare>)> made;
    std::function<void()> waits;
  };

  ~SparePreparer() { close(); }

  void start(std::unique_ptr<FileSystem> files, Reports reports);
  // One at a time: from order() until the user of the log has taken() it.
  bool ordered() const { return ordered_; }
  void order(Spare spare);
  void taken() { ordered_ = false; }

  // Ends after the piece in progress. The next open of the log removes what is left behind.
  void stop();
  void close();  // stops, and waits for the end

 private:
  void run();
  bool carry_out(const Spare& spare) noexcept;
  absl::StatusOr<bool> make(const Spare& spare);  // false: stopped midway

  std::unique_ptr<FileSystem> files_;
  Reports reports_;
  Thread thread_;
  bool ordered_ = false;
  std::mutex mutex_;  // guards the next two
  std::optional<Spare> order_;
  bool stop_ = false;
  std::condition_variable wakes_;
};

}  // namespace coordkit::storage
