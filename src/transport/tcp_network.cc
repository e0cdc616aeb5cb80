#include "transport/tcp_network.h"

#include <openssl/rand.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <random>
#include <set>
#include <utility>

#include "coordkit/error.h"
#include "transport/certified.h"

namespace coordkit::tcp {
namespace {

uint64_t system_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

template <typename T>
void erase_one(std::vector<std::shared_ptr<T>>& items, const T& item) {
  std::erase_if(items, [&](const auto& other) { return other.get() == &item; });
}

Incarnation incarnation_of(const Connection& connection) {
  const Introduction& theirs = connection.theirs();
  return {theirs.hello.store, theirs.hello.boot, theirs.instance};
}

uint64_t get(const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); }

}  // namespace

Network::Network(asio::io_context& io, TcpOptions options)
    : io_(io),
      options_(std::move(options)),
      limits_{options_.frame_bytes_max, options_.unsent_bytes_max, options_.hello_timeout,
              options_.idle_timeout,    options_.secret,           options_.channels},
      random_(options_.seed != 0 ? options_.seed : system_seed()),
      instance_(nonce()),
      acceptor_(io.get_executor()),
      accept_again_(io.get_executor()),
      ticker_(io.get_executor()) {}

// ---- from start to close

absl::Status Network::bind() {
  if (acceptor_.is_open()) return absl::OkStatus();
  const absl::StatusOr<HostPort> address = split_address(options_.listen);
  if (!address.ok()) return address.status();
  boost::system::error_code error;
  Resolver resolver(io_.get_executor());
  const auto found = resolver.resolve(address->host, address->port, Resolver::passive, error);
  if (error || found.empty()) {
    return make_error(Reason::InvalidArgument, "cannot listen on '" + options_.listen + "': " + error.message());
  }
  const Tcp::endpoint endpoint = *found.begin();
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(Acceptor::max_listen_connections, error);
  if (error) {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    const std::string where = "cannot listen on '" + options_.listen + "': ";
    if (error == asio::error::address_in_use) {
      return make_error(
          Reason::CannotListen,
          where + "port " + address->port + " is in use; stop the process that has it, or give this replica another port");
    }
    return make_error(Reason::CannotListen, where + error.message());
  }
  port_ = acceptor_.local_endpoint().port();
  return absl::OkStatus();
}

