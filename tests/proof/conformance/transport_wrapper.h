// A transport that passes everything on, both ways. A defect is what a derived class does differently.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/ports/transport.h"
#include "coordkit/testing/transport_fixture.h"

namespace coordkit::testkit {

class TransportWrapper : public Transport, public TransportSink {
 public:
  explicit TransportWrapper(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    sink_ = &sink;
    return inner_->start(std::move(self), std::move(peers), *this);
  }
  void set_cluster(ClusterId cluster) override { inner_->set_cluster(cluster); }
  void set_peers(std::vector<Peer> peers) override { inner_->set_peers(std::move(peers)); }
  void send(ReplicaId to, std::vector<Frame> frames) override { inner_->send(to, std::move(frames)); }
  void close() override { inner_->close(); }

  void peer_up(const Hello& hello) override { sink_->peer_up(hello); }
  void peer_down(ReplicaId peer) override { sink_->peer_down(peer); }
  void received(ReplicaId from, std::string body) override { sink_->received(from, std::move(body)); }
  void peer_refused(ReplicaId peer, std::string why) override { sink_->peer_refused(peer, std::move(why)); }
  void peer_unreachable(ReplicaId peer, std::string why) override { sink_->peer_unreachable(peer, std::move(why)); }

 protected:
  Transport& inner() { return *inner_; }
  TransportSink& sink() { return *sink_; }

 private:
  TransportSink* sink_ = nullptr;  // first: it is used as long as the next lives
  const std::unique_ptr<Transport> inner_;
};

// The world of a correct transport, with a wrapper around each.
template <typename Wrapper, typename Base>
class WrappedWorld : public Base {
 public:
  using Base::Base;
  std::unique_ptr<Transport> make(ReplicaId self) override { return std::make_unique<Wrapper>(Base::make(self)); }
  std::unique_ptr<Transport> make_double(ReplicaId self) override { return std::make_unique<Wrapper>(Base::make_double(self)); }
};

}  // namespace coordkit::testkit
