// One TCP connection, dialed or accepted. It begins with encryption if configured, then hellos (handshake.h). Then frames
// come in (frame.h) and leave (frame_writer.h) until one of the ends gives the other up (liveness.h). It decides the meaning
// of frames in each state; the owner decides which replica may be the peer. It lives as long as an operation of its stream is
// under way. Threads: the one that runs the io_context.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/transport/tcp_transport.h"
#include "transport/frame.h"
#include "transport/frame_writer.h"
#include "transport/liveness.h"
#include "transport/secure/handshake.h"
#include "transport/tcp/tcp_stream.h"

namespace coordkit::tcp {

using Side = TcpEvent::Side;
class Connection;

// The questions of a connection to its owner, and its reports. Any CloseReason but NoReason closes the connection with that
// reason.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual Hello hello_to(ReplicaId peer) const = 0;
  virtual ClusterId cluster() const = 0;  // ours; zero: we are blank
  // For an encrypted connection, before any of its bytes are processed. `expected`: zero for any peer.
  virtual CloseReason certified(const std::optional<CertifiedIdentity>& theirs, ReplicaId expected) const = 0;
  virtual CloseReason hello_received(const Introduction& theirs) = 0;  // stateless judgement
  virtual CloseReason established(Connection& connection) = 0;         // both ends are proven
  virtual CloseReason hello_repeated(Connection& connection) = 0;      // established, checked; may have proved more than before
  virtual CloseReason unproven_bytes(size_t bytes) = 0;  // the bytes came from a peer that has not proved its membership
  virtual void message_received(Connection& connection, GroupId group, std::string_view body) = 0;
  virtual void take_frames(Connection& connection, std::vector<Frame>& batch) = 0;  // established: the frames to send on it
  virtual void closed(Connection& connection, CloseReason reason, CloseReason peers_reason) = 0;
};

struct ConnectionLimits {
  size_t frame_bytes_max;
  size_t unsent_bytes_max;
  Duration hello_timeout;
  Duration idle_timeout;
  Duration resend_min;
  std::string secret;                        // empty: none
  std::shared_ptr<SecureChannels> channels;  // none: plain text
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `peer`: the expected replica; zero on an accepted connection. `nonce` is random and not zero.
  Connection(ConnectionOwner& owner, const ConnectionLimits& limits, Side side, ReplicaId peer, uint64_t instance,
             uint64_t nonce, Socket socket);

  enum class PacketSize : uint8_t { Any, Small };
  void dial(std::vector<Tcp::endpoint> endpoints, PacketSize packets = PacketSize::Any);  // at least one endpoint
  void accept();
  // Sends the owner's frames, unless a write is in progress, which will call this again.
  void pump();
  // The cluster id may have become known: sends the hello again, and checks again what the peer has proved.
  void tell_cluster();
  // Checks deadlines and pings. `pause`: how long this thread was held up, which is not the peers' fault.
  void tick(TimePoint now, Duration pause);
  // Closes it now and informs the owner, once.
  void close(CloseReason reason, CloseReason peers_reason = CloseReason::NoReason);

  Side side() const { return handshake_.side(); }
  bool established() const { return state_ == State::Established; }
  bool closed() const { return state_ == State::Closed; }
  ReplicaId peer() const { return handshake_.peer(); }                // accepted: zero until the hello
  const Introduction& theirs() const { return handshake_.theirs(); }  // valid once established
  bool belongs() const { return handshake_.belongs(); }               // the peer has proved that it knows our cluster's id
  // Whether the peer has proved more than a name: it belongs, or the operator gave it our secret or a certificate with its
  // name.
  bool vouched() const { return belongs() || !limits_.secret.empty() || certified(); }
  // The peer's hello as far as it is proved. `cluster` is ours if the peer belongs to it. For a blank replica, which cannot
  // judge, it is the peer's mark.
  Hello shown() const { return handshake_.shown(owner_.cluster()); }
  const Liveness& liveness() const { return liveness_; }
  // Generation of the certificates with which it was made (SecureChannels).
  uint64_t generation() const { return generation_; }
  // The identity in the other end's certificate; nullopt: there is none, or it names no replica.
  const std::optional<CertifiedIdentity>& certified() const { return handshake_.certified(); }
  CloseReason certified_now() const { return stream_.peer_now(); }  // the fault of that certificate by now; NoReason: none
  const asio::ip::address& address() const { return address_; }     // of the other end
  const boost::system::error_code& dial_error() const { return dial_error_; }  // of DialFailed

 private:
  enum class State : uint8_t { Dialing, Securing, AwaitingHello, Confirming, Established, Closed };

  void open();
  void secure();
  void begin();
  void read();
  void received(const boost::system::error_code& error, size_t bytes);
  CloseReason take(const FrameReader::Frame& frame);
  CloseReason take_hello(std::string_view body);
  CloseReason take_repeated_hello(std::string_view body);
  CloseReason note_repeated_hello(std::string_view body);
  CloseReason judge_shown();
  CloseReason take_established(const FrameReader::Frame& frame);
  CloseReason establish();
  void change_keys();

  bool next_batch();        // false: there is nothing to send, or sending is not permitted now
  bool sent(size_t bytes);  // of the batch; true: all of it is sent
  void write();
  void written(const boost::system::error_code& error, size_t bytes);
  void failed();
  void say_goodbye(CloseReason reason);

  ConnectionOwner& owner_;
  const ConnectionLimits& limits_;
  Stream stream_;
  asio::ip::address address_;
  boost::system::error_code dial_error_;
  uint64_t generation_ = 0;
  State state_ = State::AwaitingHello;
  Handshake handshake_;
  Liveness liveness_;
  FrameReader reader_;
  FrameWriter writer_;
  // ---- frames to be sent. Flags, not queues: a peer that pings without reading costs no memory
  bool hello_owed_ = false;
  bool ping_owed_ = false;
  bool pong_owed_ = false;
};

}  // namespace coordkit::tcp
