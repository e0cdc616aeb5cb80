#include "bench/zookeeper/zookeeper_cluster.h"

#include <array>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "bench/peers/socket.h"
#include "tools/support/loopback.h"

namespace coordkit::bench::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr size_t kServers = 3;
constexpr auto kStartLimit = 60s;

std::string port_of(const std::string& address) { return address.substr(address.rfind(':') + 1); }

// "leader", "follower", or what else it says of itself; empty: nothing yet.
std::string mode_of(const std::string& address) {
  const support::Descriptor connection = connect_to(address);
  send_all(connection.get(), "srvr");
  std::string reply;
  std::array<char, 4096> buffer{};
  while (const size_t got = receive_some(connection.get(), buffer)) reply.append(buffer.data(), got);
  constexpr std::string_view kBefore = "Mode: ";
  const size_t at = reply.find(kBefore);
  if (at == std::string::npos) return {};
  const size_t from = at + kBefore.size();
  return reply.substr(from, reply.find('\n', from) - from);
}

}  // namespace

Cluster::Cluster(const std::string& jars, const std::filesystem::path& data) {
  std::vector<std::string> between = support::free_loopback_addresses(3 * kServers);
  clients_.assign(between.end() - kServers, between.end());
  between.resize(2 * kServers);
  start(jars, data, between);
  await();
}

void Cluster::start(const std::string& jars, const std::filesystem::path& data, const std::vector<std::string>& between) {
  std::string members;
  for (size_t i = 0; i < kServers; ++i) {
    members += "server." + std::to_string(i) + "=" + between[i] + ":" + port_of(between[kServers + i]) + "\n";
  }
  for (size_t i = 0; i < kServers; ++i) {
    const std::filesystem::path folder = data / std::to_string(i);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "myid") << i << "\n";
    const std::filesystem::path settings = folder / "settings";
    std::ofstream(settings) << "tickTime=2000\ninitLimit=10\nsyncLimit=5\ndataDir="
                            << std::filesystem::absolute(folder).string() << "\nclientPort=" << port_of(clients_[i])
                            << "\nclientPortAddress=127.0.0.1\nmaxClientCnxns=1000\nadmin.enableServer=false\n"
                               "4lw.commands.whitelist=srvr\n"
                            << members;
    servers_.push_back(support::Child::start_program(
        "java", {"-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                 "-Dorg.slf4j.simpleLogger.logFile=" + (folder / "log").string(), "-Dzookeeper.jmx.log4j.disable=true", "-cp",
                 jars, "org.apache.zookeeper.server.quorum.QuorumPeerMain", settings}));
  }
}

void Cluster::await() {
  const support::Deadline deadline = support::in(kStartLimit);
  while (true) {
    size_t follow = 0;
    for (const std::string& address : clients_) {
      const std::string mode = mode_of(address);
      if (mode == "leader") leader_ = address;
      if (mode == "follower") ++follow;
    }
    if (!leader_.empty() && follow == kServers - 1) return;
    for (support::Child& server : servers_) {
      if (server.wait(support::in(30ms))) throw std::runtime_error("a server of zookeeper ended: is there a java?");
    }
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("zookeeper has no leader after a minute");
  }
}

}  // namespace coordkit::bench::zookeeper
