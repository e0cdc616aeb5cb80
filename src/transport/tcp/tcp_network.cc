#include "transport/tcp/tcp_network.h"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <new>
#include <set>
#include <utility>

#include "coordkit/error.h"
#include "transport/secure/certified.h"
#include "transport/tcp/address.h"

namespace coordkit::tcp {
namespace {

Incarnation incarnation_of(const Connection& connection) {
  const Introduction& theirs = connection.theirs();
  return {theirs.hello.store, theirs.hello.boot, theirs.instance};
}

}  // namespace

Network::Network(asio::io_context& io, TcpOptions options)
    : io_(io),
      options_(std::move(options)),
      limits_{options_.frame_bytes_max, options_.unsent_bytes_max, options_.hello_timeout, options_.idle_timeout,
              options_.resend_min,      options_.secret,           options_.channels},
      nonces_(options_.seed),
      links_(options_, io),
      unverified_(options_),
      renewals_(options_),
      listener_(io, options_.redial_max),
      ticker_(io, std::min(limits_.idle_timeout, limits_.hello_timeout) / 8) {}

// ---- from start to close

absl::Status Network::prepare(Hello self, std::vector<Peer> peers, TransportSink& sink) {
  if (!self.from) return make_error(Reason::InvalidArgument, "a replica id must not be 0");
  if (self.cluster_name.empty() || self.cluster_name.size() > kClusterNameBytesMax) {
    return make_error(Reason::InvalidArgument, "the cluster needs a name of 1 to 256 bytes");
  }
  std::set<ReplicaId> listed;
  for (const Peer& peer : peers) {
    if (peer.id == self.from) continue;
    if (!peer.id) return make_error(Reason::InvalidArgument, "a peer's id must not be 0");
    if (const auto address = split_dialled(peer.address); !address.ok()) return address.status();
    if (!listed.insert(peer.id).second) {
      return make_error(Reason::InvalidArgument, "replica " + std::to_string(peer.id.value()) + " is listed twice");
    }
  }
  if (absl::Status status = bind(); !status.ok()) return status;
  self_ = std::move(self);
  sink_ = &sink;
  for (const Peer& peer : peers) {
    if (peer.id == self_.from) continue;
    const auto link = links_.add(peer.id);
    link->address = peer.address;
    link->prefer(peer.store);
  }
  open_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

void Network::begin() {
  if (closed_) return;
  if (!options_.listen.empty()) {
    listener_.begin(shared_from_this(), [this](Socket socket) { welcome(std::move(socket)); });
  }
  for (const auto& link : links_.all()) {
    if (!link->guest() && !link->dialed && !link->lookup.pending()) dial(link);
  }
  ticker_.begin(shared_from_this(), [this](TimePoint now, Duration pause) { tick(now, pause); });
}

void Network::close() {
  if (std::exchange(closed_, true)) return;
  open_ = false;
  listener_.close();
  ticker_.close();
  unverified_.close();
  for (const auto& link : links_.all()) {
    link->redial.cancel();
    link->lookup.cancel();
    if (const auto renewal = link->renewal) renewal->close(CloseReason::Local);
    if (const auto dialed = link->dialed) dialed->close(CloseReason::Local);
    if (const auto accepted = link->accepted) accepted->close(CloseReason::Local);
  }
}

void Network::set_cluster(ClusterId cluster) {
  if (!open_ || !handover_.put_cluster(cluster)) return;
  asio::dispatch(io_, [self = shared_from_this()] { self->tell_cluster(); });
}

void Network::tell_cluster() {
  self_.cluster = handover_.take_cluster();
  for (const auto& link : links_.all()) {
    if (const auto dialed = link->dialed) dialed->tell_cluster();
    if (const auto accepted = link->accepted) accepted->tell_cluster();
  }
}

void Network::tick(TimePoint now, Duration pause) {
  unverified_.tick(now, pause);
  for (const auto& link : links_.all()) {
    if (link->grace_end && now >= *link->grace_end) become_guest(link);
    if (link->lookup.takes_longer(now, options_.hello_timeout) && !link->dialed) {
      tell_unreachable(*link, kNamesUnanswered);
      link->make_detour();
    }
    if (const auto dialed = link->dialed) dialed->tick(now, pause);
    if (const auto renewal = link->renewal) renewal->tick(now, pause);
    if (const auto accepted = link->accepted) accepted->tick(now, pause);
  }
  if (closed_) return;
  tally_.warn(loss_warnings(links_, now));
  renew_one(now);
  if (const auto [stale, reason] = renewals_.next_stale(links_, now); stale) stale->close(reason);
}

// ---- accepting

void Network::welcome(Socket socket) {
  boost::system::error_code error;
  const Tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return;
  unverified_.make_room(remote.address());
  try {
    auto unverified = std::make_shared<Connection>(*this, limits_, Side::Accepted, ReplicaId(), nonces_.instance(),
                                                   nonces_.next(), std::move(socket));
    unverified_.add(unverified);
    unverified->accept();
  } catch (const std::bad_alloc&) {  // the peer dials again
  }
}

// ---- reports from connections

Hello Network::hello_to(ReplicaId peer) const {
  Hello hello = self_;
  hello.to = peer;
  return hello;
}

CloseReason Network::certified(const std::optional<CertifiedIdentity>& theirs, ReplicaId expected) const {
  return judge_certificate(theirs, self_, expected);
}

// A peer that claims a cluster has not proved yet that it belongs to that cluster.
CloseReason Network::hello_received(const Introduction& theirs) {
  if (const CloseReason wrong = judge(self_, theirs); wrong != CloseReason::NoReason) return wrong;
  if (theirs.hello.from == self_.from) return CloseReason::UnknownSender;
  const bool claims = self_.cluster && theirs.mark != 0;
  return links_.find(theirs.hello.from) || links_.room_for_guest(claims) ? CloseReason::NoReason : CloseReason::UnknownSender;
}

// A peer that has proved its membership never gives way to one that has not (FLT_S07). Among those that have proved nothing,
// the one that we dialed stays: it answers at the address that the operator configured.
CloseReason Network::resolve_incarnation(Link& link, const Connection& connection) {
  const Incarnation next = incarnation_of(connection);
  const auto stronger = [](const Connection& one, const Connection& other) {
    if (one.belongs() != other.belongs()) return one.belongs();
    return !one.belongs() && one.side() == Side::Dialed && other.side() == Side::Accepted;
  };
  std::vector<std::shared_ptr<Connection>> others;
  if (link.dialed && link.dialed.get() != &connection && link.dialed->established()) others.push_back(link.dialed);
  if (link.accepted && link.accepted.get() != &connection) others.push_back(link.accepted);
  for (const auto& other : std::vector(others)) {
    const bool same = incarnation_of(*other) == next;
    if (stronger(*other, connection) && (other->belongs() || !same)) {
      return CloseReason::NotProven;
    }
    if (!stronger(connection, *other) || same) continue;  // the same replica is about to prove itself there, too
    other->close(CloseReason::Replaced);
    std::erase(others, other);
  }
  const auto alarm = [&] {
    report({TcpEvent::Kind::TwoIncarnations, connection.side(), link.id, CloseReason::TwoIncarnations, {}});
    if (!stranger(connection)) explain(link, connection, CloseReason::TwoIncarnations, CloseReason::NoReason);
  };
  IncarnationGuard& guard = link.guard_of(connection);
  const auto equal = [&](const auto& other) { return &link.guard_of(*other) == &guard; };
  const auto close_others = [&](CloseReason reason) {
    for (const auto& other : others) {
      if (connection.belongs() || equal(other)) other->close(reason);
    }
  };
  const bool connected = std::any_of(others.begin(), others.end(), equal);
  switch (guard.judge(next, connected, SteadyClock::now())) {
    case IncarnationGuard::Verdict::Admit: return CloseReason::NoReason;
    case IncarnationGuard::Verdict::Succeed: close_others(CloseReason::Replaced); return CloseReason::NoReason;
    case IncarnationGuard::Verdict::RefuseOlder: alarm(); return CloseReason::OlderIncarnation;
    case IncarnationGuard::Verdict::RefuseOther: alarm(); return CloseReason::TwoIncarnations;
    case IncarnationGuard::Verdict::RefuseBoth:
      alarm();
      close_others(CloseReason::TwoIncarnations);
      return CloseReason::TwoIncarnations;
  }
  return CloseReason::NoReason;
}

CloseReason Network::established(Connection& connection) {
  std::shared_ptr<Link> known = links_.find(connection.peer());
  if (!known && !links_.room_for_guest(connection.belongs())) return CloseReason::UnknownSender;  // others came first
  if (!known) known = links_.add(connection.peer());
  Link& link = *known;
  if (const CloseReason refused = resolve_incarnation(link, connection); refused != CloseReason::NoReason) {
    forget_if_idle(link);
    return refused;
  }
  if (closed_) return CloseReason::Local;  // by the sink, which was told about the other connections
  if (link.renewal.get() == &connection) {
    const auto older = std::exchange(link.dialed, std::exchange(link.renewal, nullptr));
    if (older) older->close(CloseReason::Renewed);
    renew_one(SteadyClock::now());
  }
  if (connection.side() == Side::Dialed) link.detour = false;
  if (connection.side() == Side::Accepted) {
    unverified_.erase(connection);
    if (const auto older = std::exchange(link.accepted, connection.shared_from_this())) older->close(CloseReason::Replaced);
    dial_now(known);
  }
  tally_.opened();
  report({TcpEvent::Kind::Opened, connection.side(), link.id, {}, {}});
  tell_up(link, connection);
  return CloseReason::NoReason;
}

// A peer that connected and proved nothing is not reported, whatever it claims. If it waits for an invitation, it is dialed
// when its address is a peer's. The replica that answers there is the right one. A peer with our secret or a certificate has
// proved something.
bool Network::stranger(const Connection& connection) const {
  return self_.cluster && !connection.vouched() && connection.side() == Side::Accepted;
}

void Network::tell_up(Link& link, const Connection& connection) {
  if (closed_ || stranger(connection)) return;
  link.up = true;
  link.unreachable.clear();
  {
    const std::lock_guard lock(link.mutex);
    if (link.met_another_process(incarnation_of(connection))) tally_.dropped(link.outbox.clear());
    link.outbox.set_online(true);
  }
  sink_->peer_up(connection.shown());
}

CloseReason Network::hello_repeated(Connection& connection) {
  const std::shared_ptr<Link> link = links_.find(connection.peer());
  if (!link) return CloseReason::NoReason;
  if (const CloseReason refused = resolve_incarnation(*link, connection); refused != CloseReason::NoReason) return refused;
  tell_up(*link, connection);
  return CloseReason::NoReason;
}

// Not limited while we are blank ourselves: then no peer can prove anything.
CloseReason Network::unproven_bytes(size_t bytes) {
  if (!self_.cluster || unverified_.take_bytes(bytes, SteadyClock::now())) return CloseReason::NoReason;
  return CloseReason::Greedy;
}

void Network::message_received(Connection& connection, GroupId group, std::string_view body) {
  if (group != kOnlyGroup) return tally_.received_of_other_group();
  tally_.received(body.size());
  sink_->received(connection.peer(), std::string(body));
}

void Network::closed(Connection& connection, CloseReason reason, CloseReason peers_reason) {
  tally_.closed(reason);
  unverified_.erase(connection);
  const std::shared_ptr<Link> link = links_.find(connection.peer());
  const bool was_dialed = link && link->dialed.get() == &connection;
  const bool was_accepted = link && link->accepted.get() == &connection;
  if (link && link->outlet() == &connection && connection.liveness().established_at() != TimePoint{}) {
    const std::lock_guard lock(link->mutex);
    tally_.dropped(link->outbox.clear());
  }
  if (was_dialed && reason == CloseReason::Idle) link->look_for_hole(connection, options_.idle_timeout);
  if (was_dialed) dialed_closed(link, connection);
  if (was_accepted) {
    link->accepted.reset();
    link->detour = false;
  }
  const bool was_renewal = link && link->renewal.get() == &connection;
  if (was_renewal) renewal_closed(link, reason);
  if (reason == CloseReason::Local) return;
  report({TcpEvent::Kind::Closed, connection.side(), connection.peer(), reason, peers_reason});
  if (closed_) return;
  if (was_dialed || was_renewal) {
    explain(*link, connection, reason, peers_reason);
    if (closed_) return;  // by the sink
  }
  const auto reported = [this](const Link& left) {
    return (left.dialed && left.dialed->established()) || (left.accepted && !stranger(*left.accepted));
  };
  if ((was_dialed || was_accepted) && !reported(*link) && std::exchange(link->up, false)) {
    {
      const std::lock_guard lock(link->mutex);
      link->outbox.set_online(false);
    }
    sink_->peer_down(link->id);
  }
  if (link) forget_if_idle(*link);
}

// A connection that was open for a while earns a quick redial. A connection that is refused each time does not.
void Network::dialed_closed(const std::shared_ptr<Link>& known, const Connection& connection) {
  Link& link = *known;
  const bool stood = connection.liveness().established_at() != TimePoint{};
  if (stood && SteadyClock::now() - connection.liveness().established_at() >= options_.redial_max) link.backoff.reset();
  link.dialed.reset();
  if (closed_ || link.guest()) return;
  if (!stood) {
    ++link.in_vain;
    link.make_detour();
  }
  dial_later(known);
}

// The connection that it should replace stays, unless its peer is no longer trusted.
void Network::renewal_closed(const std::shared_ptr<Link>& known, CloseReason reason) {
  Link& link = *known;
  const TimePoint now = SteadyClock::now();
  link.renewal.reset();
  ++link.in_vain;
  link.renew_at = now + options_.idle_timeout;
  if (closed_ || link.guest()) return;
  const auto older = link.dialed;
  if (!older) return dial_later(known);  // the older connection ended meanwhile
  if (renewals_.distrusts(reason, now)) older->close(reason);
}

// ---- helpers

// Reports everything that an operator must know to fix it. A later cause replaces an earlier one, so the last report names
// the last cause.
void Network::explain(Link& link, const Connection& connection, CloseReason reason, CloseReason peers_reason) {
  const std::string sentence = advice(link.id, self_.from, reason, peers_reason);
  if (!sentence.empty()) {
    link.unreachable.clear();
    return sink_->peer_refused(link.id, sentence + certified_detail(reason, connection.certified()));
  }
  if (reason == CloseReason::DialFailed && connection.dial_error() != asio::error::connection_refused) {
    return tell_unreachable(link, "no connection to it can be made (" + connection.dial_error().message() +
                                      "): look at the network and the firewalls on the way, or correct the address");
  }
  if (const std::string_view met = obstacle(reason); !met.empty()) return tell_unreachable(link, std::string(met));
  if (reason != CloseReason::Ended || connection.liveness().established_at() != TimePoint{}) return;
  tell_unreachable(
      link,
      "the process that listens there closes each connection before it names itself: it is another program, or a replica "
      "with another kind of security or without room for this one; look at what runs there");
}

void Network::tell_unreachable(Link& link, std::string why) {
  if (std::exchange(link.unreachable, why) != why) sink_->peer_unreachable(link.id, std::move(why));
}

void Network::report(const TcpEvent& event) {
  if (options_.on_event && !closed_) options_.on_event(event);
}

}  // namespace coordkit::tcp
