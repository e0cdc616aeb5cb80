// Everything that one TcpTransport keeps about one other replica.
//
//   peer   configured to be connected: dialed at its address, again and again. Where that fails it may still connect by itself,
//          and is then spoken to on the connection it made, if it has proved more than a name
//   guest  connected by itself and not a peer: spoken to on the connection it made, forgotten when that ends. A guest that
//          has not proved that it belongs to our cluster learns our identity and nothing else, and is not reported unless it
//          has our secret or a certificate
//
// A peer that is removed stays a peer for a grace period, so that the last frames can arrive. From then on it is a guest.
// Threads: the one of the io_context, except for the fields that `mutex` guards.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/backoff.h"
#include "transport/frame_lanes.h"
#include "transport/incarnation.h"
#include "transport/tcp/lookup.h"
#include "transport/tcp/packet_loss.h"
#include "transport/tcp/tcp_connection.h"
#include "transport/tcp/tcp_stream.h"

namespace coordkit::tcp {

struct Link {
  Link(ReplicaId peer, const TcpOptions& options, asio::io_context& io)
      : id(peer),
        outbox(options),
        guard(10 * options.idle_timeout),
        guard_of_dialed(10 * options.idle_timeout),
        guard_of_accepted(10 * options.idle_timeout),
        backoff(options.redial_min, options.redial_max),
        redial(io.get_executor()),
        lookup(io) {}

  const ReplicaId id;
  std::string address;                 // empty: a guest
  std::optional<TimePoint> grace_end;  // of a removed peer, which then becomes a guest
  std::mutex mutex;                    // guards the next two
  Outbox outbox;
  bool pump_scheduled = false;
  std::shared_ptr<Connection> dialed;    // in progress or established
  std::shared_ptr<Connection> renewal;   // in progress, to replace `dialed` with newer certificates
  TimePoint renew_at;                    // no renewal before this time
  std::shared_ptr<Connection> accepted;  // established
  bool detour = false;                   // dialing has failed since the beginning of `accepted`, which is vouched for
  bool up = false;                       // up as last reported
  std::optional<Incarnation> last_met;   // as last reported to be up
  IncarnationGuard guard;                // for peers that belong; the claims of others never count against them
  IncarnationGuard guard_of_dialed, guard_of_accepted;  // for peers that have proved nothing
  Backoff backoff;
  Timer redial;
  bool waiting = false;  // for the redial
  Lookup lookup;
  size_t in_vain = 0;       // dials that failed: the next one takes the next of several addresses
  std::string unreachable;  // as last reported; empty: not since it was up
  LossGauge losses;         // on the way there
  bool hole = false;        // large packets did not arrive there: packets are small from now on

  bool guest() const { return address.empty(); }
  bool belongs() const { return (dialed && dialed->belongs()) || (accepted && accepted->belongs()); }
  void prefer(StoreId right) {
    guard.prefer(right);
    guard_of_dialed.prefer(right);
    guard_of_accepted.prefer(right);
  }
  IncarnationGuard& guard_of(const Connection& connection) {
    if (connection.belongs()) return guard;
    return connection.side() == Side::Dialed ? guard_of_dialed : guard_of_accepted;
  }
  // The replica that answers at the address has proved nothing, and the peer has proved itself on the connection that it
  // made. A hello that says that both are one process is soon followed by a proof, or is a copy (FLT_S07).
  bool doubtful() const { return dialed && dialed->established() && !dialed->belongs() && accepted && accepted->belongs(); }
  // Frames that wait are for the process before it.
  bool met_another_process(const Incarnation& now) {
    const std::optional<Incarnation> before = std::exchange(last_met, now);
    return before && before != now;
  }
  // The connection on which frames leave. A guest has only the connection that it made. A peer waits until it is dialed, so
  // that frames stay in order, unless dialing fails.
  Connection* outlet() const { return guest() || detour || doubtful() ? accepted.get() : dialed.get(); }
  // For a peer that cannot be dialed. Until a dial succeeds, the connection that the peer made is used instead (FLT_N16). If
  // the peer has proved nothing, it is not used: the invitation of a name is for the replica that answers at its address.
  void make_detour() {
    detour = accepted && accepted->vouched();
    if (detour) accepted->pump();
  }
  // A dialed connection ended in silence. The peer is alive if it is heard on the connection that it dialed. If hardly any
  // small packet had to be sent again there, only large ones are lost (FLT_N14). Tunnels do that if their MTU is smaller than
  // both ends know.
  void look_for_hole(const Connection& ended, Duration idle_timeout) {
    constexpr uint64_t kEnough = 3;
    if (!accepted || !ended.liveness().backlog()) return;
    const Packets small = accepted->liveness().packets();
    const bool heard = accepted->liveness().received_since(SteadyClock::now() - idle_timeout / 2);
    hole = hole || (heard && small.sent >= kEnough && 5 * small.resent <= small.sent);
  }
  // Runs as scheduled, and sends the frames of the outbox.
  void pump() {
    {
      const std::lock_guard lock(mutex);
      pump_scheduled = false;
    }
    if (Connection* out = outlet()) out->pump();
  }
};

}  // namespace coordkit::tcp
