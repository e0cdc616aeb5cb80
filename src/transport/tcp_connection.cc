#include "transport/tcp_connection.h"

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <span>
#include <utility>

namespace coordkit::tcp {
namespace {

CloseReason reason_of(FrameFault fault) {
  switch (fault) {
    case FrameFault::None: return CloseReason::None;
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

// Worth reporting to the other end: it is a replica, and its operator can do something about it.
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

}  // namespace

Connection::Connection(ConnectionOwner& owner, const ConnectionLimits& limits, Side side, ReplicaId peer, uint64_t instance,
                       uint64_t nonce, Socket socket)
    : owner_(owner),
      limits_(limits),
      side_(side),
      peer_(peer),
      instance_(instance),
      nonce_(nonce),
      stream_(std::move(socket)),
      reader_(kHelloBytesMax),
      opened_at_(SteadyClock::now()),
      heard_(opened_at_),
      pinged_(opened_at_) {}

// ---- handshake

void Connection::dial(const Resolver::results_type& addresses) {
  state_ = State::Dialing;
  asio::async_connect(stream_.socket(), addresses, [self = shared_from_this()](const auto& error, const Tcp::endpoint&) {
    if (self->closed()) return;
    if (error) return self->close(CloseReason::DialFailed);
    self->open();
    self->secure();
  });
}

void Connection::accept() {
  open();
  secure();
}

void Connection::open() {
  boost::system::error_code ignored;  // a closed connection shows itself at the first read
  Socket& socket = stream_.socket();
  if (const Tcp::endpoint remote = socket.remote_endpoint(ignored); !ignored) address_ = remote.address();
  socket.non_blocking(true, ignored);
  socket.set_option(Tcp::no_delay(true), ignored);
  // Socket buffers are left to the kernel, which grows them beyond what SO_SNDBUF allows. Only what it has not sent yet is
  // bounded: liveness messages cannot overtake bytes that the kernel already has.
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
  stream_.secure(limits_.channels->make(side_));
  stream_.async_handshake([self = shared_from_this()](const auto& error, size_t) { self->secured(error); });
}

void Connection::secured(const boost::system::error_code& error) {
  if (closed()) return;
  if (error) return failed();
  certified_ = stream_.peer();
  if (const CloseReason wrong = owner_.certified(certified_, peer_); wrong != CloseReason::None) return close(wrong);
  begin();
}

void Connection::begin() {
  state_ = State::AwaitingHello;
  if (side_ == Side::Dialed) {
    hello_owed_ = true;
    pump();
  }
  read();
}

CloseReason Connection::take_hello(std::string_view body) {
  absl::StatusOr<Introduction> introduction = decode_introduction(body);
  if (!introduction.ok()) return CloseReason::BadHello;
  theirs_ = *std::move(introduction);
  if (theirs_.echo != (side_ == Side::Dialed ? nonce_ : 0)) return CloseReason::BadHello;
  if (side_ == Side::Dialed) {
    change_keys();  // the acceptor did when it answered
    if (theirs_.hello.from != peer_) return CloseReason::WrongReceiver;
  }
  if (const CloseReason wrong = owner_.hello_received(theirs_); wrong != CloseReason::None) return wrong;
  if (theirs_.secured == limits_.secret.empty()) return CloseReason::SecretMissing;
  if (certified_ && theirs_.hello.from != certified_->replica) return CloseReason::CertificateOtherReplica;
  if (side_ == Side::Dialed) return establish();
  peer_ = theirs_.hello.from;
  hello_owed_ = true;
  pump();  // sealed before the key changes: nothing was in flight
  change_keys();
  state_ = State::Confirming;
  return CloseReason::None;
}

void Connection::change_keys() {
  reader_.set_key(frame_key(theirs_.nonce, nonce_));
  seal_sums_.set_seed(frame_key(nonce_, theirs_.nonce));
}

SessionKey Connection::key_of(Prover by) const {
  const bool dialed = side_ == Side::Dialed;
  return session_key(limits_.secret, by, dialed ? nonce_ : theirs_.nonce, dialed ? theirs_.nonce : nonce_);
}

CloseReason Connection::judge_shown() {
  const Shown shown = judge_proofs(theirs_, other_side(), owner_.cluster(), limits_.secret);
  belongs_ = shown.belongs;
  if (state_ != State::AwaitingHello) {
    const size_t unproven = owner_.cluster() ? kHelloBytesMax : kInvitationBytesMax;
    reader_.set_body_bytes_max(belongs_ ? limits_.frame_bytes_max : std::min(unproven, limits_.frame_bytes_max));
  }
  return shown.wrong;
}

CloseReason Connection::establish() {
  const bool dialed = side_ == Side::Dialed;
  state_ = State::Established;
  if (const CloseReason wrong = judge_shown(); wrong != CloseReason::None) return wrong;
  established_at_ = heard_;
  if (!limits_.secret.empty()) {
    reader_.set_key(key_of(other_side()));
    key_owed_ = dialed;  // the acceptor sends nothing between its hello and now
    if (!dialed) seal_sums_.set_key(key_of(Prover::Acceptor));
  }
  if (dialed) {
    hello_owed_ = true;  // with the proofs
    ping_owed_ = true;
  }
  if (const CloseReason refused = owner_.established(*this); refused != CloseReason::None) return refused;
  tell_cluster();
  return CloseReason::None;
}

void Connection::tell_cluster() {
  if (state_ != State::Established || told_cluster_ == owner_.cluster()) return;
  hello_owed_ = true;
  pump();
  if (belongs_ || closed()) return;
  CloseReason wrong = owner_.hello_received(theirs_);  // it belongs to another cluster, as is now known
  if (wrong == CloseReason::None) wrong = judge_shown();
  if (wrong == CloseReason::None && belongs_) wrong = owner_.hello_repeated(*this);
  if (wrong != CloseReason::None) close(wrong);
}

Hello Connection::shown() const {
  Hello hello = theirs_.hello;
  const ClusterId ours = owner_.cluster();
  hello.cluster = !ours ? ClusterId(theirs_.mark) : belongs_ ? ours : ClusterId();
  return hello;
}

// From the same replica, which may have proved more than before.
CloseReason Connection::note_repeated_hello(std::string_view body) {
  absl::StatusOr<Introduction> again = decode_introduction(body);
  if (!again.ok()) return CloseReason::BadHello;
  const Introduction& first = theirs_;
  if (again->hello != first.hello || again->instance != first.instance || again->nonce != first.nonce ||
      again->echo != nonce_ || again->secured != first.secured) {
    return CloseReason::IdentityChanged;
  }
  theirs_ = *std::move(again);
  return owner_.hello_received(theirs_);
}

CloseReason Connection::take_repeated_hello(std::string_view body) {
  const bool belonged = belongs_;
  if (const CloseReason wrong = note_repeated_hello(body); wrong != CloseReason::None) return wrong;
  if (const CloseReason wrong = judge_shown(); wrong != CloseReason::None) return wrong;
  if (belonged && !belongs_) return CloseReason::IdentityChanged;
  return owner_.hello_repeated(*this);
}

// ---- receiving

void Connection::read() {
  const std::span<char> space = reader_.space();
  stream_.async_read_some(asio::buffer(space.data(), space.size()),
                          [self = shared_from_this()](const auto& error, size_t bytes) { self->received(error, bytes); });
}

void Connection::received(const boost::system::error_code& error, size_t bytes) {
  if (closed()) return;
  if (error) return failed();
  reader_.filled(bytes);
  heard_ = SteadyClock::now();
  if (!belongs_ && state_ == State::Established) {
    if (const CloseReason greedy = owner_.unproven_bytes(bytes); greedy != CloseReason::None) return close(greedy);
  }
  while (const auto frame = reader_.next()) {
    const CloseReason wrong = take(*frame);
    if (closed()) return;
    if (wrong != CloseReason::None) {
      const bool told = frame->kind == FrameKind::Goodbye;
      return close(told ? CloseReason::RefusedByPeer : wrong, told ? wrong : CloseReason::None);
    }
  }
  if (reader_.fault() != FrameFault::None) return close(reason_of(reader_.fault()));
  pump();
  // Behind the work that these frames make: as a rule there is nothing more to read yet, and finding out takes a system call.
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
        if (const CloseReason wrong = note_repeated_hello(frame.body); wrong != CloseReason::None) return wrong;
        return establish();
      }
      if (frame.kind != FrameKind::Ping) return CloseReason::UnexpectedFrame;
      if (const CloseReason refused = establish(); refused != CloseReason::None || closed()) return refused;
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
  const bool accepted = side_ == Side::Accepted;
  if (frame.kind == FrameKind::Hello) return take_repeated_hello(frame.body);
  if (frame.kind == FrameKind::Message) {  // on a connection that we dialed: we are a guest there
    // Only a blank replica listens to a peer it does not know: it waits to be invited (FLT_S07).
    if (!belongs_ && owner_.cluster()) return CloseReason::NotProven;
    owner_.message_received(*this, frame.group, frame.body);
  } else if (frame.kind == FrameKind::Ping && accepted) {
    pong_owed_ = true;
  } else if (frame.kind != FrameKind::Pong || accepted) {
    return CloseReason::UnexpectedFrame;
  }
  return CloseReason::None;
}

// ---- sending

void Connection::seal(FrameKind kind, Frame frame) {
  batch_.push_back(std::move(frame));
  kinds_.push_back(kind);
}

void Connection::seal_owed() {
  if (std::exchange(hello_owed_, false)) {
    Introduction mine{owner_.hello_to(peer_), instance_, nonce_, theirs_.nonce};
    told_cluster_ = mine.hello.cluster;
    // The first hello of a connection cannot prove anything: the other end's nonce is not known yet.
    const bool first = theirs_.nonce == 0;
    prove(mine, side_ == Side::Dialed ? Prover::Dialer : Prover::Acceptor, told_cluster_, limits_.secret);
    if (first) mine.proof_of_cluster.clear(), mine.proof_of_secret.clear();
    seal(FrameKind::Hello, {Lane::Control, encode(mine)});
  }
  if (std::exchange(pong_owed_, false)) seal(FrameKind::Pong, {});
  if (std::exchange(ping_owed_, false)) seal(FrameKind::Ping, {});
}

// As a rule the kernel takes a batch at once: then no handler has to run for it.
void Connection::pump() {
  if (!next_batch()) return;
  if (sent(stream_.try_write_some(unsent())) && !next_batch()) return;
  write();
}

bool Connection::next_batch() {
  if (!batch_.empty() || state_ == State::Dialing || state_ == State::Securing || state_ == State::Closed) return false;
  seal_owed();
  if (state_ == State::Established) {
    owner_.take_frames(*this, batch_);
    kinds_.resize(batch_.size(), FrameKind::Message);
  }
  if (batch_.empty()) return false;
  headers_.resize(batch_.size());  // first: buffers point into it
  buffers_.clear();
  sent_ = 0;
  for (size_t i = 0; i < batch_.size(); ++i) {
    headers_[i] = make_frame_header(kinds_[i], kOnlyGroup, batch_[i].body, seal_sums_);
    seal_sums_.next();
    if (kinds_[i] == FrameKind::Hello && std::exchange(key_owed_, false)) seal_sums_.set_key(key_of(Prover::Dialer));
    buffers_.push_back(asio::buffer(headers_[i]));
    if (!batch_[i].body.empty()) buffers_.push_back(asio::buffer(batch_[i].body));
  }
  return true;
}

Buffers Connection::unsent() const {
  const asio::const_buffer* all = buffers_.data();
  return {all + sent_, all + buffers_.size()};
}

bool Connection::sent(size_t bytes) {
  written_ += stream_.on_wire(bytes);
  while (sent_ < buffers_.size() && bytes >= buffers_[sent_].size()) bytes -= buffers_[sent_++].size();
  if (sent_ < buffers_.size()) {
    buffers_[sent_] += bytes;
    return false;
  }
  batch_.clear();
  kinds_.clear();
  return true;
}

void Connection::write() {
  stream_.async_write_some(unsent(),
                           [self = shared_from_this()](const auto& error, size_t bytes) { self->written(error, bytes); });
}

void Connection::written(const boost::system::error_code& error, size_t bytes) {
  if (closed()) return;
  if (error && established()) return failed();
  if (error) return;  // the reason for a refusal may be unread; the pending read ends with it or with this error
  sent(bytes) ? pump() : write();
}

// ---- the end

void Connection::tick(TimePoint now, Duration pause) {
  opened_at_ += pause;
  heard_ += pause;
  if (closed()) return;
  if (state_ != State::Established) {
    if (now - opened_at_ > limits_.hello_timeout) close(CloseReason::HelloTimeout);
    return;
  }
  if (now - heard_ > limits_.idle_timeout && !backlog_moves()) return close(CloseReason::Idle);
  if (side_ == Side::Dialed && now - pinged_ >= limits_.idle_timeout / 3) {
    pinged_ = now;
    acknowledged_ = written_ - unacknowledged();
    ping_owed_ = true;
    pump();
  }
}

// On a narrow link a ping waits behind bulk for longer than the idle timeout; as long as TCP drains the backlog, the peer
// is alive. Without a backlog TCP proves nothing: the kernel of a stopped process acknowledges too.
bool Connection::backlog_moves() const {
  const uint64_t waiting = unacknowledged();
  return waiting > 0 && written_ - waiting > acknowledged_;
}

uint64_t Connection::unacknowledged() const {
  int bytes = 0;
  auto& socket = const_cast<Socket&>(stream_.socket());  // native_handle() is not const
  return ioctl(socket.native_handle(), SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

void Connection::failed() {
  const SecureChannel::Fault fault = stream_.fault();
  close(fault.reason != CloseReason::None ? fault.reason : CloseReason::Ended, fault.peers_reason);
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

// Best effort, without waiting: the other end notices by itself that it is refused, but not why.
void Connection::say_goodbye(CloseReason reason) {
  if (!batch_.empty() || state_ == State::Dialing) return;
  const std::string body(1, static_cast<char>(reason));
  const FrameHeader header = make_frame_header(FrameKind::Goodbye, kOnlyGroup, body, seal_sums_);
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(header), asio::buffer(body)};
  if (reason == CloseReason::SpeaksPlainText) {  // in a form that it understands
    boost::system::error_code ignored;
    stream_.socket().write_some(buffers, ignored);
  } else {
    stream_.write_now({buffers.data(), buffers.data() + buffers.size()});
  }
}

}  // namespace coordkit::tcp
