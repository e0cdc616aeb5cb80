// All connections of one TcpTransport: who is a peer, whom to dial when, which of two connections stays, what to report.
//
//   Stranger (accepted, no verified hello) --established--> Link.accepted
//   Link.dialed: dialing -> established; when it ends, dialed again after a back-off
//   A peer is up while one of both is established, and one incarnation holds both (incarnation.h).
//
// Threads: the one that runs the io_context, but push(), set_cluster(), port() and counters(), which any thread may call.
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
#include "transport/backoff.h"
#include "transport/incarnation.h"
#include "transport/outbox.h"
#include "transport/tcp_connection.h"
#include "transport/tcp_stream.h"

namespace coordkit::tcp {

class Network : public ConnectionOwner, public std::enable_shared_from_this<Network> {
 public:
  Network(asio::io_context& io, TcpOptions options);

  absl::Status bind();
  uint16_t port() const { return port_.load(std::memory_order_relaxed); }
  absl::Status prepare(Hello self, std::vector<Peer> peers, TransportSink& sink);  // before begin(), by start()
  void begin();
  void set_cluster(ClusterId cluster);
  void push(ReplicaId to, std::vector<Frame> frames);
  void close();

  TcpCounters counters() const;

 private:
  struct Link {
    Link(const Peer& peer, const TcpOptions& options, asio::io_context& io);
    const ReplicaId id;
    const std::string address;
    std::mutex mutex;  // guards the next two
    Outbox outbox;
    bool pump_scheduled = false;
    std::shared_ptr<Connection> dialed;    // under way or established
    std::shared_ptr<Connection> accepted;  // established
    bool up = false;                       // as reported
    IncarnationGuard guard;
    Backoff backoff;
    Timer redial;
    bool waiting = false;  // for redial
    Resolver resolver;
    bool resolving = false;

    bool connected() const { return (dialed && dialed->established()) || accepted; }
  };
  struct Tally {  // TcpCounters, written by one thread and read by many
    std::atomic<uint64_t> opened{0}, frames_sent{0}, bytes_sent{0}, frames_received{0}, bytes_received{0};
    std::atomic<uint64_t> life_dropped{0}, bulk_dropped{0}, other_group{0};
    std::array<std::atomic<uint64_t>, static_cast<size_t>(CloseReason::Count)> closed{};
  };

  Hello hello_to(ReplicaId peer) const override;
  CloseReason hello_received(const Hello& theirs) override;
  CloseReason established(Connection& connection) override;
  void hello_repeated(Connection& connection) override;
  void message_received(Connection& connection, GroupId group, std::string_view body) override;
  void take_frames(Connection& connection, std::vector<Frame>& batch) override;
  void closed(Connection& connection, CloseReason reason, CloseReason peers_reason) override;

  void listen();
  void welcome(Stream stream);
  void make_room(const asio::ip::address& address);
  void dial(Link& link);
  void dial_to(Link& link, const Resolver::results_type& addresses);
  void dial_later(Link& link);
  void dial_now(Link& link);
  CloseReason settle_incarnation(Link& link, const Connection& connection);
  void dialed_closed(Link& link, const Connection& connection);
  void pump(Link& link);
  void tell_cluster();
  void tick();
  Link* link_of(ReplicaId id) const;
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
  std::map<ReplicaId, std::unique_ptr<Link>> links_;    // fixed by prepare()
  std::vector<std::shared_ptr<Connection>> strangers_;  // oldest first
  Acceptor acceptor_;
  Timer accept_again_;
  Timer ticker_;
  TimePoint ticked_;
  bool closed_ = false;
  std::atomic<bool> open_{false};  // push() may look at links_
  // What other threads hand over: one value or flag each, never a queue, and nothing once closed.
  std::atomic<uint64_t> cluster_{0};
  std::atomic<bool> cluster_pending_{false};
  std::atomic<bool> oversize_pending_{false};
  std::atomic<uint16_t> port_{0};
  Tally tally_;
};

}  // namespace coordkit::tcp
