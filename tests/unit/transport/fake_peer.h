// A peer made of a plain socket and the frame codec, so that tests can misbehave in every way a real one does not.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "transport/frame.h"
#include "transport/hello.h"

namespace coordkit {

class FakePeer {
 public:
  struct Frame {
    FrameKind kind;
    std::string body;
  };

  explicit FakePeer(int fd) : fd_(fd), reader_(64 << 20) {}
  FakePeer(FakePeer&& other) noexcept
      : sent(std::move(other.sent)),
        knows(other.knows),
        secret(other.secret),
        spoil(other.spoil),
        received_hello(other.received_hello),
        fd_(std::exchange(other.fd_, -1)),
        reader_(std::move(other.reader_)),
        sums_(std::move(other.sums_)) {}
  ~FakePeer() {
    if (fd_ >= 0) ::close(fd_);
  }

  static FakePeer connect(uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to = loopback(port);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) return FakePeer(-1);
    return FakePeer(fd);
  }

  bool write(std::string_view bytes) {
    sent.append(bytes);
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  std::string seal(FrameKind kind, std::string_view body, GroupId group = kOnlyGroup) {
    const FrameHeader header = make_frame_header(kind, group, body, sums_);
    sums_.next();
    return std::string(header.data(), header.size()) + std::string(body);
  }
  bool send(FrameKind kind, std::string_view body = {}) { return write(seal(kind, body)); }

  // nullopt: the other end closed (or a deadline that only a defect reaches).
  std::optional<Frame> read() {
    for (;;) {
      if (const auto frame = reader_.next()) return Frame{frame->kind, std::string(frame->body)};
      if (reader_.fault() != FrameFault::None || !more()) return std::nullopt;
    }
  }
  bool ended() {
    while (more()) {
    }
    return !timed_out_;
  }
  // The bytes that have come, whatever they are; none: the other end closed.
  std::string raw() {
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, 60'000) <= 0) return timed_out_ = true, "";
    std::string bytes(64 << 10, '\0');
    const ssize_t n = recv(fd_, bytes.data(), bytes.size(), 0);
    bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return bytes;
  }
  void reset() {  // RST instead of FIN
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::close(std::exchange(fd_, -1));
  }

  // The dialer's half of the handshake. False: refused; then goodbye() may give the reason.
  bool shake(Introduction mine) {
    mine.mark = knows ? mark_of(knows) : mine.mark;
    mine.secured = !secret.empty();
    if (!send(FrameKind::Hello, encode(mine))) return false;
    const auto answer = read();
    if (!answer) return false;
    if (answer->kind == FrameKind::Goodbye) return note(*answer), false;
    const auto theirs = decode_introduction(answer->body);
    if (answer->kind != FrameKind::Hello || !theirs.ok() || theirs->echo != mine.nonce) return false;
    key(mine.nonce, theirs->nonce);
    received_hello = *theirs;
    if (!knows && secret.empty()) return send(FrameKind::Ping);
    mine.echo = theirs->nonce;
    prove(mine, Prover::Dialer, knows, secret);
    if (spoil) spoil(mine);
    if (!send(FrameKind::Hello, proven(mine, Prover::Dialer))) return false;
    if (!secret.empty()) {
      sums_.set_key(session_key(secret, Prover::Dialer, mine.nonce, theirs->nonce));
      reader_.set_key(session_key(secret, Prover::Acceptor, mine.nonce, theirs->nonce));
    }
    return send(FrameKind::Ping);
  }
  // The acceptor's half.
  bool welcome(Introduction mine) {
    const auto hello = read();
    if (!hello || hello->kind != FrameKind::Hello) return false;
    mine.echo = decode_introduction(hello->body).value().nonce;
    prove(mine, Prover::Acceptor, knows, secret);
    if (!send(FrameKind::Hello, proven(mine, Prover::Acceptor))) return false;
    key(mine.nonce, mine.echo);
    const auto proven = read();
    if (!proven) return false;
    if (proven->kind == FrameKind::Goodbye) return note(*proven), false;
    if (proven->kind != FrameKind::Hello) return false;
    received_hello = decode_introduction(proven->body).value();
    if (secret.empty()) return true;
    sums_.set_key(session_key(secret, Prover::Acceptor, mine.echo, mine.nonce));
    reader_.set_key(session_key(secret, Prover::Dialer, mine.echo, mine.nonce));
    return true;
  }
  // Reads until the pong: everything sent before has been processed. False: the connection ended; goodbye() may say why.
  bool processed() {
    while (const auto frame = read()) {
      if (frame->kind == FrameKind::Pong) return true;
      if (frame->kind == FrameKind::Goodbye) return note(*frame), false;
    }
    return false;
  }
  CloseReason goodbye() const { return goodbye_; }
  uint16_t port_of_other_end() const {
    sockaddr_in other{};
    socklen_t size = sizeof other;
    getpeername(fd_, reinterpret_cast<sockaddr*>(&other), &size);
    return ntohs(other.sin_port);
  }

  std::string sent;                          // everything, for a replay
  ClusterId knows;                           // and proves; zero: nothing
  std::string secret;                        // and proves; empty: none
  std::function<void(Introduction&)> spoil;  // of what is proven as a dialer
  Introduction received_hello;               // the other end's newest hello

 private:
  friend class FakeListener;
  static sockaddr_in loopback(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  std::string proven(const Introduction& mine, Prover by) const {
    std::string body = encode(mine);
    if (!secret.empty()) prove_words(body, by, secret);
    return body;
  }
  void key(uint64_t mine, uint64_t theirs) {
    reader_.set_key(frame_key(theirs, mine));
    sums_.set_seed(frame_key(mine, theirs));
  }
  void note(const Frame& frame) { goodbye_ = static_cast<CloseReason>(frame.body.at(0)); }
  bool more() {
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, 60'000) <= 0) return timed_out_ = true, false;
    const auto space = reader_.space();
    const ssize_t n = recv(fd_, space.data(), space.size(), 0);
    if (n <= 0) return false;
    reader_.filled(static_cast<size_t>(n));
    return true;
  }

  int fd_;
  FrameReader reader_;
  FrameSums sums_;
  CloseReason goodbye_ = CloseReason::NoReason;
  bool timed_out_ = false;
};

class FakeListener {
 public:
  // On 127.0.0.1, or 127.0.0.`last`; zero: a port that is free. Beyond `backlog` + 1 a dialer gets no answer.
  explicit FakeListener(uint16_t port = 0, uint32_t last = 1, int backlog = 16) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in any = FakePeer::loopback(port);
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last);
    socklen_t size = sizeof any;
    if (bind(fd_, reinterpret_cast<sockaddr*>(&any), size) == 0 && listen(fd_, backlog) == 0) {
      getsockname(fd_, reinterpret_cast<sockaddr*>(&any), &size);
      port_ = ntohs(any.sin_port);
    }
  }
  ~FakeListener() { ::close(fd_); }
  uint16_t port() const { return port_; }
  // No connection for a minute: a peer that was never there.
  FakePeer accept() {
    pollfd waiting{fd_, POLLIN, 0};
    return FakePeer(poll(&waiting, 1, 60'000) > 0 ? ::accept(fd_, nullptr, nullptr) : -1);
  }

 private:
  int fd_;
  uint16_t port_ = 0;
};

}  // namespace coordkit
