// The link of a remote to its gateway: the transport that dials it, the choice of the gateway (remote/gateway_choice.h), and
// the engine that the frames are for.
//
// Threads: the engine's, but start() and release(), which belong to those that open and close.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "coordkit/remote.h"
#include "remote/gateway_choice.h"
#include "remote/remote_engine.h"
#include "service/loop/arrivals.h"
#include "service/loop/link_turns.h"
#include "service/remotes/link_transport.h"

namespace coordkit {

class GatewayLink final : public LinkTurns {
 public:
  // `tell`: of each change of the link. `network`: the thread that the transport shares; null: it has its own. `engine`
  // outlives the last turn.
  GatewayLink(const RemoteOptions& options, remote::RemoteEngine& engine, std::function<void(const LinkState&)> tell,
              boost::asio::io_context* network);

  absl::Status start(const std::string& cluster, Arrivals& arrivals, LaggingTime now);

  void take(LinkNews news) override { news_.push_back(std::move(news)); }
  void before_turn(Now now) override;
  void after_turn(Now now, const EngineEffects& effects) override;
  Duration next_turn(Now now) const override;

  const LinkState& state() const { return state_; }
  TcpCounters counters() const { return closed_ ? last_counters_ : transport_->counters(); }
  void close();  // nothing is reported any more
  void release() { transport_.reset(); }

 private:
  void hear(LinkNews& news, Now now);
  void lost(std::string why, LaggingTime now);
  void tell(LinkState state);

  remote::RemoteEngine& engine_;
  const std::function<void(const LinkState&)> tell_;
  std::unique_ptr<LinkTransport> transport_;
  TcpCounters last_counters_;
  bool closed_ = false;
  Random random_;
  remote::GatewayChoice choice_;
  LinkState state_;
  std::vector<LinkNews> news_;
};

}  // namespace coordkit
