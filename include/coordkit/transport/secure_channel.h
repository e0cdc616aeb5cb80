// Port: what encrypts a connection of the TCP transport, and says who is at its other end. Bytes in, bytes out: no sockets, no
// threads. The one in the box is TLS 1.3 over OpenSSL (coordkit/tls.h), in a library of its own; TcpOptions::channels takes
// any.
//
// Threads: a channel belongs to the transport's thread. Lifetime: of one connection. Failure: a channel that has failed stays
// so and says why; nothing throws but std::bad_alloc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "coordkit/export.h"
#include "coordkit/transport/tcp_transport.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// The identity that a certificate states.
struct CertifiedIdentity {
  std::string cluster;  // its name
  ReplicaId replica;
  friend bool operator==(const CertifiedIdentity&, const CertifiedIdentity&) = default;
};

class SecureChannel {
 public:
  enum class State : uint8_t { Handshaking, Open, Failed };
  friend constexpr std::string_view name_of(State one) {
    switch (one) {
      case State::Handshaking: return "Handshaking";
      case State::Open: return "Open";
      case State::Failed: return "Failed";
    }
    return "?";
  }
  struct Fault {
    CloseReason reason = CloseReason::NoReason;
    CloseReason peers_reason = CloseReason::NoReason;  // with RefusedByPeer: what the other end gave
  };

  virtual ~SecureChannel() = default;

  // What has come, in pieces of any size. They must stay where they are until read() or advance() asks for more: read() by
  // returning 0, advance() by staying in Handshaking.
  virtual void received(std::span<const char> bytes) = 0;
  // Goes on with the handshake as far as what was received reaches.
  virtual State advance() = 0;
  // Once open: decrypts into `space` (not empty); returns how many bytes. 0: more must come, or the channel has failed.
  virtual size_t read(std::span<char> space) = 0;
  // Once open: encrypts all of them.
  virtual void write(std::span<const char> bytes) = 0;
  // Puts what is to be sent into `into`, in place of what that holds.
  virtual void take_outgoing(std::string& into) = 0;

  virtual State state() const = 0;
  virtual Fault fault() const = 0;  // once it has failed
  // Once open: the name in the other end's certificate, which an authority that is trusted here has signed. Nothing: none.
  virtual const std::optional<CertifiedIdentity>& peer() const = 0;
  // Once open: what is wrong with that certificate now, by the newest that its SecureChannels have loaded. NoReason: nothing,
  // or this channel cannot tell.
  virtual CloseReason peer_now() const { return CloseReason::NoReason; }
};

// Makes channels with the certificates of the day. All methods are thread-safe.
class SecureChannels {
 public:
  virtual ~SecureChannels() = default;
  virtual std::unique_ptr<SecureChannel> make(TcpEvent::Side side) = 0;
  // Takes what is new into use, for channels that are made from now on. An error changes nothing.
  virtual absl::Status reload() = 0;
  // Grows with each reload. The transport dials anew where a connection stands that is older, and lets go of the old one once
  // the new one stands. What it accepted and is still older after ten idle timeouts it closes; the same for what it dialed, if
  // the other end's certificate is not good any more.
  virtual uint64_t generation() const = 0;
};

}  // namespace coordkit
