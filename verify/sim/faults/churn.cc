#include "sim/faults/churn.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "raft/log/entry_codec.h"
#include "raft/members/configuration_rules.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ChangeKind = raft::MemberChange::Kind;

constexpr size_t kCopiesKept = 4;  // per disk

const raft::Member* voter(const raft::Configuration& configuration, ReplicaId id) {
  for (const raft::Member& member : configuration.voters) {
    if (member.id == id) return &member;
  }
  return nullptr;
}

// Entries up to `former` are gone, or replaced by others.
bool was_cut(const LogImage& log, Position previous) {
  if (!log.contains(previous.index)) return previous.index > log.last();
  return log.at(previous.index).entry.term != previous.term;
}

}  // namespace

void Churn::begin() {
  if (plan_.churn_interval > Duration::zero()) schedule(plan_.churn_interval);
}

void Churn::schedule(Duration longest) {
  world_.schedule(world_.now() + Duration(random_.below(longest.count()) + 1), EventKind::Churn, kNoNode);
}

void Churn::event() {
  copy_disks();
  exchange_set_back();
  if (calm_) {
    bring_back();
    return schedule(milliseconds(500));
  }
  strike();
  schedule(2 * plan_.churn_interval);
}

void Churn::calm_down() {
  calm_ = true;
  if (plan_.churn_interval > Duration::zero() || !everybody_votes()) schedule(milliseconds(100));
}

void Churn::strike() {
  for (uint32_t node = 0; node < plan_.nodes; ++node) {
    if (!nodes_[node]->stores().intact()) return random_.chance(0.5) ? transfer() : lose_disk(node);
  }
  if (absence_.lasts()) return exchange_others();
  if (plan_.long_absences && random_.chance(0.1)) return absence_.begin(seconds(20));
  if (plan_.transfers_only) return transfer();
  if (plan_.disks_set_back > 0) return strike_disks();
  const uint64_t dice = random_.below(12);
  if (dice < 6) return change();
  if (dice < 9) return transfer();
  if (dice < 10) return lose_a_disk();
  if (plan_.mixes_up_disks && random_.chance(0.5)) return mix_up_disks();
  set_back_a_disk();
}

// Members only come or go to replace a lost disk.
void Churn::strike_disks() {
  if (consensus_.members().voter_without_disk()) return change();
  random_.chance(plan_.disks_set_back) ? set_back_a_disk() : transfer();
}

std::optional<uint32_t> Churn::anybody() {
  const uint32_t node = static_cast<uint32_t>(random_.below(plan_.nodes));
  const std::optional<uint32_t> leader = consensus_.leader();
  const uint32_t chosen = leader && random_.chance(0.4) ? *leader : node;
  return nodes_[chosen]->up() ? std::optional(chosen) : std::nullopt;
}

// The store id is often left to the replica that is asked, which takes it from the new member's hello.
raft::Member Churn::new_member(uint32_t node) const {
  return {ReplicaId(node + 1), StoreId(), fmt::format("node-{}", node + 1)};
}

// While a voter lacks its disk no other may go, or those that acknowledged what is committed would not be a majority.
raft::MemberChange Churn::draw_change() {
  const uint32_t node = static_cast<uint32_t>(random_.below(plan_.nodes));
  raft::MemberChange change{.member = new_member(node)};
  if (const std::optional<uint32_t> lost = consensus_.members().voter_without_disk()) {
    const bool another = *lost != node && !consensus_.members().member(node) && random_.chance(0.3);
    if (!another) change.member = new_member(*lost);
    change.kind = ChangeKind::Replace;
    change.replaced = ReplicaId(*lost + 1);
    return change;
  }
  if (!consensus_.members().member(node)) {
    change.kind = random_.chance(0.7) ? ChangeKind::AddLearner : ChangeKind::Replace;
    change.replaced = ReplicaId(random_.below(plan_.nodes) + 1);
    return change;
  }
  constexpr ChangeKind kChangeKinds[] = {ChangeKind::Promote, ChangeKind::Promote, ChangeKind::Demote, ChangeKind::Remove,
                                         ChangeKind::Remove};
  change.kind = kChangeKinds[random_.below(std::size(kChangeKinds))];
  return change;
}

