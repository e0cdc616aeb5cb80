// All connections of one TcpTransport. It decides which of two connections stays, and what is reported (tcp_network.cc). It
// knows which replicas are peers and when to dial them (tcp_peers.cc), and sends frames (tcp_sending.cc).
//
//   Unverified (accepted, no verified hello) --established--> Link.accepted
//   Link.dialed: dialing -> established; when it ends, redialed after a back-off. While that fails Link.accepted carries frames
//   in both directions, if its peer has proved more than a name
//   Link.renewal: dialing -> replaces Link.dialed; when it is refused, the old one stays
//   A peer is up while one of the two is established, and one incarnation holds both (incarnation.h).
//
// Threads: the one that runs the io_context, except push(), set_cluster(), set_peers(), port() and tally(), which any thread
// may call.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "coordkit/transport/tcp_transport.h"
#include "transport/handover.h"
#include "transport/secure/certificate_renewals.h"
#include "transport/secure/nonces.h"
#include "transport/secure/unverified.h"
#include "transport/tcp/tcp_connection.h"
#include "transport/tcp/tcp_links.h"
#include "transport/tcp/tcp_listener.h"
#include "transport/tcp/tcp_tally.h"
#include "transport/tcp/tcp_ticker.h"

namespace coordkit::tcp {

class Network : public ConnectionOwner, public std::enable_shared_from_this<Network> {
 public:
  Network(asio::io_context& io, TcpOptions options);

  absl::Status bind() { return options_.listen.empty() ? absl::OkStatus() : listener_.bind(options_.listen); }
  uint16_t port() const { return listener_.port(); }
  absl::Status prepare(Hello self, std::vector<Peer> peers, TransportSink& sink);  // before begin(), by start()
  void begin();
  void set_cluster(ClusterId cluster);
  void set_peers(std::vector<Peer> peers);
  void push(ReplicaId to, std::vector<Frame> frames);
  void close();

  const Tally& tally() const { return tally_; }

 private:
  static constexpr char kNamesUnanswered[] = "the name service does not answer; correct the address, or the name service";

  Hello hello_to(ReplicaId peer) const override;
  ClusterId cluster() const override { return self_.cluster; }
  CloseReason certified(const std::optional<CertifiedIdentity>& theirs, ReplicaId expected) const override;
  CloseReason hello_received(const Introduction& theirs) override;
  CloseReason established(Connection& connection) override;
  CloseReason hello_repeated(Connection& connection) override;
  CloseReason unproven_bytes(size_t bytes) override;
  void message_received(Connection& connection, GroupId group, std::string_view body) override;
  void take_frames(Connection& connection, std::vector<Frame>& batch) override;
  void closed(Connection& connection, CloseReason reason, CloseReason peers_reason) override;

  void welcome(Socket socket);
  void follow_list();
  void connect_with(const Peer& peer);
  void become_guest(const std::shared_ptr<Link>& link);
  void forget_if_idle(Link& link);
  bool stranger(const Connection& connection) const;
  void tell_up(Link& link, const Connection& connection);
  void dial(const std::shared_ptr<Link>& link);
  void dial_to(const std::shared_ptr<Link>& link, std::vector<Tcp::endpoint> endpoints);
  void dial_later(const std::shared_ptr<Link>& link);
  void dial_now(const std::shared_ptr<Link>& link);
  void renew_one(TimePoint now);
  CloseReason resolve_incarnation(Link& link, const Connection& connection);
  void dialed_closed(const std::shared_ptr<Link>& link, const Connection& connection);
  void renewal_closed(const std::shared_ptr<Link>& link, CloseReason reason);
  void tell_unreachable(Link& link, std::string why);
  void explain(Link& link, const Connection& connection, CloseReason reason, CloseReason peers_reason);
  void tell_cluster();
  void tick(TimePoint now, Duration pause);
  void report(const TcpEvent& event);

  asio::io_context& io_;
  const TcpOptions options_;
  const ConnectionLimits limits_;
  Nonces nonces_;
  Hello self_;
  TransportSink* sink_ = nullptr;
  Links links_;
  Unverified unverified_;
  Renewals renewals_;
  Listener listener_;
  Ticker ticker_;
  bool closed_ = false;
  std::atomic<bool> open_{false};  // whether frames can be pushed
  Handover handover_;              // used while it is open
  Tally tally_;
};

}  // namespace coordkit::tcp
