// Door 2: three replicas in one thread, in a loop of the program's own (loop.h). A lock, a key and a watch are tried, and then
// as many acquires and releases as the loop manages in a second.
//
//   07_own_loop [seconds]
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop.h"

namespace {

using namespace std::chrono_literals;
using namespace coordkit;

// Acquires and releases, again and again, until stopped.
struct Worker {
  Client& client;
  SessionRef session;
  std::string name;
  uint64_t cycles = 0;
  bool stopping = false;

  void begin() {
    client.acquire(session, name, {}, [this](absl::StatusOr<HoldRef> hold) {
      if (!hold.ok() || stopping) return;
      client.release(*hold, [this](const absl::Status& released) {
        if (released.ok()) ++cycles;
        if (!stopping) begin();
      });
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::chrono::seconds seconds(argc > 1 ? std::atoi(argv[1]) : 1);
  Loop loop;
  Client& first = loop.node(1).client();
  Client& second = loop.node(2).client();
  const auto ours = loop.wait_for<SessionRef>([&](auto done) { first.open_session({.ttl = 5s}, std::move(done)); });
  const auto theirs = loop.wait_for<SessionRef>([&](auto done) { second.open_session({.ttl = 5s}, std::move(done)); });

  const auto hold = loop.wait_for<HoldRef>([&](auto done) { first.acquire(ours, "billing", {}, std::move(done)); });
  std::cout << "replica 1 holds billing with token " << hold->token().value() << "\n";
  std::optional<Token> handed_over;
  second.acquire(theirs, "billing", {.wait = LockWait::timed(10s)}, [&](absl::StatusOr<HoldRef> next) {
    if (next.ok()) handed_over = (*next)->token();
  });
  first.release_later(hold);
  loop.until([&] { return handed_over.has_value(); });
  std::cout << "replica 2 holds it with token " << handed_over->value() << "\n";

  std::string seen;
  loop.node(3).client().watch({.key = "config/limit"}, [&](const WatchBatch& batch) {
    if (!batch.events.empty()) seen = batch.events.back().entry.value;
  });
  loop.wait_for<PutResult>([&](auto done) { first.put("config/limit", "17", std::move(done)); });
  loop.until([&] { return !seen.empty(); });
  std::cout << "replica 3 was told that config/limit is " << seen << "\n";

  const uint64_t leader = loop.node(1).engine().leadership().leader.value();
  Client& client = loop.node(leader).client();
  const auto session = loop.wait_for<SessionRef>([&](auto done) { client.open_session({.ttl = 5s}, std::move(done)); });
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 64; ++i) {
    workers.push_back(std::make_unique<Worker>(Worker{client, session, "work/" + std::to_string(i)}));
    workers.back()->begin();
  }
  const auto end = std::chrono::steady_clock::now() + seconds;
  loop.until([&] { return std::chrono::steady_clock::now() >= end; });
  uint64_t cycles = 0;
  for (const auto& worker : workers) {
    cycles += worker->cycles;
    worker->stopping = true;
  }
  std::cout << cycles / static_cast<uint64_t>(std::max<int64_t>(seconds.count(), 1))
            << " locks acquired and released per second\n";
  client.stop();
  return cycles > 0 ? 0 : 1;
}
