// What one TcpTransport has with one other replica.
//
//   peer   somebody it was told to connect with: dialed at its address, again and again
//   guest  came by itself and is not one of them: spoken to on the connection it made, forgotten when that ends. One that
//          has not shown that it belongs to our cluster is told who we are and nothing else, and nobody is told of it
//
// A peer that is let go stays one for a grace, so that the last that was sent to it can arrive, and is a guest from then on.
// Threads: the one of the io_context, but for what `mutex` guards.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "transport/backoff.h"
#include "transport/incarnation.h"
#include "transport/outbox.h"
#include "transport/tcp_connection.h"
#include "transport/tcp_stream.h"

namespace coordkit::tcp {

struct Link {
  Link(ReplicaId peer, const TcpOptions& options, asio::io_context& io)
      : id(peer),
        outbox(options),
        guard(10 * options.idle_timeout),
        guard_of_unproven(10 * options.idle_timeout),
        backoff(options.redial_min, options.redial_max),
        redial(io.get_executor()),
        resolver(io.get_executor()) {}

  const ReplicaId id;
  std::string address;              // empty: a guest
  std::optional<TimePoint> let_go;  // at this time
  std::mutex mutex;                 // guards the next two
  Outbox outbox;
  bool pump_scheduled = false;
  std::shared_ptr<Connection> dialed;    // under way or established
  std::shared_ptr<Connection> renewal;   // under way, to take the place of `dialed` with newer certificates
  TimePoint renew_at;                    // not before
  std::shared_ptr<Connection> accepted;  // established
  bool up = false;                       // as reported
  IncarnationGuard guard;
  IncarnationGuard guard_of_unproven;  // of its own, so that nobody's claims stand against what others have shown
  Backoff backoff;
  Timer redial;
  bool waiting = false;  // for redial
  Resolver resolver;
  bool resolving = false;
  std::string unreachable;  // as last told; empty: not since it was up

  bool guest() const { return address.empty(); }
  bool belongs() const { return (dialed && dialed->belongs()) || (accepted && accepted->belongs()); }
  void prefer(StoreId right) {
    guard.prefer(right);
    guard_of_unproven.prefer(right);
  }
  bool connected() const { return (dialed && dialed->established()) || accepted; }
  // What frames leave on. A guest has only what it made; a peer waits until it is dialed, so that frames stay in order.
  Connection* outlet() const { return guest() ? accepted.get() : dialed.get(); }
};

}  // namespace coordkit::tcp
