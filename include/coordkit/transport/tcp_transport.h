// The Transport over TCP: a hello both ways, two lanes, bounded queues, reconnects with jittered
// back-off, liveness by pings. There is one connection per pair and direction: each side dials,
// sends on the connection it dialed, and receives on the one it accepted. A guest, which is not
// dialed, is answered on the connection it made. So is a member while it cannot be dialed.
//
// Threads: all methods are thread-safe except bind(), start() and destruction, which come first and
// last. It owns one thread from start() to close(). The sink and on_event are called from that
// thread, and never after close() has returned.
// Errors: a peer's bytes can only end that connection. Every closed connection has a CloseReason,
// which is counted and reported. Frames that were queued for a lost connection are dropped: the
// engine repeats the ones that matter.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/transport.h"

namespace COORDKIT_EXPORT coordkit {

// Why a connection ended. Numbers travel in goodbye frames: never reused, never renumbered.
enum class CloseReason : uint8_t {
  NoReason = 0,
  Ended = 1,              // closed or reset by the other end, or by the network
  DialFailed = 2,         // nothing listens there, or the name does not resolve
  Local = 3,              // this transport was closed
  BadMagic = 4,           // not our protocol: HTTP, noise
  BadVersion = 5,         // a frame header of another version
  BadKind = 6,            // an unknown kind or flag of a frame
  BadHeaderSum = 7,       // the header was damaged, or does not belong to this connection
  Oversize = 8,           // a body beyond frame_bytes_max (or, before the hello, beyond a hello)
  BadSum = 9,             // the body was damaged
  BadHello = 10,          // malformed, or it does not echo our nonce
  OtherClusterName = 11,  // the operators named two clusters differently
  WrongReceiver = 12,     // meant for another replica: two addresses are swapped
  UnknownSender = 13,     // not in the list of peers, and no room for a guest; or it claims our own
                          // id
  OtherCluster = 14,      // both have seen a genesis, and not the same
  NoCommonProtocol = 15,  // the protocol ranges do not overlap
  HelloTimeout = 16,      // no verified hello in time, or the dial took too long
  Crowded = 17,           // too many unverified connections at once: the oldest one is closed
  Idle = 18,              // nothing heard for idle_timeout
  Replaced = 19,          // a newer connection or incarnation of the same peer replaced it
  OlderIncarnation = 20,  // an older boot of a store whose newer boot is connected
  TwoIncarnations = 21,   // another store, or a copy of the same one, is already connected as this
                          // replica (FLT_P18)
  UnexpectedFrame = 22,   // a frame that has no place here
  IdentityChanged = 23,   // a repeated hello names someone else
  RefusedByPeer = 24,     // the other end said goodbye, with its reason
  LetGo = 25,             // no longer among the peers, or to be dialed at another address
  NotProven = 26,         // it has not proven that it belongs to our cluster, and acts as if it did
  SecretDiffers = 27,     // it does not know our secret
  SecretMissing = 28,     // one end has a secret, the other has none
  Greedy = 29,            // all unproven connections together send more than
                          // unproven_bytes_per_second
  // On secured connections (decisions/0027).
  SpeaksPlainText = 30,              // we want TLS
  SpeaksTls = 31,                    // we have none
  BadTls = 32,                       // no TLS 1.3 handshake with the protocol coordkit/1, or bytes
                                     // that do not decrypt
  CertificateMissing = 33,           // it presents none
  CertificateExpired = 34,           // or its authority's
  CertificateNotYetValid = 35,       // or a clock is wrong
  CertificateUnknownAuthority = 36,  // signed by no authority that this end trusts
  CertificateOtherCluster = 37,      // it names another cluster
  CertificateOtherReplica = 38,      // it names another replica than was dialed, or than the hello
                                     // names
  CertificateRefused = 39,           // unsuitable otherwise: it has no name, is for another use, is
                                     // too weak
  Renewed = 40,                      // a connection with newer certificates replaced it
  Count = 41,
};
// The facts that an operator needs for the repair, as a sentence; empty: none.
std::string advice(ReplicaId peer, ReplicaId self, CloseReason reason, CloseReason peers_reason);
// Why a peer could not be reached, if that may pass without an operator; empty: no such reason.
std::string_view obstacle(CloseReason reason);

// Something that happened to a connection, for the operator.
struct TcpEvent {
  // The kind of event.
  enum class Kind : uint8_t {
    Opened,           // both hellos are verified
    Closed,           // for `reason`; RefusedByPeer: `peers_reason` is the other end's reason
    TwoIncarnations,  // alarm: two processes act as one replica. Stop one; see docs
    OversizeFrame,    // the engine sent a body beyond frame_bytes_max; dropped
  };
  // Which end dialed.
  enum class Side : uint8_t { Dialed, Accepted };
  Kind kind = Kind::Closed;                          // says which of the others count
  Side side = Side::Dialed;                          // Dialed: this end dialed
  ReplicaId peer;                                    // zero: not identified
  CloseReason reason = CloseReason::NoReason;        // with Closed
  CloseReason peers_reason = CloseReason::NoReason;  // with Closed for RefusedByPeer
};

// The counts of a TcpTransport since it was made. All counters only grow.
struct TcpCounters {
  uint64_t opened = 0;  // connections whose hellos were verified, renewed ones included
  std::array<uint64_t, static_cast<size_t>(CloseReason::Count)> closed{};  // by reason
  // Messages only; bytes of their bodies.
  uint64_t frames_sent = 0, bytes_sent = 0;  // given to a connection
  // Messages of kOnlyGroup that arrived.
  uint64_t frames_received = 0, bytes_received = 0;  // of their bodies
  // Frames: a full queue, a lost connection, an unknown receiver, oversize.
  uint64_t control_dropped = 0, bulk_dropped = 0;  // the same for the bulk lane
  uint64_t other_group = 0;                        // frames of a group this process does not have

