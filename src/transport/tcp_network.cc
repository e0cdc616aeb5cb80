#include "transport/tcp_network.h"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <charconv>
#include <optional>
#include <random>
#include <utility>

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

std::optional<uint16_t> number_of(std::string_view port) {
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size() ? std::optional(number) : std::nullopt;
}

void add(std::atomic<uint64_t>& counter, uint64_t n = 1) { counter.fetch_add(n, std::memory_order_relaxed); }
uint64_t get(const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); }

}  // namespace

Network::Link::Link(const Peer& peer, const TcpOptions& options, asio::io_context& io)
    : id(peer.id),
      address(peer.address),
      outbox(options),
      guard(10 * options.idle_timeout),
      backoff(options.redial_min, options.redial_max),
      redial(io.get_executor()),
      resolver(io.get_executor()) {}

Network::Network(asio::io_context& io, TcpOptions options)
    : io_(io),
      options_(std::move(options)),
      limits_{options_.frame_bytes_max, options_.unsent_bytes_max, options_.hello_timeout, options_.idle_timeout},
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
    return absl::InvalidArgumentError("cannot listen on '" + options_.listen + "': " + error.message());
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
      return absl::UnavailableError(where + "port " + address->port +
                                    " is in use; stop the process that has it, or give this replica another port");
    }
    return absl::UnavailableError(where + error.message());
  }
  port_ = acceptor_.local_endpoint().port();
  return absl::OkStatus();
}

