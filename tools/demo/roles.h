// The three kinds of process of the demo, all of this one program.
//
//   the story      starts the others, directs them, listens, and checks what they report (story.cc)
//   a node (x3)    a service that links coordkit: one replica, one worker that wants the lock (node.cc)
//   the resource   what the lock protects: rows that it accepts only with a token not older than the newest seen (resource.cc)
//
// Nodes and resource print one JSON object a line: "event", "at" (CLOCK_MONOTONIC_RAW in nanoseconds) and further fields.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace coordkit::demo {

// Session TTL of the workers: the longest the lock can stay with a holder that went silent.
inline constexpr int kTtlMs = 1500;

struct NodeOptions {
  int id = 0;
  std::vector<std::string> addresses;  // of members 1, 2, 3
  std::string data_dir;
  uint16_t resource_port = 0;
};

// `keep`: when the story is over its processes continue for an hour, for `coordctl --socket`.
int run_story(const std::filesystem::path& out, bool keep);
int run_node(const NodeOptions& options);
int run_resource(const std::string& gate_file);

}  // namespace coordkit::demo
