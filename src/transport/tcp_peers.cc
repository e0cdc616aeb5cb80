// Peers and dialing: the list of peers, its changes, guests, and when to dial.
#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <utility>

#include "transport/certified.h"
#include "transport/tcp_network.h"

namespace coordkit::tcp {
namespace {

constexpr size_t kAcquaintancesMax = 64;  // more were never members of one cluster at a time
constexpr int kRenewalsOfPeers = 10;      // in idle timeouts: how long peers have for them

}  // namespace

// ---- the list

void Network::set_peers(std::vector<Peer> peers) {
  {
    const std::lock_guard lock(links_mutex_);
    wanted_ = std::move(peers);
  }
  if (!open_ || peers_pending_.exchange(true)) return;
  asio::dispatch(io_, [self = shared_from_this()] { self->follow_list(); });
}

void Network::follow_list() {
  peers_pending_ = false;  // before the list is read: a later list makes a call of its own
  if (closed_) return;
  std::vector<Peer> peers;
  {
    const std::lock_guard lock(links_mutex_);
    peers = wanted_;
  }
  for (const auto& entry : links_) {
    const std::shared_ptr<Link>& link = entry.second;  // no structured binding: clang 14 cannot capture one
    const bool wanted = std::any_of(peers.begin(), peers.end(), [&](const Peer& peer) { return peer.id == link->id; });
    if (wanted) {
      link->grace_end.reset();
    } else if (!link->guest() && !link->grace_end) {
      link->grace_end = SteadyClock::now() + options_.idle_timeout;
    }
  }
  for (const Peer& peer : peers) {
    if (peer.id && peer.id != self_.from && split_address(peer.address).ok()) connect_with(peer);
  }
}

void Network::connect_with(const Peer& peer) {
  std::shared_ptr<Link> link = link_of(peer.id);
  if (!link) link = add_link(peer.id);
  link->prefer(peer.store);
  if (link->address == peer.address) return;
  link->address = peer.address;
  link->backoff.reset();
  if (const auto renewal = link->renewal) renewal->close(CloseReason::LetGo);
  if (const auto elsewhere = link->dialed) return elsewhere->close(CloseReason::LetGo);  // dialed again at the new address
  if (link->resolving) return link->resolver.cancel();
  link->waiting = false;
  link->redial.cancel();
  dial(link);
}

std::shared_ptr<Link> Network::add_link(ReplicaId id) {
  auto link = std::make_shared<Link>(id, options_, io_);
  const std::lock_guard lock(links_mutex_);
  links_.emplace(id, link);
  return link;
}

// From here on a guest, as long as it stays connected by itself and there is room.
void Network::become_guest(const std::shared_ptr<Link>& link) {
  const bool room = room_for_guest(link->belongs());
  link->grace_end.reset();
  link->address.clear();
  link->prefer(StoreId());
  link->waiting = false;
  link->redial.cancel();
  link->resolver.cancel();
  if (const auto renewal = link->renewal) renewal->close(CloseReason::LetGo);
  if (const auto dialed = link->dialed) dialed->close(CloseReason::LetGo);
  if (const auto accepted = link->accepted; accepted && !room) accepted->close(CloseReason::LetGo);
  forget_if_idle(*link);
}

void Network::forget_if_idle(Link& link) {
  if (closed_ || !link.guest() || link.dialed || link.renewal || link.accepted) return;
  const std::lock_guard lock(links_mutex_);
  links_.erase(link.id);
}

size_t Network::guests() const {
  const auto shows_nothing = [](const auto& one) { return one.second->guest() && !one.second->belongs(); };
  return static_cast<size_t>(std::count_if(links_.begin(), links_.end(), shows_nothing));
}

size_t Network::acquaintances() const {
  const auto belongs = [](const auto& one) { return one.second->guest() && one.second->belongs(); };
  return static_cast<size_t>(std::count_if(links_.begin(), links_.end(), belongs));
}

bool Network::room_for_guest(bool belongs) const {
  return belongs ? acquaintances() < kAcquaintancesMax : guests() < options_.guests_max;
}

std::shared_ptr<Link> Network::link_of(ReplicaId id) const {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : found->second;
}

// ---- dialing

void Network::dial(const std::shared_ptr<Link>& link) {
  const absl::StatusOr<HostPort> address = split_address(link->address);  // checked by prepare()
  boost::system::error_code error;
  const auto numeric = asio::ip::make_address(address->host, error);
  if (const std::optional<uint16_t> port = number_of(address->port); port && !error) {
    return dial_to(link, Resolver::results_type::create(Tcp::endpoint(numeric, *port), address->host, address->port));
  }
  link->resolving = true;
  link->resolver.async_resolve(
      address->host, address->port, [self = shared_from_this(), link](const auto& failed, const auto& found) {
        link->resolving = false;
        if (self->closed_ || link->guest()) return;
        if (!failed) return self->dial_to(link, found);
        if (link->dialed) return;  // it stays, and is retried
        add(self->tally_.closed[static_cast<size_t>(CloseReason::DialFailed)]);
        self->tell_unreachable(
            *link, "its name does not resolve (" + failed.message() + "); correct the address, or the name service");
        self->dial_later(link);
      });
}

void Network::dial_to(const std::shared_ptr<Link>& link, const Resolver::results_type& addresses) {
  if (link->renewal || (link->dialed && !link->dialed->established())) return;  // another dial was faster
  std::shared_ptr<Connection>& made = link->dialed ? link->renewal : link->dialed;
  made = std::make_shared<Connection>(*this, limits_, Side::Dialed, link->id, instance_, nonce(), Socket(io_.get_executor()));
  made->dial(addresses);
}

// According to what has been trusted since the last reload, and long enough ago that everyone could follow it.
bool Network::distrusts(CloseReason reason, TimePoint now) const {
  return names_certificate(reason) && now - generation_since_ > kRenewalsOfPeers * options_.idle_timeout;
}

// Peers that reload renew the connections they dialed. A peer that has not done so for long must identify itself again: it may
// no longer be trusted.
void Network::cut_stale(TimePoint now) {
  if (options_.channels == nullptr) return;
  if (const uint64_t newest = options_.channels->generation(); newest != generation_) {
    generation_ = newest;
    generation_since_ = now;
  }
  if (now - generation_since_ <= kRenewalsOfPeers * options_.idle_timeout) return;
  for (const auto& link : all_links()) {
    if (!link->accepted || link->accepted->generation() == generation_) continue;
    return std::shared_ptr(link->accepted)->close(CloseReason::Renewed);
  }
}

// Where the certificates are newer than a connection, it is redialed: one at a time, so that a reload causes no storm. If
// refused, it is retried after a while.
void Network::renew_one(TimePoint now) {
  if (options_.channels == nullptr) return;
  const uint64_t newest = options_.channels->generation();
  for (const auto& link : all_links()) {
    const bool open = link->dialed && link->dialed->established() && !link->guest() && !link->grace_end;
    if (!open || link->dialed->generation() == newest) continue;
    if (link->renewal || link->resolving || now < link->renew_at) continue;
    return dial(link);
  }
}

void Network::dial_later(const std::shared_ptr<Link>& link) {
  link->waiting = true;
  link->redial.expires_after(link->backoff.next(random_));
  link->redial.async_wait([self = shared_from_this(), link](const auto& cancelled) {
    if (cancelled || self->closed_ || link->guest() || !std::exchange(link->waiting, false) || link->dialed) return;
    self->dial(link);
  });
}

// The peer has just connected to us, so it is up: no need to wait out a back-off.
void Network::dial_now(const std::shared_ptr<Link>& link) {
  if (link->dialed || link->resolving || !std::exchange(link->waiting, false)) return;
  link->redial.cancel();
  dial(link);
}

}  // namespace coordkit::tcp
