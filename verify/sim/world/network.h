// The links between the nodes. Each directed link has its own quality; a parcel may be lost, copied, delayed for a long
// time, overtaken, or held back until it is released. Nothing here looks into a message.
//
// A pair of nodes has at most one connection. It comes up by an exchange of hellos when both processes run and both
// directions pass, and it is gone for an end when that end notices it or restarts. Parcels of an earlier connection may
// still arrive later, if the plan says so: a slow link does not know that a process died. Those of a dead process arrive
// until the next process has a connection.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "coordkit/engine/engine_message.h"
#include "sim/world/world.h"

namespace coordkit::sim {

struct LinkQuality {
  Duration delay_min = std::chrono::microseconds(100);
  Duration delay_max = std::chrono::milliseconds(1);
  uint64_t drop_per_million = 0;
  std::optional<size_t> lost_kind;  // messages of this alternative never arrive
  uint64_t duplicate_per_million = 0;
  uint64_t reorder_per_million = 0;  // parcels that may overtake and be overtaken
  uint64_t tail_per_million = 0;     // parcels that take up to `tail`
  Duration tail = std::chrono::seconds(5);
};

struct Parcel {
  uint32_t from = 0;
  uint32_t to = 0;
  uint64_t connection = 0;  // at the sender when it left
  uint64_t recorded = 0;    // by the recorder, if there is one
  Message message;
};

struct NetworkCounters {
  uint64_t sent = 0, delivered = 0, dropped = 0, duplicated = 0, reordered = 0, delayed = 0, held = 0, stale = 0;
};

class Network {
 public:
  Network(World& world, uint32_t nodes, Random random);

  void set_quality(const LinkQuality& quality) { quality_ = quality; }
  const LinkQuality& quality() const { return quality_; }
  void set_stale_delivery(bool allowed) { stale_delivery_ = allowed; }

  // Cuts are counted: a link passes when every cut of it was healed.
  void cut(uint32_t from, uint32_t to) { ++link(from, to).cuts; }
  void mend(uint32_t from, uint32_t to) { --link(from, to).cuts; }
  bool passes(uint32_t from, uint32_t to) const { return link(from, to).cuts == 0; }
  void clog(uint32_t from, uint32_t to) { ++link(from, to).clogs; }
  void unclog(uint32_t from, uint32_t to);
  // The same for the messages of one alternative; the others overtake them.
  void hold_kind(uint32_t from, uint32_t to, size_t kind);
  void release_kind(uint32_t from, uint32_t to, size_t kind);

  // Connections, as each end sees them. A connection has its own number.
  bool connected(uint32_t node, uint32_t peer) const { return link(node, peer).connection != 0; }
  void connect(uint32_t a, uint32_t b);
  void disconnect(uint32_t node, uint32_t peer) { link(node, peer).connection = 0; }

  void send(uint32_t from, uint32_t to, Message message);
  // Everything this node has sent and that has not arrived is lost: a newer connection of a store ends the older one for good.
  void forget_from(uint32_t node) { void_up_to_[node] = connections_; }
  // A process of this node starts. Nothing that was sent to its previous process arrives, and once a peer has a connection with
  // it, nothing from its previous process arrives there, as TransportSink::received promises.
  void begin_life(uint32_t node) { previous_life_[node] = connections_; }
  // The parcel of a Deliver event, or null if its connection no longer exists.
  std::unique_ptr<Parcel> arrive(uint64_t slot);
  // The receiver was asleep. It stays a parcel of its connection.
  void send_again(std::unique_ptr<Parcel> parcel);

  const NetworkCounters& counters() const { return counters_; }

 private:
  struct Link {
    int cuts = 0;
    int clogs = 0;
    std::array<uint8_t, std::variant_size_v<Message>> kinds_held{};
    uint64_t connection = 0;
    TrueTime last_arrival{};
    std::vector<std::unique_ptr<Parcel>> held;
  };
  Link& link(uint32_t from, uint32_t to) { return links_[from * nodes_ + to]; }
  const Link& link(uint32_t from, uint32_t to) const { return links_[from * nodes_ + to]; }
  void launch(std::unique_ptr<Parcel> parcel);
  void launch_held(Link& wire);
  bool lucky(uint64_t per_million) { return per_million != 0 && random_.below(1'000'000) < per_million; }

  World& world_;
  const uint32_t nodes_;
  Random random_;
  LinkQuality quality_;
  bool stale_delivery_ = false;
  uint64_t connections_ = 0;
  std::vector<Link> links_;
  std::vector<uint64_t> void_up_to_;     // per sender: nothing arrives from earlier connections
  std::vector<uint64_t> previous_life_;  // per node: the newest connection of the process before the running one
  std::vector<std::unique_ptr<Parcel>> slots_;
  std::vector<uint64_t> free_slots_;
  NetworkCounters counters_;
};

}  // namespace coordkit::sim
