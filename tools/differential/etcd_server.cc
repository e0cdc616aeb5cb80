#include "tools/differential/etcd_server.h"

#include <cstdlib>
#include <stdexcept>

#include "tools/differential/http.h"

namespace coordkit::differential {
namespace {

std::filesystem::path temporary_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "coordkit-etcd.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder can be made at " + pattern);
  return pattern;
}

bool answers(uint16_t port) {
  try {
    return HttpClient(port).post("/v3/kv/range", R"({"key":"YQ=="})").find("header") != std::string::npos;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

// The data need not outlive this process, so the disk is not asked to sync.
EtcdServer::EtcdServer(const std::string& program)
    : folder_(temporary_folder()), member_(std::in_place, program, 1, folder_, std::vector<std::string>{"--unsafe-no-fsync"}) {
  const std::string& address = member_->addresses().front();
  port_ = static_cast<uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
  member_->await([this] { return answers(port_); });
}

EtcdServer::~EtcdServer() {
  member_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace coordkit::differential
