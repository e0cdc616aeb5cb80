#include "tools/experiment/gateway_attackers.h"

#include <random>
#include <utility>

#include "base/sums.h"
#include "coordkit/engine/wire.h"
#include "remote/link.h"
#include "tools/experiment/hostile_peer.h"
#include "transport/secure/proof.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using Confirm = HostilePeer::Confirm;

constexpr uint64_t kTermBeyond = (uint64_t{1} << 62) - 1;
constexpr ReplicaId kAnyGateway{kRemoteBit - 1};
constexpr int kHalfOpen = 1000;
constexpr int kQuestions = 2000;

// Computed from the description of links alone.
ClusterId network_of(const std::string& cluster) {
  uint64_t sum = 0x72656d6f7465;
  for (const char letter : cluster) sum = hash_mix(sum, static_cast<uint8_t>(letter));
  return ClusterId(sum | 1);
}

}  // namespace

class GatewayAttackers::Attack {
 public:
  Attack(GatewayAttackers& all, uint64_t seed) : all_(all), random_(seed) {}

  // As a member, on the port for remotes: terms, votes, changes of members.
  void speak_as_member() {
    Introduction claim = blank(random_() % 2 == 0 ? ReplicaId(1 + random_() % 3) : kAnyGateway);
    auto [peer, theirs] = dial(any(all_.gateways_), claim, kAnyGateway, any_way());
    if (!theirs) return;
    speak(peer);
    peer.listen();
  }

  // As a remote, on the port for members.
  void remote_at_members() {
    const size_t member = random_() % all_.members_.size();
    auto [peer, theirs] = dial(all_.members_[member], blank(any_remote()), ReplicaId(member + 1), any_way());
    if (!theirs) return;
    peer.send(FrameKind::Message, remote::encode(arrival(ReplicaId(member + 1))));
    speak(peer);
    peer.listen();
  }

  // As a remote: messages in other names, malformed ones, and ones that no remote sends.
  void lie() {
    const ReplicaId me = any_remote();
    auto [peer, theirs] = dial(any(all_.gateways_), blank(me), kAnyGateway, Confirm::Prove);
    if (!theirs) return;
    peer.send(FrameKind::Message, remote::encode(arrival(random_() % 2 == 0 ? me : any_remote())));
    for (int i = 0; i < 50; ++i) {
      if (!peer.send(FrameKind::Message, lie_of(me))) break;
    }
    speak(peer);
  }

  // Frames that promise more than is allowed, and one as large as allowed that arrives slowly.
  void oversize() {
    for (const size_t bytes : {size_t{17} << 20, size_t{1} << 30}) {
      auto [peer, theirs] = dial(any(all_.gateways_), blank(any_remote()), kAnyGateway, Confirm::Prove);
      if (!theirs) continue;
      std::string header = peer.header_of(FrameKind::Message, std::string(1 << 20, 'x'));
      for (size_t at = 0; at < header.size(); ++at) {
        if (random_() % 4 == 0) header[at] = static_cast<char>(bytes >> (at % 8 * 8));
      }
      peer.write(header);
      peer.listen();
    }
    const std::string bulk(15 << 20, 'x');
    auto [peer, theirs] = dial(any(all_.gateways_), blank(any_remote()), kAnyGateway, Confirm::Prove);
    if (!theirs || !peer.write(peer.header_of(FrameKind::Message, bulk))) return;
    for (size_t at = 0; at < bulk.size() && !all_.over_; at += 1 << 20) {
      if (!peer.write(std::string_view(bulk).substr(at, 1 << 20))) return;
      std::this_thread::sleep_for(20ms);
    }
  }

  // A whole conversation of a remote, again byte by byte on another connection, and cut anywhere.
  void replay() {
    const uint16_t port = any(all_.gateways_);
    const ReplicaId me = any_remote();
    auto [peer, theirs] = dial(port, blank(me), kAnyGateway, Confirm::Prove);
    peer.send(FrameKind::Message, remote::encode(arrival(me)));
    const std::string all = peer.written();
    HostilePeer(port).write(all);
    HostilePeer again(any(all_.gateways_));
    again.write(all);
    again.listen();
    for (int i = 0; i < 20; ++i) HostilePeer(port).write(std::string_view(all).substr(0, random_() % (all.size() + 1)));
  }

  // A thousand connections that send nothing, or half a hello.
  void half_open() {
    std::vector<HostilePeer> silent;
    const uint16_t port = any(all_.gateways_);
    for (int i = 0; i < kHalfOpen && !all_.over_; ++i) {
      silent.emplace_back(port);
      if (i % 2 == 0) silent.back().write("\xc0KIT");
    }
    std::this_thread::sleep_for(500ms);
  }

