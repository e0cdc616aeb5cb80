// The replicas of this host as seen by one of them: dials and accepts, sends and checks hellos, moves frames, notices silent
// and dead ones. Reports wait in news().
//
// Two replicas have up to two connections, each made by one of them, and a frame leaves on the own one, so that a lane stays in
// order; a replica that is not a peer is answered on the one it made. Both send a hello first, and again on a change of
// cluster. Threads: none; unix_transport.h has the lock.
#pragma once

#include <coordkit/engine/wire.h>
#include <coordkit/ports/transport.h>
#include <poll.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "hello.h"
#include "peer.h"

namespace example {

class Network {
 public:
  explicit Network(std::string path) : listener_(std::move(path)) {}

  absl::Status open(Hello self) {
    self_ = std::move(self);
    return listener_.open();
  }
  void close() {
    connections_.clear();
    listener_.close();
  }
  void set_cluster(ClusterId cluster) { self_.cluster = cluster; }
  // One that is left out keeps its connection for a moment, in which what was sent may arrive.
  void set_peers(const std::vector<Peer>& peers) {
    for (auto& [id, link] : links_) link.let_go_at = std::min(link.let_go_at, now() + kGrace);
    for (const Peer& peer : peers) {
      if (!peer.id || peer.id == self_.from) continue;
      Link& link = links_[peer.id];
      if (link.peer.address != peer.address) hang_up(peer.id);
      link.peer = peer;
      link.let_go_at = Time::max();
    }
  }
  void push(ReplicaId to, std::vector<Frame> frames) {
    const auto link = links_.find(to);
    if (link == links_.end()) return;
    for (Frame& frame : frames) link->second.push(std::move(frame));
  }

  // Does everything possible now; then it may wait for one of sockets(), for kTick at most.
  void turn() {
    meet();
    for (const auto& connection : connections_) hear(*connection);
    for (const auto& connection : connections_) speak(*connection);
    part();
  }
  std::vector<pollfd> sockets() const {
    std::vector<pollfd> all = {{listener_.fd(), POLLIN, 0}};
    for (const auto& connection : connections_) {
      const int wanted = connection->stream.unsent() > 0 ? POLLIN | POLLOUT : POLLIN;
      all.push_back({connection->stream.fd(), static_cast<short>(wanted), 0});
    }
    return all;
  }
  using News = std::vector<std::function<void(TransportSink&)>>;
  News news() { return std::exchange(news_, {}); }  // in order

 private:
  static constexpr Duration kPingEvery = 1s, kSilenceMax = 5s, kGrace = 1s, kRedialMax = 1s;
  static constexpr size_t kConnectionsMax = 64;
  static Time now() { return std::chrono::steady_clock::now(); }

  // Accepts and dials.
  void meet() {
    while (connections_.size() < kConnectionsMax) {
      Descriptor socket = listener_.accept();
      if (!socket.open()) break;
      connections_.push_back(std::make_unique<Connection>(std::move(socket), false, ReplicaId(), now()));
    }
    for (auto& [id, link] : links_) {
      if (link.guest() || link.let_go_at != Time::max() || now() < link.dial_at || find(id, true) != nullptr) continue;
      link.dial_at = now() + link.backoff / 2 + link.backoff * static_cast<int>(random_() % 1024) / 2048;
      link.backoff = std::min(2 * link.backoff, kRedialMax);
      Descriptor socket = socket_at(link.peer.address, ::connect);
      if (!socket.open()) {
        tell(id, "nobody listens at " + link.peer.address + ": " + std::strerror(errno), &TransportSink::peer_unreachable);
        continue;
      }
      connections_.push_back(std::make_unique<Connection>(std::move(socket), true, id, now()));
      say_hello(*connections_.back());
    }
  }

  void hear(Connection& from) {
    if (from.gone) return;
    const ssize_t got = from.stream.read();
    if (got > 0) from.received = now();
    const size_t bytes_max = from.theirs ? kFrameBytesMax : kHelloBytesMax;
    for (auto piece = from.stream.next(bytes_max); piece && !from.gone; piece = from.stream.next(kFrameBytesMax)) {
      take(from, *std::move(piece));
    }
    if (from.stream.oversize() && !from.gone) refuse(from, "a frame is larger than any replica sends");
    if (got < 0 || now() - from.received > kSilenceMax) from.gone = true;
  }

  void take(Connection& from, Piece piece) {
    if (piece.kind == Kind::Hello) return take_hello(from, piece.body);
    if (piece.kind == Kind::Refusal) {
      from.gone = true;
      return tell(from.peer, piece.body, &TransportSink::peer_refused);
    }
    if (!from.established()) return refuse(from, "something other than a replica is at the other end");
    if (piece.kind != Kind::Body) return;
    news_.push_back([peer = from.peer, body = std::move(piece.body)](TransportSink& sink) { sink.received(peer, body); });
  }

