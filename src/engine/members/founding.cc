#include "engine/members/founding.h"

#include <algorithm>

#include "base/sums.h"
#include "raft/log/entry_codec.h"

namespace coordkit::engine {
namespace {

constexpr size_t kSeenMax = 128;  // listed members, and about as many others

bool has(const std::vector<Peer>& list, ReplicaId id) { return std::ranges::find(list, id, &Peer::id) != list.end(); }

bool same_ids(const std::vector<Peer>& list, const std::vector<raft::Member>& voters) {
  return list.size() == voters.size() && std::ranges::all_of(voters, [&](const auto& voter) { return has(list, voter.id); });
}

bool same_addresses(const std::vector<Peer>& list, const std::vector<raft::Member>& voters) {
  return std::ranges::all_of(voters, [&](const raft::Member& voter) {
    const auto peer = std::ranges::find(list, voter.id, &Peer::id);
    return peer != list.end() && peer->address == voter.address;
  });
}

// The genesis of this disk, if the disk holds nothing else, not even a vote: term 1 has none.
std::optional<raft::Genesis> genesis_alone(const RecoveredLog& log) {
  const bool alone = !log.base.index && log.entries.size() == 1 && log.damaged.empty() &&
                     log.entries.front().kind == raft::EntryKind::Genesis &&
                     log.hard_state == raft::HardState{Term(1), ReplicaId()};
  if (!alone) return std::nullopt;
  absl::StatusOr<raft::Genesis> genesis = decode_genesis(log.entries.front().payload.view());
  return genesis.ok() ? std::optional(*std::move(genesis)) : std::nullopt;
}

}  // namespace

raft::Entry genesis_entry(GroupId group, const raft::Genesis& genesis) {
  raft::Entry entry{Index(1), Term(1), raft::EntryKind::Genesis, 0, SharedBytes(coordkit::encode(genesis))};
  entry.content_sum = content_sum(group, entry.term, entry.index, entry.kind, entry.payload.view());
  return entry;
}

Founding::Founding(const EngineOptions& options, StoreId self) : options_(options), self_(self) { reconsider(); }

bool Founding::listed(ReplicaId id) const { return has(options_.members, id); }

// ---- a genesis that gives way

// A list that leaves members out is no reason to give the genesis up: they may have a leader.
bool Founding::gives_way(const RecoveredLog& log) {
  std::optional<raft::Genesis> genesis = genesis_alone(log);
  if (!genesis) return false;
  const std::vector<raft::Member>& voters = genesis->configuration.voters;
  const auto self = std::ranges::find(voters, options_.raft.self, &raft::Member::id);
  if (self == voters.end() || self->store != self_) return false;
  if (same_ids(options_.members, voters) && same_addresses(options_.members, voters)) return false;
  if (!std::ranges::all_of(voters, [this](const raft::Member& voter) { return listed(voter.id); })) {
    kept_ = "the list of members here leaves out some of those with whom this directory's cluster was founded, replicas " +
            names_of(list_of(voters)) +
            ", and these may have a leader; start each of them with exactly this list, and change the members later with "
            "change_membership";
    return false;
  }
  pending_.reset();  // a list of one founds at once
  former_ = std::move(genesis);
  reconsider();
  return true;
}

// No genesis that leaves out a directory of the one that was given up.
bool Founding::may_take(const raft::Genesis& genesis) const {
  if (!former_) return true;
  return std::ranges::all_of(former_->configuration.voters, [&](const raft::Member& former) {
    return std::ranges::any_of(genesis.configuration.voters,
                               [&](const raft::Member& voter) { return voter.id == former.id && voter.store == former.store; });
  });
}

// ---- peers

// A directory that has shown a cluster and is started again without one has given it up; another directory proves nothing.
void Founding::hello(const Hello& hello) {
  if (hello.from == options_.raft.self) return;
  if (!listed(hello.from) && (!lists_us(hello) || hello.cluster || seen_.size() == kSeenMax)) return;
  Seen& seen = seen_[hello.from];
  if (hello.cluster) {
    seen.belongs = hello.store;
    seen.belongs_since = hello.boot;
  } else if (seen.belongs == hello.store && seen.belongs_since < hello.boot) {
    seen.belongs = StoreId();
  }
  seen.hello = hello;
  ListComparison found = compare_lists(options_.members, hello.members);
  seen.how = std::move(found.how);
  seen.parts = found.parts;
  if (!uninvited()) uninvited_since_.reset(), given_up_ = false;
  reconsider();
}

void Founding::offered(ReplicaId from, const GenesisOffer& offer) {
  if (pending_ || taken_ || offer.genesis.token_base > kTokenBaseMax) return;
  if (!offer.invited) return offered_at_initialization(from, offer.genesis);
  if (offer.invited == self_) pending_ = offer.genesis;  // a quorum uses this genesis
}

// A replica never joins a new cluster that its own list does not describe: two founders with different lists must not share a
// voter.
void Founding::offered_at_initialization(ReplicaId from, const raft::Genesis& genesis) {
  const auto& voters = genesis.configuration.voters;
  const bool named = std::any_of(voters.begin(), voters.end(), [this](const raft::Member& member) {
    return member.id == options_.raft.self && member.store == self_;
  });
  if (!named || !listed(from)) return;
  ListComparison found = compare_lists(options_.members, list_for_hello(list_of(voters)));
  if (!found.parts) {
    if (may_take(genesis)) pending_ = genesis;
    return;
  }
  const auto founder = seen_.find(from);
  if (founder == seen_.end() || !founder->second.hello.members.empty()) return;
  founder->second.how = std::move(found.how);  // its hello has no list
  reconsider();
}

const Founding::Seen* Founding::belonging() const {
  for (const auto& [id, seen] : seen_) {
    if (seen.belongs) return &seen;
  }
  return nullptr;
}

void Founding::reconsider() {
  if (pending_ || taken_) return;
  std::string missing;
  ReplicaId lowest = options_.raft.self;
  raft::Genesis genesis{options_.new_cluster, options_.token_base, {}, options_.feature_level};
  for (const Peer& peer : options_.members) {
    lowest = std::min(lowest, peer.id);
    if (peer.id == options_.raft.self) {
      genesis.configuration.voters.push_back({peer.id, self_, peer.address});
      continue;
    }
    const auto seen = seen_.find(peer.id);
    if (seen == seen_.end()) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(peer.id.value());
      continue;
    }
    const Hello& hello = seen->second.hello;
    genesis.configuration.voters.push_back({peer.id, hello.store, peer.address});
    genesis.feature_level = std::min(genesis.feature_level, hello.feature_level);
  }
  const std::string parted = why_parted();
  if (const Seen* member = belonging()) {
    reason_ = why_uninvited(*member);
  } else if (!parted.empty()) {
    reason_ = parted;
  } else if (!missing.empty()) {
    reason_ = "the cluster is founded when every listed member was seen once; not seen yet: " + missing;
  } else if (lowest != options_.raft.self) {
    reason_ = "all members are here; waiting for replica " + std::to_string(lowest.value()) + " to found the cluster";
  } else if (!may_take(genesis)) {
    reason_ =
        "this directory was founded with other directories of the members than they have now: bring these back, or, if that "
        "cluster has answered no call, start this replica on an empty directory";
  } else {
    auto& voters = genesis.configuration.voters;
    std::sort(voters.begin(), voters.end(), [](auto& a, auto& b) { return a.id < b.id; });
    pending_ = std::move(genesis);
    reason_.clear();
  }
}

