// Many short runs, hostile first, then calm until converged: messages lost, delayed, reordered, repeated; disks
// that stall; crashes that lose unsynced data; clocks that drift; partitions. The cluster's observer checks every
// turn against the invariants; the end of each run demands liveness (R20).
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "raft/quorum.h"
#include "raft_cluster.h"

namespace coordkit::raft::testing {
namespace {

class Storm {
 public:
  Storm(uint64_t seed, size_t size) : random_(seed), cluster_(size, options(random_), seed, kSpare), size_(size) {
    churn_ = seed % 2 == 0 ? 0.03 : 0;
    loss_ = swarm(0.2);
    repeat_ = swarm(0.1);
    shuffle_ = swarm(0.3);
    crashes_ = swarm(0.01);
    partitions_ = swarm(0.02);
    stalls_ = swarm(0.02);
    checkpoints_ = swarm(0.1);
    silence_ = swarm(0.5);
    transfers_ = swarm(0.02);
  }

  void rage(int events) {
    for (int i = 0; i < events && !::testing::Test::HasFailure(); ++i) event();
  }

  void calm() {
    cluster_.heal();
    for (auto& [id, node] : cluster_.nodes()) {
      node.disk_stalled = false;
      if (!node.core) cluster_.start(id);
    }
    for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) {
      cluster_.run(node(1).options.election_timeout);
      if (const uint64_t leader = cluster_.leader(); leader != 0) {
        for (const ReplicaId peer : node(leader).behind) cluster_.install(peer.value(), leader);
        cluster_.propose(leader, "calm");
      }
      cluster_.quiesce();
      if (cluster_.converged()) return;
    }
    if (!::testing::Test::HasFailure()) ADD_FAILURE() << "INV_R20 not converged";
  }

  Cluster& cluster() { return cluster_; }

 private:
  static Options options(Random& random) {
    Options options{.election_timeout = milliseconds(100), .heartbeat_interval = milliseconds(20)};
    options.append_messages_in_flight = random.between(1, 8);
    options.append_bytes_in_flight = random.between(100, 2000);
    options.append_bytes_max = random.between(50, 500);
    options.log_retained_bytes = random.chance(0.7) ? random.below(1000) : uint64_t{1} << 20;
    options.log_pinned_bytes = 2 * options.log_retained_bytes;
    options.cache_bytes_max = random.chance(0.5) ? random.between(50, 500) : size_t{1} << 20;
    return options;
  }
  double swarm(double most) { return random_.chance(0.6) ? most * static_cast<double>(random_.below(1000)) / 1000.0 : 0; }
  Node& node(uint64_t id) { return cluster_.node(id); }
  uint64_t any() { return random_.between(1, churn_ > 0 ? size_ + kSpare : size_); }

  void event() {
    const uint64_t id = any();
    if (random_.chance(crashes_)) return node(id).core ? cluster_.crash(id, random_.below(4)) : start(id);
    if (random_.chance(partitions_)) return random_.chance(0.5) ? cluster_.heal() : cut();
    if (random_.chance(stalls_)) node(id).disk_stalled = !node(id).disk_stalled;
    if (!node(id).core) return random_.chance(0.05) ? start(id) : void();
    if (random_.chance(checkpoints_)) cluster_.checkpoint(id);
    if (random_.chance(0.05)) send_states(id);
    if (random_.chance(transfers_))
      cluster_.transfer(id, random_.below(cluster_.nodes().size() + 1), Duration(random_.below(300'000'000)));
    if (random_.chance(churn_)) change();
    switch (random_.below(20)) {
      case 0:
      case 1: return cluster_.propose(id, "p" + std::string(random_.below(60), 'x'));
      case 2: return cluster_.confirm(id);
      case 3:
      case 4: return cluster_.advance(id, Duration(random_.below(id == slow_ ? 1'000'000 : 40'000'000)));
      case 5: return random_.chance(silence_) ? silence() : void();
      case 6:
      case 7:
      case 8: return node(id).disk_stalled ? void() : cluster_.written(id);
      case 9: return cluster_.answer_reads(id);
      default: return mail();
    }
  }

  // Peers behind this leader get its checkpoint, sometimes another node's, sometimes nothing.
  void send_states(uint64_t leader) {
    for (const ReplicaId peer : node(leader).behind) {
      if (random_.chance(0.7)) cluster_.install(peer.value(), random_.chance(0.9) ? leader : any());
    }
  }

  MemberChange wish(const Configuration& now, uint64_t id) {
    if (random_.chance(0.1)) return {static_cast<MemberChange::Kind>(random_.below(5)), member(id), ReplicaId(any())};
    if (!is_member(now, ReplicaId(id))) return add(id);
    if (!is_voter(now, ReplicaId(id))) return random_.chance(0.8) ? promote(id) : remove(id);
    return random_.chance(0.5) ? demote(id) : remove(id);
  }

  void change() {
    const uint64_t leader = cluster_.leader();
    if (leader == 0) return;
    std::vector<MemberChange> changes;
    for (uint64_t n = random_.between(1, 3); n > 0; --n) {
      changes.push_back(wish(cluster_.core(leader).status().configuration, any()));
    }
    cluster_.change(random_.chance(0.9) ? leader : any(), std::move(changes));
  }

  void start(uint64_t id) {
    cluster_.start(id, random_.chance(0.5) ? Cluster::Greeting::PeersNotice : Cluster::Greeting::PeersMissIt);
  }

  // No node hears anything for long enough that one campaigns.
  void silence() {
    if (random_.chance(0.5)) cluster_.clear_network();
    for (auto& [id, node] : cluster_.nodes()) {
      if (id != slow_) node.now += Duration(random_.between(50'000'000, 150'000'000));
    }
    for (auto& [id, node] : cluster_.nodes()) {
      if (random_.chance(0.7)) cluster_.step(id, Tick{});
    }
  }

  void cut() {
    const uint64_t from = any();
    const uint64_t to = any();
    if (random_.chance(0.3)) return cluster_.isolate(from);
    if (const uint64_t leader = cluster_.leader(); leader != 0 && random_.chance(0.3)) return usurp(leader);
    if (from != to) cluster_.cut(from, to);
  }

  // The leader is cut off and its clock hardly runs, so that it believes it leads while the others elect and commit.
  void usurp(uint64_t old) {
    slow_ = old;
    cluster_.isolate(old);
    for (int attempt = 0; attempt < 3 && cluster_.leader() == old; ++attempt) {
      silence();
      cluster_.quiesce();
    }
    if (const uint64_t leader = cluster_.leader(); leader != 0) cluster_.propose(leader, "usurper");
    cluster_.quiesce();
    cluster_.confirm(old);
    cluster_.advance(old, Duration(1000));
  }

  void mail() {
    auto& network = cluster_.network();
    if (network.empty()) return;
    const size_t at = random_.chance(shuffle_) ? random_.below(network.size()) : 0;
    const Flight flight = network[at];
    if (!random_.chance(repeat_)) network.erase(network.begin() + static_cast<ptrdiff_t>(at));
    if (!random_.chance(loss_)) cluster_.deliver(flight);
  }

  static constexpr size_t kSpare = 2;
  Random random_;
  Cluster cluster_;
  size_t size_;
  double loss_, repeat_, shuffle_, crashes_, partitions_, stalls_, checkpoints_, silence_, transfers_, churn_;
  uint64_t slow_ = 0;  // the clock of this one hardly runs: confirmations must not depend on clocks
};

constexpr size_t kSizes[] = {3, 5, 3, 4, 3, 5, 2, 3, 1, 5};

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(RandomTest, InvariantsHoldThroughStormsAndEveryCalmConverges) {
  const uint64_t first = setting("COORDKIT_SEED", 1);
  const uint64_t runs = setting("COORDKIT_RUNS", 800);
  uint64_t terms = 0, commits = 0, compactions = 0, confirmed = 0, transferred = 0, changed = 0, installs = 0;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    SCOPED_TRACE("COORDKIT_SEED=" + std::to_string(seed) + " COORDKIT_RUNS=1");
    Storm storm(seed, kSizes[seed % std::size(kSizes)]);
    try {
      storm.rage(1000);
      storm.calm();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (HasFailure()) return;
    for (auto& [id, node] : storm.cluster().nodes()) {
      terms += node.core->leadership().term.value();
      compactions += node.compactions.size();
      installs += node.installs;
      for (const Confirmation& confirmation : node.confirmations) confirmed += confirmation.held == Answer::Yes;
      for (const ChangeOutcome& outcome : node.changes) changed += outcome.kind == ChangeOutcome::Kind::Committed;
      for (const TransferOutcome& outcome : node.transfers) transferred += outcome.kind == TransferOutcome::Kind::Done;
    }
    commits += storm.cluster().committed_anywhere().value();
  }
  RecordProperty(
      "terms_commits_compactions_confirmed_transferred_changed_installs",
      absl::StrCat(terms, " ", commits, " ", compactions, " ", confirmed, " ", transferred, " ", changed, " ", installs));
  if (runs < 100) return;  // the runs together must have covered this
  EXPECT_GT(terms / runs, 2u);
  EXPECT_GT(commits / runs, 8u);
  EXPECT_GT(compactions, runs / 10);
  EXPECT_GT(confirmed, runs);
  EXPECT_GT(transferred, runs / 20);
  EXPECT_GT(changed, runs / 2);
  EXPECT_GT(installs, runs / 6);
}

}  // namespace
}  // namespace coordkit::raft::testing
