#include "sim/oracle/consensus_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/sums.h"
#include "raft/members/configuration_rules.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

uint32_t position_of(ReplicaId id) { return static_cast<uint32_t>(id.value() - 1); }

// The genesis by which it runs. The first one that was seen may have given way before anything followed it.
bool is_settled(const raft::Core& core) { return core.leadership().role == raft::Role::Leader || core.commit() > Index(1); }

// Whether a core that runs counts this replica's votes and acknowledgements by this disk.
bool counted(const std::vector<NodeView>& views, uint32_t node, StoreId store) {
  return std::ranges::any_of(views, [&](const NodeView& view) {
    const raft::Core* core = view.engine != nullptr ? view.engine->core() : nullptr;
    const raft::Member* member = core != nullptr ? raft::member_of(core->configuration(), ReplicaId(node + 1)) : nullptr;
    return member != nullptr && member->store == store;
  });
}

}  // namespace

void ConsensusObserver::own(uint32_t node, const SimLogStore& log, const SimStateStore& state) {
  views_[node].log = &log;
  views_[node].state = &state;
  members_.own(node, log, state);
}

void ConsensusObserver::disk_lost(uint32_t node) {
  members_.disk_lost(node);
  seen_[node] = {};
  std::erase_if(votes_sent_, [node](const auto& vote) { return vote.first.first == node; });
}

void ConsensusObserver::attach(uint32_t node, const Engine& engine) {
  views_[node].engine = &engine;
  members_.look_again(node);
  Seen& seen = seen_[node];
  seen.commit = Index{};
  seen.applied = engine.applied();
  seen.leadership = {};
  seen.told = false;
  synced(node);
}

void ConsensusObserver::detach(uint32_t node) {
  if (const raft::Core* core = views_[node].engine->core()) members_.stopped(node, core->configuration());
  views_[node].engine = nullptr;
  seen_[node].leadership = {};
  synced(node);
  seen_[node].hard_state = seen_[node].durable;
  if (!genesis_stored_) chains_.clear();
}

std::optional<uint32_t> ConsensusObserver::leader() const {
  if (leaders_.empty()) return std::nullopt;
  const auto [term, node] = *leaders_.rbegin();
  const raft::Leadership& now = seen_[node].leadership;
  if (views_[node].engine == nullptr || now.role != raft::Role::Leader || now.term != term) return std::nullopt;
  return node;
}

void ConsensusObserver::write(uint32_t node, const LogWrite& write) {
  Seen& seen = seen_[node];
  if (write.hard_state) {
    const raft::HardState& next = *write.hard_state;
    if (next.term < seen.hard_state.term ||
        (next.term == seen.hard_state.term && seen.hard_state.vote && next.vote != seen.hard_state.vote)) {
      throw Violation("INV_R03", fmt::format("n{} writes term {} vote {} after term {} vote {}", node + 1, next.term.value(),
                                             next.vote.value(), seen.hard_state.term.value(), seen.hard_state.vote.value()));
    }
    seen.hard_state = next;
  }
  check_truncation(node, write);
  check_appended(node, write);
  const raft::Core* core = views_[node].engine->core();
  const bool leads = core != nullptr && core->leadership().role == raft::Role::Leader;
  members_.written(node, write, leads ? MembershipObserver::Writer::Leader : MembershipObserver::Writer::Follower,
                   std::max(committed(), core != nullptr ? core->commit() : Index()));
}

uint64_t ConsensusObserver::chain(Position position) const {
  if (position.index > committed() || at(position.index).term != position.term) {
    throw Violation("INV_S01", fmt::format("a log starts again after {}, which no replica committed", position.index.value()));
  }
  return at(position.index).chain;
}

Index ConsensusObserver::durable(uint32_t node) const {
  return std::max(views_[node].log->durable().last(), views_[node].state->applied().index);
}

