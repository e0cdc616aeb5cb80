// Your own transport: three replicas that talk through Unix domain sockets take a lock in turn, and one of them is closed
// and restarted. The transport is unix_transport.h. No port is opened, so coordkit's security is not needed.
//
//   15_own_transport    three replicas in this process, in a temporary directory
#include <coordkit/coordkit.h>
#include <coordkit/ports/parts.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "unix_transport.h"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<coordkit::Replica>> open(const fs::path& directory, uint64_t id) {
  const auto socket_of = [&](int n) { return (directory / ("socket-" + std::to_string(n))).string(); };
  return coordkit::Replica::open({
      .id = id,
      .cluster = "bank",
      .data_dir = directory / std::to_string(id),
      .members = {{1, socket_of(1)}, {2, socket_of(2)}, {3, socket_of(3)}},
      .parts = {.transport = [](const coordkit::PartContext& part) -> absl::StatusOr<std::unique_ptr<coordkit::Transport>> {
        return std::make_unique<example::UnixTransport>(part.address);
      }},
  });
}

// Returns the token, which is larger each time.
absl::StatusOr<coordkit::Token> take_turn(coordkit::Replica& replica, int id) {
  if (absl::Status ready = replica.wait_ready(60s); !ready.ok()) return ready;
  absl::StatusOr<coordkit::Session> session = replica.open_session();
  if (!session.ok()) return session.status();
  absl::StatusOr<coordkit::Grant> grant = session->acquire("till", {.timeout = 60s});
  if (!grant.ok()) return grant.status();
  std::cout << "replica " << id << " has the till, token " << grant->token() << std::endl;
  const coordkit::Token token = grant->token();
  if (absl::Status released = grant->release(); !released.ok()) return released;
  return token;
}

absl::Status run(const fs::path& directory) {
  std::unique_ptr<coordkit::Replica> replicas[3];
  for (uint64_t id = 1; id <= 3; ++id) {
    auto opened = open(directory, id);
    if (!opened.ok()) return opened.status();
    replicas[id - 1] = *std::move(opened);
  }
  coordkit::Token last;
  for (int turn = 0; turn < 6; ++turn) {
    if (turn == 3) {  // every replica had its turn: the third one restarts
      replicas[2].reset();
      auto again = open(directory, 3);
      if (!again.ok()) return again.status();
      replicas[2] = *std::move(again);
    }
    const absl::StatusOr<coordkit::Token> token = take_turn(*replicas[turn % 3], turn % 3 + 1);
    if (!token.ok()) return token.status();
    if (*token <= last) return absl::InternalError("a later grant has a smaller token");
    last = *token;
  }
  return absl::OkStatus();
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "15_own_transport-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const absl::Status status = run(directory);
  fs::remove_all(directory);
  if (!status.ok()) std::cerr << "15_own_transport: " << status << "\n";
  return status.ok() ? 0 : 1;
}
