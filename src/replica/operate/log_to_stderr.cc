#include "coordkit/operate/log_to_stderr.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>

#include "storage/file_size_signal.h"

namespace coordkit {
namespace {

// 2026-03-01 12:00:00.123, in UTC. For people who read a log: nothing that coordkit decides depends on it.
std::string time_of_day() {
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto since = std::chrono::duration_cast<milliseconds>(now.time_since_epoch()).count();
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  const std::string fraction = std::to_string(1000 + since % 1000);
  return std::string(text, size) + "." + fraction.substr(1);
}

// One write, so that lines stay whole; a log that cannot be written is no reason to stop.
void print(const std::string& line) {
  const storage::FileSizeSignalHeld held;
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t now = ::write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return;
    done += static_cast<size_t>(now);
  }
}

}  // namespace

OnReplicaEvent log_to_stderr(Severity least) {
  return [least](const ReplicaEvent& event) {
    if (event.severity >= least) print(time_of_day() + " " + to_string(event) + "\n");
  };
}

}  // namespace coordkit