// Over all machines; never zero.
uint64_t ConsensusObserver::digest_of(uint32_t node) const {
  uint64_t digest = views_[node].engine->machine(kCoordination)->digest();
  for (const MachineId id : others_) {
    if (const StateMachine* machine = views_[node].engine->machine(id)) digest = hash_mix(digest, machine->digest());
  }
  return digest | 1;
}

// INV_R13: what was installed at an index equals what the others have after exactly that entry, members included.
void ConsensusObserver::restored(uint32_t node, Position position) {
  ++installs_;
  seen_[node].restored = true;
  world_.trace(node, "continues from a state after {}", position.index.value());
  chain(position);
  const Index index = position.index;
  const uint64_t digest = digest_of(node);
  if (views_[node].engine->applied() == index && digests_.size() > index.value() && digests_[index.value()] != 0 &&
      digests_[index.value()] != digest) {
    throw Violation("INV_R13", fmt::format("n{} installs another state after {}", node + 1, index.value()));
  }
  Index configuration = index;
  while (at(configuration).kind != raft::EntryKind::Genesis && at(configuration).kind != raft::EntryKind::Configuration) {
    configuration = configuration.previous();
  }
  const Index reported = views_[node].engine->core()->status().configuration_index;
  if (reported < configuration || (reported > configuration && reported <= index)) {
    throw Violation("INV_R13", fmt::format("n{} installs the members of {} with a state after {}", node + 1, reported.value(),
                                           index.value()));
  }
}

// INV_R10, as far as the replica can know. A leader of an older term than the one that committed an entry may legitimately take
// it from a replica that hears it late. The newer leader puts it back, possibly in the same turn. Entries behind a damaged one
// go with it and return the same way (docs/decisions/0024).
void ConsensusObserver::check_truncation(uint32_t node, const LogWrite& write) {
  if (!write.truncate_after) return;
  const LogImage& log = views_[node].log->submitted();
  if (*write.truncate_after >= log.last() || log.at(write.truncate_after->next()).rotten) return;
  const raft::Leadership& now = views_[node].engine->leadership();
  const raft::Leadership& before = seen_[node].leadership;
  if (now.role == raft::Role::Leader && before.role == raft::Role::Leader && now.term == before.term) {
    throw Violation("INV_R05", fmt::format("n{} truncates its own log after {} while it leads term {}", node + 1,
                                           write.truncate_after->value(), now.term.value()));
  }
  for (Index i = write.truncate_after->next(); i <= log.last() && i <= committed(); i = i.next()) {
    if (!log.contains(i) || log.chain(i) != at(i).chain) continue;
    const bool older = now.term < at(i).committed_in;
    if (older || std::ranges::any_of(write.entries, [&](const raft::Entry& put_back) {
          return put_back.index == i && put_back.term == at(i).term;
        })) {
      continue;
    }
    throw Violation("INV_R10", fmt::format("n{} truncates committed entry {}", node + 1, i.value()), {.index = i});
  }
}

void ConsensusObserver::check_appended(uint32_t node, const LogWrite& write) {
  if (write.entries.empty()) return;
  const LogImage& log = views_[node].log->submitted();
  const Index previous = write.entries.front().index.previous();
  const Index first = write.reset_to ? write.reset_to->index : log.base.index;
  const Index last = write.reset_to ? first : log.last();
  if (previous < first || previous > last) {
    throw Violation("INV_R21",
                    fmt::format("n{} appends at {} to a log that ends at {}", node + 1, previous.value() + 1, last.value()));
  }
  uint64_t chain = write.reset_to ? this->chain(*write.reset_to) : log.chain(previous);
  for (const raft::Entry& entry : write.entries) {
    chain = chain_hash(chain, entry);
    if (geneses_differ_ && entry.index == Index(1)) continue;
    const auto [it, fresh] = chains_.try_emplace({entry.index.value(), entry.term.value()}, chain);
    if (!fresh && it->second != chain) {
      throw Violation("INV_R04",
                      fmt::format("n{} appends another entry or prefix at index {} term {}", node + 1, entry.index.value(),
                                  entry.term.value()),
                      {.index = entry.index});
    }
  }
}

