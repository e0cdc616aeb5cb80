// Empty segments that are kept ready for the time when the one in use is full. The caller makes them at leisure, compaction
// frees them, or they are made on the spot where none is ready.
//
// A spare holds nothing, so an error of one costs only that one. It is dropped, and take_failure() says why.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/ports/file_system.h"
#include "log/log_options.h"

namespace coordkit::log {

class SpareSegments {
 public:
  struct Open {
    uint32_t number = 0;
    uint64_t capacity = 0;
    std::unique_ptr<File> file;  // null: no spare can hold so much
  };

  SpareSegments(FileSystem& files, const LogOptions& options) : files_(files), options_(options) {}

  // Spares and segments share their numbers, and no number is used twice.
  void number_from(uint32_t number) { next_number_ = number; }
  uint32_t take_number();

  bool wanted() const { return spares_.size() < options_.spares; }
  uint64_t bytes() const;
  void add(uint32_t number, uint64_t capacity) { spares_.push_back({number, capacity}); }
  // A segment that is no longer needed becomes another spare, or is removed. If neither succeeds, it stays until the next open.
  void retire(uint32_t segment, uint64_t capacity);

  // Opens the first spare that can hold so much. It stays a spare until forget(). kResourceExhausted: no descriptor is free.
  absl::StatusOr<Open> open(uint64_t bytes);
  void forget(uint32_t number);
  // Forgets a spare that cannot be used, and removes it.
  void drop(uint32_t number, absl::Status why);
  // Makes one more that can hold so much, on the spot. kResourceExhausted: there is no space. kUnavailable: the disk returned
  // an error. In both cases the caller may retry. Any other error is one of the directory.
  absl::Status make(uint64_t bytes);

  // Attempts to find a file for the next segment, one after the other, that failed.
  int one_more_try() { return ++tries_; }
  void tries_over() { tries_ = 0; }
  uint64_t segment_bytes() const { return options_.segment_bytes; }
  // Why a spare was dropped since the last call. OK: none was dropped.
  absl::Status take_failure() { return std::exchange(failure_, absl::OkStatus()); }

 private:
  struct Spare {
    uint32_t number = 0;
    uint64_t capacity = 0;
  };
  absl::StatusOr<std::unique_ptr<File>> open_file(const Spare& spare);

  FileSystem& files_;
  const LogOptions& options_;
  std::vector<Spare> spares_;
  uint32_t next_number_ = 1;
  int tries_ = 0;
  absl::Status failure_;
};

// Turns an error of a file that holds nothing yet into one that the caller may retry.
absl::Status until_it_passes(const absl::Status& why);

}  // namespace coordkit::log