absl::Status Network::prepare(Hello self, std::vector<Peer> peers, TransportSink& sink) {
  if (!self.from) return make_error(Reason::InvalidArgument, "a replica id must not be 0");
  if (self.cluster_name.empty() || self.cluster_name.size() > kClusterNameBytesMax) {
    return make_error(Reason::InvalidArgument, "the cluster needs a name of 1 to 256 bytes");
  }
  std::set<ReplicaId> listed;
  for (const Peer& peer : peers) {
    if (peer.id == self.from) continue;
    if (!peer.id) return make_error(Reason::InvalidArgument, "a peer's id must not be 0");
    if (const auto address = split_address(peer.address); !address.ok()) return address.status();
    if (!listed.insert(peer.id).second) {
      return make_error(Reason::InvalidArgument, "replica " + std::to_string(peer.id.value()) + " is listed twice");
    }
  }
  if (absl::Status status = bind(); !status.ok()) return status;
  self_ = std::move(self);
  cluster_ = self_.cluster.value();
  sink_ = &sink;
  for (const Peer& peer : peers) {
    if (peer.id == self_.from) continue;
    const auto link = add_link(peer.id);
    link->address = peer.address;
    link->prefer(peer.store);
  }
  open_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

void Network::begin() {
  if (closed_) return;
  listen();
  for (const auto& link : all_links()) {
    if (!link->guest() && !link->dialed && !link->resolving) dial(link);
  }
  ticked_ = SteadyClock::now();
  tick();
}

void Network::close() {
  if (std::exchange(closed_, true)) return;
  open_ = false;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  accept_again_.cancel();
  ticker_.cancel();
  for (const auto& unverified : std::exchange(unverified_, {})) unverified->close(CloseReason::Local);
  for (const auto& link : all_links()) {
    link->redial.cancel();
    link->resolver.cancel();
    if (const auto renewal = link->renewal) renewal->close(CloseReason::Local);
    if (const auto dialed = link->dialed) dialed->close(CloseReason::Local);
    if (const auto accepted = link->accepted) accepted->close(CloseReason::Local);
  }
}

void Network::set_cluster(ClusterId cluster) {
  cluster_ = cluster.value();
  if (!open_ || cluster_pending_.exchange(true)) return;
  asio::dispatch(io_, [self = shared_from_this()] { self->tell_cluster(); });
}

void Network::tell_cluster() {
  cluster_pending_ = false;  // before the value is read: a later value makes a call of its own
  self_.cluster = ClusterId(cluster_);
  for (const auto& link : all_links()) {
    if (const auto dialed = link->dialed) dialed->tell_cluster();
    if (const auto accepted = link->accepted) accepted->tell_cluster();
  }
}

void Network::tick() {
  const Duration interval = std::min(limits_.idle_timeout, limits_.hello_timeout) / 8;
  const TimePoint now = SteadyClock::now();
  // Was this thread itself held up (suspended, stopped)? Then data from the peers is unread: the silence was ours.
  const Duration late = now - ticked_ - 2 * interval;
  const Duration pause = late > Duration::zero() ? late : Duration::zero();
  ticked_ = now;
  for (const auto& unverified : std::vector(unverified_)) unverified->tick(now, pause);
  for (const auto& link : all_links()) {
    if (link->grace_end && now >= *link->grace_end) become_guest(link);
    if (const auto dialed = link->dialed) dialed->tick(now, pause);
    if (const auto renewal = link->renewal) renewal->tick(now, pause);
    if (const auto accepted = link->accepted) accepted->tick(now, pause);
  }
  if (closed_) return;
  renew_one(now);
  cut_stale(now);
  ticker_.expires_after(interval);
  ticker_.async_wait([self = shared_from_this()](const auto& error) {
    if (!error && !self->closed_) self->tick();
  });
}

// ---- accepting

void Network::listen() {
  acceptor_.async_accept([self = shared_from_this()](const auto& error, Socket socket) {
    if (self->closed_) return;
    if (!error) {
      self->listen();  // first: an out-of-memory failure for this connection then affects only it
      return self->welcome(std::move(socket));
    }
    // Out of descriptors or the like: an immediate retry will not help.
    self->accept_again_.expires_after(self->options_.redial_max);
    self->accept_again_.async_wait([self](const auto& cancelled) {
      if (!cancelled && !self->closed_) self->listen();
    });
  });
}

void Network::welcome(Socket socket) {
  boost::system::error_code error;
  const Tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return;
  make_room(remote.address());
  auto unverified =
      std::make_shared<Connection>(*this, limits_, Side::Accepted, ReplicaId(), instance_, nonce(), std::move(socket));
  unverified_.push_back(unverified);
  unverified->accept();
}

// Evicts the oldest, so that unknown peers that hold their connections open keep no one out: a hello takes one round trip.
void Network::make_room(const asio::ip::address& address) {
  const auto evict_first = [&](auto matches, size_t max) {
    if (static_cast<size_t>(std::count_if(unverified_.begin(), unverified_.end(), matches)) < max) return;
    const std::shared_ptr<Connection> oldest = *std::find_if(unverified_.begin(), unverified_.end(), matches);
    oldest->close(CloseReason::Crowded);
  };
  evict_first([&](const auto& unverified) { return unverified->address() == address; }, options_.unverified_per_address_max);
  evict_first([](const auto&) { return true; }, options_.unverified_max);
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

// A peer that claims a cluster has yet to prove that it belongs to it.
CloseReason Network::hello_received(const Introduction& theirs) {
  if (const CloseReason wrong = judge(self_, theirs); wrong != CloseReason::None) return wrong;
  if (theirs.hello.from == self_.from) return CloseReason::UnknownSender;
  const bool claims = self_.cluster && theirs.mark != 0;
  return link_of(theirs.hello.from) || room_for_guest(claims) ? CloseReason::None : CloseReason::UnknownSender;
}

// A peer that has proved its membership never gives way to one that has not (FLT_S07). Among those that have proved nothing the
// one we dialed stays: it answers at the address that the operator configured.
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
    if (!stronger(connection, *other) || same) continue;  // the same replica is about to prove it there, too
    other->close(CloseReason::Replaced);
    std::erase(others, other);
  }
  const auto close_others = [&](CloseReason reason) {
    for (const auto& other : others) other->close(reason);
  };
  const auto alarm = [&] {
    report({TcpEvent::Kind::TwoIncarnations, connection.side(), link.id, CloseReason::TwoIncarnations, {}});
    explain(link, CloseReason::TwoIncarnations, {});
  };
  IncarnationGuard& guard = connection.belongs() ? link.guard : link.guard_of_unproven;
  const auto equal = [&](const auto& other) { return other->belongs() == connection.belongs(); };
  const bool connected = std::any_of(others.begin(), others.end(), equal);
  switch (guard.judge(next, connected, SteadyClock::now())) {
    case IncarnationGuard::Verdict::Admit: return CloseReason::None;
    case IncarnationGuard::Verdict::Succeed: close_others(CloseReason::Replaced); return CloseReason::None;
    case IncarnationGuard::Verdict::RefuseOlder: alarm(); return CloseReason::OlderIncarnation;
    case IncarnationGuard::Verdict::RefuseOther: alarm(); return CloseReason::TwoIncarnations;
    case IncarnationGuard::Verdict::RefuseBoth:
      alarm();
      close_others(CloseReason::TwoIncarnations);
      return CloseReason::TwoIncarnations;
  }
  return CloseReason::None;
}

