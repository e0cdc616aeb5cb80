#include "replica/shell/remote_listener.h"

#include <utility>

namespace coordkit {
namespace {

// Frames that wait for one remote take so many bytes. A remote that does not read loses some, notices the gap, and arrives
// again.
constexpr size_t kWaitingBytesMax = 4 << 20;
constexpr Duration kSilenceMax = std::chrono::seconds(10);
constexpr size_t kArrivingMax = 256;

}  // namespace

absl::StatusOr<std::unique_ptr<RemoteListener>> RemoteListener::open(const RemotesOptions& options,
                                                                     boost::asio::io_context* network) {
  TcpOptions tcp{.listen = options.listen};
  tcp.frame_bytes_max = remote::kFrameBytesMax;
  tcp.bulk_bytes_max = kWaitingBytesMax;
  tcp.control_bytes_max = kWaitingBytesMax / 4;
  tcp.acquaintances_max = options.remotes_max;
  tcp.unverified_max = tcp.unverified_per_address_max = kArrivingMax;  // many remotes of one machine come at the same time
  tcp.idle_timeout = kSilenceMax;
  auto transport = std::make_unique<LinkTransport>(std::move(tcp), options.security, network);
  if (absl::Status status = transport->bind(); !status.ok()) return status;
  return std::make_unique<RemoteListener>(std::move(transport));
}

absl::Status RemoteListener::start(Engine& engine, const ReplicaOptions& options, Arrivals& arrivals) {
  gateway_.emplace(engine, remote::GatewayOptions{.rate_error_ppm = options.rate_error_ppm});
  return transport_->start(options.cluster, {kGateway, engine.store(), engine.boot()}, arrivals);
}

void RemoteListener::before_turn(Now now) {
  for (const LinkNews& news : std::exchange(news_, {})) hear(news, now);
  gateway_->before_turn(now);
}

void RemoteListener::hear(const LinkNews& news, Now now) {
  if (!is_remote(news.peer)) return;
  switch (news.kind) {
    case LinkNews::Kind::Up: return gateway_->linked(news.peer);
    case LinkNews::Kind::Down: return gateway_->unlinked(news.peer);
    case LinkNews::Kind::Frame: return gateway_->received(news.peer, news.text, now);
    case LinkNews::Kind::Refused:
    case LinkNews::Kind::Unreachable: return;  // it dials nobody
  }
}

void RemoteListener::after_turn(Now now, const EngineEffects& effects) {
  gateway_->after_turn(now, effects);
  if (transport_ && !closed_) transport_->send(gateway_->take_frames());
}

RemoteMetrics RemoteListener::metrics() const {
  const remote::GatewayCounters& counters = gateway_->counters();
  return {.linked = gateway_->remotes(),
          .malformed = counters.malformed,
          .foreign = counters.foreign,
          .invalid = counters.invalid,
          .disagreeing = counters.disagreeing,
          .beyond = counters.beyond,
          .tcp = closed_ ? last_counters_ : transport_->counters()};
}

void RemoteListener::close() {
  transport_->close();
  last_counters_ = transport_->counters();
  closed_ = true;
}

}  // namespace coordkit
