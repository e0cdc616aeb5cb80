#include "tools/support/lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace coordkit::support {

void LineReader::add(int from, int fd) { sources_[from] = {fd, {}}; }

void LineReader::read_from(int from, Source& source) {
  char bytes[65536];
  const ssize_t count = read(source.fd, bytes, sizeof bytes);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    if (!source.rest.empty()) lines_.push_back({from, std::move(source.rest)});
    lines_.push_back({from, {}, true});
    source.fd = -1;
    return;
  }
  source.rest.append(bytes, static_cast<size_t>(count));
  size_t start = 0;
  for (size_t end = 0; (end = source.rest.find('\n', start)) != std::string::npos; start = end + 1) {
    lines_.push_back({from, source.rest.substr(start, end - start)});
  }
  source.rest.erase(0, start);
}

std::optional<Line> LineReader::next(Deadline deadline) {
  while (lines_.empty()) {
    std::erase_if(sources_, [](const auto& one) { return one.second.fd < 0; });
    if (sources_.empty()) return std::nullopt;
    std::vector<pollfd> ready;
    for (const auto& [from, source] : sources_) ready.push_back({source.fd, POLLIN, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int count = poll(ready.data(), ready.size(), static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000)));
    if (count <= 0 && left.count() <= 0) return std::nullopt;
    auto at = ready.begin();
    for (auto& [from, source] : sources_) {
      if ((at++)->revents != 0) read_from(from, source);
    }
  }
  Line line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

}  // namespace coordkit::support
