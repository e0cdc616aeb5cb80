// Three etcd processes on loopback with their data on disk and default settings; removed with this object.
#pragma once

#include <filesystem>
#include <string>

#include "tools/support/etcd.h"

namespace coordkit::bench {

class EtcdCluster {
 public:
  // Returns when one of them leads. Throws std::runtime_error with a sentence.
  EtcdCluster(const std::string& program, const std::filesystem::path& data);

  std::string leader() const;  // its address; empty: none at the moment

 private:
  support::EtcdMembers members_;
};

}  // namespace coordkit::bench