void ConsensusObserver::synced(uint32_t node) {
  Seen& seen = seen_[node];
  genesis_stored_ = genesis_stored_ || views_[node].log->durable().last();
  const raft::HardState& durable = views_[node].log->durable().hard_state;
  if (durable == seen.durable) return;
  if (durable.term < seen.durable.term) throw Violation("INV_R03", fmt::format("n{}: durable term falls", node + 1));
  if (durable.term == seen.durable.term && seen.durable.vote && durable.vote != seen.durable.vote) {
    throw Violation("INV_R02", fmt::format("n{} votes twice in term {}", node + 1, durable.term.value()));
  }
  seen.durable = durable;
}

// FLT_P15: what a rolled-back disk has forgotten is what others rely on. Nobody relies on a disk that no members name: a copy
// of the directory of another replica, whose own disk was exchanged since.
void ConsensusObserver::check_silent(uint32_t node, const Message& message) const {
  const SimLogStore& log = *views_[node].log;
  if (log.stands_for(log.id()) || !counted(views_, node, log.id())) return;
  const auto* vote = std::get_if<raft::VoteReply>(&message);
  const bool votes = (vote && vote->granted == raft::Answer::Yes) || std::holds_alternative<raft::VoteRequest>(message);
  const bool acknowledges =
      std::holds_alternative<raft::AppendReply>(message) || std::holds_alternative<raft::HeartbeatReply>(message);
  if (votes || acknowledges) throw Violation("INV_R12", fmt::format("n{} acts by a disk that was set back", node + 1));
}

void ConsensusObserver::send(uint32_t node, ReplicaId to, const Message& message) {
  check_silent(node, message);
  if (const auto* vote = std::get_if<raft::VoteReply>(&message)) return check(node, to, *vote);
  std::visit([&](const auto& m) { check(node, m); }, message);
}

void ConsensusObserver::check(uint32_t node, const raft::VoteRequest& request) {
  if (request.kind != raft::VoteKind::Real) return;
  if (seen_[node].durable.term < request.term) {
    throw Violation("INV_R17",
                    fmt::format("n{} asks for votes in term {} before that term is durable", node + 1, request.term.value()));
  }
}

// A later term on disk is as good as the vote itself: this store can never vote in the earlier one again.
void ConsensusObserver::check(uint32_t node, ReplicaId to, const raft::VoteReply& reply) {
  if (reply.kind != raft::VoteKind::Real || reply.granted != raft::Answer::Yes) return;
  const LogImage& disk = views_[node].log->durable();
  const auto vote = disk.votes.find(reply.term);
  if (vote == disk.votes.end() ? disk.hard_state.term <= reply.term : vote->second != to) {
    throw Violation("INV_R02", fmt::format("n{} sends n{} a vote of term {} that is not durable", node + 1, to.value(),
                                           reply.term.value()));
  }
  members_.vote_sent(node, reply.term, to);
  const auto [sent, first] = votes_sent_.try_emplace({node, reply.term}, to);
  if (!first && sent->second != to) {
    throw Violation("INV_R02", fmt::format("n{} votes for n{} and n{} in term {}", node + 1, sent->second.value(), to.value(),
                                           reply.term.value()));
  }
}

void ConsensusObserver::check(uint32_t node, const raft::AppendRequest& request) {
  // It may have stepped down at the end of the very turn that produced the message.
  const raft::Leadership& now = views_[node].engine->leadership();
  const auto led = leaders_.find(request.term);
  const bool known_to_lead = led != leaders_.end() && led->second == node;
  if (now.term == request.term && now.role != raft::Role::Leader && !known_to_lead) {
    throw Violation("INV_R01",
                    fmt::format("n{} sends appends of term {} without having led it", node + 1, request.term.value()));
  }
  if (seen_[node].durable.term < request.term) {
    throw Violation("INV_R17", fmt::format("n{} leads term {} that is not durable", node + 1, request.term.value()));
  }
}

