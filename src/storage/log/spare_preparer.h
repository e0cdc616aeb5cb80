// A thread that makes the next segment of a log beside the one that uses it, in small synced pieces, so that the commit path
// never waits for a large fill. It tries again while the disk is full, and while the process has no free descriptor. An error
// of the file costs nothing, because it is empty: it is made again after a pause that doubles. Meanwhile the log does without
// it.
//
// Threads: ordered(), order() and taken() belong to the thread that uses the log.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/statusor.h"
#include "base/thread.h"
#include "coordkit/ports/file_system.h"

namespace coordkit::storage {

// A segment's number and bytes.
struct Spare {
  uint32_t number = 0;
  uint64_t capacity = 0;
};

class SparePreparer {
 public:
  // Called from this thread. `made` gets each spare that is ready, or once why no more will come (the directory failed).
  // `waits`: there is no room. `fails`: the file has an error. Neither of these two is called after stop().
  struct Reports {
    std::function<void(absl::StatusOr<Spare>)> made;
    std::function<void()> waits;
    std::function<void(const absl::Status&)> fails;
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
  enum class Made : uint8_t { Whole, Stopped, DirectoryFailed, Failed };
  Made make(const Spare& spare, absl::Status& why);

  std::unique_ptr<FileSystem> files_;
  Reports reports_;
  std::chrono::milliseconds pause_{};  // of the thread: before the next attempt
  Thread thread_;
  bool ordered_ = false;
  std::mutex mutex_;  // guards the next two
  std::optional<Spare> order_;
  bool stop_ = false;
  std::condition_variable wakes_;
};

}  // namespace coordkit::storage
