// A folder among the temporary files, for this user alone. It goes with this object, and also when the process is interrupted
// meanwhile (SIGINT, SIGTERM, SIGHUP): a copy of a data directory is large and full of secrets.
//
// Threads: one of its own, which waits for these signals. Make it before others, which would take them.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"

namespace coordkit::coordctl {

class TemporaryFolder {
 public:
  static absl::StatusOr<std::unique_ptr<TemporaryFolder>> make();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  TemporaryFolder(std::string path, const sigset_t& before);
  void wait_for_signal(const std::stop_token& stop) const;
  void remove() const;

  const std::string path_;
  const sigset_t before_;  // the signals that were held back before
  std::jthread thread_;    // last: it uses the others
};

}  // namespace coordkit::coordctl
