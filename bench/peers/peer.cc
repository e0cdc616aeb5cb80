#include "bench/peers/peer.h"

#include <algorithm>
#include <stdexcept>

#include "bench/etcd/etcd_load.h"
#include "bench/redis/redlock.h"
#include "bench/skeleton/skeleton.h"
#include "bench/zookeeper/zookeeper_load.h"

namespace coordkit::bench {
namespace {

using RunPeer = decltype(Peer::run);
using RunProgram = nlohmann::ordered_json (*)(const std::string& program, const std::filesystem::path& data,
                                              const LoadOptions& load);

RunPeer with(const std::string& program, const std::string& package, RunProgram run) {
  return [program, package, run](const std::filesystem::path& data, const LoadOptions& load) {
    if (program.empty()) throw std::runtime_error("the package " + package + " is not at hand");
    return run(program, data, load);
  };
}

std::vector<Peer> all_peers(const PeerPrograms& programs) {
  return {{.name = "skeleton", .where = "embedded", .kinds = {"lock", "handoff"}, .run = skeleton::run},
          {.name = "etcd",
           .where = "client",
           .kinds = {"lock", "put", "txn", "read", "local", "renewals"},
           .paced = true,
           .run = with(programs.etcd, "etcd-server", run_etcd)},
          {.name = "redlock",
           .where = "client",
           .kinds = {"lock"},
           .run = with(programs.redis_server, "redis-server", redis::run_redlock)},
          {.name = "zookeeper",
           .where = "client",
           .kinds = {"lock"},
           .run = with(programs.zookeeper, "libzookeeper-java", zookeeper::run_lock)},
          {.name = "zookeeper-lean",
           .where = "client",
           .kinds = {"lock"},
           .run = with(programs.zookeeper, "libzookeeper-java", zookeeper::run_lean_lock)}};
}

}  // namespace

bool Peer::can(std::string_view kind) const { return std::ranges::find(kinds, kind) != kinds.end(); }

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  for (const Peer& peer : all_peers({})) names.push_back(peer.name);
  return names;
}

Peer peer_of(const std::string& name, const PeerPrograms& programs) {
  for (Peer& peer : all_peers(programs)) {
    if (peer.name == name) return std::move(peer);
  }
  throw std::out_of_range("no peer is called " + name);
}

}  // namespace coordkit::bench
