#include "raft_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sums.h"
#include "raft/log/entry_codec.h"
#include "raft/quorum.h"
#include "twin/core_twin.h"

namespace coordkit::raft::testing {

// ---- images

const Entry* Image::at(Index index) const {
  if (index <= base.index || index > last().index) return nullptr;
  return &entries[index - base.index - 1];
}

std::optional<uint64_t> Image::chain_at(Index index) const {
  if (index == base.index) return base_chain;
  return at(index) ? std::optional(chains[index - base.index - 1]) : std::nullopt;
}

void Image::apply(const LogWrite& write) {
  if (write.hard_state) hard_state = *write.hard_state;
  if (write.reset_to) {
    const Start& start = installed.at(write.reset_to->index.value());
    base = *write.reset_to;
    base_configuration = start.configuration;
    base_configuration_index = start.configuration_index;
    base_chain = start.chain;
    entries.clear();
    chains.clear();
  }
  if (write.truncate_after) {
    entries.resize(*write.truncate_after - base.index);
    chains.resize(entries.size());
  }
  for (const Entry& entry : write.entries) {
    ASSERT_EQ(entry.index, last().index.next()) << "a write leaves a gap";
    chains.push_back(hash_mix(chains.empty() ? base_chain : chains.back(), entry.content_sum));
    entries.push_back(entry);
  }
}

void Image::compact(Position through) {
  if (through.index <= base.index) return;
  for (const auto& [index, configuration] : configurations_in(*this)) {
    if (index > through.index) break;
    base_configuration = configuration;
    base_configuration_index = index;
  }
  ASSERT_TRUE(at(through.index)) << "compaction beyond the disk";
  base_chain = *chain_at(through.index);
  const auto count = static_cast<ptrdiff_t>(through.index - base.index);
  entries.erase(entries.begin(), entries.begin() + count);
  chains.erase(chains.begin(), chains.begin() + count);
  base = through;
}

bool Image::holds(Position position) const {
  return position.index < base.index || position == base || (at(position.index) && at(position.index)->position() == position);
}

// ---- values

SharedBytes bytes(std::string text) { return SharedBytes(std::move(text)); }

Genesis genesis_of(size_t voters) {
  Genesis genesis{.cluster = ClusterId(77), .token_base = 1};
  for (uint64_t id = 1; id <= voters; ++id) {
    genesis.configuration.voters.push_back(member(id));
  }
  return genesis;
}

Member member(uint64_t id, uint64_t life) {
  return {ReplicaId(id), StoreId(1000 * life + 100 + id), "node" + std::to_string(id)};
}
MemberChange add(uint64_t id) { return {MemberChange::Kind::AddLearner, member(id), {}}; }
MemberChange promote(uint64_t id) { return {MemberChange::Kind::Promote, member(id), {}}; }
MemberChange demote(uint64_t id) { return {MemberChange::Kind::Demote, member(id), {}}; }
MemberChange remove(uint64_t id) { return {MemberChange::Kind::Remove, member(id), {}}; }
MemberChange replace(uint64_t id, Member by) { return {MemberChange::Kind::Replace, std::move(by), ReplicaId(id)}; }

std::vector<std::pair<Index, Configuration>> configurations_in(const Image& image) {
  std::vector<std::pair<Index, Configuration>> found;
  if (image.base.index) found.emplace_back(image.base_configuration_index, image.base_configuration);
  for (const Entry& entry : image.entries) {
    if (entry.kind != EntryKind::Genesis && entry.kind != EntryKind::Configuration) continue;
    found.emplace_back(entry.index, configuration_of(entry).value());
  }
  return found;
}

Entry make_entry(Index index, Term term, EntryKind kind, std::string payload) {
  Entry entry{.index = index, .term = term, .kind = kind, .payload = SharedBytes(std::move(payload))};
  entry.content_sum = content_sum(kOnlyGroup, term, index, kind, entry.payload.view());
  return entry;
}

Entry genesis_entry(size_t voters) { return make_entry(Index(1), Term(1), EntryKind::Genesis, encode(genesis_of(voters))); }

// ---- the cluster

Cluster::Cluster(size_t size, Options options, uint64_t seed, size_t spare) : size_(size) {
  for (uint64_t id = 1; id <= size + spare; ++id) {
    Node& node = nodes_[id];
    node.id = options.self = ReplicaId(id);
    options.seed = seed * 1000 + id;
    options.store = member(id).store;
    node.options = options;
    node.disk.apply({.entries = {genesis_entry(size)}});
    observe_write(node, {.entries = {genesis_entry(size)}});
  }
  for (const auto& [id, node] : nodes_) start(id);
}

void Cluster::start(uint64_t id, Greeting greeting) {
  Node& node = nodes_.at(id);
  node.boot = node.boot.next();
  node.memory = node.disk;
  node.durable = WriteNumber();
  node.applied = node.checkpoint.index;
  node.commit_before = Index();
  node.states.clear();
  node.options.seed += 1'000'003;
  Recovered recovered{.hard_state = node.disk.hard_state,
                      .base = node.disk.base,
                      .configuration = node.disk.base_configuration,
                      .configuration_index = node.disk.base_configuration_index,
                      .applied = node.checkpoint,
                      .entries = node.disk.entries};
  if (!node.disk.holds(node.checkpoint)) {
    const Image::Start& start = node.disk.installed.at(node.checkpoint.index.value());
    recovered = {.hard_state = node.disk.hard_state,
                 .base = node.checkpoint,
                 .configuration = start.configuration,
                 .configuration_index = start.configuration_index,
                 .applied = node.checkpoint,
                 .log_replaced = true};
  }
  node.core.emplace(node.options, std::move(recovered), node.now);
  turn(id);
  for (auto& [other, peer] : nodes_) {
    if (greeting == Greeting::PeersNotice && other != id && peer.core) step(other, PeerUp{node.id, node.boot});
  }
}

void Cluster::crash(uint64_t id, size_t reached_disk) {
  Node& node = nodes_.at(id);
  for (; reached_disk > 0 && !node.writes.empty(); --reached_disk) {
    node.disk.apply(node.writes.front());
    node.writes.pop_front();
  }
  node.core.reset();
  node.writes.clear();
  node.held.clear();
  node.reads.clear();
}

void Cluster::step(uint64_t id, Input input) {
  Node& node = nodes_.at(id);
  if (!node.core) return;
  node.core->step(std::move(input), node.now);
  turn(id);
}

void Cluster::turn(uint64_t id) {
  Node& node = nodes_.at(id);
  if (auto_apply) apply(node);
  node.core->drain(node.effects);
  Effects& effects = node.effects;
  if (on_turn) on_turn(node, effects);
  observe(node);
  if (effects.write) {
    node.memory.apply(*effects.write);
    node.writes.push_back(*effects.write);
  }
  if (effects.compact) {
    node.disk.compact(*effects.compact);
    node.memory.compact(*effects.compact);
    node.compactions.push_back(*effects.compact);
  }
  node.behind = effects.behind;
  node.held.insert(node.held.end(), effects.sends.begin(), effects.sends.end());
  node.reads.insert(node.reads.end(), effects.reads.begin(), effects.reads.end());
  node.outcomes.insert(node.outcomes.end(), effects.outcomes.begin(), effects.outcomes.end());
  node.confirmations.insert(node.confirmations.end(), effects.confirmations.begin(), effects.confirmations.end());
  node.transfers.insert(node.transfers.end(), effects.transfers.begin(), effects.transfers.end());
  node.changes.insert(node.changes.end(), effects.changes.begin(), effects.changes.end());
  release(node);
  if (auto_apply) apply(node);
}

void Cluster::release(Node& node) {
  std::vector<Send> waiting;
  for (Send& send : node.held) {
    if (send.after > node.durable) {
      waiting.push_back(std::move(send));
      continue;
    }
    observe_send(node, send);
    if (!is_cut(node.id, send.to)) network_.push_back({node.id, send.to, std::move(send.message)});
  }
  node.held = std::move(waiting);
}

void Cluster::apply(Node& node) {
  for (auto batch = node.core->committed(node.applied.next(), 4096); !batch.empty();
       batch = node.core->committed(node.applied.next(), 4096)) {
    for (const Entry& entry : batch) {
      ASSERT_EQ(entry.index, node.applied.next());
      const auto [known, first] = applied_at_.try_emplace(entry.index.value(), entry);
      ASSERT_EQ(known->second, entry) << "INV_R07 at " << entry.index.value();
      node.applied = entry.index;
      node.states.push_back(entry);
    }
    node.core->applied(node.applied);
  }
}

void Cluster::advance(uint64_t id, Duration duration) {
  nodes_.at(id).now += duration;
  step(id, Tick{});
}

void Cluster::advance_all(Duration duration) {
  for (auto& [id, node] : nodes_) advance(id, duration);
}

void Cluster::propose(uint64_t id, std::string payload, EntryKind kind) {
  step(id, Propose{{{Ticket(next_ticket_++), kind, bytes(std::move(payload))}}});
}

void Cluster::confirm(uint64_t id) {
  asked_at_[next_ticket_] = committed_anywhere_;
  step(id, Confirm{Ticket(next_ticket_++)});
}

void Cluster::change(uint64_t id, std::vector<MemberChange> changes) {
  if (!node(id).core) return;
  step(id, ChangeMembership{Ticket(next_ticket_++), std::move(changes), core(id).status().configuration_index});
}

void Cluster::transfer(uint64_t id, uint64_t target, Duration patience) {
  step(id, Transfer{Ticket(next_ticket_++), ReplicaId(target), node(id).now + patience});
}

void Cluster::written(uint64_t id) {
  Node& node = nodes_.at(id);
  if (node.writes.empty()) return;
  node.disk.apply(node.writes.front());
  node.durable = node.writes.front().number;
  node.writes.pop_front();
  release(node);
  step(id, Written{node.durable});
}

void Cluster::written_all(uint64_t id) {
  while (!nodes_.at(id).writes.empty()) written(id);
}

void Cluster::answer_reads(uint64_t id) {
  Node& node = nodes_.at(id);
  for (const ReadRequest& read : std::exchange(node.reads, {})) {
    std::vector<Entry> entries;
    for (Index index = read.first; index <= read.last && node.disk.at(index); index = index.next()) {
      entries.push_back(*node.disk.at(index));
    }
    if (entries.empty()) {
      step(id, LogRead{read.first, absl::UnavailableError("no such entries")});
    } else {
      step(id, LogRead{read.first, std::move(entries)});
    }
  }
}

bool Cluster::deliver_one() {
  if (network_.empty()) return false;
  const Flight flight = std::move(network_.front());
  network_.pop_front();
  deliver(flight);
  return true;
}

void Cluster::deliver(const Flight& flight) {
  if (is_cut(flight.from, flight.to)) return;
  if (on_delivery) on_delivery(flight);
  step(flight.to.value(), Received{flight.from, flight.message});
}

void Cluster::deliver_round() {
  for (size_t count = network_.size(); count > 0; --count) deliver_one();
}

void Cluster::drop(uint64_t from, uint64_t to) {
  std::erase_if(network_, [&](const Flight& flight) { return flight.from.value() == from && flight.to.value() == to; });
}

void Cluster::isolate(uint64_t id) {
  for (const auto& [other, node] : nodes_) {
    if (other != id) cut(id, other), cut(other, id);
  }
}

void Cluster::quiesce() {
  for (bool busy = true; busy;) {
    busy = deliver_one();
    for (auto& [id, node] : nodes_) {
      if (!node.core) continue;
      if (!node.disk_stalled && !node.writes.empty()) written(id), busy = true;
      if (!node.reads.empty()) answer_reads(id), busy = true;
    }
  }
}

void Cluster::elect(uint64_t id) {
  for (auto& [other, node] : nodes_) {  // any leader contact has expired by now
    if (node.core && node.core->leadership().role == Role::Follower && other != id) node.now += node.options.election_timeout;
  }
  for (int attempt = 0; attempt < 20 && core(id).leadership().role != Role::Leader; ++attempt) {
    Node& candidate = node(id);
    candidate.now = std::max(candidate.now, CoreTwin::deadline_without_repeats(*candidate.core));
    step(id, Tick{});
    quiesce();
  }
  ASSERT_EQ(core(id).leadership().role, Role::Leader);
}

uint64_t Cluster::leader() const {
  uint64_t leader = 0;
  Term latest;
  for (const auto& [id, node] : nodes_) {
    if (!node.core || node.core->leadership().role != Role::Leader || node.core->leadership().term < latest) continue;
    leader = id;
    latest = node.core->leadership().term;
  }
  return leader;
}

void Cluster::run(Duration duration) {
  const Duration slice = milliseconds(10);
  for (Duration done{}; done < duration; done += slice) {
    advance_all(slice);
    quiesce();
  }
}

bool Cluster::converged() const {
  if (leader() == 0) return false;
  const Configuration members = nodes_.at(leader()).core->status().configuration;
  if (!members.outgoing.empty()) return false;
  const Node* first = nullptr;
  for (const auto& [id, node] : nodes_) {
    if (!node.core || !is_member(members, node.id)) continue;
    if (!first) first = &node;
    const bool same = node.memory.last() == first->memory.last() && node.core->commit() == node.memory.last().index &&
                      node.applied == node.core->commit();
    if (!same) return false;
  }
  return true;
}

void Cluster::checkpoint(uint64_t id) {
  Node& node = nodes_.at(id);
  const Index at = std::min(node.applied, node.core->durable());
  const Entry* entry = node.memory.at(at);  // the disk may not have been reset yet after an install
  if (!entry) return;
  node.checkpoint = entry->position();
  step(id, Checkpointed{node.checkpoint});
}

void Cluster::install(uint64_t id, uint64_t from) {
  Node& node = nodes_.at(id);
  const Node& source = nodes_.at(from);
  const Position at = source.checkpoint;
  if (!node.core || !source.core || at.index <= node.applied || !source.memory.holds(at) || at.index < source.memory.base.index)
    return;
  Image::Start start{.chain = *source.memory.chain_at(at.index)};
  for (const auto& [index, configuration] : configurations_in(source.memory)) {
    if (index > at.index) break;
    start.configuration = configuration;
    start.configuration_index = index;
  }
  node.disk.installed[at.index.value()] = node.memory.installed[at.index.value()] = start;
  node.checkpoint = at;
  node.applied = at.index;
  node.states.clear();
  ++node.installs;
  step(id, Installed{source.core->leadership().term, at, start.configuration, start.configuration_index});
}

// ---- the observer

void Cluster::observe(Node& node) {
  if (node.effects.write) observe_write(node, *node.effects.write);
  EXPECT_GE(node.effects.commit, node.commit_before) << "INV_R03";
  observe_commit(node);
  if (node.core->leadership().role == Role::Leader) observe_configurations(node);
  node.commit_before = node.effects.commit;
  if (node.effects.leadership && node.effects.leadership->role == Role::Leader) observe_leader(node);
  for (const Confirmation& confirmation : node.effects.confirmations) {
    if (confirmation.held == Answer::No) continue;
    EXPECT_GE(confirmation.read_index, asked_at_[confirmation.ticket.value()]) << "INV_R15";
  }
}

void Cluster::observe_write(Node& node, const LogWrite& write) {
  const Image& before = node.memory;
  if (write.reset_to) {
    EXPECT_EQ(*write.reset_to, node.checkpoint) << "INV_S01";
  }
  const Index end = write.reset_to ? write.reset_to->index : before.last().index;
  const Index keep = write.truncate_after ? *write.truncate_after : end;
  if (write.truncate_after) {
    EXPECT_GE(keep, node.commit_before) << "INV_R10";
  }
  const bool anew = write.reset_to && keep == write.reset_to->index;
  uint64_t chain = anew ? before.installed.at(keep.value()).chain : before.chain_at(keep).value_or(0);
  for (const Entry& entry : write.entries) {
    chain = hash_mix(chain, entry.content_sum);
    const auto [known, first] = chain_of_.try_emplace({entry.index.value(), entry.term.value()}, chain);
    ASSERT_EQ(known->second, chain) << "INV_R04 node " << node.id.value() << " index " << entry.index.value();
  }
}

void Cluster::observe_send(const Node& node, const Send& send) {
  const HardState& stored = node.disk.hard_state;
  if (const auto* reply = std::get_if<VoteReply>(&send.message);
      reply && reply->kind == VoteKind::Real && reply->granted == Answer::Yes) {
    EXPECT_TRUE(stored.term > reply->term || (stored.term == reply->term && stored.vote == send.to)) << "INV_R17 vote";
    const auto [known, first] = vote_of_.try_emplace({node.id.value(), reply->term.value()}, send.to.value());
    EXPECT_EQ(known->second, send.to.value()) << "INV_R02 node " << node.id.value() << " term " << reply->term.value();
  }
  if (const auto* request = std::get_if<VoteRequest>(&send.message); request && request->kind == VoteKind::Real) {
    EXPECT_TRUE(stored.term > request->term || (stored.term == request->term && stored.vote == node.id)) << "INV_R17 own vote";
    const auto [known, first] = vote_of_.try_emplace({node.id.value(), request->term.value()}, node.id.value());
    EXPECT_EQ(known->second, node.id.value()) << "INV_R02 own vote";
  }
  if (const auto* reply = std::get_if<AppendReply>(&send.message); reply && reply->verdict == AppendVerdict::Accepted) {
    const bool moved_on = stored.term > reply->term;
    EXPECT_TRUE(moved_on || std::max(node.disk.last().index, node.checkpoint.index) >= reply->match) << "INV_R17 append";
    const Node& leader = nodes_.at(send.to.value());
    const bool leads = leader.core && leader.core->leadership() == Leadership{Role::Leader, reply->term, leader.id};
    if (moved_on || !leads || reply->match <= node.checkpoint.index) return;  // the state may be ahead of the log
    const auto ours = leader.memory.chain_at(reply->match);
    const auto theirs = node.disk.chain_at(reply->match);
    EXPECT_TRUE(!ours || !theirs || *ours == *theirs) << "INV_R18 what was acknowledged is not the leader's log";
  }
}

// Each index that a node calls committed: the same entry for all, durable on a majority; a leader counts only its own term.
void Cluster::observe_commit(const Node& node) {
  const Index commit = node.effects.commit;
  if (commit <= node.commit_before) return;
  Image now = node.memory;
  if (node.effects.write) now.apply(*node.effects.write);
  const Entry* entry = now.at(commit);
  if (!entry) return;
  const Position position = entry->position();
  if (node.core->leadership().role == Role::Leader) {
    EXPECT_EQ(position.term, node.core->leadership().term) << "INV_R09 index " << commit.value();
  }
  const auto [known, first] = committed_.try_emplace(commit.value(), position);
  EXPECT_EQ(known->second, position) << "INV_R07 index " << commit.value() << " by node " << node.id.value();
  if (!first || commit <= committed_anywhere_) return;  // checked already, or with a later one
  const auto durable = [&](ReplicaId id) {
    const Image& disk = nodes_.at(id.value()).disk;
    const Entry* theirs = disk.at(commit);
    return std::max(disk.base.index, nodes_.at(id.value()).checkpoint.index) >= commit ||
           (theirs && theirs->position() == position);
  };
  // In force when it was counted: the last one, or an earlier one if this turn appended the last.
  const auto configurations = configurations_in(now);
  bool agreed = false;
  for (auto at = configurations.rbegin(); at != configurations.rend() && !agreed; ++at) {
    agreed = quorum_agrees(at->second, durable);
    if (at->first <= node.memory.last().index) break;
  }
  EXPECT_TRUE(agreed) << "INV_R08 index " << commit.value() << " by node " << node.id.value();
  committed_anywhere_ = std::max(committed_anywhere_, commit);
}

// At most one in a leader's log is not committed; one that is not a neighbour of its predecessor would make two quorums.
void Cluster::observe_configurations(const Node& node) {
  if (!node.effects.write) return;
  Image now = node.memory;
  now.apply(*node.effects.write);
  const auto all = configurations_in(now);
  size_t open = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    open += all[i].first > committed_anywhere_;  // a new leader may not know yet what is
    if (i == 0) continue;
    const Configuration& before = all[i - 1].second;
    const Configuration& after = all[i].second;
    const bool enters = before.outgoing.empty() && after.outgoing == before.voters;
    const bool same_voters = after.outgoing.empty() && after.voters == before.voters;
    EXPECT_TRUE(enters || same_voters) << "INV_R12 index " << all[i].first.value();
  }
  EXPECT_LE(open, 1u) << "INV_R12 node " << node.id.value();
}

void Cluster::observe_leader(const Node& node) {
  const Term term = node.effects.leadership->term;
  const auto [known, first] = leader_of_term_.try_emplace(term.value(), node.id.value());
  EXPECT_EQ(known->second, node.id.value()) << "INV_R01 term " << term.value();
  Image now = node.memory;
  if (node.effects.write) now.apply(*node.effects.write);
  for (const auto& [index, position] : committed_) {
    if (position.index <= now.base.index) continue;
    const Entry* entry = now.at(position.index);
    EXPECT_TRUE(entry && entry->position() == position) << "INV_R06 index " << index << " term " << term.value();
  }
}

}  // namespace coordkit::raft::testing
