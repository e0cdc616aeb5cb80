// Port: carries frames between replicas. It may drop, delay and repeat frames, and keeps order in a
// lane. It never blocks and never invents a sender.
//
// A frame is opaque here: the engine's wire codec makes and reads the body. The transport does the
// hello (which replica, store and cluster), lanes, reconnects and integrity of the frames. To check
// an implementation of your own, run the conformance suite in coordkit/testing/transport_suite.h.
//
// Threads: start() comes first and close() last, on any thread. All calls in between come from the
// turns of one engine, one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/engine/agreement.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Control messages overtake bulk: votes, heartbeats, renewals, releases.
enum class Lane : uint8_t { Control, Bulk };

// One message on its way, as EngineEffects::sends become it. Made by the engine's host.
struct Frame {
  Lane lane = Lane::Bulk;  // lane_of() tells it for messages of an engine
  std::string body;        // opaque bytes: encode()
};

// A member in a hello's list. `address` is a sum of the member's address, by which two lists can be
// compared.
struct ListedMember {
  ReplicaId id;          // as the operator numbered it
  uint32_t address = 0;  // equal for equal addresses; other addresses may have it too
  friend bool operator==(const ListedMember&, const ListedMember&) = default;
};

// The first message of both ends on a connection.
struct Hello {
  // Peers whose version ranges do not overlap refuse each other. From version 2 on, the built-in
  // transport authenticates the whole hello if a SharedSecret is set.
  uint32_t protocol_min = 1;
  uint32_t protocol_max = 2;  // the newest version that the sender speaks
  std::string cluster_name;   // as the operator named it; both ends must agree
  ReplicaId from;             // the sender
  ReplicaId to;               // the intended receiver
  StoreId store;              // of the sender's data directory
  BootCounter boot;           // how often that was opened: a later one replaces an earlier one
  // Zero: this store is blank, it has seen no genesis. peer_up() reports the proven id, not the
  // claimed one: our own cluster's id if the other end has proven to know it, else zero. To a
  // replica that is blank itself it reports something that is not zero. An id is a secret of those
  // that were invited. A transport that sends it in clear admits every listener (decisions/0018).
  ClusterId cluster;
  uint64_t feature_level = 0;  // the newest level that the sender's build can read
                               // (feature_level.h)
  // Absent: the sender does not state it, and nothing is compared. In plain text neither this nor
  // the level is proven: anyone who can change bytes on the path can change them.
  std::optional<Agreement> agreement = {};
  // The list of members that this process was started with, as list_for_hello() makes it. Members
  // found a cluster only if their lists are alike (docs/decisions/0050). Empty: the sender does not
  // state it, and nothing is compared. Not proven in plain text either.
  std::vector<ListedMember> members = {};
  friend bool operator==(const Hello&, const Hello&) = default;
};

// The receiver of a transport's reports. Callable from any thread; never blocks (drops on overflow:
// a frame may be lost).
class TransportSink {
 public:
  virtual ~TransportSink() = default;
  // A hello was verified; again after every reconnect. Never for an older life while a later one is
  // connected.
  virtual void peer_up(const Hello& hello) = 0;
  // No connection is left, or the other end gives no sign of life: its process hangs, its machine
  // is gone.
  virtual void peer_down(ReplicaId peer) = 0;
  // `from` is the identity that the connection proved, not one in the payload. Once a peer_up has
  // named a later boot or another store of a peer, nothing that was sent before is reported any
  // more. A starting peer asks others about its disk, and messages of its earlier life must not
  // overtake that. Nor is anything reported that was sent to an earlier life of this replica.
  virtual void received(ReplicaId from, std::string body) = 0;
  // An operator must fix this; the sentence says why this peer cannot be talked to. Cleared by its
  // next peer_up(). The reasons: the peer has another cluster name or id, or another replica
  // answers at its address. A process that acts as a replica whose later life is connected gets
  // this for the peers that turn it away. A peer that is up, by a connection that it made, may
  // still be reported because of the process that answers at its address.
  virtual void peer_refused(ReplicaId, std::string) {}
  // No answer at the peer's address, which may well pass; the sentence says what was tried.
  // Reported when it changes. Cleared as above, and as above the peer may be up.
  virtual void peer_unreachable(ReplicaId, std::string) {}
};

// A replica to connect with. Made by the engine from the configuration, or by the operator.
struct Peer {
  ReplicaId id;         // not zero
  std::string address;  // in this transport's form
  StoreId store = {};   // the data directory that may act as this peer, if it is known: it is
                        // preferred to any other
  friend bool operator==(const Peer&, const Peer&) = default;
};

// EngineOptions::members in the form of Hello::members.
std::vector<ListedMember> list_for_hello(const std::vector<Peer>& members);

class Transport {
 public:
  virtual ~Transport() = default;
  // Starts listening and connecting. A replica of the same cluster that is not among `peers` may
  // connect as a guest. It is reported by peer_up, its messages are reported, and messages to it
  // travel as long as it stays. A transport may bound the number of guests, and hide unproven
  // guests from the sink. The sink outlives close(). kUnavailable: the port is in use; the message
  // names it.
  virtual absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) = 0;
  // Later hellos carry this cluster id (a blank store has adopted a genesis).
  virtual void set_cluster(ClusterId cluster) = 0;
  // From now on these are the peers to connect to. A peer that is no longer among them is
  // disconnected after a moment, in which earlier messages may still arrive. It may return as a
  // guest. Idempotent; the own id among them is skipped.
  virtual void set_peers(std::vector<Peer> peers) = 0;
  // Queues frames, in order within a lane, and never waits. A full queue drops the oldest bulk
  // first. A body that is too long for this transport is dropped, and later ones are still sent.
  virtual void send(ReplicaId to, std::vector<Frame> frames) = 0;
  // Ends all connections. Nothing is reported once this has returned. Idempotent; may block.
  virtual void close() = 0;
};

}  // namespace coordkit
