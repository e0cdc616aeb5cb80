// Peers and dialing: the list of peers, its changes, guests, and when to dial.
#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <utility>

#include "transport/tcp/address.h"
#include "transport/tcp/tcp_network.h"

namespace coordkit::tcp {
// ---- the list

void Network::set_peers(std::vector<Peer> peers) {
  if (!open_ || !handover_.put_peers(std::move(peers))) return;
  asio::dispatch(io_, [self = shared_from_this()] { self->follow_list(); });
}

void Network::follow_list() {
  const std::vector<Peer> peers = handover_.take_peers();
  if (closed_) return;
  for (const auto& link : links_.all()) {
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
  std::shared_ptr<Link> link = links_.find(peer.id);
  if (!link) link = links_.add(peer.id);
  link->prefer(peer.store);
  if (link->address == peer.address) return;
  link->address = peer.address;
  link->backoff.reset();
  link->lookup.cancel();
  if (const auto renewal = link->renewal) renewal->close(CloseReason::LetGo);
  if (const auto elsewhere = link->dialed) return elsewhere->close(CloseReason::LetGo);  // dialed again at the new address
  link->waiting = false;
  link->redial.cancel();
  dial(link);
}

// The peer is a guest from here on, as long as it stays connected by itself and there is room.
void Network::become_guest(const std::shared_ptr<Link>& link) {
  const bool room = links_.room_for_guest(link->belongs());
  link->grace_end.reset();
  link->address.clear();
  link->prefer(StoreId());
  link->waiting = false;
  link->redial.cancel();
  link->lookup.cancel();
  if (const auto renewal = link->renewal) renewal->close(CloseReason::LetGo);
  if (const auto dialed = link->dialed) dialed->close(CloseReason::LetGo);
  if (const auto accepted = link->accepted; accepted && !room) accepted->close(CloseReason::LetGo);
  forget_if_idle(*link);
}

void Network::forget_if_idle(Link& link) {
  if (closed_ || !link.guest() || link.dialed || link.renewal || link.accepted) return;
  links_.erase(link.id);
}

// ---- dialing

void Network::dial(const std::shared_ptr<Link>& link) {
  if (closed_) return;
  HostPort address = *split_address(link->address);  // checked by prepare()
  boost::system::error_code error;
  const auto numeric = asio::ip::make_address(address.host, error);
  if (const std::optional<uint16_t> port = number_of(address.port); port && !error) return dial_to(link, {{numeric, *port}});
  if (link->lookup.pending()) return;
  link->lookup.begin(std::move(address), [self = shared_from_this(), link](const Found& found) {
    if (found.failed.empty()) return self->dial_to(link, found.endpoints);
    if (link->dialed) {  // the dialed connection stays, and the renewal is retried
      link->renew_at = SteadyClock::now() + self->options_.idle_timeout;
      return;
    }
    self->tally_.closed(CloseReason::DialFailed);
    if (link->unreachable != kNamesUnanswered) {  // else the two reports alternate while answers are late
      self->tell_unreachable(*link,
                             "its name does not resolve (" + found.failed + "); correct the address, or the name service");
    }
    link->make_detour();
    self->dial_later(link);
  });
}

// A silent endpoint takes all the time of a dial: the next dial begins behind it.
void Network::dial_to(const std::shared_ptr<Link>& link, std::vector<Tcp::endpoint> endpoints) {
  if (link->renewal || (link->dialed && !link->dialed->established())) return;  // another dial was faster
  std::shared_ptr<Connection>& made = link->dialed ? link->renewal : link->dialed;
  made = std::make_shared<Connection>(*this, limits_, Side::Dialed, link->id, nonces_.instance(), nonces_.next(),
                                      Socket(io_.get_executor()));
  std::rotate(endpoints.begin(), endpoints.begin() + static_cast<ptrdiff_t>(link->in_vain % endpoints.size()), endpoints.end());
  made->dial(std::move(endpoints), link->hole ? Connection::PacketSize::Small : Connection::PacketSize::Any);
}

void Network::renew_one(TimePoint now) {
  if (const auto link = renewals_.next(links_, now)) dial(link);
}

void Network::dial_later(const std::shared_ptr<Link>& link) {
  if (closed_) return;
  link->waiting = true;
  link->redial.expires_after(link->backoff.next(nonces_.random()));
  link->redial.async_wait([self = shared_from_this(), link](const auto& cancelled) {
    if (cancelled || self->closed_ || link->guest() || !std::exchange(link->waiting, false) || link->dialed) return;
    self->dial(link);
  });
}

// The peer has just connected to us, so it is up: there is no need to wait out a back-off.
void Network::dial_now(const std::shared_ptr<Link>& link) {
  if (link->dialed || link->lookup.pending() || !std::exchange(link->waiting, false)) return;
  link->redial.cancel();
  dial(link);
}

}  // namespace coordkit::tcp
