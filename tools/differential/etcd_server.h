// A real etcd of one member, on loopback, with its data in a temporary folder; removed with this object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/support/etcd.h"

namespace coordkit::differential {

class EtcdServer {
 public:
  // Throws std::runtime_error with the reason when it does not start.
  explicit EtcdServer(const std::string& program);
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;
  uint16_t port() const { return port_; }  // of its JSON gateway

 private:
  std::filesystem::path folder_;
  std::optional<support::EtcdMembers> member_;
  uint16_t port_ = 0;
};

}  // namespace coordkit::differential
