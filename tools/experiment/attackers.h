// The attacks of the strangers experiment, each in a thread of its own, repeated until stopped. None of them
// knows more than anyone who can dial the replicas and has read the description of the protocol.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace coordkit::experiment {

class Attackers {
 public:
  Attackers(std::string cluster, std::vector<uint16_t> ports, uint64_t seed);
  ~Attackers() { stop(); }

  void start();
  void stop();
  // How often each attack was made, by its name.
  std::map<std::string, uint64_t> counts() const;

 private:
  class Attack;
  void count(const std::string& attack);

  const std::string cluster_;
  const std::vector<uint16_t> ports_;  // of members 1, 2, 3
  const uint64_t seed_;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
};

}  // namespace coordkit::experiment
