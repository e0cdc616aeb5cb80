#include "transport/tcp/tcp_connection.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <new>
#include <span>
#include <utility>

#include "transport/tcp/own_connection.h"

namespace coordkit::tcp {
namespace {

CloseReason reason_of(FrameFault fault) {
  switch (fault) {
    case FrameFault::None: return CloseReason::NoReason;
    case FrameFault::Magic: return CloseReason::BadMagic;
    case FrameFault::Tls: return CloseReason::SpeaksTls;
    case FrameFault::Version: return CloseReason::BadVersion;
    case FrameFault::Kind: return CloseReason::BadKind;
    case FrameFault::HeaderSum: return CloseReason::BadHeaderSum;
    case FrameFault::Length: return CloseReason::Oversize;
    case FrameFault::Sum: return CloseReason::BadSum;
  }
  return CloseReason::BadMagic;
}

// Whether the reason is worth reporting to the peer: it is a replica, and its operator can do something about it.
bool tellable(CloseReason reason) {
  switch (reason) {
    case CloseReason::BadHello:
    case CloseReason::OtherClusterName:
    case CloseReason::WrongReceiver:
    case CloseReason::UnknownSender:
    case CloseReason::OtherCluster:
    case CloseReason::NoCommonProtocol:
    case CloseReason::OlderIncarnation:
    case CloseReason::TwoIncarnations:
    case CloseReason::NotProven:
    case CloseReason::SecretDiffers:
    case CloseReason::SecretMissing:
    case CloseReason::SpeaksPlainText:
    case CloseReason::SpeaksTls:
    case CloseReason::CertificateOtherCluster:
    case CloseReason::CertificateOtherReplica:
    case CloseReason::CertificateRefused: return true;
    default: return false;
  }
}

// A connection that finds no memory for one of its steps is lost and dialed again.
template <typename Step>
void guard(Connection& connection, Step step) {
  try {
    step();
  } catch (const std::bad_alloc&) {
    connection.close(CloseReason::Ended);
  }
}

}  // namespace

Connection::Connection(ConnectionOwner& owner, const ConnectionLimits& limits, Side side, ReplicaId peer, uint64_t instance,
                       uint64_t nonce, Socket socket)
    : owner_(owner),
      limits_(limits),
      stream_(std::move(socket)),
      handshake_(side, peer, instance, nonce, limits.secret),
      liveness_(SteadyClock::now(), limits.hello_timeout, limits.idle_timeout),
      reader_(kHelloBytesMax) {}

// ---- handshake

// Tries the endpoints one after the other. The kernel picks the socket's port. If another replica of this host is to listen
// there, it may: both sockets allow it.
void Connection::dial(std::vector<Tcp::endpoint> endpoints, PacketSize packets) {
  state_ = State::Dialing;
  Socket& socket = stream_.socket();
  const Tcp::endpoint next = endpoints.front();
  endpoints.erase(endpoints.begin());
  boost::system::error_code ignored;
  socket.close(ignored);
  const boost::system::error_code unopened = open_above_streams(socket, next.protocol());
  socket.set_option(Socket::reuse_address(true), ignored);
  if (packets == PacketSize::Small) use_small_packets(socket.native_handle());
  auto connected = [self = shared_from_this(), rest = std::move(endpoints), packets](boost::system::error_code error) mutable {
    if (self->closed()) return;
    guard(*self, [&] {
      const bool with_itself = !error && reset_own_connection(self->stream_.socket());
      self->dial_error_ =
          with_itself ? boost::system::error_code(asio::error::connection_refused) : error;  // nothing else listens there
      if (self->dial_error_ && !rest.empty()) return self->dial(std::move(rest), packets);
      if (self->dial_error_) return self->close(CloseReason::DialFailed);
      self->open();
      self->secure();
    });
  };
  if (!unopened) return socket.async_connect(next, std::move(connected));
  asio::post(socket.get_executor(), [connected = std::move(connected), unopened]() mutable { connected(unopened); });
}

void Connection::accept() {
  guard(*this, [this] {
    open();
    secure();
  });
}

void Connection::open() {
  boost::system::error_code ignored;  // a closed connection shows itself at the first read
  Socket& socket = stream_.socket();
  if (const Tcp::endpoint remote = socket.remote_endpoint(ignored); !ignored) address_ = remote.address();
  socket.non_blocking(true, ignored);
  socket.set_option(Tcp::no_delay(true), ignored);
  resend_soon(socket.native_handle(), limits_.resend_min);
  // Socket buffers are left to the kernel, which grows them beyond the limit of SO_SNDBUF. Only the bytes that it has not
  // sent yet are bounded: liveness messages cannot overtake bytes that the kernel already has.
  if (limits_.unsent_bytes_max > 0) {
    const int bytes = static_cast<int>(limits_.unsent_bytes_max);
    setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
  }
}

// With certificates, the peer is identified before a byte of its hello is processed.
void Connection::secure() {
  if (limits_.channels == nullptr) return begin();
  state_ = State::Securing;
  generation_ = limits_.channels->generation();
  stream_.secure(limits_.channels->make(side()));
  stream_.async_handshake([self = shared_from_this()](const auto& error, size_t) {
    if (self->closed()) return;
    guard(*self, [&] {
      if (error) return self->failed();
      self->handshake_.set_certified(self->stream_.peer());
      const CloseReason wrong = self->owner_.certified(self->certified(), self->peer());
      if (wrong != CloseReason::NoReason) return self->close(wrong);
      self->begin();
    });
  });
}

void Connection::begin() {
  state_ = State::AwaitingHello;
  if (side() == Side::Dialed) {
    hello_owed_ = true;
    pump();
  }
  read();
}

CloseReason Connection::take_hello(std::string_view body) {
  const bool dialed = side() == Side::Dialed;
  if (!handshake_.receive(body)) return CloseReason::BadHello;
  if (dialed) change_keys();  // the acceptor did when it answered
  if (const CloseReason wrong = handshake_.judge_sender(); wrong != CloseReason::NoReason) return wrong;
  if (const CloseReason wrong = owner_.hello_received(theirs()); wrong != CloseReason::NoReason) return wrong;
  if (const CloseReason wrong = handshake_.identify(); wrong != CloseReason::NoReason) return wrong;
  if (dialed) return establish();
  hello_owed_ = true;
  pump();  // sealed before the key changes: no write was under way
  change_keys();
  state_ = State::Confirming;
  return CloseReason::NoReason;
}

void Connection::change_keys() {
  reader_.set_key(handshake_.key_of_theirs());
  writer_.set_key(handshake_.key_of_ours());
}

CloseReason Connection::judge_shown() {
  const CloseReason wrong = handshake_.judge_proofs(owner_.cluster());
  if (state_ != State::AwaitingHello) {
    const size_t unproven = owner_.cluster() ? kHelloBytesMax : kInvitationBytesMax;
    reader_.set_body_bytes_max(belongs() ? limits_.frame_bytes_max : std::min(unproven, limits_.frame_bytes_max));
  }
  return wrong;
}

CloseReason Connection::establish() {
  const bool dialed = side() == Side::Dialed;
  state_ = State::Established;
  if (const CloseReason wrong = judge_shown(); wrong != CloseReason::NoReason) return wrong;
  if (!limits_.secret.empty()) {
    reader_.set_key(handshake_.session_key_of_theirs());
    const SessionKey key = handshake_.session_key_of_ours();
    dialed ? writer_.set_key_after_hello(key) : writer_.set_key(key);  // the acceptor sends nothing between its hello and now
  }
  if (dialed) {
    hello_owed_ = true;  // with the proofs
    ping_owed_ = true;
  }
  if (const CloseReason refused = owner_.established(*this); refused != CloseReason::NoReason) return refused;
  liveness_.established();
  tell_cluster();
  return CloseReason::NoReason;
}

void Connection::tell_cluster() {
  if (state_ != State::Established || handshake_.sent_cluster() == owner_.cluster()) return;
  hello_owed_ = true;
  pump();
  if (belongs() || closed()) return;
  CloseReason wrong = owner_.hello_received(theirs());  // it belongs to another cluster, as we know only now
  if (wrong == CloseReason::NoReason) wrong = judge_shown();
  if (wrong == CloseReason::NoReason && belongs()) wrong = owner_.hello_repeated(*this);
  if (wrong != CloseReason::NoReason) close(wrong);
}

// Takes another hello of the same replica, which may have proved more than before.
CloseReason Connection::note_repeated_hello(std::string_view body) {
  if (const CloseReason wrong = handshake_.receive_again(body); wrong != CloseReason::NoReason) return wrong;
  return owner_.hello_received(theirs());
}

CloseReason Connection::take_repeated_hello(std::string_view body) {
  const bool belonged = belongs();
  if (const CloseReason wrong = note_repeated_hello(body); wrong != CloseReason::NoReason) return wrong;
  if (const CloseReason wrong = judge_shown(); wrong != CloseReason::NoReason) return wrong;
  if (belonged && !belongs()) return CloseReason::IdentityChanged;
  return owner_.hello_repeated(*this);
}

// ---- receiving

void Connection::read() {
  const std::span<char> space = reader_.space();
  stream_.async_read_some(
      asio::buffer(space.data(), space.size()),
      [self = shared_from_this()](const auto& error, size_t bytes) { guard(*self, [&] { self->received(error, bytes); }); });
}

void Connection::received(const boost::system::error_code& error, size_t bytes) {
  if (closed()) return;
  if (error) return failed();
  reader_.filled(bytes);
  liveness_.received(SteadyClock::now());
  if (!belongs() && state_ == State::Established) {
    if (const CloseReason greedy = owner_.unproven_bytes(bytes); greedy != CloseReason::NoReason) return close(greedy);
  }
  while (const auto frame = reader_.next()) {
    const CloseReason wrong = take(*frame);
    if (closed()) return;
    if (wrong != CloseReason::NoReason) {
      const bool goodbye = frame->kind == FrameKind::Goodbye;
      return close(goodbye ? CloseReason::RefusedByPeer : wrong, goodbye ? wrong : CloseReason::NoReason);
    }
  }
  if (reader_.fault() != FrameFault::None) return close(reason_of(reader_.fault()));
  pump();
  // Posted behind the work that these frames make: as a rule there is nothing more to read yet, and finding out takes a
  // system call.
  asio::post(stream_.socket().get_executor(), [self = shared_from_this()] {
    if (!self->closed()) self->read();
  });
}

CloseReason Connection::take(const FrameReader::Frame& frame) {
  if (frame.kind == FrameKind::Goodbye) {
    const uint8_t why = frame.body.size() == 1 ? static_cast<uint8_t>(frame.body[0]) : 0;
    return why > 0 && why < static_cast<uint8_t>(CloseReason::Count) ? CloseReason{why} : CloseReason::Ended;
  }
  switch (state_) {
    case State::AwaitingHello: return frame.kind == FrameKind::Hello ? take_hello(frame.body) : CloseReason::UnexpectedFrame;
    case State::Confirming: {
      if (frame.kind == FrameKind::Hello) {
        if (const CloseReason wrong = note_repeated_hello(frame.body); wrong != CloseReason::NoReason) return wrong;
        return establish();
      }
      if (frame.kind != FrameKind::Ping) return CloseReason::UnexpectedFrame;
      if (const CloseReason refused = establish(); refused != CloseReason::NoReason || closed()) return refused;
      return take_established(frame);
    }
    case State::Established: return take_established(frame);
    case State::Dialing:
    case State::Securing:
    case State::Closed: break;
  }
  return CloseReason::UnexpectedFrame;
}

CloseReason Connection::take_established(const FrameReader::Frame& frame) {
  const bool accepted = side() == Side::Accepted;
  if (frame.kind == FrameKind::Hello) return take_repeated_hello(frame.body);
  if (frame.kind == FrameKind::Message) {  // on a connection that we dialed: we are a guest there
    // Only a blank replica listens to a peer that it does not know: it waits for an invitation (FLT_S07).
    if (!belongs() && owner_.cluster()) return CloseReason::NotProven;
    owner_.message_received(*this, frame.group, frame.body);
  } else if (frame.kind == FrameKind::Ping && accepted) {
    pong_owed_ = true;
  } else if (frame.kind != FrameKind::Pong || accepted) {
    return CloseReason::UnexpectedFrame;
  }
  return CloseReason::NoReason;
}

// ---- sending

// As a rule the kernel takes a batch at once: then no handler has to run for it.
void Connection::pump() {
  guard(*this, [this] {
    if (!next_batch()) return;
    if (sent(stream_.try_write_some(writer_.unsent())) && !next_batch()) return;
    write();
  });
}

bool Connection::next_batch() {
  if (!writer_.empty() || state_ == State::Dialing || state_ == State::Securing || state_ == State::Closed) return false;
  if (std::exchange(hello_owed_, false)) {
    writer_.add(FrameKind::Hello, {Lane::Control, handshake_.hello(owner_.hello_to(peer()))});
  }
  if (std::exchange(pong_owed_, false)) writer_.add(FrameKind::Pong, {});
  if (std::exchange(ping_owed_, false)) writer_.add(FrameKind::Ping, {});
  if (state_ == State::Established) owner_.take_frames(*this, writer_.messages());
  if (writer_.empty()) return false;
  writer_.seal();
  return true;
}

bool Connection::sent(size_t bytes) {
  liveness_.wrote(stream_.on_wire(bytes));
  return writer_.sent(bytes);
}

void Connection::write() {
  stream_.async_write_some(writer_.unsent(), [self = shared_from_this()](const auto& error, size_t bytes) {
    guard(*self, [&] { self->written(error, bytes); });
  });
}

void Connection::written(const boost::system::error_code& error, size_t bytes) {
  if (closed()) return;
  if (error && established()) return failed();
  if (error) return;  // the peer's reason for a refusal may be unread; the pending read ends with it or with this error
  sent(bytes) ? pump() : write();
}

// ---- the end

void Connection::tick(TimePoint now, Duration pause) {
  liveness_.excuse(pause);
  if (closed()) return;
  if (state_ != State::Established) {
    if (liveness_.hello_late(now)) close(CloseReason::HelloTimeout);
    return;
  }
  liveness_.wrote(stream_.on_wire(0));  // of a write that is under way
  liveness_.packets_sent(packets_of(stream_.socket().native_handle()));
  const bool backlog_moves = liveness_.backlog_moves(now, stream_.unacknowledged());
  if (liveness_.silent(now) && !backlog_moves) return close(CloseReason::Idle);
  if (side() == Side::Dialed && liveness_.ping_due(now)) {
    liveness_.pinged(now);
    ping_owed_ = true;
    pump();
  }
}

void Connection::failed() {
  const SecureChannel::Fault fault = stream_.fault();
  close(fault.reason != CloseReason::NoReason ? fault.reason : CloseReason::Ended, fault.peers_reason);
}

void Connection::close(CloseReason reason, CloseReason peers_reason) {
  if (closed()) return;
  if (tellable(reason)) say_goodbye(reason);
  state_ = State::Closed;
  boost::system::error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_both, ignored);
  stream_.socket().close(ignored);
  owner_.closed(*this, reason, peers_reason);
}

// A best effort, without waiting: the peer notices even without it that it is refused, but not why.
void Connection::say_goodbye(CloseReason reason) {
  if (!writer_.empty() || state_ == State::Dialing) return;
  const std::string body(1, static_cast<char>(reason));
  const FrameHeader header = writer_.make_last(FrameKind::Goodbye, body);
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(header), asio::buffer(body)};
  if (reason == CloseReason::SpeaksPlainText) {  // in a form that the peer understands
    boost::system::error_code ignored;
    stream_.socket().write_some(buffers, ignored);
  } else {
    stream_.write_now({buffers.data(), buffers.data() + buffers.size()});
  }
}

}  // namespace coordkit::tcp
