// Brings the reports of the links' transport to the loop.
//
// Threads: any. Lifetime: it outlives the transport's close().
#pragma once

#include <string>
#include <utility>

#include "coordkit/ports/transport.h"
#include "service/loop/arrivals.h"

namespace coordkit {

class LinkArrivals final : public TransportSink {
 public:
  explicit LinkArrivals(Arrivals& arrivals) : arrivals_(arrivals) {}

  void peer_up(const Hello& hello) override { arrivals_.post(LinkNews{LinkNews::Kind::Up, hello.from}); }
  void peer_down(ReplicaId peer) override { arrivals_.post(LinkNews{LinkNews::Kind::Down, peer}); }
  void received(ReplicaId from, std::string body) override {
    arrivals_.post(LinkNews{LinkNews::Kind::Frame, from, std::move(body)});
  }
  void peer_refused(ReplicaId peer, std::string why) override {
    arrivals_.post(LinkNews{LinkNews::Kind::Refused, peer, std::move(why)});
  }
  void peer_unreachable(ReplicaId peer, std::string why) override {
    arrivals_.post(LinkNews{LinkNews::Kind::Unreachable, peer, std::move(why)});
  }

 private:
  Arrivals& arrivals_;
};

}  // namespace coordkit
