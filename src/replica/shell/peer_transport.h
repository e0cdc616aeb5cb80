// The transport as the replica's own thread uses it: what a turn sends goes out as one batch for each peer. The built-in one
// has counters and certificates, which any other does without.
//
// Threads: the engine's, but reload_tls(), which is for any, and start(), close() and release(), for those that open and close.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/engine/engine.h"
#include "coordkit/ports/transport.h"
#include "coordkit/transport/tcp_transport.h"
#include "service/operate/meter.h"

namespace coordkit {

class PeerTransport {
 public:
  // `tcp`: the same transport, if it is the built-in one. `channels`: of it, if there are certificates.
  PeerTransport(std::unique_ptr<Transport> transport, TcpTransport* tcp, std::shared_ptr<SecureChannels> channels);

  absl::Status start(const Hello& self, std::vector<Peer> peers, TransportSink& sink);
  void set_cluster(ClusterId cluster) { transport_->set_cluster(cluster); }
  void set_peers(std::vector<Peer> peers) { transport_->set_peers(std::move(peers)); }
  void send(const std::vector<Outbound>& sends, Meter& meter);
  std::optional<TcpCounters> counters() const;
  std::vector<std::string> warnings() const { return tcp_ != nullptr ? tcp_->warnings() : std::vector<std::string>(); }
  absl::Status reload_tls();

  void close();    // nothing is reported any more; the counters stay
  void release();  // after the last turn: the port is free for the next replica

 private:
  void encode(const std::vector<Outbound>& sends, Meter& meter);

  std::unique_ptr<Transport> transport_;
  TcpTransport* tcp_;                        // null: another one, or closed
  std::optional<TcpCounters> tcp_counters_;  // as they were then
  const std::shared_ptr<SecureChannels> channels_;
  std::vector<std::pair<ReplicaId, std::vector<Frame>>> frames_;  // of the current turn
};

}  // namespace coordkit
