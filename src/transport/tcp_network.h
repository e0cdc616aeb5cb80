// All connections of one TcpTransport: which of two connections stays, and what to report (tcp_network.cc); which are peers and
// when to dial them (tcp_peers.cc); outgoing frames (tcp_sending.cc).
//
//   unverified (accepted, no verified hello) --established--> Link.accepted
//   Link.dialed: dialing -> established; when it ends, redialed after a back-off
//   Link.renewal: dialing -> replaces Link.dialed; when it is refused, that one stays
//   A peer is up while one of the two is established, and one incarnation holds both (incarnation.h).
//
// Threads: the one that runs the io_context, but push(), set_cluster(), set_peers(), port() and counters(), which any
// thread may call.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordkit/transport/tcp_transport.h"
#include "transport/address.h"
#include "transport/outbox.h"
#include "transport/tcp_connection.h"
#include "transport/tcp_link.h"
#include "transport/tcp_stream.h"

namespace coordkit::tcp {

inline void add(std::atomic<uint64_t>& counter, uint64_t n = 1) { counter.fetch_add(n, std::memory_order_relaxed); }

class Network : public ConnectionOwner, public std::enable_shared_from_this<Network> {
 public:
  Network(asio::io_context& io, TcpOptions options);

  absl::Status bind();
  uint16_t port() const { return port_.load(std::memory_order_relaxed); }
  absl::Status prepare(Hello self, std::vector<Peer> peers, TransportSink& sink);  // before begin(), by start()
  void begin();
  void set_cluster(ClusterId cluster);
  void set_peers(std::vector<Peer> peers);
  void push(ReplicaId to, std::vector<Frame> frames);
  void close();

  TcpCounters counters() const;

 private:
  struct Tally {  // TcpCounters, written by one thread and read by many
    std::atomic<uint64_t> opened{0}, frames_sent{0}, bytes_sent{0}, frames_received{0}, bytes_received{0};
    std::atomic<uint64_t> control_dropped{0}, bulk_dropped{0}, other_group{0};
    std::array<std::atomic<uint64_t>, static_cast<size_t>(CloseReason::Count)> closed{};
  };

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

  void listen();
  void welcome(Socket socket);
  void make_room(const asio::ip::address& address);
  void follow_list();
  void connect_with(const Peer& peer);
  void become_guest(const std::shared_ptr<Link>& link);
  std::shared_ptr<Link> add_link(ReplicaId id);
  void forget_if_idle(Link& link);
  size_t guests() const;         // guests that have proved nothing
  size_t acquaintances() const;  // guests that have proved that they belong
  bool room_for_guest(bool belongs) const;
  void tell_up(Link& link, const Connection& connection);
  void dial(const std::shared_ptr<Link>& link);
  void dial_to(const std::shared_ptr<Link>& link, const Resolver::results_type& addresses);
  void dial_later(const std::shared_ptr<Link>& link);
  void dial_now(const std::shared_ptr<Link>& link);
  void renew_one(TimePoint now);
  void cut_stale(TimePoint now);
  bool distrusts(CloseReason reason, TimePoint now) const;
  CloseReason resolve_incarnation(Link& link, const Connection& connection);
  void dialed_closed(const std::shared_ptr<Link>& link, const Connection& connection);
  void renewal_closed(const std::shared_ptr<Link>& link, CloseReason reason);
  void tell_unreachable(Link& link, std::string why);
  void explain(Link& link, CloseReason reason, CloseReason peers_reason, const std::string& detail = {});
  void pump(Link& link);
  void tell_cluster();
  void tick();
  std::shared_ptr<Link> link_of(ReplicaId id) const;
  std::vector<std::shared_ptr<Link>> all_links() const;  // a copy: closing a connection may forget a link
  uint64_t nonce();
  void count(const Outbox::Dropped& dropped);
  void report(const TcpEvent& event);

  asio::io_context& io_;
  const TcpOptions options_;
  const ConnectionLimits limits_;
  Random random_;
  const uint64_t instance_;
  Hello self_;
  TransportSink* sink_ = nullptr;
  mutable std::mutex links_mutex_;                       // held to change links_, and by other threads to read them
  std::map<ReplicaId, std::shared_ptr<Link>> links_;     // shared with pending handlers
  std::vector<Peer> wanted_;                             // guarded by links_mutex_
  std::vector<std::shared_ptr<Connection>> unverified_;  // oldest first
  Acceptor acceptor_;
  Timer accept_again_;
  Timer ticker_;
  TimePoint ticked_;
  bool closed_ = false;
  uint64_t generation_ = 0;  // of the certificates, since
  TimePoint generation_since_;
  size_t unproven_bytes_ = 0;  // since
  TimePoint unproven_since_;
  std::atomic<bool> open_{false};  // there is something to push to
  // Handed over by other threads: one value or flag each, never a queue, and nothing once closed.
  std::atomic<uint64_t> cluster_{0};
  std::atomic<bool> cluster_pending_{false};
  std::atomic<bool> peers_pending_{false};
  std::atomic<bool> oversize_pending_{false};
  std::atomic<uint16_t> port_{0};
  Tally tally_;
};

}  // namespace coordkit::tcp
