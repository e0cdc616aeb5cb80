#include "sim/oracle/membership_observer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "raft/log/entry_codec.h"
#include "raft/position.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

bool carries_configuration(const raft::Entry& entry) {
  return entry.kind == raft::EntryKind::Genesis || entry.kind == raft::EntryKind::Configuration;
}

const raft::Member* find(const std::vector<raft::Member>& members, ReplicaId id) {
  const auto at = std::find_if(members.begin(), members.end(), [id](const raft::Member& one) { return one.id == id; });
  return at == members.end() ? nullptr : &*at;
}

// Thesis 4.3: into a joint configuration, out of it, or a change of learners alone.
bool neighbours(const raft::Configuration& before, const raft::Configuration& after) {
  if (!before.outgoing.empty()) {
    return after.outgoing.empty() && after.voters == before.voters && after.learners == before.learners;
  }
  return after.outgoing.empty() ? after.voters == before.voters : after.outgoing == before.voters;
}

}  // namespace

void MembershipObserver::look_again(uint32_t node) {
  known_[node].clear();
  turn_over(node);
  const Index applied = states_[node]->applied().index;
  for (const LogImage::Record& record : logs_[node]->submitted().records) {
    if (record.rotten && record.entry.index > applied) return;  // its log ends before this entry
    append(node, record.entry);
  }
}

void MembershipObserver::disk_lost(uint32_t node) {
  const StoreId store = logs_[node]->id();  // what counts for a rolled-back disk is what it held before
  if (logs_[node]->stands_for(store)) lost_[store] = {logs_[node]->durable(), states_[node]->applied().index};
}

void MembershipObserver::append(uint32_t node, const raft::Entry& entry) {
  if (!carries_configuration(entry)) return;
  const auto configuration = configuration_of(entry);
  COORDKIT_CHECK(configuration.ok());
  known_[node].push_back({entry.position(), *configuration});
}

void MembershipObserver::written(uint32_t node, const LogWrite& write, Writer writer, Index committed) {
  std::vector<Known>& known = known_[node];
  if (write.reset_to) known.clear();
  while (write.truncate_after && !known.empty() && known.back().at.index > *write.truncate_after) {
    known.pop_back();
    reach(Situation::ConfigurationRolledBack);
  }
  for (const raft::Entry& entry : write.entries) {
    if (entry.kind == raft::EntryKind::Configuration && writer == Writer::Leader) {
      const raft::Configuration before = in_force(node);
      const Index since = known.empty() ? Index() : known.back().at.index;
      const auto after = configuration_of(entry);
      if (since > committed || !after.ok() || !neighbours(before, *after)) {
        throw Violation("INV_R12", fmt::format("n{} appends a configuration at {} on top of the one at {}; committed are {}",
                                               node + 1, entry.index.value(), since.value(), committed.value()));
      }
    }
    if (entry.kind == raft::EntryKind::Configuration && !before_[node]) before_[node] = in_force(node);
    append(node, entry);
  }
}

void MembershipObserver::committed(const raft::Entry& entry) {
  if (!carries_configuration(entry)) return;
  const auto configuration = configuration_of(entry);
  COORDKIT_CHECK(configuration.ok());
  const raft::Configuration before = newest_committed();
  committed_[entry.index] = {entry.position(), *configuration};
  if (entry.kind == raft::EntryKind::Configuration) note_transition(before, *configuration);
}

void MembershipObserver::note_transition(const raft::Configuration& before, const raft::Configuration& after) {
  for (const auto* list : {&before.voters, &before.learners}) {
    for (const raft::Member& member : *list) {
      if (!find(after.voters, member.id) && !find(after.learners, member.id)) previous_.insert(member.id);
    }
  }
  for (const raft::Member& voter : after.voters) {
    if (find(before.learners, voter.id)) reach(Situation::LearnerPromoted);
  }
  for (const auto* list : {&after.voters, &after.learners}) {
    for (const raft::Member& member : *list) {
      const raft::Member* was = find(before.voters, member.id);
      if (was && was->store != member.store) reach(Situation::MemberReplaced);
      if (previous_.erase(member.id) != 0) reach(Situation::RemovedMemberReturned);
    }
  }
}

const MembershipObserver::Known& MembershipObserver::in_use(uint32_t node) const {
  static const Known none;
  const Index base = logs_[node]->submitted().base.index;
  if (!known_[node].empty() && known_[node].back().at.index > base) return known_[node].back();
  const auto after = committed_.upper_bound(base);
  return after == committed_.begin() ? none : std::prev(after)->second;
}

