// Port: carries frames between replicas. May drop, delay and repeat, keeps order in a lane; never blocks nor invents a sender.
//
// A frame is opaque here: the engine's wire codec makes and reads the body. The transport does hello (who is there, which
// store, which cluster), lanes, reconnects and integrity of what it carries. Own implementations: run the conformance
// suite in coordkit/testing/transport_suite.h.
// Threads: start() comes first and close() last, on whatever thread; in between the turns of one engine call, one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/agreement.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Control messages overtake bulk: votes, heartbeats, renewals, releases.
enum class Lane : uint8_t { Control, Bulk };
constexpr std::string_view name_of(Lane lane) {
  switch (lane) {
    case Lane::Control: return "Control";
    case Lane::Bulk: return "Bulk";
  }
  return "?";
}

struct Frame {
  Lane lane = Lane::Bulk;
  std::string body;
};

// A member as a hello lists it: of its address a sum, by which two lists can be compared.
struct ListedMember {
  ReplicaId id;
  uint32_t address = 0;
  friend bool operator==(const ListedMember&, const ListedMember&) = default;
};

// What both ends say before anything else on a connection.
struct Hello {
  // A transport lets no two meet whose ranges have nothing in common. In the one of the box, who speaks 2 and has a
  // SharedSecret proves all that a hello says.
  uint32_t protocol_min = 1;
  uint32_t protocol_max = 2;
  std::string cluster_name;  // as the operator named it; both ends must agree
  ReplicaId from;
  ReplicaId to;  // the intended receiver
  StoreId store;
  BootCounter boot;
  // Zero: this store is blank, it has seen no genesis. What peer_up() reports is not what was claimed but what was shown: the
  // id of our own cluster if the other end has proven to know it, else zero; to a replica that is blank itself, something that
  // is not zero. An id is a secret of those who were invited: a transport that says it in clear lets everybody in who listens
  // (decisions/0018).
  ClusterId cluster;
  uint64_t feature_level = 0;  // the newest that the sender's build can read (feature_level.h)
  // Absent: the sender does not say; nothing is compared. In plain text neither this nor the level is proven: who can change
  // bytes on the way can change them.
  std::optional<Agreement> agreement = {};
  // The list of members that this process was started with, as list_for_hello() makes it. Members found a cluster only if their
  // lists are alike (docs/decisions/0050). Empty: the sender does not say; nothing is compared. Not proven in plain text
  // either.
  std::vector<ListedMember> members = {};
  friend bool operator==(const Hello&, const Hello&) = default;
};

// Where a transport reports. Callable from any thread; never blocks (drops on overflow: a frame may be lost).
class TransportSink {
 public:
  virtual ~TransportSink() = default;
  // A hello was verified; again after every reconnect. Never of an older life while a later one is connected.
  virtual void peer_up(const Hello& hello) = 0;
  // No connection is left, or the other end gives no sign of life: its process stands still, its machine is gone.
  virtual void peer_down(ReplicaId peer) = 0;
  // `from` is who the connection proved, not the payload. Once a peer_up has named a later boot or another store of a peer,
  // nothing that was sent before is reported any more: what a peer's disk is asked for at its start must not be overtaken by
  // what the peer had said in an earlier life.
  virtual void received(ReplicaId from, std::string body) = 0;
  // This peer cannot be talked to, for a reason that an operator must remove; a sentence. Over with its next peer_up. So of
  // another cluster, by name or id; of another replica at the peer's address; and to a process that acts as a replica whose
  // later life is connected, of those who turn it away. A peer that is up, by a connection that it made, may have to be
  // reported for what is met where it is dialed.
  virtual void peer_refused(ReplicaId, std::string) {}
  // No answer there, which may well pass: a sentence that says what was tried. Reported when it changes. Over as above, and as
  // above the peer may be up.
  virtual void peer_unreachable(ReplicaId, std::string) {}
};

struct Peer {
  ReplicaId id;
  std::string address;
  StoreId store = {};  // the data directory that may act as this peer, if it is known: of two, the one that is preferred
  friend bool operator==(const Peer&, const Peer&) = default;
};

// EngineOptions::members, for Hello::members.
std::vector<ListedMember> list_for_hello(const std::vector<Peer>& members);

class Transport {
 public:
  virtual ~Transport() = default;
  // Starts listening and connecting. A replica of the same cluster that is not among `peers` may come by itself, as a guest: it
  // is reported by peer_up, what it sends is reported, and what is sent to it travels as long as it stays. A transport may
  // bound the number of guests, and keep those from the sink that have not shown that they belong. The sink outlives close().
  // kUnavailable: the port is in use, the message names it.
  virtual absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) = 0;
  // Later hellos carry this cluster id (a blank store has adopted a genesis).
  virtual void set_cluster(ClusterId cluster) = 0;
  // From now on these are the peers to connect to; a peer that is no longer among them is disconnected after a moment in which
  // what was sent may still arrive, and may come back as a guest. Idempotent; oneself among them is skipped.
  virtual void set_peers(std::vector<Peer> peers) = 0;
  // Queues frames, in order within a lane, and never waits. A full queue drops the oldest bulk first; a body that is too long
  // for this transport is dropped, and later ones go on.
  virtual void send(ReplicaId to, std::vector<Frame> frames) = 0;
  // Ends all connections; nothing is reported once this has returned. Idempotent; may block.
  virtual void close() = 0;
};

}  // namespace coordkit