void ConsensusObserver::check(uint32_t node, const raft::AppendReply& reply) {
  if (reply.verdict != raft::AppendVerdict::Accepted) return;
  const LogImage& disk = views_[node].log->durable();
  // Sent in a term that is over on this disk: true when it was sent, and later entries may have replaced these.
  if (seen_[node].durable.term > reply.term) return;
  if (seen_[node].durable.term < reply.term || durable(node) < reply.match) {
    throw Violation("INV_R17", fmt::format("n{} acknowledges up to {} in term {}; durable are {} and term {}", node + 1,
                                           reply.match.value(), reply.term.value(), durable(node).value(),
                                           seen_[node].durable.term.value()));
  }
  const auto leader = leaders_.find(reply.term);
  if (leader == leaders_.end() || reply.match <= disk.base.index) return;
  if (reply.match <= views_[node].state->applied().index) return;  // the log may not have been reset yet
  const NodeView& view = views_[leader->second];
  if (view.engine == nullptr || view.engine->leadership().role != raft::Role::Leader ||
      view.engine->leadership().term != reply.term) {
    return;
  }
  const LogImage& log = view.log->submitted();
  if (reply.match <= log.base.index) return;
  if (!log.contains(reply.match) || log.chain(reply.match) != disk.chain(reply.match)) {
    throw Violation("INV_R18", fmt::format("n{} acknowledges {} in term {} but its log differs from the leader's", node + 1,
                                           reply.match.value(), reply.term.value()));
  }
}

void ConsensusObserver::check(uint32_t node, const raft::Heartbeat& heartbeat) {
  if (seen_[node].durable.term < heartbeat.term) {
    throw Violation("INV_R17", fmt::format("n{} leads term {} that is not durable", node + 1, heartbeat.term.value()));
  }
}

void ConsensusObserver::check(uint32_t node, const raft::HeartbeatReply& reply) {
  const LogImage& disk = views_[node].log->durable();
  if (seen_[node].durable.term > reply.term) return;  // as above
  if (reply.match > durable(node)) {
    throw Violation("INV_R17", fmt::format("n{} reports match {} in term {} beyond its durable {}", node + 1,
                                           reply.match.value(), reply.term.value(), disk.last().value()));
  }
}

void ConsensusObserver::after_turn(uint32_t node) {
  if (views_[node].engine->core() == nullptr) return;
  const raft::Leadership before = seen_[node].leadership;
  const LogImage& log = views_[node].log->submitted();
  if (geneses_differ_ && committed() == Index(1) && is_settled(*views_[node].engine->core()) && log.contains(Index(1))) {
    committed_.front().chain = log.at(Index(1)).chain;
    committed_.front().payload = log.at(Index(1)).entry.payload;
    members_.committed(log.at(Index(1)).entry);
  }
  check_members(node);
  check_leadership(node);
  const bool restored = std::exchange(seen_[node].restored, false);  // committed by others
  if (before.role == raft::Role::Leader && before == seen_[node].leadership && !restored) check_own_term(node);
  check_commit(node);
  check_applied(node);
  members_.turn_over(node);
  if (++seen_[node].turns % 64 == 0) check_progress(node);
}

// INV_R12: a replica acts on the latest configuration of its log, even after a part of the log was truncated, or on a newer one
// that is committed, whose replacement may be known already. A leader's log has them.
void ConsensusObserver::check_members(uint32_t node) {
  const raft::Core& core = *views_[node].engine->core();
  const Index goes_by = core.configuration_position().index;
  const Position own = members_.in_force_at(node);
  const bool leads = core.leadership().role == raft::Role::Leader;
  // A peer tells of committed members, and may have told already that joint ones were left.
  const auto goes_by_told = [&core](const raft::Configuration& told) {
    raft::Configuration left = told;
    left.outgoing.clear();
    return core.configuration() == told || core.configuration() == left;
  };
  // Another entry was committed in the place of its log's own latest members, which are over whatever their term is.
  const bool replaced = own.index && own.index <= committed() && at(own.index).term != own.term;
  const raft::Configuration* committed = leads ? nullptr : members_.newer_than_log(node, goes_by, replaced);
  if (committed != nullptr && goes_by_told(*committed)) {
    if (goes_by <= own.index && !std::exchange(seen_[node].told, true)) members_.reach(Situation::MembersOvertaken);
    return;
  }
  if (goes_by != own.index) {
    throw Violation("INV_R12", fmt::format("n{} goes by the members of {}, but the latest in its log are those of {}", node + 1,
                                           goes_by.value(), own.index.value()));
  }
  const bool left_since = !leads && members_.overtaken(node);
  if (core.configuration() == members_.in_force(node) || (left_since && goes_by_told(members_.in_force(node)))) return;
  throw Violation("INV_R12", fmt::format("n{} goes by other members than those of {}", node + 1, goes_by.value()));
}

