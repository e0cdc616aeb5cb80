// Three replicas that serve remotes, for a program in another language: `replicas_for_remotes PROGRAM ARGUMENT...` runs it with
// COORDKIT_GATEWAYS, COORDKIT_CLUSTER and COORDKIT_SECRET in its environment, and ends as it ends.
#include <coordkit/coordkit.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tools/support/loopback.h"

extern char** environ;  // NOLINT: posix_spawn wants it

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr char kSecret[] = "openssl rand -hex 32 makes a better one";

int failed(const absl::Status& status) {
  std::cerr << "replicas_for_remotes: " << status << "\n";
  return 1;
}

// Of the members, and then of their listeners for remotes.
using Addresses = std::vector<std::string>;

absl::StatusOr<std::unique_ptr<coordkit::Replica>> open_replica(const fs::path& directory, const Addresses& at, size_t id) {
  coordkit::ReplicaOptions options{.id = id,
                                   .cluster = "sample",
                                   .data_dir = directory / std::to_string(id),
                                   .members = {{1, at[0]}, {2, at[1]}, {3, at[2]}},
                                   .security = coordkit::PlainText{}};
  options.remotes = {.listen = at[2 + id], .security = coordkit::SharedSecret{kSecret}};
  return coordkit::Replica::open(std::move(options));
}

int run_program(char** words) {
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, words[0], nullptr, nullptr, words, environ) != 0) return 127;
  if (waitpid(child, &status, 0) != child) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int run(const fs::path& directory, char** words) {
  const Addresses at = coordkit::support::free_loopback_addresses(6);
  std::vector<std::unique_ptr<coordkit::Replica>> replicas;
  for (size_t id = 1; id <= 3; ++id) {
    auto replica = open_replica(directory, at, id);
    if (!replica.ok()) return failed(replica.status());
    replicas.push_back(*std::move(replica));
  }
  if (absl::Status ready = replicas.front()->wait_ready(60s); !ready.ok()) return failed(ready);
  const std::string gateways = at[3] + "," + at[4] + "," + at[5];
  ::setenv("COORDKIT_GATEWAYS", gateways.c_str(), 1);
  ::setenv("COORDKIT_CLUSTER", "sample", 1);
  ::setenv("COORDKIT_SECRET", kSecret, 1);
  return run_program(words);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string pattern = fs::temp_directory_path() / "coordkit-remotes.XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return failed(absl::UnavailableError("no temporary directory"));
  const int result = run(pattern, argv + 1);
  std::error_code ignored;
  fs::remove_all(pattern, ignored);
  return result;
}
