#include "tools/experiment/attackers.h"

#include <functional>
#include <random>
#include <utility>

#include "tools/experiment/hostile_peer.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using Confirm = HostilePeer::Confirm;

constexpr uint64_t kTermMax = (uint64_t{1} << 62) - 1;

}  // namespace

// One thread's attack. It knows only what it learned by dialing.
class Attackers::Attack {
 public:
  Attack(Attackers& all, uint64_t seed) : all_(all), random_(seed) {}

  // With no member's id: terms, votes, membership changes, transfers.
  void speak() {
    auto [peer, theirs] = dial(any_member(), blank(), Confirm::Ping);
    if (!theirs) return;
    const Term high(pick({2, 1000, uint64_t{1} << 40, kTermMax}));
    peer.say(raft::AppendRequest{.term = high, .stream = 1});
    peer.say(raft::Heartbeat{.term = high, .stream = 1});
    peer.say(raft::VoteRequest{.kind = raft::VoteKind::Real, .term = high, .last = {Index(kTermMax), high}});
    for (uint64_t expected = 1; expected < 20; ++expected) {
      peer.say(ChangeRequest{.attempt = expected,
                             .expected = Index(expected),
                             .changes = {{raft::MemberChange::Kind::Remove, {.id = ReplicaId(any_member())}, ReplicaId()}}});
    }
    peer.say(TransferRequest{.attempt = 1, .target = ReplicaId(any_member()), .time_left = 1s});
    peer.say(RecallRequest{theirs->hello.store, BootCounter(1'000'000), 1});
    peer.listen();
  }

  // As a member that it dialed before, restarted.
  void impersonate() {
    const uint64_t victim = any_member();
    const auto learned = dial(victim, blank(), Confirm::Ping).second;
    if (!learned) return;
    const uint64_t target = 1 + victim % all_.ports_.size();
    Introduction claim = *learned;
    claim.hello.boot = BootCounter(learned->hello.boot.value() + pick({0, 1, 1, 1000}));
    claim.mark = pick({0, learned->mark});
    if (claim.mark == 0) claim.instance = random_();
    auto [peer, theirs] = dial(target, claim, Confirm(random_() % 3));
    if (!theirs) return;
    peer.say(raft::AppendRequest{.term = Term(kTermMax), .stream = 1});
    peer.say(raft::AppendReply{.term = Term(pick({1, 2, 3})), .stream = 1, .match = Index(1'000'000)});
    peer.say(Forward{{SharedBytes("not a command")}});
    peer.listen();
  }

  // Sixteen guests, each with a frame of 30 MiB that arrives as slowly as allowed.
  void weigh() {
    std::vector<HostilePeer> guests;
    const uint64_t target = any_member();
    const std::string bulk(30 << 20, 'x');
    for (int i = 0; i < 16 && !all_.over_; ++i) {
      auto [peer, theirs] = dial(target, blank(), Confirm::Ping);
      if (theirs && peer.write(peer.header_of(FrameKind::Message, bulk))) guests.push_back(std::move(peer));
    }
    for (HostilePeer& guest : guests) {
      for (size_t at = 0; at < bulk.size() && guest.write(std::string_view(bulk).substr(at, 1 << 20)); at += 1 << 20) {
        if (all_.over_) return;
      }
    }
  }

  // Frames of every kind with arbitrary contents, on a connection after the hello, and bytes on one before it.
  void babble() {
    auto [peer, theirs] = dial(any_member(), blank(), Confirm::Ping);
    if (theirs) {
      for (int i = 0; i < 50; ++i) {
        if (!peer.send(FrameKind(1 + random_() % 5), noise(random_() % 900))) break;
      }
    }
    HostilePeer rude(port_of(any_member()));
    rude.write(random_() % 2 == 0 ? noise(4096) : "\xc0KIT" + noise(28));
  }

  // As many connections as there are descriptors for, sending nothing, or half a hello.
  void flood() {
    std::vector<HostilePeer> silent;
    for (int i = 0; i < 100 && !all_.over_; ++i) {
      silent.emplace_back(port_of(any_member()));
      if (i % 2 == 0) silent.back().write("\xc0KIT");
    }
    std::this_thread::sleep_for(100ms);
  }

 private:
  uint64_t any_member() { return 1 + random_() % all_.ports_.size(); }
  uint16_t port_of(uint64_t id) const { return all_.ports_.at(id - 1); }
  uint64_t pick(std::initializer_list<uint64_t> values) { return *(values.begin() + random_() % values.size()); }
  std::string noise(size_t bytes) {
    std::string made(bytes, '\0');
    for (char& byte : made) byte = static_cast<char>(random_());
    return made;
  }

  Introduction blank() {
    Introduction claim;
    claim.hello.from = ReplicaId(100 + random_() % 100);
    claim.hello.store = StoreId(random_() | 1);
    claim.hello.boot = BootCounter(1);
    claim.instance = random_();
    return claim;
  }

  std::pair<HostilePeer, std::optional<Introduction>> dial(uint64_t target, Introduction claim, Confirm how) {
    claim.hello.cluster_name = all_.cluster_;
    claim.hello.to = ReplicaId(target);
    claim.nonce = random_() | 1;
    claim.echo = 0;
    claim.secured = random_() % 2 == 0;
    HostilePeer peer(port_of(target));
    std::optional<Introduction> theirs = peer.shake(claim, how);
    return {std::move(peer), std::move(theirs)};
  }

  Attackers& all_;
  std::mt19937_64 random_;
};

Attackers::Attackers(std::string cluster, std::vector<uint16_t> ports, uint64_t seed)
    : cluster_(std::move(cluster)), ports_(std::move(ports)), seed_(seed) {}

void Attackers::start() {
  const std::pair<const char*, void (Attack::*)()> attacks[] = {{"speak", &Attack::speak},
                                                                {"impersonate", &Attack::impersonate},
                                                                {"weigh", &Attack::weigh},
                                                                {"babble", &Attack::babble},
                                                                {"flood", &Attack::flood}};
  uint64_t number = 0;
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

void Attackers::stop() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Attackers::count(const std::string& attack) {
  const std::lock_guard lock(mutex_);
  ++counts_[attack];
}

std::map<std::string, uint64_t> Attackers::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace coordkit::experiment
