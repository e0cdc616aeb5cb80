// How the processes of the demo and of the experiments tell their parent what happened: whole JSON lines on standard output,
// from any thread.
#pragma once

#include <unistd.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/support/child.h"

namespace coordkit::support {

class Reporter {
 public:
  void operator()(const char* event, nlohmann::json more = nlohmann::json::object()) {
    at(machine_time_ns(), event, std::move(more));
  }
  void at(int64_t when_ns, const char* event, nlohmann::json more = nlohmann::json::object()) {
    more["event"] = event;
    more["at"] = when_ns;
    const std::string line = more.dump() + "\n";
    const std::lock_guard lock(mutex_);
    if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(1);  // no one listens any more
  }

 private:
  std::mutex mutex_;
};

}  // namespace coordkit::support