void Churn::change() {
  const std::optional<uint32_t> asked = anybody();
  if (!asked) return;
  std::vector<raft::MemberChange> changes{draw_change()};
  while (changes.front().kind != ChangeKind::Replace && random_.chance(0.35)) changes.push_back(draw_change());
  if (changes.front().kind == ChangeKind::AddLearner && random_.chance(0.7)) {  // shall vote
    changes.push_back({.kind = ChangeKind::Promote, .member = changes.front().member});
  }
  const auto copied = [this](const auto& one) { return mixed_up(static_cast<uint32_t>(one.member.id.value() - 1)); };
  if (std::ranges::any_of(changes, copied)) return;  // no one adds a replica that admits whose directory it has
  post(*asked, std::move(changes), Duration(random_.between(100, 8000) * 1'000'000));
}

void Churn::ask_for(uint32_t node, raft::MemberChange change) {
  const bool copied = mixed_up(static_cast<uint32_t>(change.member.id.value() - 1));
  if (!calm_ && !copied && !consensus_.members().voter_without_disk()) post(node, {std::move(change)}, seconds(5));
}

void Churn::post(uint32_t node, std::vector<raft::MemberChange> changes, Duration patience) {
  const Ticket ticket(++last_ticket_);
  world_.trace(node, "is asked for {} changes of members, first kind {} of n{}", changes.size(),
               static_cast<uint64_t>(changes.front().kind), changes.front().member.id.value());
  ChangeMembers call{.ticket = ticket, .changes = changes, .deadline = nodes_[node]->clock_now().lagging + patience};
  if (random_.chance(0.2)) call.expected = Index(random_.below(consensus_.committed().value() + 1));
  requests_.emplace(ticket, Request{node, std::move(changes)});
  nodes_[node]->post(std::move(call));
}

void Churn::transfer() {
  const std::optional<uint32_t> asked = anybody();
  if (!asked) return;
  ask_to_hand_over(*asked, ReplicaId(random_.below(plan_.nodes + 1)));
}

void Churn::ask_to_hand_over(uint32_t asked, ReplicaId target) {
  const Duration patience = plan_.election_timeout * static_cast<int64_t>(random_.between(1, 20));
  world_.trace(asked, "is asked to hand leadership to n{}", target.value());
  nodes_[asked]->post(TransferLeadership{
      .ticket = Ticket(++last_ticket_), .target = target, .deadline = nodes_[asked]->clock_now().lagging + patience});
}

void Churn::hand_over_to(uint32_t dying) {
  const std::optional<uint32_t> leader = consensus_.leader();
  if (calm_ || !leader || *leader == dying || !nodes_[*leader]->up() || nodes_[*leader]->frozen()) return;
  ++situations_[static_cast<size_t>(Situation::TransferToDying)];
  ask_to_hand_over(*leader, ReplicaId(dying + 1));
}

// One after the other, as an operator would.
void Churn::exchange_others() {
  if (absence_.due()) return absence_.end();
  if (!requests_.empty()) return;
  const std::optional<uint32_t> machine = absence_.free_machine();
  if (machine && may_lose_disk(*machine)) return lose_disk(*machine);
  const std::optional<uint32_t> asked = anybody();
  if (!asked) return;
  const std::optional<Absence::Exchange> next = absence_.next();
  if (!next) return;
  post(*asked, {{.kind = ChangeKind::Replace, .member = new_member(next->machine), .replaced = next->replaced}}, seconds(5));
}

void Churn::lose_a_disk() {
  const uint32_t node = static_cast<uint32_t>(random_.below(plan_.nodes));
  if (may_lose_disk(node)) lose_disk(node);
}