absl::Status Network::prepare(Hello self, std::vector<Peer> peers, TransportSink& sink) {
  if (!self.from) return absl::InvalidArgumentError("a replica id must not be 0");
  if (self.cluster_name.empty() || self.cluster_name.size() > kClusterNameBytesMax) {
    return absl::InvalidArgumentError("the cluster needs a name of 1 to 256 bytes");
  }
  std::map<ReplicaId, std::unique_ptr<Link>> links;
  for (const Peer& peer : peers) {
    if (peer.id == self.from) continue;
    if (!peer.id) return absl::InvalidArgumentError("a peer's id must not be 0");
    if (const auto address = split_address(peer.address); !address.ok()) return address.status();
    if (!links.emplace(peer.id, std::make_unique<Link>(peer, options_, io_)).second) {
      return absl::InvalidArgumentError("replica " + std::to_string(peer.id.value()) + " is listed twice");
    }
  }
  if (absl::Status status = bind(); !status.ok()) return status;
  self_ = std::move(self);
  cluster_ = self_.cluster.value();
  sink_ = &sink;
  links_ = std::move(links);
  open_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

void Network::begin() {
  if (closed_) return;
  listen();
  for (const auto& [id, link] : links_) dial(*link);
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
  for (const auto& stranger : std::exchange(strangers_, {})) stranger->close(CloseReason::Local);
  for (const auto& [id, link] : links_) {
    link->redial.cancel();
    link->resolver.cancel();
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
  cluster_pending_ = false;  // before the value is read: a later one comes with a call of its own
  self_.cluster = ClusterId(cluster_);
  for (const auto& [id, link] : links_) {
    if (const auto dialed = link->dialed) dialed->tell_cluster();
    if (const auto accepted = link->accepted) accepted->tell_cluster();
  }
}

void Network::tick() {
  const Duration interval = std::min(limits_.idle_timeout, limits_.hello_timeout) / 8;
  const TimePoint now = SteadyClock::now();
  // Was this thread itself held up (suspended, stopped)? Then what the others sent lies unread: silence was ours.
  const Duration late = now - ticked_ - 2 * interval;
  const Duration pause = late > Duration::zero() ? late : Duration::zero();
  ticked_ = now;
  for (const auto& stranger : std::vector(strangers_)) stranger->tick(now, pause);
  for (const auto& [id, link] : links_) {
    if (const auto dialed = link->dialed) dialed->tick(now, pause);
    if (const auto accepted = link->accepted) accepted->tick(now, pause);
  }
  if (closed_) return;
  ticker_.expires_after(interval);
  ticker_.async_wait([self = shared_from_this()](const auto& error) {
    if (!error && !self->closed_) self->tick();
  });
}

// ---- accepting

void Network::listen() {
  acceptor_.async_accept([self = shared_from_this()](const auto& error, Stream stream) {
    if (self->closed_) return;
    if (!error) {
      self->welcome(std::move(stream));
      return self->listen();
    }
    // Out of descriptors or the like: it will not get better by asking at once.
    self->accept_again_.expires_after(self->options_.redial_max);
    self->accept_again_.async_wait([self](const auto& cancelled) {
      if (!cancelled && !self->closed_) self->listen();
    });
  });
}

void Network::welcome(Stream stream) {
  boost::system::error_code error;
  const Tcp::endpoint remote = stream.remote_endpoint(error);
  if (error) return;
  make_room(remote.address());
  auto stranger =
      std::make_shared<Connection>(*this, limits_, Side::Accepted, ReplicaId(), instance_, nonce(), std::move(stream));
  strangers_.push_back(stranger);
  stranger->accept();
}

// Evicts the oldest, so that strangers who hold their connections open keep nobody out: a hello takes a round trip.
void Network::make_room(const asio::ip::address& address) {
  const auto evict_first = [&](auto matches, size_t max) {
    if (static_cast<size_t>(std::count_if(strangers_.begin(), strangers_.end(), matches)) < max) return;
    const std::shared_ptr<Connection> oldest = *std::find_if(strangers_.begin(), strangers_.end(), matches);
    oldest->close(CloseReason::Crowded);
  };
  evict_first([&](const auto& stranger) { return stranger->address() == address; }, options_.strangers_per_address_max);
  evict_first([](const auto&) { return true; }, options_.strangers_max);
}

// ---- dialing

void Network::dial(Link& link) {
  const absl::StatusOr<HostPort> address = split_address(link.address);  // checked by prepare()
  boost::system::error_code error;
  const auto numeric = asio::ip::make_address(address->host, error);
  if (const std::optional<uint16_t> port = number_of(address->port); port && !error) {
    return dial_to(link, Resolver::results_type::create(Tcp::endpoint(numeric, *port), address->host, address->port));
  }
  link.resolving = true;
  link.resolver.async_resolve(address->host, address->port,
                              [self = shared_from_this(), &link](const auto& failed, const auto& found) {
                                link.resolving = false;
                                if (self->closed_) return;
                                if (!failed) return self->dial_to(link, found);
                                add(self->tally_.closed[static_cast<size_t>(CloseReason::DialFailed)]);
                                self->dial_later(link);
                              });
}

void Network::dial_to(Link& link, const Resolver::results_type& addresses) {
  link.dialed =
      std::make_shared<Connection>(*this, limits_, Side::Dialed, link.id, instance_, nonce(), Stream(io_.get_executor()));
  link.dialed->dial(addresses);
}

void Network::dial_later(Link& link) {
  link.waiting = true;
  link.redial.expires_after(link.backoff.next(random_));
  link.redial.async_wait([self = shared_from_this(), &link](const auto& cancelled) {
    if (cancelled || self->closed_ || !std::exchange(link.waiting, false)) return;
    self->dial(link);
  });
}

// The peer has just come to us, so it is there: no need to wait out a back-off.
void Network::dial_now(Link& link) {
  if (link.dialed || link.resolving || !std::exchange(link.waiting, false)) return;
  link.redial.cancel();
  dial(link);
}

// ---- what connections tell

Hello Network::hello_to(ReplicaId peer) const {
  Hello hello = self_;
  hello.to = peer;
  return hello;
}

CloseReason Network::hello_received(const Hello& theirs) {
  if (const CloseReason wrong = judge(self_, theirs); wrong != CloseReason::None) return wrong;
  return link_of(theirs.from) != nullptr ? CloseReason::None : CloseReason::UnknownSender;
}

CloseReason Network::settle_incarnation(Link& link, const Connection& connection) {
  const Introduction& theirs = connection.theirs();
  const Incarnation next{theirs.hello.store, theirs.hello.boot, theirs.instance};
  const auto others = [&] {
    std::vector<std::shared_ptr<Connection>> found;
    if (link.dialed && link.dialed.get() != &connection && link.dialed->established()) found.push_back(link.dialed);
    if (link.accepted && link.accepted.get() != &connection) found.push_back(link.accepted);
    return found;
  }();
  const auto close_others = [&](CloseReason reason) {
    for (const auto& other : others) other->close(reason);
  };
  const auto alarm = [&] {
    report({TcpEvent::Kind::TwoIncarnations, connection.side(), link.id, CloseReason::TwoIncarnations, {}});
  };
  switch (link.guard.judge(next, !others.empty(), SteadyClock::now())) {
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
  Link& link = *link_of(connection.peer());
  if (const CloseReason refused = settle_incarnation(link, connection); refused != CloseReason::None) return refused;
  if (connection.side() == Side::Accepted) {
    erase_one(strangers_, connection);
    if (const auto older = std::exchange(link.accepted, connection.shared_from_this())) older->close(CloseReason::Replaced);
    dial_now(link);
  }
  add(tally_.opened);
  link.up = true;
  {
    const std::lock_guard lock(link.mutex);
    link.outbox.set_online(true);
  }
  report({TcpEvent::Kind::Opened, connection.side(), link.id, {}, {}});
  if (!closed_) sink_->peer_up(connection.theirs().hello);
  return CloseReason::None;
}

void Network::hello_repeated(Connection& connection) { sink_->peer_up(connection.theirs().hello); }

void Network::message_received(Connection& connection, GroupId group, std::string_view body) {
  if (group != kOnlyGroup) return add(tally_.other_group);
  add(tally_.frames_received);
  add(tally_.bytes_received, body.size());
  sink_->received(connection.peer(), std::string(body));
}

void Network::closed(Connection& connection, CloseReason reason, CloseReason peers_reason) {
  add(tally_.closed[static_cast<size_t>(reason)]);
  erase_one(strangers_, connection);
  Link* link = link_of(connection.peer());
  const bool was_dialed = link != nullptr && link->dialed.get() == &connection;
  const bool was_accepted = link != nullptr && link->accepted.get() == &connection;
  if (was_dialed) dialed_closed(*link, connection);
  if (was_accepted) link->accepted.reset();
  if (reason == CloseReason::Local) return;
  report({TcpEvent::Kind::Closed, connection.side(), connection.peer(), reason, peers_reason});
  if (closed_ || !(was_dialed || was_accepted) || link->connected() || !std::exchange(link->up, false)) return;
  {
    const std::lock_guard lock(link->mutex);
    link->outbox.set_online(false);
  }
  sink_->peer_down(link->id);
}

// A connection that stood for a while earns a quick redial; one that is refused each time does not.
void Network::dialed_closed(Link& link, const Connection& connection) {
  const bool stood = connection.established_at() != TimePoint{};
  if (stood && SteadyClock::now() - connection.established_at() >= options_.redial_max) link.backoff.reset();
  link.dialed.reset();
  if (stood) {
    const std::lock_guard lock(link.mutex);
    count(link.outbox.clear());
  }
  if (!closed_) dial_later(link);
}

// ---- sending

void Network::push(ReplicaId to, std::vector<Frame> frames) {
  Link* link = open_.load(std::memory_order_acquire) ? link_of(to) : nullptr;
  Outbox::Dropped dropped;
  bool wake = false;
  bool oversize = false;
  std::unique_lock<std::mutex> lock;
  if (link != nullptr) lock = std::unique_lock(link->mutex);
  for (Frame& frame : frames) {
    const bool too_large = frame.body.size() > options_.frame_bytes_max;
    oversize |= too_large;
    if (link == nullptr || too_large) {
      ++(frame.lane == Lane::Life ? dropped.life : dropped.bulk);
      continue;
    }
    const Outbox::Dropped pushed_out = link->outbox.push(std::move(frame));
    dropped.life += pushed_out.life;
    dropped.bulk += pushed_out.bulk;
    wake = true;
  }
  wake = wake && !std::exchange(link->pump_scheduled, true);
  if (lock) lock.unlock();
  count(dropped);
  if (oversize && link != nullptr && !oversize_pending_.exchange(true)) {
    asio::post(io_, [self = shared_from_this(), to] {
      self->oversize_pending_ = false;
      if (!self->closed_) self->report({TcpEvent::Kind::OversizeFrame, Side::Dialed, to, CloseReason::Oversize, {}});
    });
  }
  if (wake) asio::dispatch(io_, [self = shared_from_this(), link] { self->pump(*link); });
}

void Network::pump(Link& link) {
  {
    const std::lock_guard lock(link.mutex);
    link.pump_scheduled = false;
  }
  if (link.dialed) link.dialed->pump();
}

void Network::take_frames(Connection& connection, std::vector<Frame>& batch) {
  Link& link = *link_of(connection.peer());
  if (link.dialed.get() != &connection) return;
  const size_t before = batch.size();
  {
    const std::lock_guard lock(link.mutex);
    link.outbox.take(batch, kBatchFramesMax, kBatchBulkBytes);
  }
  uint64_t bytes = 0;
  for (size_t i = before; i < batch.size(); ++i) bytes += batch[i].body.size();
  add(tally_.frames_sent, batch.size() - before);
  add(tally_.bytes_sent, bytes);
}

// ---- small things

Network::Link* Network::link_of(ReplicaId id) const {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : found->second.get();
}

uint64_t Network::nonce() {
  const uint64_t drawn = random_();
  return drawn != 0 ? drawn : 1;
}

void Network::count(const Outbox::Dropped& dropped) {
  if (dropped.life > 0) add(tally_.life_dropped, dropped.life);
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
  all.life_dropped = get(tally_.life_dropped);
  all.bulk_dropped = get(tally_.bulk_dropped);
  all.other_group = get(tally_.other_group);
  return all;
}

absl::StatusOr<HostPort> split_address(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == address.size()) {
    return absl::InvalidArgumentError("'" + std::string(address) +
                                      "' is not an address; write host:port, for example 10.0.0.1:7400");
  }
  const std::string_view port = address.substr(colon + 1);
  if (port.find_first_not_of("0123456789") == std::string_view::npos && !number_of(port)) {
    return absl::InvalidArgumentError("'" + std::string(address) + "' names a port above 65535");
  }
  std::string_view host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return HostPort{std::string(host), std::string(port)};
}

}  // namespace coordkit::tcp
