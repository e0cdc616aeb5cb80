// The trace of the remotes of one process: all that they saw, line by line in a file. crowd_seen.h has the words, and reads it.
//
// Threads: any.
#pragma once

#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>

namespace coordkit::experiment {

class CrowdTrace {
 public:
  explicit CrowdTrace(const std::filesystem::path& path) : file_(path) {
    if (!file_) throw std::runtime_error("cannot make " + path.string());
  }

  template <typename... Words>
  void operator()(const Words&... words) {
    std::ostringstream line;
    ((line << words << ' '), ...);
    const std::lock_guard lock(mutex_);
    file_ << line.str() << '\n';
  }
  void flush() {
    const std::lock_guard lock(mutex_);
    file_.flush();
  }

 private:
  std::mutex mutex_;
  std::ofstream file_;
};

}  // namespace coordkit::experiment
