// Three etcd processes on loopback with their data on disk and default settings; gone with this object.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/support/child.h"

namespace coordkit::bench {

class EtcdCluster {
 public:
  // Returns when one of them leads. Throws std::runtime_error with a sentence.
  EtcdCluster(const std::string& program, const std::filesystem::path& data);
  ~EtcdCluster();
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;

  std::string leader() const;  // its address; empty: none now

 private:
  std::vector<std::string> addresses_;  // for clients
  std::vector<support::Child> members_;
};

}  // namespace coordkit::bench
