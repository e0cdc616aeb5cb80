#include "coordkit/transport/loopback_transport.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <variant>

#include "base/thread.h"
#include "coordkit/error.h"
#include "coordkit/export.h"

namespace coordkit {

struct COORDKIT_HIDDEN LoopbackTransport::Endpoint {
  struct Up {
    Hello hello;
  };
  struct Down {
    ReplicaId peer;
  };
  struct Refused {
    ReplicaId peer;
    std::string why;
  };
  struct Body {
    ReplicaId from;
    std::string bytes;
    // Nothing follows: the peer was removed. It is at the end of the bulk lane, so that everything before it arrives.
    bool farewell = false;
  };
  // One lane's queue; the caller of push keeps to the limits.
  class Queue {
   public:
    bool empty() const { return bodies_.empty(); }
    bool has_room(size_t bytes, size_t frames_max, size_t bytes_max) const {
      return empty() || (bodies_.size() < frames_max && bytes_ + bytes <= bytes_max);
    }
    void push(Body body) {
      bytes_ += body.bytes.size();
      bodies_.push_back(std::move(body));
    }
    Body pop() {
      Body oldest = std::move(bodies_.front());
      bodies_.pop_front();
      bytes_ -= oldest.bytes.size();
      return oldest;
    }
    template <typename Matches>
    void erase_if(Matches matches) {
      std::erase_if(bodies_, [&](const Body& body) {
        if (!matches(body)) return false;
        bytes_ -= body.bytes.size();
        return true;
      });
    }

   private:
    std::deque<Body> bodies_;
    size_t bytes_ = 0;
  };
  enum class Phase : uint8_t { New, Started, Closed };

  Phase phase = Phase::New;
  Hello self;
  std::set<ReplicaId> peers;
  TransportSink* sink = nullptr;
  std::deque<std::variant<Up, Down, Refused>> news;  // delivered before any frame
  std::map<ReplicaId, std::string> refused;          // as last reported
  Queue control;
  Queue bulk;

  bool idle() const { return news.empty() && control.empty() && bulk.empty(); }
  // Whether one of them wants a connection to the other.
  bool meets(const Endpoint& other) const {
    return phase == Phase::Started && other.phase == Phase::Started && self.from != other.self.from &&
           (peers.contains(other.self.from) || other.peers.contains(self.from));
  }
  bool sees(const Endpoint& other) const { return meets(other) && objection(other).empty(); }
  // The reason why the other endpoint is not connected; empty: it is.
  std::string objection(const Endpoint& other) const {
    const std::string subject = "replica " + std::to_string(other.self.from.value());
    if (self.cluster_name != other.self.cluster_name) return subject + " names its cluster differently: correct the name";
    if (std::max(self.protocol_min, other.self.protocol_min) > std::min(self.protocol_max, other.self.protocol_max)) {
      return subject + " speaks no protocol version that this one knows: upgrade the older";
    }
    if (!agree(self.cluster, other.self.cluster)) return subject + " belongs to another cluster of the same name";
    return {};
  }
  static bool agree(ClusterId a, ClusterId b) { return !a || !b || a == b; }
  Hello hello_to(ReplicaId to) const {
    Hello hello = self;
    hello.to = to;
    return hello;
  }
};

// One lock over everything; it is not held while a sink is called.
class COORDKIT_HIDDEN LoopbackHub::Impl {
 public:
  using Endpoint = LoopbackTransport::Endpoint;
  using Guard = std::unique_lock<std::mutex>;