CloseReason Network::established(Connection& connection) {
  std::shared_ptr<Link> known = link_of(connection.peer());
  if (!known && !room_for_guest(connection.belongs())) return CloseReason::UnknownSender;  // others came first
  if (!known) known = add_link(connection.peer());
  Link& link = *known;
  if (const CloseReason refused = resolve_incarnation(link, connection); refused != CloseReason::None) {
    forget_if_idle(link);
    return refused;
  }
  if (link.renewal.get() == &connection) {
    const auto older = std::exchange(link.dialed, std::exchange(link.renewal, nullptr));
    if (older) older->close(CloseReason::Renewed);
    renew_one(SteadyClock::now());
  }
  if (connection.side() == Side::Accepted) {
    erase_one(unverified_, connection);
    if (const auto older = std::exchange(link.accepted, connection.shared_from_this())) older->close(CloseReason::Replaced);
    dial_now(known);
  }
  add(tally_.opened);
  report({TcpEvent::Kind::Opened, connection.side(), link.id, {}, {}});
  tell_up(link, connection);
  return CloseReason::None;
}

// A peer that connected and proved nothing is not reported. If it waits for an invitation, it is dialed when its address is a
// peer's, and whichever replica answers there is the right one.
void Network::tell_up(Link& link, const Connection& connection) {
  if (closed_ || (self_.cluster && !connection.belongs() && connection.side() == Side::Accepted)) return;
  link.up = true;
  link.unreachable.clear();
  {
    const std::lock_guard lock(link.mutex);
    link.outbox.set_online(true);
  }
  sink_->peer_up(connection.shown());
}

CloseReason Network::hello_repeated(Connection& connection) {
  const std::shared_ptr<Link> link = link_of(connection.peer());
  if (!link) return CloseReason::None;
  if (const CloseReason refused = resolve_incarnation(*link, connection); refused != CloseReason::None) return refused;
  tell_up(*link, connection);
  return CloseReason::None;
}

// One budget for all peers that have proved nothing, so that however many they are they cost what one may (FLT_S09). Not while
// we are blank ourselves: then no peer can prove anything.
CloseReason Network::unproven_bytes(size_t bytes) {
  if (!self_.cluster) return CloseReason::None;
  const TimePoint now = SteadyClock::now();
  if (now - unproven_since_ >= std::chrono::seconds(1)) {
    unproven_since_ = now;
    unproven_bytes_ = 0;
  }
  unproven_bytes_ += bytes;
  return unproven_bytes_ <= options_.unproven_bytes_per_second ? CloseReason::None : CloseReason::Greedy;
}

void Network::message_received(Connection& connection, GroupId group, std::string_view body) {
  if (group != kOnlyGroup) return add(tally_.other_group);
  add(tally_.frames_received);
  add(tally_.bytes_received, body.size());
  sink_->received(connection.peer(), std::string(body));
}