const MembershipObserver::Known& MembershipObserver::newest() const {
  static const Known none;
  return committed_.empty() ? none : committed_.rbegin()->second;
}

const raft::Configuration& MembershipObserver::in_force(uint32_t node) const { return in_use(node).configuration; }

Position MembershipObserver::in_force_at(uint32_t node) const { return in_use(node).at; }

bool MembershipObserver::overtaken(uint32_t node) const { return raft::newer(newest().at, in_force_at(node)); }

const raft::Configuration* MembershipObserver::newer_than_log(uint32_t node, Index index, bool replaced) const {
  const Position own = in_force_at(node);
  const auto found = committed_.find(index);
  if (found == committed_.end()) return nullptr;
  const auto next = std::next(found);
  const bool in_its_place = replaced && (next == committed_.end() || next->first > own.index);
  return in_its_place || raft::newer(found->second.at, own) ? &found->second.configuration : nullptr;
}

bool MembershipObserver::majorities_have_disks(const std::function<bool(uint32_t)>& runs) const {
  const auto has_disk = [this](const raft::Member& member) { return logs_[member.id.value() - 1]->stands_for(member.store); };
  for (uint32_t node = 0; node < known_.size(); ++node) {
    const raft::Configuration& configuration = in_force(node);
    if (runs(node) && !overtaken(node) && !configuration.voters.empty() && !quorum(configuration, has_disk)) return false;
  }
  return true;
}

std::optional<uint32_t> MembershipObserver::voter_without_disk() const {
  for (uint32_t node = 0; node < known_.size(); ++node) {
    if (overtaken(node)) continue;
    for (const auto* half : {&in_force(node).voters, &in_force(node).outgoing}) {
      for (const raft::Member& member : *half) {
        const uint32_t owner = static_cast<uint32_t>(member.id.value() - 1);
        if (!logs_[owner]->stands_for(member.store) || !logs_[owner]->disk().damage().intact() ||
            !states_[owner]->disk().intact())
          return owner;
      }
    }
  }
  return std::nullopt;
}

bool MembershipObserver::member(uint32_t node) const {
  const raft::Configuration& configuration = newest_committed();
  for (const auto* list : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
    const raft::Member* found = find(*list, ReplicaId(node + 1));
    if (found && logs_[node]->stands_for(found->store)) return true;
  }
  return false;
}

bool MembershipObserver::quorum(const raft::Configuration& configuration, const Agrees& agrees) {
  for (const auto* half : {&configuration.voters, &configuration.outgoing}) {
    const auto count = static_cast<size_t>(std::count_if(half->begin(), half->end(), agrees));
    if (!half->empty() && count * 2 <= half->size()) return false;
  }
  return !configuration.voters.empty();
}

bool MembershipObserver::disk_holds(StoreId store, const Holds& holds) const {
  for (size_t node = 0; node < logs_.size(); ++node) {
    if (logs_[node]->stands_for(store)) return holds(logs_[node]->durable(), states_[node]->applied().index);
  }
  const auto lost = lost_.find(store);
  return lost != lost_.end() && holds(lost->second.log, lost->second.state);
}

bool MembershipObserver::quorum_holds(uint32_t node, const Holds& holds) const {
  const auto agrees = [&](const raft::Member& member) { return disk_holds(member.store, holds); };
  return quorum(in_force(node), agrees) || (before_[node] && quorum(*before_[node], agrees));
}

std::string MembershipObserver::describe(uint32_t node) const {
  const raft::Configuration& configuration = in_force(node);
  std::string text;
  const auto list = [&](const char* role, const std::vector<raft::Member>& members) {
    for (const raft::Member& member : members) {
      const SimLogStore& log = *logs_[member.id.value() - 1];
      text += fmt::format("{} n{} ({}) ", role, member.id.value(),
                          log.stands_for(member.store) ? fmt::format("durable {}", log.durable().last().value()) : "disk lost");
    }
  };
  list("voter", configuration.voters);
  list("outgoing", configuration.outgoing);
  list("learner", configuration.learners);
  return text;
}

void MembershipObserver::vote_sent(uint32_t node, Term term, ReplicaId candidate) {
  votes_[{term, candidate}].insert({ReplicaId(node + 1), logs_[node]->id()});
}

bool MembershipObserver::quorum_voted(uint32_t candidate, Term term) const {
  const ReplicaId id(candidate + 1);
  const auto votes = votes_.find({term, id});
  return quorum(in_force(candidate), [&](const raft::Member& member) {
    if (member.id == id && logs_[candidate]->stands_for(member.store)) return true;
    return votes != votes_.end() && votes->second.contains({member.id, member.store});
  });
}

}  // namespace coordkit::sim
