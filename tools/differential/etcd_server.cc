#include "tools/differential/etcd_server.h"

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "tools/differential/http.h"
#include "tools/support/loopback.h"

namespace coordkit::differential {
namespace {

using namespace std::chrono_literals;

std::filesystem::path temporary_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "coordkit-etcd.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder can be made at " + pattern);
  return pattern;
}

// What was written need not outlive this process, so the disk is not asked to sync.
std::vector<std::string> arguments_of(const std::string& folder, const std::string& clients, const std::string& peers) {
  return {"--name",
          "one",
          "--data-dir",
          folder,
          "--logger",
          "zap",
          "--log-level",
          "panic",
          "--unsafe-no-fsync",
          "--listen-client-urls",
          "http://" + clients,
          "--advertise-client-urls",
          "http://" + clients,
          "--listen-peer-urls",
          "http://" + peers,
          "--initial-advertise-peer-urls",
          "http://" + peers,
          "--initial-cluster",
          "one=http://" + peers};
}

bool answers(uint16_t port) {
  try {
    return HttpClient(port).post("/v3/kv/range", R"({"key":"YQ=="})").find("header") != std::string::npos;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

EtcdServer::EtcdServer(const std::string& program) : folder_(temporary_folder()) {
  const std::vector<std::string> addresses = support::free_loopback_addresses(2);
  port_ = static_cast<uint16_t>(std::stoul(addresses[0].substr(addresses[0].rfind(':') + 1)));
  child_ = support::Child::start_program(program, arguments_of(folder_.string(), addresses[0], addresses[1]));
  const support::Deadline deadline = support::in(30s);
  while (!answers(port_)) {
    if (const auto status = child_.wait(support::in(50ms))) {
      throw std::runtime_error(program + " ended with status " + std::to_string(*status));
    }
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(program + " does not answer");
  }
}

EtcdServer::~EtcdServer() {
  child_.kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace coordkit::differential
