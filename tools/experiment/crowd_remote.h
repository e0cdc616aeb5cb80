// One remote of the remotes experiment, with its sessions, its lock, its key and its watch of another one's key. Nothing of it
// blocks. All that it sees goes into the trace.
//
// Threads: one owner; the remote's own threads call back. Lifetime: the trace and the fan outlive it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "coordkit/keys/watch.h"
#include "coordkit/remote.h"
#include "tools/experiment/crowd_trace.h"

namespace coordkit::experiment {

// One key that very many watch: when the last watch was given a number. Threads: any.
class CrowdFan {
 public:
  void created() { ++created_; }
  void seen(uint64_t number, int64_t at_ns);
  uint64_t watching() const { return created_; }
  struct Count {
    uint64_t number = 0, watches = 0;
    int64_t last_ns = 0;
  };
  Count newest() const;

 private:
  std::atomic<uint64_t> created_{0};
  mutable std::mutex mutex_;
  Count newest_;
};

class CrowdRemote {
 public:
  CrowdRemote(uint64_t number, CrowdTrace& trace, CrowdFan& fan) : number_(number), trace_(trace), fan_(fan) {}

  absl::Status open(const std::vector<std::string>& gateways, std::shared_ptr<Executor> executor);
  Remote& remote() { return *remote_; }
  bool serving() const { return remote_->link().kind == LinkState::Kind::Serving; }

  void open_session();
  size_t sessions() const;        // that are open
  size_t valid_sessions() const;  // that may be trusted now
  void take_lock();               // and keeps it
  bool holds() const;             // it may be trusted now

  void watch_key_of(uint64_t remote);
  uint64_t seen() const { return seen_; }  // the newest version of that key
  void watch_fan(uint64_t watches);
  void put();  // the next number, unless the last one is not answered yet
  bool calling() const { return calling_; }

 private:
  static constexpr Duration kTtl = std::chrono::seconds(5);
  static constexpr Duration kCallMax = std::chrono::seconds(60);

  const uint64_t number_;
  CrowdTrace& trace_;
  CrowdFan& fan_;
  mutable std::mutex mutex_;  // over these two
  std::vector<Session> sessions_;
  Grant grant_;
  std::unique_ptr<Remote> remote_;
  std::vector<Watch> watches_;
  std::unique_ptr<std::stop_callback<std::function<void()>>> lost_;
  uint64_t puts_ = 0;
  std::atomic<uint64_t> seen_{0};
  std::atomic<bool> calling_{false};
};

// The key of a remote's numbers.
std::string crowd_key(uint64_t remote);
inline constexpr char kCrowdFanKey[] = "fan";

}  // namespace coordkit::experiment
