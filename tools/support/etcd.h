// Processes of etcd on loopback that form one cluster; stopped with this object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/support/child.h"

namespace coordkit::support {

class EtcdMembers {
 public:
  // With etcd's defaults, but silent, and with `options` for each. The data lies below `data`.
  EtcdMembers(const std::string& program, size_t count, const std::filesystem::path& data,
              const std::vector<std::string>& options = {});

  const std::vector<std::string>& addresses() const { return addresses_; }  // for clients, "127.0.0.1:port"
  // Waits until `ready` returns true. Throws std::runtime_error with the reason: one of them ended, or it took a minute.
  void await(const std::function<bool()>& ready);

 private:
  std::string program_;
  std::vector<std::string> addresses_;
  std::vector<Child> members_;
};

}  // namespace coordkit::support
