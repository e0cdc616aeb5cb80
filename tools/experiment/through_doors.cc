#include "tools/experiment/through_doors.h"

#include <utility>

#include "coordkit/transport/tcp_transport.h"

namespace coordkit::experiment {
namespace {

class ThroughDoors final : public Transport {
 public:
  ThroughDoors(TcpOptions options, std::vector<std::string> doors) : tcp_(std::move(options)), doors_(std::move(doors)) {}

  absl::Status bind() { return tcp_.bind(); }
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    return tcp_.start(std::move(self), at_doors(std::move(peers)), sink);
  }
  void set_cluster(ClusterId cluster) override { tcp_.set_cluster(cluster); }
  void set_peers(std::vector<Peer> peers) override { tcp_.set_peers(at_doors(std::move(peers))); }
  void send(ReplicaId to, std::vector<Frame> frames) override { tcp_.send(to, std::move(frames)); }
  void close() override { tcp_.close(); }

 private:
  std::vector<Peer> at_doors(std::vector<Peer> peers) const {
    for (Peer& peer : peers) peer.address = doors_.at(peer.id.value() - 1);
    return peers;
  }

  TcpTransport tcp_;
  const std::vector<std::string> doors_;
};

}  // namespace

PartFactory<Transport> through_doors(std::vector<std::string> doors) {
  return [doors = std::move(doors)](const PartContext& part) -> absl::StatusOr<std::unique_ptr<Transport>> {
    auto made = std::make_unique<ThroughDoors>(TcpOptions{.listen = part.address}, doors);
    if (absl::Status status = made->bind(); !status.ok()) return status;
    return made;
  };
}

}  // namespace coordkit::experiment
