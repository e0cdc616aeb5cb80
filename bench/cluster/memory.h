// What this process keeps in memory for each of many: kinds of measurement that are taken once, not in rounds.
//
//   session   a session and its lock (16-byte name) in the state of one replica
//   key       a key (12 bytes, value of 16) in the same
//   waiter    a caller that waits for a lock, in a process that is a cluster of one member
//   process   all that such a process allocates for each of its sessions with a lock, its share of the state included
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace coordkit::bench {

// Allocated bytes for each. Without what the log keeps for other members. Throws std::runtime_error with a sentence.
double memory_of(const std::string& kind, uint64_t count, const std::filesystem::path& data);

}  // namespace coordkit::bench
