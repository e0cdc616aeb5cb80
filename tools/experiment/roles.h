// The kinds of process of the experiments, all of this one program. In lost-update:
//
//   the conductor   starts the others, stops one of them every few seconds (SIGSTOP), resumes it, and counts at the end
//   a node (x3)     a service that links coordkit: a replica, and a worker that adds one to a counter under the lock
//   the counter     a file with one number, with a fence gate or without; answers over TCP on loopback
//
// In strangers the same nodes and counter are attacked by threads of the conductor, and no node is stopped (strangers.cc).
//
// Nodes and counter print one JSON object a line: "event", "at" and further fields.
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

// The barriers between a paused holder and the counter. With neither, updates are lost.
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
  bool reports = false;  // its health, twice a second
  std::chrono::milliseconds section{kSectionMax};
  std::string secret;                 // empty: PlainText
  std::string remotes;                // where it listens for remotes; empty: nowhere
  std::vector<std::string> gateways;  // not empty: it has a remote and no replica
  std::string remotes_secret;         // empty: PlainText
};

struct LostUpdateOptions {
  double seconds = 60;
  uint64_t seed = 1;
  Protection protection;
  bool json = false;
  std::filesystem::path out = "out";
};

struct StrangersOptions {
  double seconds = 60;
  uint64_t seed = 1;
  bool secret = false;  // the replicas share one
  bool json = false;
  std::filesystem::path out = "out";
};

// spoiled-files: the files of one member of three are spoiled again and again (spoiled_files.cc).
struct SpoiledNodeOptions {
  int id = 0;
  std::vector<std::string> addresses;  // of members 1, 2, 3
  std::string data_dir;
};

struct SpoiledFilesOptions {
  uint64_t runs = 1000;    // on a stopped member
  uint64_t running = 200;  // on a running one
  uint64_t seed = 1;
  bool json = false;
  std::filesystem::path out = "out";
};

// history: what the callers of three members saw while these were killed, stopped and asked to hand leadership over, put
// before a checker (history.cc).
struct HistoryNodeOptions {
  int id = 0;
  int life = 1;  // how often it was started
  uint64_t seed = 1;
  std::vector<std::string> addresses;  // of members 1, 2, 3
  std::string data_dir;
  std::string listen;                 // empty: its own address
  std::string remotes;                // where it listens for remotes; empty: nowhere
  std::vector<std::string> gateways;  // not empty: it has a remote and no replica
  std::vector<std::string> doors;     // to members 1, 2, 3 (wires.h); empty: their addresses
  std::string file;                   // what its callers see
  bool check = true;                  // holders ask valid() before they say that they are inside
};

struct HistoryOptions {
  double seconds = 60;
  uint64_t seed = 1;
  bool check = true;
  bool beyond = false;   // also faults beyond the fault model (beyond.h)
  uint64_t remotes = 2;  // processes without a replica among the callers; none with `beyond`
  bool json = false;
  std::filesystem::path out = "out";
};

// soak: members at work with things of every kind, and what they hold when they rest (soak.cc).
inline constexpr int kSoakCallers = 4;  // of each member

struct SoakNodeOptions {
  int id = 0;
  uint64_t seed = 1;
  std::vector<std::string> addresses;  // of members 1, 2, 3
  std::string data_dir;
  std::string remotes;                // where it listens for remotes; empty: nowhere
  std::vector<std::string> gateways;  // not empty: it has a remote and no replica
  bool careless = false;              // callers forget what they made, and keep what it was for
};

struct SoakOptions {
  double seconds = 120;
  uint64_t seed = 1;
  uint64_t remotes = 1;  // processes without a replica among the callers
  bool careless = false;
  bool json = false;
  std::filesystem::path out = "out";
};

// remotes: very many processes without a replica, as objects of a few processes, and three members that serve them (crowd.cc).
struct CrowdMemberOptions {
  int id = 0;
  std::vector<std::string> addresses;  // of members 1, 2, 3
  std::string data_dir;
  std::string remotes;  // where it listens for remotes
  uint64_t remotes_max = 1024;
};

struct CrowdProcessOptions {
  uint64_t first = 1;  // the number of its first remote
  uint64_t remotes = 100;
  uint64_t sessions = 10;             // of each remote
  uint64_t puts = 50;                 // a second, of all its remotes
  std::vector<std::string> gateways;  // of members 1, 2, 3
  std::string file;                   // what its remotes see
};

struct CrowdOptions {
  uint64_t remotes = 1000;
  uint64_t processes = 10;  // of the remotes
  uint64_t sessions = 10;   // of each remote
  uint64_t kills = 20;      // of a gateway
  uint64_t watches = 10'000;
  uint64_t puts = 500;  // a second, of all remotes
  double seconds = 20;  // of each measurement at rest
  bool json = false;
  std::filesystem::path out = "out";
};

// catch-up and restart: members that write values to keys, as many and as fast as asked (load_node.cc).
struct LoadNodeOptions {
  int id = 0;
  std::vector<std::string> addresses;  // of members 1, 2, ...
  std::string data_dir;
  uint64_t log_retained_mb = 64;  // in 2^20 bytes
};

struct CatchUpOptions {
  double seconds = 60;       // for which a follower is stopped
  double limit = 600;        // in seconds, for catching up
  uint64_t state_mb = 1000;  // of values, in 10^6 bytes
  uint64_t rate_mb = 30;     // of values written in a second
  uint64_t value_bytes = 16384;
  bool json = false;
  std::filesystem::path out = "out";
};

struct RestartOptions {
  uint64_t state_mb = 1000;
  uint64_t value_bytes = 4096;
  uint64_t log_mb = 64;  // of log that is kept behind the checkpoint
  bool json = false;
  std::filesystem::path out = "out";
};

int run_load_node(const LoadNodeOptions& options);
int run_catch_up(const CatchUpOptions& options);
int run_restart(const RestartOptions& options);

int run_history(const HistoryOptions& options);
int run_history_node(const HistoryNodeOptions& options);

int run_remotes(const CrowdOptions& options);
int run_crowd_member(const CrowdMemberOptions& options);
int run_crowd_process(const CrowdProcessOptions& options);

int run_soak(const SoakOptions& options);
int run_soak_node(const SoakNodeOptions& options);

int run_spoiled_files(const SpoiledFilesOptions& options);
int run_spoiled_node(const SpoiledNodeOptions& options);

int run_lost_update(const LostUpdateOptions& options);
int run_strangers(const StrangersOptions& options);
int run_node(const NodeOptions& options);
int run_counter(const std::filesystem::path& directory, bool gate);

}  // namespace coordkit::experiment