// A peer that this list leaves out takes no part here, and its list does not matter.
std::string Founding::why_parted() const {
  for (const auto& [id, seen] : seen_) {
    if (seen.parts && listed(id)) return "no replica founds the cluster: " + differing_list(id, seen.how).sentence;
  }
  return {};
}

// A newcomer may list any members: they do not list it, and all of them belong.
bool Founding::joins(const Seen& peer) const {
  if (!peer.belongs || lists_us(peer.hello)) return false;
  return std::ranges::all_of(seen_, [this](const auto& one) { return one.second.belongs || !listed(one.first); });
}

bool Founding::lists_us(const Hello& hello) const {
  return std::ranges::find(hello.members, options_.raft.self, &ListedMember::id) != hello.members.end();
}

std::string Founding::why_uninvited(const Seen& member) const {
  const std::string self = "replica " + std::to_string(options_.raft.self.value());
  std::string reason =
      self + " is not a member of cluster '" + member.hello.cluster_name +
      "' yet: add it with change_membership on a running replica (if its disk was wiped or exchanged, replace it)";
  if (member.how.empty() || joins(member)) return reason;
  return reason + "; or this is the first start of a cluster, and " + differing_list(member.hello.from, member.how).sentence;
}

// ---- the genesis

void Founding::bootstrap(WriteGate& writes, EngineEffects& effects) {
  if (writes.founding()) return;
  const std::optional<Index> after = former_ ? std::optional(Index()) : std::nullopt;
  if (auto genesis = take_pending()) writes.bootstrap(options_.raft.group, *std::move(genesis), effects, after);
}

bool Founding::gives_up(LaggingTime now) {
  if (!uninvited()) return false;
  if (!uninvited_since_) uninvited_since_ = now;
  if (now < *uninvited_since_ + 2 * options_.raft.election_timeout) return false;
  return given_up_ = true;
}

LaggingTime Founding::next_deadline() const {
  if (!uninvited() || !uninvited_since_ || given_up_) return LaggingTime::max();
  return *uninvited_since_ + 2 * options_.raft.election_timeout;
}

std::optional<raft::Genesis> Founding::take_pending() {
  if (!pending_ || taken_) return std::nullopt;
  taken_ = true;
  reason_ = "writing the genesis";
  return std::exchange(pending_, std::nullopt);
}

// ---- for operators

std::vector<DifferingList> Founding::differing_lists() const {
  std::vector<DifferingList> differing;
  for (const auto& [id, seen] : seen_) {
    if (!seen.how.empty() && !joins(seen)) differing.push_back(differing_list(id, seen.how));
  }
  return differing;
}

}  // namespace coordkit::engine