  // A remote that asks and never reads.
  void deaf() {
    const ReplicaId me = any_remote();
    auto [peer, theirs] = dial(any(all_.gateways_), blank(me), kAnyGateway, Confirm::Prove);
    if (!theirs) return;
    peer.send(FrameKind::Message, remote::encode(arrival(me)));
    for (uint64_t id = 1; id <= kQuestions && !all_.over_; ++id) {
      const remote::Question question{.id = id, .machine = kCoordination, .time_left = 10s, .question = noise(64)};
      if (!peer.send(FrameKind::Message, remote::encode(question))) break;
    }
    for (int i = 0; i < 20 && !all_.over_; ++i) std::this_thread::sleep_for(50ms);
  }

 private:
  static constexpr uint64_t kStore = 7;

  uint16_t any(const std::vector<uint16_t>& ports) { return ports[random_() % ports.size()]; }
  ReplicaId any_remote() { return ReplicaId(random_() | kRemoteBit); }
  Confirm any_way() { return Confirm(random_() % 4); }
  std::string noise(size_t bytes) {
    std::string made(bytes, '\0');
    for (char& byte : made) byte = static_cast<char>(random_());
    return made;
  }

  static remote::FromRemote arrival(ReplicaId of) {
    remote::Arrival arrival;
    arrival.origin = {of, StoreId(kStore), BootCounter(1)};
    arrival.rate_error_ppm = 10'000;
    return arrival;
  }

  std::string lie_of(ReplicaId me) {
    switch (random_() % 6) {
      case 0: return noise(random_() % 900);
      case 1: return remote::encode(remote::Commands{{SharedBytes("not a command"), SharedBytes(noise(100))}});
      case 2: return remote::encode(remote::Interest{kCoordination, noise(3000), true});
      case 3: return remote::encode(remote::Withdrawal{random_()});
      case 4: {
        RenewRequest request{.attempt = random_()};
        request.groups.push_back({.group = {any_remote(), BootCounter(1), kStore, 5s}, .highest = TimerId(random_() >> 1)});
        return remote::encode(remote::Renewal{coordkit::encode(Message(request))});
      }
      default: {
        std::string cut = remote::encode(arrival(me));
        cut.resize(random_() % cut.size());
        return cut;
      }
    }
  }

  void speak(HostilePeer& peer) {
    const Term high(kTermBeyond);
    peer.say(raft::AppendRequest{.term = high, .stream = 1});
    peer.say(raft::Heartbeat{.term = high, .stream = 1});
    peer.say(raft::VoteRequest{.kind = raft::VoteKind::Real, .term = high, .last = {Index(kTermBeyond), high}});
    peer.say(ChangeRequest{.attempt = 1,
                           .expected = Index(1),
                           .changes = {{raft::MemberChange::Kind::Remove, {.id = ReplicaId(1)}, ReplicaId()}}});
    peer.say(TransferRequest{.attempt = 1, .target = ReplicaId(2), .time_left = 1s});
  }

  Introduction blank(ReplicaId from) {
    Introduction claim;
    claim.hello.from = from;
    claim.hello.store = StoreId(kStore);
    claim.hello.boot = BootCounter(1);
    claim.instance = random_();
    return claim;
  }

  std::pair<HostilePeer, std::optional<Introduction>> dial(uint16_t port, Introduction claim, ReplicaId to, Confirm how) {
    claim.hello.cluster_name = all_.cluster_;
    claim.hello.cluster = network_of(all_.cluster_);
    claim.hello.to = to;
    claim.mark = mark_of(claim.hello.cluster);
    claim.nonce = random_() | 1;
    HostilePeer peer(port);
    std::optional<Introduction> theirs = peer.shake(claim, how);
    return {std::move(peer), std::move(theirs)};
  }

  GatewayAttackers& all_;
  std::mt19937_64 random_;
};

GatewayAttackers::GatewayAttackers(std::string cluster, std::vector<uint16_t> members, std::vector<uint16_t> gateways,
                                   uint64_t seed)
    : cluster_(std::move(cluster)), members_(std::move(members)), gateways_(std::move(gateways)), seed_(seed) {}

void GatewayAttackers::start() {
  const std::pair<const char*, void (Attack::*)()> attacks[] = {{"member_at_gateways", &Attack::speak_as_member},
                                                                {"remote_at_members", &Attack::remote_at_members},
                                                                {"lie", &Attack::lie},
                                                                {"oversize", &Attack::oversize},
                                                                {"replay", &Attack::replay},
                                                                {"half_open", &Attack::half_open},
                                                                {"deaf", &Attack::deaf}};
  uint64_t number = 100;
  for (const auto& [name, attack] : attacks) {
    threads_.emplace_back([this, name = std::string(name), attack = attack, seed = seed_ + ++number] {
      Attack mine(*this, seed);
      while (!over_) {
        (mine.*attack)();
        count(name);
      }
    });
  }
}

void GatewayAttackers::stop() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void GatewayAttackers::count(const std::string& attack) {
  const std::lock_guard lock(mutex_);
  ++counts_[attack];
}

std::map<std::string, uint64_t> GatewayAttackers::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace coordkit::experiment
