// The peer "zookeeper": its recipe for locks. An acquire makes an ephemeral sequential node and lists the children of the lock,
// a release deletes the node: two durable writes and a read. "zookeeper-lean" is the same with a client of our own.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cluster/load.h"

namespace coordkit::bench::zookeeper {

inline constexpr size_t kSessionsMax = 16;
inline constexpr int32_t kSessionTimeoutMs = 30'000;
inline constexpr double kWarmupMin = 10;  // seconds of load before anything is measured, or Java would still interpret
inline constexpr const char* kRoot = "/bench";

inline std::string lock_of(size_t caller) { return std::string(kRoot) + "/lock-" + std::to_string(caller); }

// The load lock: all callers on up to 16 sessions with the leader, through the client library that programs in C and C++ use
// (libzookeeper_mt: calls with callbacks, two threads for a session). As run_cluster(); `jars` is the class path.
nlohmann::ordered_json run_lock(const std::string& jars, const std::filesystem::path& data, const LoadOptions& load);

// The same from one thread that speaks the protocol itself (jute.h), and sends what many callers ask for at once: what remains
// if clients cost next to nothing.
nlohmann::ordered_json run_lean_lock(const std::string& jars, const std::filesystem::path& data, const LoadOptions& load);

}  // namespace coordkit::bench::zookeeper