void Churn::lose_disk(uint32_t node) {
  if (nodes_[node]->up()) nodes_[node]->crash(CrashKind::Power);
  consensus_.disk_lost(node);
  nodes_[node]->lose_disk();
  world_.schedule(world_.now() + Duration(random_.below(3'000'000'000)), EventKind::Restart, node);
}

// Copies of a disk, like backups and machine images; some are kept for long.
void Churn::copy_disks() { copy_disk(static_cast<uint32_t>(random_.below(plan_.nodes))); }

bool Churn::copy_disk(uint32_t node) {
  if (copies_.empty()) copies_.resize(plan_.nodes);
  const SimLogStore& log = nodes_[node]->stores().log();
  if (calm_ || !nodes_[node]->up() || log.unsynced() != 0 || !log.stands_for(log.id()) || !nodes_[node]->stores().intact())
    return false;
  if (nodes_[node]->stores().rots()) return false;
  if (!log.durable().last()) return false;  // rolled back to before genesis it would wait for a new cluster
  std::vector<Copy>& kept = copies_[node];
  std::erase_if(kept, [&](const Copy& copy) { return !log.stands_for(copy.store); });
  if (kept.size() >= kCopiesKept) kept.erase(kept.begin() + static_cast<ptrdiff_t>(random_.below(kept.size())));
  kept.push_back({log.id(), consensus_.members().in_force(node), nodes_[node]->stores().copy(), world_.now()});
  return true;
}

// Disks are also copied at the very moments of an election, and rolled back soon after, to just before or right after it:
// what was sent since is forgotten while others still rely on it. A vote in a term that the disk already knew, and entries
// that replaced others, leave an old image that the term alone does not distinguish from the present one. The latter is
// revealed by the length of the log a moment later, so it is rolled back at once.
void Churn::synced(uint32_t node) {
  if (calm_ || plan_.churn_interval == Duration::zero() || plan_.transfers_only) return;
  const SimLogStore& store = nodes_[node]->stores().log();
  const Durable now{store.id(), store.durable().hard_state, {store.durable().last(), store.durable().last_term()}};
  const Durable previous = std::exchange(durable_[node], now);
  const bool cut = previous.store == now.store && was_cut(store.durable(), previous.last);
  const bool voted = now.hard_state.term == previous.hard_state.term && now.hard_state.vote != previous.hard_state.vote;
  if (now.hard_state == previous.hard_state && !cut) return;
  if (copies_.empty()) copies_.resize(plan_.nodes);
  const double often = cut ? 0.7 : plan_.disks_set_back == 0 ? 0.1 : voted ? 0.9 : plan_.disks_set_back;
  const bool before = cut || voted || random_.chance(0.5);
  if (before && !copies_[node].empty()) set_back_to_[node] = copies_[node].back();
  const bool copied = !cut && (!now.hard_state.vote || random_.chance(0.7)) && copy_disk(node);
  if (!before && copied) set_back_to_[node] = copies_[node].back();
  if (!set_back_to_.contains(node) || !random_.chance(often)) return;
  const int64_t soon = plan_.election_timeout.count() >> (random_.below(6) + (cut ? 4 : 0));
  world_.schedule(world_.now() + Duration(random_.below(soon)), EventKind::Churn, node);
}

void Churn::event_at(uint32_t node) {
  const auto wanted = set_back_to_.find(node);
  if (calm_ || wanted == set_back_to_.end()) return;
  const Copy copy = std::move(wanted->second);
  set_back_to_.erase(wanted);
  if (nodes_[node]->stores().log().stands_for(copy.store) && may_lose_disk(node)) set_back(node, copy);
}

const Churn::Copy* Churn::copy_of(uint32_t node) {
  const std::vector<Copy>& kept = copies_[node];
  return kept.empty() ? nullptr : &kept[random_.below(kept.size())];
}

// To any earlier state of that disk, whatever has happened since.
void Churn::set_back_a_disk() {
  const uint32_t node = static_cast<uint32_t>(random_.below(plan_.nodes));
  const Copy* copy = copy_of(node);
  if (copy != nullptr && nodes_[node]->stores().log().stands_for(copy->store) && may_lose_disk(node)) set_back(node, *copy);
}

void Churn::set_back(uint32_t node, const Copy& copy) {
  if (nodes_[node]->up()) nodes_[node]->crash(CrashKind::Power);
  promises_.set_back(node, {copy.image.log.log, copy.image.state.applied(), copy.image.log.boot, copy.at});
  put_copy(node, copy);
  ++situations_[static_cast<size_t>(Situation::DiskSetBack)];
}

// A directory restored to the wrong machine. Its log says whose it is, and that suffices: no peer has to remember anything.
void Churn::mix_up_disks() {
  const uint32_t node = static_cast<uint32_t>(random_.below(plan_.nodes));
  const uint32_t owner = static_cast<uint32_t>(random_.below(plan_.nodes));
  const Copy* copy = copy_of(owner);
  const raft::Member* named = copy == nullptr ? nullptr : raft::owner_of(copy->members, copy->store);
  if (owner == node || named == nullptr || !nodes_[owner]->stores().log().stands_for(copy->store) || !may_lose_disk(node))
    return;
  put_copy(node, *copy);
  mixed_up_[node] = copy->store;
  ++situations_[static_cast<size_t>(Situation::DiskMixedUp)];
}

bool Churn::mixed_up(uint32_t node) const {
  const auto copy = mixed_up_.find(node);
  return copy != mixed_up_.end() && copy->second == nodes_[node]->stores().log().id();
}

void Churn::put_copy(uint32_t node, const Copy& copy) {
  if (nodes_[node]->up()) nodes_[node]->crash(CrashKind::Power);
  consensus_.disk_lost(node);
  nodes_[node]->set_back_disk(copy.image);
  const Duration longest = random_.chance(0.3) ? plan_.election_timeout : Duration(seconds(3));
  world_.schedule(world_.now() + Duration(random_.below(longest.count())), EventKind::Restart, node);
}

// An operator sees the quarantine and inserts a blank disk: at once, or when the others are whole, if it has taken part since.
void Churn::exchange_set_back() {
  for (uint32_t node = 0; node < plan_.nodes; ++node) {
    const SimLogStore& log = nodes_[node]->stores().log();
    // A copied directory of another replica follows as a guest, and the leader's operator reads that it is not the member's.
    const bool foreign = calm_ && nodes_[node]->up() && mixed_up(node);
    if (!stands_aside(node) && !foreign) continue;
    const EngineStatus status = nodes_[node]->engine()->status();
    if (!log.disk().was_set_back()) {
      if (!nodes_[node]->stores().intact() || status.reason.find("was set back") == std::string::npos) continue;
      throw Violation("INV_R23", fmt::format("n{} stands aside on a disk that lacks nothing: {}", node + 1, status.reason));
    }
    if (!calm_ && random_.chance(0.5)) continue;
    if (log.stands_for(log.id()) && !may_lose_disk(node)) continue;
    ++situations_[static_cast<size_t>(mixed_up(node) ? Situation::MixUpNoticed : Situation::SetBackNoticed)];
    lose_disk(node);
  }
}

// Also on a disk that stands for its store again: a peer may remember what a later leader has lawfully cut off there.
bool Churn::stands_aside(uint32_t node) const {
  const Engine* engine = nodes_[node]->engine();
  return engine != nullptr && engine->status().state == ReplicaState::Quarantine;
}

// No disk but this one may be missing in any configuration in use, and the rest must be a majority.
bool Churn::may_lose_disk(uint32_t node) const {
  if (!requests_.empty() || consensus_.elections() == 0) return false;  // a genesis that no other has stored may be repeated
  const MembershipObserver& members = consensus_.members();
  for (uint32_t by = 0; by < plan_.nodes; ++by) {
    if (members.overtaken(by)) continue;
    const raft::Configuration& configuration = members.in_force(by);
    for (const auto* half : {&configuration.voters, &configuration.outgoing}) {
      size_t missing = 0;
      for (const raft::Member& member : *half) {
        const uint32_t other = static_cast<uint32_t>(member.id.value() - 1);
        const NodeStores& stores = nodes_[other]->stores();
        const bool lost = !stores.log().stands_for(member.store) || !stores.intact() || stands_aside(other);
        missing += lost || other == node ? 1 : 0;
      }
      if (missing * 2 >= half->size() && missing > 0) return false;
      if (missing > 1) return false;
    }
  }
  return true;
}

void Churn::bring_back() {
  const std::optional<uint32_t> leader = consensus_.leader();
  if (!leader || everybody_votes()) return;
  const raft::Configuration& configuration = consensus_.members().newest_committed();
  const uint64_t first = random_.below(plan_.nodes);  // one may have to wait for another
  for (uint32_t i = 0; i < plan_.nodes; ++i) {
    const uint32_t node = static_cast<uint32_t>((first + i) % plan_.nodes);
    if (mixed_up(node)) continue;  // until its disk is replaced
    const ReplicaId id(node + 1);
    const raft::Member* member = raft::member_of(configuration, id);
    std::vector<raft::MemberChange> changes;
    if (member && !nodes_[node]->stores().log().stands_for(member->store)) {
      changes.push_back({.kind = ChangeKind::Replace, .member = new_member(node), .replaced = id});
    } else if (!member) {
      changes.push_back({.kind = ChangeKind::AddLearner, .member = new_member(node)});
    } else if (voter(configuration, id)) {
      continue;
    }
    changes.push_back({.kind = ChangeKind::Promote, .member = {.id = id}});
    const bool replaces_voter = changes.size() == 2 && changes[0].kind == ChangeKind::Replace && voter(configuration, id);
    if (replaces_voter) changes.pop_back();  // takes over its vote
    return post(*leader, std::move(changes), seconds(5));
  }
}

bool Churn::everybody_votes() const {
  const raft::Configuration& configuration = consensus_.members().newest_committed();
  return configuration.outgoing.empty() && std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
           const raft::Member* member = voter(configuration, node->id());
           return member != nullptr && node->stores().log().stands_for(member->store);
         });
}

void Churn::process_died(uint32_t node) {
  std::erase_if(requests_, [node](const auto& request) { return request.second.node == node; });
}

void Churn::answered(uint32_t node, const EngineEffects& effects) {
  for (const Completion& completion : effects.completions) {
    const auto found = requests_.find(completion.ticket);
    if (found == requests_.end()) continue;
    const Request request = std::move(found->second);
    requests_.erase(found);
    world_.trace(node, "says of the change: reason {} outcome {}",
                 static_cast<uint64_t>(reason_of(completion.status).value_or(Reason{})),
                 static_cast<uint64_t>(outcome_of(completion.status)));
    if (completion.status.ok()) check_effect(request, completion.index);
    if (reason_of(completion.status) == Reason::Conflict) ++situations_[static_cast<size_t>(Situation::ChangeOverwritten)];
  }
}

// INV_R11 for membership changes: what was reported as done is in the log, at the reported index.
void Churn::check_effect(const Request& request, Index index) const {
  if (!index) return;  // the replica that was asked is removed by it, and has not seen the entry
  if (index > consensus_.committed() || consensus_.at(index).kind == raft::EntryKind::Command) {
    throw Violation("INV_R11",
                    fmt::format("a change of members was answered as done at {}, which is no configuration", index.value()));
  }
  if (request.changes.size() != 1) return;
  const raft::MemberChange& change = request.changes.front();
  const auto configuration = decode_configuration(consensus_.at(index).payload.view());
  COORDKIT_CHECK(configuration.ok());
  const bool votes = voter(*configuration, change.member.id) != nullptr;
  const bool listed = raft::member_of(*configuration, change.member.id) != nullptr;
  const bool done = change.kind == ChangeKind::Promote  ? votes
                    : change.kind == ChangeKind::Remove ? !listed
                                                        : listed && (change.kind != ChangeKind::Demote || !votes);
  if (!done || !configuration->outgoing.empty()) {
    throw Violation("INV_R11", fmt::format("a change of kind {} of n{} was answered as done at {}, but is not done",
                                           static_cast<int>(change.kind), change.member.id.value(), index.value()));
  }
}

}  // namespace coordkit::sim
