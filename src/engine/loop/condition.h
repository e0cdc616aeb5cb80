// Whether this replica accepts calls: what it has become (removed, in quarantine, halted), and which limits it enforces. The
// sentence of a refusal is composed here, once.
#pragma once

#include <string>

#include "coordkit/engine/engine.h"

namespace coordkit::engine {

// Calls in progress, commands and questions together, so that memory is bounded whatever the callers do.
struct Load {
  size_t requests = 0;
  size_t bytes = 0;
  friend Load operator+(const Load& a, const Load& b) { return {a.requests + b.requests, a.bytes + b.bytes}; }
};

class Condition {
 public:
  explicit Condition(const EngineOptions& options) : options_(options) {}

  void halt(std::string reason);
  void quarantine(std::string reason);
  // The same as long as there is a reason: until it is empty.
  void stand_aside(std::string reason);
  void set_removed(bool removed) { removed_ = removed; }
  void set_log_space(LogSpace space) { log_space_ = space; }
  void set_log_waits(const absl::Status& why);
  void set_spare_fails(const absl::Status& why);
  // The message of a replica in quarantine to its peers.
  SteppedAside stepped_aside() const { return {reason_.substr(0, kSteppedAsideBytesMax)}; }
  bool halted() const { return halted_; }
  bool quarantined() const { return quarantined_; }
  bool removed() const { return removed_; }
  const std::string& reason() const { return reason_; }

  // OK: the call is accepted. `uninvited`: why this replica has no cluster and will get none; null: it has, or may.
  absl::Status refusal(Urgency urgency, size_t bytes, const Load& load, const std::string* uninvited) const;
  // The same for commands. `holds_back`: as reported by the core.
  absl::Status refusal_of_command(Urgency urgency, bool holds_back) const;
  void warnings(bool holds_back, std::vector<std::string>& out) const;

 private:
  absl::Status refusal_of_state(const std::string* uninvited) const;

  const EngineOptions& options_;
  bool halted_ = false;
  bool quarantined_ = false;
  bool removed_ = false;
  std::string reason_;
  LogSpace log_space_ = LogSpace::Ample;
  std::string log_waits_;    // empty: it does not, or for room
  std::string spare_fails_;  // empty: it does not
};

// Every machine that a call names must be hosted here.
absl::Status not_hosted();

}  // namespace coordkit::engine
