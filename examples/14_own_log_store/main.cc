// Your own log store: three replicas whose logs are SQLite databases take a lock in turn, and one of them is closed and
// restarted from what its database holds. The store is sqlite_log_store.h.
//
//   14_own_log_store    three replicas in this process, in a temporary directory
#include <coordkit/coordkit.h>
#include <coordkit/ports/parts.h>
#include <coordkit/storage/data_directory.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "sqlite_log_store.h"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::string address_of(uint64_t id) { return "127.0.0.1:" + std::to_string(20'000 + getpid() % 3'000 * 4 + id); }

absl::StatusOr<std::unique_ptr<coordkit::Replica>> open(const fs::path& directory, uint64_t id) {
  return coordkit::Replica::open({
      .id = id,
      .cluster = "bank",
      .data_dir = directory / std::to_string(id),
      .members = {{1, address_of(1)}, {2, address_of(2)}, {3, address_of(3)}},
      .security = coordkit::PlainText{},
      .parts = {.log_store = [](const coordkit::PartContext& part) -> absl::StatusOr<std::unique_ptr<coordkit::LogStore>> {
        return std::make_unique<example::SqliteLogStore>(part.directory()->log_path() + "/log.db");
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
    if (turn == 3) {  // every replica had its turn: the third one restarts, from its database
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
  std::string name = fs::temp_directory_path() / "14_own_log_store-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const absl::Status status = run(directory);
  fs::remove_all(directory);
  if (!status.ok()) std::cerr << "14_own_log_store: " << status << "\n";
  return status.ok() ? 0 : 1;
}