  explicit Impl(Options options) : options_(options), thread_("coordkit/hub", [this] { run(); }) {}
  ~Impl() {
    {
      const Guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  void set_drop_hook(DropHook hook) {
    const Guard lock(mutex_);
    drop_ = hook ? std::make_shared<const DropHook>(std::move(hook)) : nullptr;
  }

  absl::Status start(const std::shared_ptr<Endpoint>& endpoint, Hello self, const std::vector<Peer>& peers,
                     TransportSink& sink) {
    if (!self.from) return make_error(Reason::InvalidArgument, "a replica id must not be 0");
    if (self.cluster_name.empty()) return make_error(Reason::InvalidArgument, "the cluster needs a name");
    const Guard lock(mutex_);
    if (endpoint->phase != Endpoint::Phase::New) {
      return make_error(Reason::InUse, "the transport was started or closed before");
    }
    for (const auto& other : std::vector(endpoints_)) {
      if (other->self.from != self.from || other->self.cluster_name != self.cluster_name) continue;
      if (other->self.store == self.store && self.boot < other->self.boot) {
        return make_error(Reason::InUse,
                          "replica " + std::to_string(self.from.value()) +
                              " is there already, with a later boot counter: stop the process with the older one");
      }
      leave(other);
    }
    endpoint->self = std::move(self);
    endpoint->sink = &sink;
    for (const Peer& peer : peers) endpoint->peers.insert(peer.id);
    endpoint->phase = Endpoint::Phase::Started;
    endpoints_.push_back(endpoint);
    introduce(*endpoint);
    return absl::OkStatus();
  }

  void set_cluster(Endpoint& endpoint, ClusterId cluster) {
    const Guard lock(mutex_);
    if (endpoint.self.cluster == cluster) return;
    for (const auto& other : endpoints_) {
      if (endpoint.sees(*other) && !Endpoint::agree(cluster, other->self.cluster)) part(endpoint, *other);
    }
    endpoint.self.cluster = cluster;
    introduce(endpoint);
  }

  void set_peers(Endpoint& endpoint, const std::vector<Peer>& peers) {
    const Guard lock(mutex_);
    if (endpoint.phase != Endpoint::Phase::Started) return;
    std::set<const Endpoint*> seen;
    for (const auto& other : endpoints_) {
      if (endpoint.sees(*other)) seen.insert(other.get());
    }
    endpoint.peers.clear();
    for (const Peer& peer : peers) endpoint.peers.insert(peer.id);
    for (const auto& other : endpoints_) {
      const bool sees = endpoint.sees(*other);
      if (sees && !seen.contains(other.get())) introduce(endpoint, *other);
      if (!sees && seen.contains(other.get())) disconnect(endpoint, *other);
    }
    wake_.notify_all();
  }

  void send(const std::shared_ptr<Endpoint>& from, ReplicaId to, std::vector<Frame> frames) {
    Guard lock(mutex_);
    const std::shared_ptr<const DropHook> drop = drop_;
    const ReplicaId self = from->self.from;
    lock.unlock();
    if (drop) std::erase_if(frames, [&](const Frame& frame) { return (*drop)(self, to, frame); });
    lock.lock();
    for (const auto& receiver : endpoints_) {
      if (receiver->self.from != to || !receiver->sees(*from)) continue;
      for (Frame& frame : frames) {
        const bool control = frame.lane == Lane::Control;
        Endpoint::Queue& lane = control ? receiver->control : receiver->bulk;
        while (!lane.has_room(frame.body.size(), control ? options_.control_frames_max : options_.bulk_frames_max,
                              control ? options_.control_bytes_max : options_.bulk_bytes_max)) {
          if (const Endpoint::Body oldest = lane.pop(); oldest.farewell)
            receiver->news.emplace_back(Endpoint::Down{oldest.from});
        }
        lane.push({self, std::move(frame.body)});
      }
      break;
    }
    wake_.notify_all();
  }

  void close(const std::shared_ptr<Endpoint>& endpoint) {
    Guard lock(mutex_);
    leave(endpoint);
    if (std::this_thread::get_id() != thread_.get_id()) {
      delivered_.wait(lock, [&] { return delivering_ != endpoint.get(); });
    }
  }

 private:
  void introduce(Endpoint& one) {
    for (const auto& other : endpoints_) {
      if (one.sees(*other)) introduce(one, *other);
    }
    for (const auto& other : endpoints_) {
      refuse(one, *other);
      refuse(*other, one);
    }
    wake_.notify_all();
  }
  // Tells `one` why it does not see `other`, unless it sees another endpoint under that id.
  void refuse(Endpoint& one, const Endpoint& other) {
    const ReplicaId peer = other.self.from;
    if (!one.meets(other) || !one.peers.contains(peer)) return;
    for (const auto& third : endpoints_) {
      if (third->self.from == peer && one.sees(*third)) return;
    }
    if (std::string why = one.objection(other); std::exchange(one.refused[peer], why) != why) {
      one.news.emplace_back(Endpoint::Refused{peer, std::move(why)});
    }
  }
  static void introduce(Endpoint& one, Endpoint& other) {
    withdraw_farewell(one, other);
    one.refused.erase(other.self.from);
    other.refused.erase(one.self.from);
    other.news.emplace_back(Endpoint::Up{one.hello_to(other.self.from)});
    one.news.emplace_back(Endpoint::Up{other.hello_to(one.self.from)});
  }

  // Both discard everything that they had from each other.
  static void part(Endpoint& a, Endpoint& b) {
    for (auto [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      const ReplicaId gone = other->self.from;
      for (Endpoint::Queue* lane : {&one->control, &one->bulk}) {
        lane->erase_if([&](const auto& body) { return body.from == gone; });
      }
      one->news.emplace_back(Endpoint::Down{gone});
    }
  }

  static void disconnect(Endpoint& a, Endpoint& b) {
    withdraw_farewell(a, b);
    a.bulk.push({b.self.from, {}, true});
    b.bulk.push({a.self.from, {}, true});
  }
  static void withdraw_farewell(Endpoint& a, Endpoint& b) {
    for (auto [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      const ReplicaId peer = other->self.from;
      one->bulk.erase_if([&](const auto& body) { return body.farewell && body.from == peer; });
    }
  }

  void leave(const std::shared_ptr<Endpoint>& endpoint) {
    for (const auto& other : endpoints_) {
      if (other != endpoint && endpoint->sees(*other)) part(*endpoint, *other);
    }
    endpoint->phase = Endpoint::Phase::Closed;
    std::erase(endpoints_, endpoint);
    wake_.notify_all();
  }

  std::shared_ptr<Endpoint> next() {
    // Serves the endpoints in turn, so that one busy receiver does not starve the others.
    for (size_t i = 0; i < endpoints_.size(); ++i) {
      turn_ = (turn_ + 1) % endpoints_.size();
      if (!endpoints_[turn_]->idle()) return endpoints_[turn_];
    }
    return nullptr;
  }

  void run() {
    Guard lock(mutex_);
    for (;;) {
      std::shared_ptr<Endpoint> endpoint;
      wake_.wait(lock, [&] { return stopping_ || (endpoint = next()) != nullptr; });
      if (stopping_) return;
      delivering_ = endpoint.get();
      deliver(*endpoint, lock);
      delivering_ = nullptr;
      delivered_.notify_all();
    }
  }

  static void deliver(Endpoint& endpoint, Guard& lock) {
    TransportSink& sink = *endpoint.sink;
    if (!endpoint.news.empty()) {
      const auto news = std::move(endpoint.news.front());
      endpoint.news.pop_front();
      lock.unlock();
      if (const auto* up = std::get_if<Endpoint::Up>(&news)) sink.peer_up(up->hello);
      if (const auto* down = std::get_if<Endpoint::Down>(&news)) sink.peer_down(down->peer);
      if (const auto* refused = std::get_if<Endpoint::Refused>(&news)) sink.peer_refused(refused->peer, refused->why);
    } else {
      auto& lane = endpoint.control.empty() ? endpoint.bulk : endpoint.control;
      Endpoint::Body body = lane.pop();
      lock.unlock();
      if (body.farewell) {
        sink.peer_down(body.from);
      } else {
        sink.received(body.from, std::move(body.bytes));
      }
    }
    lock.lock();
  }

  const Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable delivered_;
  std::vector<std::shared_ptr<Endpoint>> endpoints_;  // started
  size_t turn_ = 0;
  const Endpoint* delivering_ = nullptr;
  std::shared_ptr<const DropHook> drop_;
  bool stopping_ = false;
  Thread thread_;  // last: it uses all of the above
};

LoopbackHub::LoopbackHub(Options options) : impl_(std::make_unique<Impl>(options)) {}
LoopbackHub::~LoopbackHub() = default;
void LoopbackHub::set_drop_hook(DropHook hook) { impl_->set_drop_hook(std::move(hook)); }

LoopbackTransport::LoopbackTransport(LoopbackHub& hub) : hub_(*hub.impl_), endpoint_(std::make_shared<Endpoint>()) {}
LoopbackTransport::~LoopbackTransport() { close(); }
absl::Status LoopbackTransport::start(Hello self, std::vector<Peer> peers, TransportSink& sink) {
  return hub_.start(endpoint_, std::move(self), peers, sink);
}
void LoopbackTransport::set_cluster(ClusterId cluster) { hub_.set_cluster(*endpoint_, cluster); }
void LoopbackTransport::set_peers(std::vector<Peer> peers) { hub_.set_peers(*endpoint_, peers); }
void LoopbackTransport::send(ReplicaId to, std::vector<Frame> frames) { hub_.send(endpoint_, to, std::move(frames)); }
void LoopbackTransport::close() { hub_.close(endpoint_); }

}  // namespace coordkit