void Network::closed(Connection& connection, CloseReason reason, CloseReason peers_reason) {
  add(tally_.closed[static_cast<size_t>(reason)]);
  erase_one(unverified_, connection);
  const std::shared_ptr<Link> link = link_of(connection.peer());
  const bool was_dialed = link && link->dialed.get() == &connection;
  const bool was_accepted = link && link->accepted.get() == &connection;
  if (was_dialed) dialed_closed(link, connection);
  if (was_accepted) link->accepted.reset();
  const bool was_renewal = link && link->renewal.get() == &connection;
  if (was_renewal) renewal_closed(link, reason);
  if (reason == CloseReason::Local) return;
  report({TcpEvent::Kind::Closed, connection.side(), connection.peer(), reason, peers_reason});
  if (closed_) return;
  // For certificate errors even while the other connection is open: nothing of ours leaves on that one.
  const bool certificate = names_certificate(reason) || names_certificate(peers_reason);
  if ((was_dialed && (certificate || !link->connected())) || was_renewal) {
    explain(*link, reason, peers_reason, certified_detail(reason, connection.certified()));
  }
  if ((was_dialed || was_accepted) && !link->connected() && std::exchange(link->up, false)) {
    {
      const std::lock_guard lock(link->mutex);
      link->outbox.set_online(false);
    }
    sink_->peer_down(link->id);
  }
  if (link) forget_if_idle(*link);
}

// A connection that was open for a while earns a quick redial; one that is refused each time does not.
void Network::dialed_closed(const std::shared_ptr<Link>& known, const Connection& connection) {
  Link& link = *known;
  const bool stood = connection.established_at() != TimePoint{};
  if (stood && SteadyClock::now() - connection.established_at() >= options_.redial_max) link.backoff.reset();
  link.dialed.reset();
  if (stood) {
    const std::lock_guard lock(link.mutex);
    count(link.outbox.clear());
  }
  if (!closed_ && !link.guest()) dial_later(known);
}

// The connection it was to replace stays, unless its peer is no longer trusted.
void Network::renewal_closed(const std::shared_ptr<Link>& known, CloseReason reason) {
  Link& link = *known;
  const TimePoint now = SteadyClock::now();
  link.renewal.reset();
  link.renew_at = now + options_.idle_timeout;
  if (closed_ || link.guest()) return;
  const auto older = link.dialed;
  if (!older) return dial_later(known);  // it ended meanwhile
  if (distrusts(reason, now)) older->close(reason);
}

// ---- helpers

std::vector<std::shared_ptr<Link>> Network::all_links() const {
  std::vector<std::shared_ptr<Link>> all;
  for (const auto& [id, link] : links_) all.push_back(link);
  return all;
}

// What an operator must know to fix it.
void Network::explain(Link& link, CloseReason reason, CloseReason peers_reason, const std::string& detail) {
  const std::string sentence = advice(link.id, self_.from, reason, peers_reason);
  if (!sentence.empty()) return sink_->peer_refused(link.id, sentence + detail);
  if (const std::string_view met = obstacle(reason); !met.empty()) tell_unreachable(link, std::string(met));
}

void Network::tell_unreachable(Link& link, std::string why) {
  if (std::exchange(link.unreachable, why) != why) sink_->peer_unreachable(link.id, std::move(why));
}

uint64_t Network::nonce() {
  uint64_t drawn = 0;
  if (options_.seed != 0) {
    drawn = random_();
  } else if (RAND_bytes(reinterpret_cast<unsigned char*>(&drawn), sizeof drawn) != 1) {
    drawn = system_seed();
  }
  return drawn != 0 ? drawn : 1;
}

void Network::count(const Outbox::Dropped& dropped) {
  if (dropped.control > 0) add(tally_.control_dropped, dropped.control);
  if (dropped.bulk > 0) add(tally_.bulk_dropped, dropped.bulk);
}

void Network::report(const TcpEvent& event) {
  if (options_.on_event) options_.on_event(event);
}

TcpCounters Network::counters() const {
  TcpCounters all;
  all.opened = get(tally_.opened);
  for (size_t i = 0; i < all.closed.size(); ++i) all.closed[i] = get(tally_.closed[i]);
  all.frames_sent = get(tally_.frames_sent);
  all.bytes_sent = get(tally_.bytes_sent);
  all.frames_received = get(tally_.frames_received);
  all.bytes_received = get(tally_.bytes_received);
  all.control_dropped = get(tally_.control_dropped);
  all.bulk_dropped = get(tally_.bulk_dropped);
  all.other_group = get(tally_.other_group);
  return all;
}

}  // namespace coordkit::tcp