void ConsensusObserver::check_leadership(uint32_t node) {
  Seen& seen = seen_[node];
  const raft::Leadership now = views_[node].engine->leadership();
  if (now == seen.leadership) return;
  if (now.term < seen.leadership.term) throw Violation("INV_R03", fmt::format("n{}: its term falls", node + 1));
  const bool elected =
      now.role == raft::Role::Leader && (seen.leadership.role != raft::Role::Leader || seen.leadership.term != now.term);
  seen.leadership = now;
  if (!elected) return;
  world_.trace(node, "leads term {}", now.term.value());
  const auto [it, fresh] = leaders_.try_emplace(now.term, node);
  if (!fresh) {
    throw Violation("INV_R01", fmt::format("n{} leads term {} that n{} led", node + 1, now.term.value(), it->second + 1));
  }
  const std::map<Term, ReplicaId>& votes = views_[node].log->durable().votes;
  const auto vote = votes.find(now.term);
  if (vote == votes.end() || position_of(vote->second) != node) {
    throw Violation("INV_R02", fmt::format("n{} leads term {} without its own durable vote", node + 1, now.term.value()));
  }
  if (!members_.quorum_voted(node, now.term)) {
    throw Violation("INV_R12", fmt::format("n{} leads term {} without the votes of its members", node + 1, now.term.value()));
  }
  const LogImage& log = views_[node].log->submitted();
  const Index end = committed_before(now.term);
  if (end > log.base.index && (!log.contains(end) || log.chain(end) != at(end).chain)) {
    throw Violation("INV_R06",
                    fmt::format("n{} leads term {} without committed entry {}", node + 1, now.term.value(), end.value()),
                    {.index = end});
  }
}

// INV_R09: a leader counts replicas only for entries of its own term (thesis 3.6.2).
void ConsensusObserver::check_own_term(uint32_t node) const {
  const Index commit = views_[node].engine->core()->commit();
  const LogImage& log = views_[node].log->submitted();
  if (commit <= seen_[node].commit || !log.contains(commit)) return;
  const Term term = log.at(commit).entry.term;
  if (term == seen_[node].leadership.term) return;
  throw Violation("INV_R09", fmt::format("n{} leads term {} and commits up to {} of term {}", node + 1,
                                         seen_[node].leadership.term.value(), commit.value(), term.value()));
}

// A leader that slept over its own election need not know what later leaders committed (thesis 3.6.3).
Index ConsensusObserver::committed_before(Term term) const {
  Index end = committed();
  while (end && at(end).committed_in >= term) end = end.previous();
  return end;
}

