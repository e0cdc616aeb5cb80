// A program without a replica: coordkit::remote and nothing else of coordkit. Nobody listens at its gateway's address.
#include <coordkit/remote.h>

#include <chrono>
#include <cstdio>
#include <string>

int main() {
  auto remote = coordkit::Remote::open({.cluster = "parts",
                                        .gateways = {"127.0.0.1:1"},
                                        .security = coordkit::PlainText{},
                                        .silence = std::chrono::milliseconds(50)});
  if (!remote.ok()) {
    std::puts(std::string(remote.status().message()).c_str());
    return 1;
  }
  const absl::Status ready = (*remote)->wait_ready(std::chrono::milliseconds(100));
  std::printf("%s: %s\n", ready.ok() ? "a gateway" : "no gateway", std::string(ready.message()).c_str());
  return ready.ok() ? 1 : 0;
}
