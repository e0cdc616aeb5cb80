// Three servers of ZooKeeper on loopback with their data on disk, its logs synced (the default), and 1 GiB of heap each; gone
// with this object.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/support/child.h"

namespace coordkit::bench::zookeeper {

class Cluster {
 public:
  // Returns when one of them leads and the others follow. `jars`: the class path. Throws std::runtime_error with a sentence.
  Cluster(const std::string& jars, const std::filesystem::path& data);

  const std::string& leader() const { return leader_; }  // its address for clients

 private:
  void start(const std::string& jars, const std::filesystem::path& data, const std::vector<std::string>& between);
  void await();

  std::vector<std::string> clients_;  // addresses for them
  std::vector<support::Child> servers_;
  std::string leader_;
};

}  // namespace coordkit::bench::zookeeper