  // Connections that ended for this reason.
  uint64_t closed_for(CloseReason reason) const { return closed[static_cast<size_t>(reason)]; }
};

class SecureChannels;  // transport/secure_channel.h

struct TcpOptions {
  // "host:port", "[IPv6]:port", ":port" for all addresses of both kinds. Port 0: any free one, see
  // port(). Empty: it does not listen, and only dials.
  std::string listen;

  // Bytes of one body; 1 KiB .. 1 GiB. Equal on all replicas: a larger body ends a connection.
  size_t frame_bytes_max = 32 << 20;
  // Queues per peer. If one is full, the oldest frame of that lane is dropped. At least one frame
  // is always accepted.
  size_t bulk_frames_max = 8192;
  // These limit the queues of a peer in the same way.
  size_t bulk_bytes_max = 64 << 20;
  size_t control_frames_max = 4096;
  size_t control_bytes_max = 4 << 20;
  size_t offline_frames_max = 64;  // of each lane while there is no connection: the newest ones
  // Bytes the kernel may hold unsent per connection; control frames wait behind them at most. 0: no
  // limit.
  size_t unsent_bytes_max = 128 << 10;

  // Given to every replica by the operator. The transport talks only to peers that know it, and
  // frames carry a MAC (decisions/0019). Empty: none. Legal: empty, or 16 to 1024 bytes, drawn at
  // random.
  std::string secret = {};
  // Encrypts every connection and identifies the other end before it is heard:
  // coordkit/operate/tls.h has one. Null: plain text.
  std::shared_ptr<SecureChannels> channels = {};

  // How many replicas may be connected that use the cluster's name, are not in the list of peers,
  // and have not proven that they belong to the cluster. They learn which members are here, so that
  // they can say which members they wait for. Their messages are ignored and not reported. 0: none
  // is admitted; the address of a replica that joins must then be known first.
  size_t guests_max = 16;
  // How many replicas may be connected that belong to the cluster and are not in the list of peers.
  // 0: none.
  size_t acquaintances_max = 64;
  size_t unproven_bytes_per_second = 256 << 10;  // from all unproven connections together. Legal:
                                                 // 64 KiB and up
  size_t unverified_max = 64;                    // accepted connections without a verified hello
  size_t unverified_per_address_max = 16;        // of them from one address

  // The kernel sends a lost packet again after a round trip and this time, if it can be configured
  // (Linux 6.15). Everything behind the packet waits for it, heartbeats as well. 0: left to the
  // kernel, usually 200 ms. Legal: 0 to 200 ms.
  Duration resend_min = std::chrono::milliseconds(10);
  Duration hello_timeout = std::chrono::seconds(2);  // from dial or accept to the verified hello, a
                                                     // TLS handshake included
  // Silence of this length ends a connection; pings are sent every third of it. At least two
  // heartbeats and a round trip.
  Duration idle_timeout = std::chrono::seconds(3);
  // The first pause before a redial. It doubles with every attempt, with jitter. Legal: 1 ms and
  // up.
  Duration redial_min = std::chrono::milliseconds(10);
  // The longest such pause. Legal: redial_min and up.
  Duration redial_max = std::chrono::seconds(1);

  uint64_t seed = 0;                                   // of nonces and jitter; 0: from the system
  std::function<void(const TcpEvent&)> on_event = {};  // on the network thread; must not block

  // OK or kInvalidArgument with a sentence that says what to change.
  absl::Status validate() const;
};

class TcpTransport final : public Transport {
 public:
  // start() checks `options`.
  explicit TcpTransport(TcpOptions options);
  ~TcpTransport() override;  // closes; not from the sink's thread

  // Takes the listening port now, so that port() can be given to others before start(). Otherwise
  // start() takes it. kUnavailable: the port is in use; the sentence names it. kInvalidArgument:
  // not an address.
  absl::Status bind();
  // The port listened on; 0 before bind() or start().
  uint16_t port() const;

  // kInvalidArgument: options, an empty cluster name, a repeated or zero id, or an address without
  // a port. kFailedPrecondition: started or closed before. The entry of `peers` that is `self` is
  // skipped.
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override;
  void set_cluster(ClusterId cluster) override;
  // An address without a port is never dialed. The moment for removed peers is idle_timeout.
  void set_peers(std::vector<Peer> peers) override;
  void send(ReplicaId to, std::vector<Frame> frames) override;
  void close() override;

  TcpCounters counters() const;  // callable on any thread, also after close()
  // Sentences for the operator about the network on the path to peers.
  std::vector<std::string> warnings() const;

  class Impl;  // src/transport
  explicit TcpTransport(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordkit
