// One of three processes that share a lock. Start it with 1, 2 and 3, in three terminals or in the background.
#include <coordkit/coordkit.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

using namespace std::chrono_literals;

int fail(const absl::Status& status) {
  std::cerr << status.ToString() << std::endl;
  return 1;
}

int main(int argc, char** argv) {
  const std::string id = argc > 1 ? argv[1] : "1";
  const int port = argc > 2 ? std::atoi(argv[2]) : 7400;
  const auto address = [&](int n) { return "127.0.0.1:" + std::to_string(port + n); };

  auto replica = coordkit::Replica::open({.id = std::strtoull(id.c_str(), nullptr, 10),
                                          .cluster = "quick-start",
                                          .data_dir = "quick-start-" + id,
                                          .members = {{1, address(1)}, {2, address(2)}, {3, address(3)}},
                                          .security = coordkit::PlainText{}});
  if (!replica.ok()) return fail(replica.status());
  if (const absl::Status ready = (*replica)->wait_ready(60s); !ready.ok()) return fail(ready);
  auto session = (*replica)->open_session({.ttl = 2s});
  if (!session.ok()) return fail(session.status());

  while (true) {  // until it is killed: the other two continue
    auto printer = session->acquire("printer", {.timeout = 60s});
    if (!printer.ok()) return fail(printer.status());
    std::cout << "process " << id << " has the printer, token " << printer->token().value() << std::endl;
    std::this_thread::sleep_for(500ms);
  }  // the grant goes out of scope: released, and the next in line gets it
}
