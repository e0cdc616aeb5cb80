// The suite "grow": one replica under lock load becomes a cluster of three, of five, and of three again, while the load
// continues in the first replica's process. Every replica is a process of its own with its data on disk.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace coordkit::bench {

struct GrowOptions {
  size_t callers = 16;
  double seconds = 3;  // of the load between two changes
};

// Starts five processes on an empty folder, the first of which initializes a cluster alone; passes each line of the result to
// `line`: one for each stretch between two changes, one for each change. Throws std::runtime_error with a sentence: a process
// failed, or no answer came within the bounds. False: a change failed, or a call was refused although nothing had failed.
bool run_grow(const std::filesystem::path& data, const GrowOptions& options,
              const std::function<void(const nlohmann::ordered_json&)>& line);

struct GrowMemberOptions {
  uint64_t id = 0;
  std::vector<std::string> addresses;  // of all future replicas, by id
  std::string data_dir;
  GrowOptions load;  // of the first replica
};

// One of the processes. The first one drives the load and the changes and ends; the others wait to be added.
int run_grow_member(const GrowMemberOptions& options);

}  // namespace coordkit::bench
