// One TCP connection, dialed or accepted: encryption if configured, hellos, frames in, frames out, liveness. It decides
// what bytes mean; who may be on the other end is the owner's decision. Lives as long as an operation of its stream is under
// way. Threads: the one that runs the io_context.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/transport/tcp_transport.h"
#include "transport/frame.h"
#include "transport/hello.h"
#include "transport/tcp_stream.h"

namespace coordkit::tcp {

using Side = TcpEvent::Side;
class Connection;

// What a connection asks its owner and reports to it. Any CloseReason but None closes the connection with that reason.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual Hello hello_to(ReplicaId peer) const = 0;
  virtual ClusterId cluster() const = 0;  // ours; zero: we are blank
  // For an encrypted connection, before any of its bytes are processed. `expected`: zero for any peer.
  virtual CloseReason certified(const std::optional<CertifiedIdentity>& theirs, ReplicaId expected) const = 0;
  virtual CloseReason hello_received(const Introduction& theirs) = 0;  // stateless judgement
  virtual CloseReason established(Connection& connection) = 0;         // both ends are proven
  virtual CloseReason hello_repeated(Connection& connection) = 0;  // established, checked; it may have proved more than before
  virtual CloseReason unproven_bytes(size_t bytes) = 0;            // came from a peer that has not proved its membership
  virtual void message_received(Connection& connection, GroupId group, std::string_view body) = 0;
  virtual void take_frames(Connection& connection, std::vector<Frame>& batch) = 0;  // established: what to send on it
  virtual void closed(Connection& connection, CloseReason reason, CloseReason peers_reason) = 0;
};

struct ConnectionLimits {
  size_t frame_bytes_max;
  size_t unsent_bytes_max;
  Duration hello_timeout;
  Duration idle_timeout;
  std::string secret;                        // empty: none
  std::shared_ptr<SecureChannels> channels;  // none: plain text
};

inline constexpr size_t kBatchFramesMax = 32;         // of one write: two buffers each, as many as one system call takes
inline constexpr size_t kBatchBulkBytes = 256 << 10;  // a liveness message waits for at most this and a frame

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `peer`: who is expected; zero on an accepted connection. `nonce` is random and not zero.
  Connection(ConnectionOwner& owner, const ConnectionLimits& limits, Side side, ReplicaId peer, uint64_t instance,
             uint64_t nonce, Socket socket);

  void dial(const Resolver::results_type& addresses);
  void accept();
  // Sends what the owner has, unless a write is in progress, which will call this again.
  void pump();
  // The cluster id may have become known: sends the hello again, and re-checks what the other end has proved.
  void tell_cluster();
  // Checks deadlines; pings. `pause`: how long this thread was held up, which is not the peers' fault.
  void tick(TimePoint now, Duration pause);
  // Closes it now and informs the owner, once.
  void close(CloseReason reason, CloseReason peers_reason = CloseReason::None);

  Side side() const { return side_; }
  bool established() const { return state_ == State::Established; }
  bool closed() const { return state_ == State::Closed; }
  ReplicaId peer() const { return peer_; }                // accepted: zero until the hello
  const Introduction& theirs() const { return theirs_; }  // valid once established
  bool belongs() const { return belongs_; }               // the other end has proved that it knows our cluster's id
  // Who is there, as far as it is proved: `cluster` is ours if the other end belongs to it. For a blank replica, which cannot
  // judge, it is the other's mark.
  Hello shown() const;
  TimePoint established_at() const { return established_at_; }
  // Generation of the certificates it was made with (SecureChannels).
  uint64_t generation() const { return generation_; }
  // Whom the other end's certificate names; nullopt: there is none, or it names no replica.
  const std::optional<CertifiedIdentity>& certified() const { return certified_; }
  const asio::ip::address& address() const { return address_; }  // of the other end

 private:
  enum class State : uint8_t { Dialing, Securing, AwaitingHello, Confirming, Established, Closed };

  void open();
  void secure();
  void secured(const boost::system::error_code& error);
  void begin();
  void read();
  void received(const boost::system::error_code& error, size_t bytes);
  CloseReason take(const FrameReader::Frame& frame);
  CloseReason take_hello(std::string_view body);
  CloseReason take_repeated_hello(std::string_view body);
  CloseReason note_repeated_hello(std::string_view body);
  CloseReason judge_shown();
  Prover other_side() const { return side_ == Side::Dialed ? Prover::Acceptor : Prover::Dialer; }
  CloseReason take_established(const FrameReader::Frame& frame);
  CloseReason establish();
  void change_keys();
  SessionKey key_of(Prover by) const;

  void seal(FrameKind kind, Frame frame);
  void seal_owed();
  bool next_batch();  // false: there is nothing to send, or it may not be sent now
  Buffers unsent() const;
  bool sent(size_t bytes);  // of the batch; true: that was all of it
  void write();
  void written(const boost::system::error_code& error, size_t bytes);
  void failed();
  void say_goodbye(CloseReason reason);
  bool backlog_moves() const;
  uint64_t unacknowledged() const;

  ConnectionOwner& owner_;
  const ConnectionLimits& limits_;
  const Side side_;
  ReplicaId peer_;
  const uint64_t instance_;
  const uint64_t nonce_;
  Stream stream_;
  asio::ip::address address_;
  State state_ = State::AwaitingHello;
  Introduction theirs_;
  bool belongs_ = false;
  std::optional<CertifiedIdentity> certified_;
  uint64_t generation_ = 0;
  ClusterId told_cluster_;
  FrameReader reader_;

  // Sending. `owed` are flags, not queues: a peer that pings without reading costs no memory.
  bool hello_owed_ = false;
  bool ping_owed_ = false;
  bool pong_owed_ = false;
  FrameSums seal_sums_;
  bool key_owed_ = false;  // after the next hello the frames are sealed with the session's key
  std::vector<Frame> batch_;
  std::vector<FrameHeader> headers_;         // for batch_
  std::vector<FrameKind> kinds_;             // for batch_
  std::vector<asio::const_buffer> buffers_;  // the part of the batch not yet written, from buffers_[sent_]
  size_t sent_ = 0;

  TimePoint opened_at_;
  TimePoint heard_;
  TimePoint pinged_;
  TimePoint established_at_;
  uint64_t written_ = 0;       // bytes, to the kernel
  uint64_t acknowledged_ = 0;  // of them, by the other end's kernel when last pinged
};

}  // namespace coordkit::tcp
