// The connections between processes without a replica and their gateways. One keeps the order of what it carries in each lane.
// It may lose frames to a remote, stand still, or break, and its two ends notice that at different times. So a gateway may
// still take frames of a remote that has moved.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordkit/ports/transport.h"
#include "sim/nodes/caller.h"
#include "sim/nodes/node.h"
#include "sim/nodes/node_parts.h"
#include "sim/world/network.h"
#include "sim/world/world.h"

namespace coordkit::sim {

// The end of a connection at a remote.
class LinkEnd {
 public:
  virtual ~LinkEnd() = default;
  // Up, Frame; Down: it is lost, or could not be made.
  virtual void hear(LinkMail mail) = 0;
};

class RemoteLinks {
 public:
  RemoteLinks(World& world, const Network& network, NodeWatcher& watcher, std::vector<std::unique_ptr<Node>>& nodes,
              uint32_t remotes, Random random)
      : world_(world),
        network_(network),
        watcher_(watcher),
        nodes_(nodes),
        random_(random),
        current_(remotes, kNone),
        cut_(remotes) {}

  void attach(LinkEnd& end) { ends_.push_back(&end); }  // of the next remote

  // In place of the connection that this remote has.
  void dial(uint32_t remote, ReplicaId id, uint32_t gateway);
  void hang_up(uint32_t remote);  // it moves, or its process ends
  bool dialled(uint32_t remote) const { return current_[remote] != kNone; }
  bool leads_to(uint32_t remote, uint32_t gateway) const {
    return dialled(remote) && wires_[current_[remote]].gateway == gateway && wires_[current_[remote]].there;
  }
  void send(uint32_t remote, Frame frame);
  void send(uint32_t gateway, ReplicaId to, Frame frame);
  void gateway_died(uint32_t gateway);

  // Faults.
  void break_off(uint32_t remote);
  void cut(uint32_t remote);  // until it is mended, nothing passes
  void mend(uint32_t remote) { cut_[remote] = std::max(cut_[remote] - 1, 0); }
  void heal();                      // everything
  uint64_t stall(uint32_t remote);  // the number of the connection, for resume(); zero: there is none
  void resume(uint64_t number);

  void arrive(const Event& event);

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  static constexpr Duration kNoticedWithin = std::chrono::seconds(2);
  enum class What : uint8_t { Dial, Up, Down, Frame };
  struct Parcel {
    uint64_t wire = 0;
    bool to_gateway = false;
    What what = What::Frame;
    Frame frame;
  };
  struct Wire {
    uint32_t remote = 0;
    ReplicaId id;
    uint32_t gateway = 0;
    uint32_t gateway_epoch = 0;
    bool here = true;    // its end at the remote is open
    bool there = false;  // its end at the gateway is
    bool broken = false;
    int stalls = 0;
    std::array<std::array<TrueTime, 2>, 2> last{};  // arrivals, by direction and lane
    std::vector<Parcel> held;
  };

  void launch(Parcel parcel);
  void launch_after(Parcel parcel, Duration delay);
  void arrive_at_gateway(Wire& wire, uint64_t number, Parcel& parcel);
  void arrive_at_remote(Wire& wire, uint64_t number, Parcel& parcel);
  Duration within(Duration longest) { return Duration(random_.below(static_cast<uint64_t>(longest.count()) + 1)); }

  World& world_;
  const Network& network_;  // whose quality these links share
  NodeWatcher& watcher_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  Random random_;
  std::vector<LinkEnd*> ends_;
  std::vector<uint64_t> current_;  // by remote
  std::vector<int> cut_;
  std::vector<Wire> wires_;
  std::vector<Parcel> slots_;
  std::vector<uint64_t> free_slots_;
};

}  // namespace coordkit::sim
