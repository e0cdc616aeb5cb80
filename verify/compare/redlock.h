// Redlock: five servers that know nothing of each other. Each has the key for the TTL by its own time of day
// (docs/comparison.md has the address of the rules).
//
// The client notes its clock and asks all five at once. If a majority said yes in time, it holds the lock from then on for
// TTL - elapsed - drift. The drift is 1 % of the TTL and 2 ms for the servers' precision. If not, it releases everything and
// retries after a random pause. Its own clock is monotonic, although the recipe does not ask for that.
#pragma once

#include <optional>
#include <vector>

#include "compare/scene.h"

namespace coordkit::sim::compare {

class RedisNode {
 public:
  RedisNode(Scene& scene, uint32_t machine) : scene_(scene), machine_(machine) {}
  bool set_if_absent(uint64_t value, Duration ttl);
  void remove_if(uint64_t value);

 private:
  Duration time_of_day() const { return scene_.time_of_day(machine_); }

  Scene& scene_;
  const uint32_t machine_;
  uint64_t value_ = 0;  // zero: no key
  Duration expires_{};
};

class Redlock final : public LockEnd {
 public:
  Redlock(Scene& scene, std::vector<RedisNode>& nodes, Duration ttl, uint32_t machine)
      : scene_(scene), nodes_(nodes), ttl_(ttl), machine_(machine) {}

  void acquire(std::function<void()> granted) override;
  bool holds() const override { return held_ && scene_.reading(machine_) < valid_until_; }
  Token token() const override { return {}; }
  void release() override;

 private:
  void attempt();
  void answered(uint64_t value, bool yes);
  void decide();
  void take_back();

  Scene& scene_;
  std::vector<RedisNode>& nodes_;
  const Duration ttl_;
  const uint32_t machine_;
  uint64_t attempts_ = 0;
  uint64_t value_ = 0;  // of the current attempt, or of the hold; unique
  uint64_t answers_ = 0;
  uint64_t yes_ = 0;
  bool undecided_ = false;
  LeadingTime began_;
  LeadingTime valid_until_;
  bool held_ = false;
  std::function<void()> granted_;
};

}  // namespace coordkit::sim::compare