  void take_hello(Connection& from, const std::string& bytes) {
    const absl::StatusOr<Hello> hello = coordkit::decode_hello(bytes);
    if (!hello.ok()) return refuse(from, "something other than a replica is at the other end");
    std::string wrong = objection(self_, from.peer, *hello);
    const StoreId right = links_.contains(hello->from) ? links_[hello->from].peer.store : StoreId();
    for (const auto& other : connections_) {
      const bool stands = other->established() && other->peer == hello->from;
      if (wrong.empty() && stands) wrong = objection_beside(*other->theirs, *hello, right);
    }
    if (!wrong.empty()) return refuse(from, wrong, hello->from);
    establish(from, *hello);
  }

  // Ends what an earlier process of this peer has here, and an older connection of the same direction, before it is up.
  void establish(Connection& from, const Hello& hello) {
    for (const auto& other : connections_) {
      if (other.get() == &from || !other->established() || other->peer != hello.from) continue;
      const bool same_life = other->theirs->store == hello.store && other->theirs->boot == hello.boot;
      if (!same_life || other->dialed == from.dialed) other->gone = true;
    }
    from.peer = hello.from;
    from.theirs = hello;
    if (!from.announced) say_hello(from);
    Link& link = links_[hello.from];
    link.peer.id = hello.from;
    link.meet(hello);
    link.up = true;
    link.reported.clear();
    link.backoff = kRedialMin;
    if (!from.dialed) link.dial_at = {};  // it is up: no need to wait
    news_.push_back([hello](TransportSink& sink) { sink.peer_up(hello); });
  }

  void say_hello(Connection& to) {
    Hello hello = self_;
    hello.to = to.peer;
    to.announced = self_.cluster;
    to.stream.put(Kind::Hello, encode(hello));
  }

  void refuse(Connection& connection, const std::string& why, ReplicaId claimed = {}) {
    connection.stream.put(Kind::Refusal, why);
    connection.stream.write();
    connection.gone = true;
    tell(connection.peer ? connection.peer : claimed, why, &TransportSink::peer_refused);
  }
  void tell(ReplicaId peer, const std::string& why, void (TransportSink::*report)(ReplicaId, std::string)) {
    const auto link = links_.find(peer);
    if (link == links_.end() || link->second.reported == why) return;
    link->second.reported = why;
    news_.push_back([peer, why, report](TransportSink& sink) { (sink.*report)(peer, why); });
  }

  void speak(Connection& to) {
    if (to.gone) return;
    if (to.announced && *to.announced != self_.cluster) {
      say_hello(to);
      const std::string wrong = to.theirs ? objection(self_, to.peer, *to.theirs) : std::string();
      if (!wrong.empty()) return refuse(to, wrong);
    }
    if (to.established() && now() - to.pinged > kPingEvery) {
      to.pinged = now();
      to.stream.put(Kind::Ping, {});
    }
    fill(to);
    if (!to.stream.write()) to.gone = true;
    fill(to);
  }
  void fill(Connection& to) {
    if (!to.established() || to.dialed == links_[to.peer].guest()) return;
    while (to.stream.unsent() < kBatchBytes && links_[to.peer].waits()) to.stream.put(Kind::Body, links_[to.peer].pop());
  }

  // Drops peers whose time is over, and forgets dead connections.
  void part() {
    for (auto& [id, link] : links_) {
      if (link.let_go_at > now()) continue;
      link.peer = {};
      link.let_go_at = Time::max();
      hang_up(id);
    }
    std::erase_if(connections_, [](const auto& connection) { return connection->gone; });
    for (auto& [id, link] : links_) {
      const bool up = std::any_of(connections_.begin(), connections_.end(),
                                  [id = id](const auto& c) { return c->established() && c->peer == id; });
      if (link.up && !up) news_.push_back([id = id](TransportSink& sink) { sink.peer_down(id); });
      link.up = up;
    }
    std::erase_if(links_, [](const auto& entry) { return entry.second.guest() && !entry.second.up; });
  }

  Connection* find(ReplicaId peer, bool dialed) const {
    for (const auto& one : connections_) {
      if (one->peer == peer && one->dialed == dialed && !one->gone) return one.get();
    }
    return nullptr;
  }
  void hang_up(ReplicaId peer) {
    if (Connection* dialed = find(peer, true)) dialed->gone = true;
    links_[peer].dial_at = {};
  }

  Listener listener_;
  Hello self_;
  std::map<ReplicaId, Link> links_;
  std::vector<std::unique_ptr<Connection>> connections_;
  News news_;  // for the sink
  std::minstd_rand random_{std::random_device()()};
};

}  // namespace example
