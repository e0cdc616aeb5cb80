// The gateway of a replica: the port at which remotes arrive, with this end of their links (remote/gateway.h). Remotes have
// connections, memory and a secret of their own, so that they cannot keep members from talking to each other.
//
// Threads: the engine's, but open(), start() and release(), which belong to those that open and close.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/replica.h"
#include "remote/gateway.h"
#include "service/loop/arrivals.h"
#include "service/loop/link_turns.h"
#include "service/remotes/link_transport.h"

namespace coordkit {

class RemoteListener final : public LinkTurns {
 public:
  // Takes the port. `network`: the thread that the transport shares; null: it has its own.
  static absl::StatusOr<std::unique_ptr<RemoteListener>> open(const RemotesOptions& options, boost::asio::io_context* network);
  explicit RemoteListener(std::unique_ptr<LinkTransport> transport) : transport_(std::move(transport)) {}

  // `engine` outlives the last turn.
  absl::Status start(Engine& engine, const ReplicaOptions& options, Arrivals& arrivals);

  void take(LinkNews news) override { news_.push_back(std::move(news)); }
  void before_turn(Now now) override;
  void after_turn(Now now, const EngineEffects& effects) override;
  Duration next_turn(Now now) const override { return gateway_->next_turn(now); }

  RemoteMetrics metrics() const;
  void close();                           // nothing is reported any more
  void release() { transport_.reset(); }  // the port is free

 private:
  void hear(const LinkNews& news, Now now);

  std::vector<LinkNews> news_;
  std::unique_ptr<LinkTransport> transport_;
  TcpCounters last_counters_;  // as they were when it was closed
  bool closed_ = false;
  std::optional<remote::Gateway> gateway_;
};

}  // namespace coordkit
