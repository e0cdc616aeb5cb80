// Port: encrypts a connection of the TCP transport, and identifies its other end. Bytes in, bytes
// out: no sockets, no threads. The built-in one is TLS 1.3 over OpenSSL (coordkit/operate/tls.h),
// in a library of its own; TcpOptions::channels accepts any.
//
// Threads: a channel belongs to the transport's thread.
// Lifetime: that of one connection.
// Errors: a channel that has failed stays failed and says why. Nothing throws except
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/transport/tcp_transport.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// The identity that a certificate states.
struct CertifiedIdentity {
  std::string cluster;  // its name
  ReplicaId replica;    // its id
  friend bool operator==(const CertifiedIdentity&, const CertifiedIdentity&) = default;
};

class SecureChannel {
 public:
  // Handshaking becomes Open or Failed, and Open may become Failed.
  enum class State : uint8_t { Handshaking, Open, Failed };
  // Why a channel has failed.
  struct Fault {
    CloseReason reason = CloseReason::NoReason;        // this end's reason, for TcpEvent::reason
    CloseReason peers_reason = CloseReason::NoReason;  // with RefusedByPeer: the other end's reason
  };

  virtual ~SecureChannel() = default;

  // Takes received bytes, in pieces of any size. They must stay in place until read() or advance()
  // asks for more: read() by returning 0, advance() by staying in Handshaking.
  virtual void received(std::span<const char> bytes) = 0;
  // Continues the handshake as far as the received bytes reach.
  virtual State advance() = 0;
  // Once open: decrypts into `space` (not empty) and returns the number of bytes. 0: more must
  // arrive, or the channel has failed.
  virtual size_t read(std::span<char> space) = 0;
  // Once open: encrypts all of them.
  virtual void write(std::span<const char> bytes) = 0;
  // Puts the bytes to be sent into `into`, replacing its content.
  virtual void take_outgoing(std::string& into) = 0;

  virtual State state() const = 0;  // after the last call
  virtual Fault fault() const = 0;  // once it has failed
  // Once open: the name in the other end's certificate, signed by an authority that is trusted
  // here. Nullopt: none.
  virtual const std::optional<CertifiedIdentity>& peer() const = 0;
  // Once open: the problem with that certificate now, by the newest files that its SecureChannels
  // have loaded. NoReason: none, or this channel cannot tell.
  virtual CloseReason peer_now() const { return CloseReason::NoReason; }
};

// Makes channels with the present certificates. All methods are thread-safe.
class SecureChannels {
 public:
  virtual ~SecureChannels() = default;
  // Makes a channel for one connection. Dialed: this end begins the handshake. Never null.
  virtual std::unique_ptr<SecureChannel> make(TcpEvent::Side side) = 0;
  // Loads the present certificates, for channels that are made from now on. An error changes
  // nothing.
  virtual absl::Status reload() = 0;
  // Grows with each reload. Where an open connection is older, the transport dials again, and
  // closes the old connection once the new one is open. It closes an accepted connection that is
  // still older after ten idle timeouts. It does the same with a dialed connection if the other
  // end's certificate is no longer valid.
  virtual uint64_t generation() const = 0;
};

}  // namespace coordkit
