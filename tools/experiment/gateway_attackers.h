// The attacks of the strangers experiment on the ports at which replicas listen for remotes, each in a thread of its own,
// repeated until stopped. Where remotes need no secret, an attacker is a remote like any other, and sends what none would.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace coordkit::experiment {

class GatewayAttackers {
 public:
  // The ports for members, and those for remotes, of the members 1, 2, 3.
  GatewayAttackers(std::string cluster, std::vector<uint16_t> members, std::vector<uint16_t> gateways, uint64_t seed);
  ~GatewayAttackers() { stop(); }

  void start();
  void stop();
  // How often each attack was made, by its name.
  std::map<std::string, uint64_t> counts() const;

 private:
  class Attack;
  void count(const std::string& attack);

  const std::string cluster_;
  const std::vector<uint16_t> members_, gateways_;
  const uint64_t seed_;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
};

}  // namespace coordkit::experiment