void ConsensusObserver::check_commit(uint32_t node) {
  Seen& seen = seen_[node];
  const Index commit = views_[node].engine->core()->commit();
  if (commit < seen.commit) throw Violation("INV_R03", fmt::format("n{}: commit index falls", node + 1));
  const LogImage& log = views_[node].log->submitted();
  if (commit > log.last()) {
    throw Violation("INV_R10", fmt::format("n{} commits {} beyond its log", node + 1, commit.value()), {.index = commit});
  }
  if (geneses_differ_ && commit == Index(1) && committed()) {  // it may have another genesis than others
    seen.commit = commit;
    return;
  }
  for (Index i = std::max(seen.commit, log.base.index).next(); i <= commit; i = i.next()) {
    const LogImage::Record& record = log.at(i);
    if (i <= committed()) {
      if (at(i).chain != record.chain) {
        throw Violation("INV_R07", fmt::format("n{} commits another entry at {}", node + 1, i.value()), {.index = i});
      }
      continue;
    }
    committed_.push_back(
        {record.entry.term, views_[node].engine->leadership().term, record.chain, record.entry.kind, record.entry.payload});
    if (i == Index(1)) applied_ = std::max(applied_, i);  // with the start of its core
    if (record.entry.kind != raft::EntryKind::Genesis)
      check_quorum_durable(node, i, record.chain);  // agreed on before any vote
    members_.committed(record.entry);
  }
  seen.commit = commit;
}

// By the members that the leader uses, with the disks they were listed with. A follower may be the first to report it, if the
// leader died in the same turn.
void ConsensusObserver::check_quorum_durable(uint32_t node, Index index, uint64_t chain) const {
  const auto leader = leaders_.find(views_[node].engine->leadership().term);
  const uint32_t decider = leader == leaders_.end() ? node : leader->second;
  const bool held = members_.quorum_holds(decider, [&](const LogImage& log, Index state) {
    return std::max(log.base.index, state) >= index || (log.contains(index) && log.chain(index) == chain);
  });
  if (!held) {
    throw Violation("INV_R08",
                    fmt::format("n{} holds entry {} for committed, but no majority of disks has it; members {}", node + 1,
                                index.value(), members_.describe(decider)),
                    {.index = index});
  }
}

void ConsensusObserver::check_applied(uint32_t node) {
  Seen& seen = seen_[node];
  const Index applied = views_[node].engine->applied();
  if (applied == seen.applied) return;
  if (applied < seen.applied) throw Violation("INV_R03", fmt::format("n{}: applied index falls", node + 1));
  if (applied > committed()) {
    throw Violation("INV_R10", fmt::format("n{} applied {} that no replica committed", node + 1, applied.value()),
                    {.index = applied});
  }
  seen.applied = applied;
  applied_ = std::max(applied_, applied);
  if (geneses_differ_ && applied == Index(1)) return;
  if (digests_.size() <= applied.value()) digests_.resize(applied.value() + 1);
  uint64_t& known = digests_[applied.value()];
  const uint64_t digest = digest_of(node);
  world_.mix(digest);
  if (known == 0) known = digest;
  if (known != digest && compares_states_) {
    throw Violation("INV_R14", fmt::format("n{} has another state after {} entries", node + 1, applied.value()),
                    {.index = applied});
  }
}

void ConsensusObserver::check_progress(uint32_t node) {
  if (seen_[node].leadership.role != raft::Role::Leader) return;
  const raft::Status status = views_[node].engine->core()->status();
  const LogImage& log = views_[node].log->submitted();
  for (const raft::PeerStatus& peer : status.peers) {
    if (peer.peer == ReplicaId(node + 1)) continue;
    if (peer.next <= peer.match) {
      throw Violation("INV_R18", fmt::format("n{} holds next {} and match {} for n{}", node + 1, peer.next.value(),
                                             peer.match.value(), peer.peer.value()));
    }
    const uint32_t other = position_of(peer.peer);
    const LogImage& disk = views_[other].log->durable();
    const raft::Member* member = raft::member_of(members_.in_force(node), peer.peer);
    if (member == nullptr || !views_[other].log->stands_for(member->store)) continue;  // about a disk lost since
    if (disk.hard_state.term > seen_[node].leadership.term || peer.match <= disk.base.index ||
        peer.match <= views_[other].state->applied().index) {
      continue;
    }
    if (!disk.contains(peer.match) || (log.contains(peer.match) && disk.chain(peer.match) != log.chain(peer.match))) {
      throw Violation("INV_R18", fmt::format("n{} believes n{} holds {} but its disk does not", node + 1, peer.peer.value(),
                                             peer.match.value()));
    }
  }
}

}  // namespace coordkit::sim
