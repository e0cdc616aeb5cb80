#include "tools/support/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include "tools/support/child.h"

namespace coordkit::support {
namespace {

constexpr uint32_t kFirst = 10'000;
constexpr uint32_t kCount = 22'000;  // up to 32'000; the kernel's own range begins at 32'768

bool is_free(uint32_t port) {
  const Descriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(probe.get(), 1) == 0;
}

}  // namespace

std::vector<std::string> free_loopback_addresses(size_t count) {
  static std::atomic<uint32_t> next{static_cast<uint32_t>(getpid()) * 16};
  std::vector<std::string> found;
  for (uint32_t tries = 0; found.size() < count; ++tries) {
    if (tries == kCount) throw std::runtime_error("no free port on 127.0.0.1");
    const uint32_t port = kFirst + next.fetch_add(1) % kCount;
    if (is_free(port)) found.push_back("127.0.0.1:" + std::to_string(port));
  }
  return found;
}

}  // namespace coordkit::support
