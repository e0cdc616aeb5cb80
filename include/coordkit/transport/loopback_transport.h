// Transports of one process, connected by a hub: for tests, examples and several replicas in one
// program. The hub's own thread delivers frames in order within a lane, control frames first. A
// drop hook simulates a bad network.
//
// Threads: everything is thread-safe. A sink may send from inside received().
// Lifetime: the hub outlives its transports.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/export.h"
#include "coordkit/ports/transport.h"

namespace COORDKIT_EXPORT coordkit {

// Connects the LoopbackTransports that were made with it.
class LoopbackHub {
 public:
  // True: the frame is lost. Called by send(), before queueing, from the sender's thread.
  using DropHook = std::function<bool(ReplicaId from, ReplicaId to, const Frame& frame)>;
  // Limits of one hub. Each receiver has queues of its own.
  struct Options {
    // Limits on what waits for one receiver. If it is full, the oldest frame of the lane is
    // dropped. At least one frame is always accepted.
    size_t control_frames_max = 4096;
    // Each of these limits one lane, as above.
    size_t control_bytes_max = 4 << 20;
    size_t bulk_frames_max = 16384;
    size_t bulk_bytes_max = 64 << 20;
  };

  LoopbackHub() : LoopbackHub(Options{}) {}
  // Starts the hub's thread.
  explicit LoopbackHub(Options options);
  ~LoopbackHub();
  LoopbackHub(const LoopbackHub&) = delete;
  LoopbackHub& operator=(const LoopbackHub&) = delete;

  void set_drop_hook(DropHook hook);  // empty: drop nothing

  class Impl;

 private:
  friend class LoopbackTransport;
  std::unique_ptr<Impl> impl_;
};

// Two transports of a hub see each other when both are started, name the same cluster, and at least
// one of them lists the other as a peer. Addresses mean nothing. A transport that lists another
// one, and does not see it because of its cluster, gets peer_refused. A later transport of the same
// replica id replaces the earlier one, unless it is an older boot of the same store.
class LoopbackTransport final : public Transport {
 public:
  // `hub` outlives it.
  explicit LoopbackTransport(LoopbackHub& hub);
  ~LoopbackTransport() override;

  // kInvalidArgument: no id or no cluster name. kFailedPrecondition: started or closed before, or a
  // later boot is connected.
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override;
  void set_cluster(ClusterId cluster) override;
  // A peer that neither end lists is disconnected after the frames that wait for it.
  void set_peers(std::vector<Peer> peers) override;
  void send(ReplicaId to, std::vector<Frame> frames) override;
  void close() override;

  struct Endpoint;

 private:
  LoopbackHub::Impl& hub_;
  const std::shared_ptr<Endpoint> endpoint_;
};

}  // namespace coordkit
