#include "service/remotes/gateway_link.h"

#include <algorithm>
#include <utility>

#include "base/random_id.h"

namespace coordkit {
namespace {

constexpr Duration kJitterMax = std::chrono::seconds(1);
constexpr Duration kRedial = std::chrono::milliseconds(20);

TcpOptions tcp_options(const RemoteOptions& options) {
  TcpOptions tcp;
  tcp.frame_bytes_max = remote::kFrameBytesMax;
  tcp.hello_timeout = tcp.idle_timeout = options.silence;
  tcp.redial_min = kRedial;
  return tcp;
}

// A quarter of the TTL that RemoteOptions::silence is two fifths of.
Duration jitter(Duration silence) { return std::min(silence * 5 / 8, kJitterMax); }

}  // namespace

GatewayLink::GatewayLink(const RemoteOptions& options, remote::RemoteEngine& engine, std::function<void(const LinkState&)> tell,
                         boost::asio::io_context* network)
    : engine_(engine),
      tell_(std::move(tell)),
      transport_(std::make_unique<LinkTransport>(tcp_options(options), options.security, network)),
      random_(random_id()),
      choice_(options.gateways, jitter(options.silence), options.silence, random_()) {}

absl::Status GatewayLink::start(const std::string& cluster, Arrivals& arrivals, LaggingTime now) {
  const Origin self{engine_.self(), engine_.store(), engine_.boot()};
  if (absl::Status status = transport_->start(cluster, self, arrivals); !status.ok()) return status;
  state_.gateway = choice_.address();
  choice_.waits(now, random_());
  transport_->dial(choice_.address());
  return absl::OkStatus();
}

void GatewayLink::hear(LinkNews& news, Now now) {
  if (news.peer != kGateway) return;
  switch (news.kind) {
    case LinkNews::Kind::Up:
      engine_.unlinked();  // of a connection that this one replaces
      engine_.linked();
      choice_.waits(now.lagging, random_());
      return tell(
          {LinkState::Kind::Waiting, choice_.address(),
           "it has not said yet whether it knows a leader (it never does if its rate_error_ppm differs, or if it is older)"});
    case LinkNews::Kind::Down: engine_.unlinked(); return lost("the connection to it was lost", now.lagging);
    case LinkNews::Kind::Frame: return engine_.received(std::move(news.text));
    case LinkNews::Kind::Refused:
    case LinkNews::Kind::Unreachable: return lost(std::move(news.text), now.lagging);
  }
}

void GatewayLink::lost(std::string why, LaggingTime now) {
  choice_.failed(now, random_());
  tell({LinkState::Kind::Dialing, choice_.address(), std::move(why)});
}

void GatewayLink::before_turn(Now now) {
  for (LinkNews& news : std::exchange(news_, {})) hear(news, now);
  if (closed_ || !choice_.moves(now.lagging, random_())) return;
  engine_.unlinked();
  tell({LinkState::Kind::Dialing, choice_.address(), state_.why});
  transport_->dial(choice_.address());
}

void GatewayLink::after_turn(Now now, const EngineEffects&) {
  const bool serves = engine_.status().state == ReplicaState::Ready;
  if (serves && state_.kind != LinkState::Kind::Serving) {
    choice_.served();
    tell({LinkState::Kind::Serving, choice_.address(), {}});
  } else if (!serves && state_.kind == LinkState::Kind::Serving) {
    choice_.waits(now.lagging, random_());
    tell({LinkState::Kind::Waiting, choice_.address(), "it knows no leader"});
  }
  std::vector<std::pair<ReplicaId, Frame>> frames;
  for (Frame& frame : engine_.take_frames()) frames.emplace_back(kGateway, std::move(frame));
  if (!frames.empty() && transport_ && !closed_) transport_->send(std::move(frames));
}

Duration GatewayLink::next_turn(Now now) const {
  if (choice_.next() == LaggingTime::max()) return Duration::max();
  return std::max(choice_.next() - now.lagging, Duration::zero());
}

void GatewayLink::tell(LinkState state) {
  if (state == state_) return;
  state_ = std::move(state);
  tell_(state_);
}

void GatewayLink::close() {
  transport_->close();
  last_counters_ = transport_->counters();
  closed_ = true;
}

}  // namespace coordkit
