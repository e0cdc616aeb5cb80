// The kinds of process of the lost-update experiment, all of this one program.
//
//   the conductor   starts the others, stops one of them every few seconds (SIGSTOP), lets it go on, and counts at the end
//   a node (x3)     a service that links coordkit: a replica, and a worker that adds one to a counter under the lock
//   the counter     a file with one number, behind a fence gate or not; answers over TCP on loopback
//
// Nodes and counter print one JSON object a line: "event", "at" and what belongs to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace coordkit::experiment {

inline constexpr int kNodes = 3;
inline constexpr std::chrono::milliseconds kTtl{2000};
inline constexpr std::chrono::milliseconds kSectionMax{2000};  // of the work between reading the counter and writing it

// What stands between a paused holder and the counter. With neither, updates are lost.
struct Protection {
  bool gate = true;   // the counter refuses older tokens
  bool check = true;  // the holder asks valid() before it writes
};

struct NodeOptions {
  int id = 0;
  std::vector<std::string> addresses;  // of members 1, 2, 3
  std::string data_dir;
  uint16_t counter_port = 0;
  bool check = true;
};

struct LostUpdateOptions {
  double seconds = 60;
  uint64_t seed = 1;
  Protection protection;
  bool json = false;
  std::filesystem::path out = "out";
};

int run_lost_update(const LostUpdateOptions& options);
int run_node(const NodeOptions& options);
int run_counter(const std::filesystem::path& directory, bool gate);

}  // namespace coordkit::experiment
