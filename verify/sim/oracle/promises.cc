#include "sim/oracle/promises.h"

#include <algorithm>

#include "raft/members/configuration_rules.h"
#include "sim/oracle/membership_observer.h"

namespace coordkit::sim {

// ---- promises that others learn

void Promises::handles(uint32_t node, const EngineInput& input) {
  const auto* mail = std::get_if<MessageReceived>(&input);
  if (mail == nullptr) return;
  const auto from = static_cast<uint32_t>(mail->from.value() - 1);
  const raft::Core* core = nodes_[node]->engine()->core();
  const bool asked = core != nullptr && std::holds_alternative<RecallRequest>(mail->message);
  if (asked) {
    GivenAnswer answer{nodes_[node]->stores().log().id(), core->settled_members().configuration};
    std::vector<GivenAnswer>& answers = given_[from][node];
    if (answers.empty() || answers.back() != answer) answers.push_back(std::move(answer));
  }
  const auto* reply = std::get_if<RecallReply>(&mail->message);
  if (reply != nullptr && reply->asked.start == nodes_[node]->start_number()) answered_[node].insert(from);
  hear(node, from, mail->message);
}

void Promises::hear(uint32_t node, uint32_t from, const Message& message) {
  const raft::Core* core = nodes_[node]->engine()->core();
  if (core == nullptr) return;
  const raft::Leadership& now = core->leadership();
  const bool leads = now.role == raft::Role::Leader;
  using Kind = Promise::Kind;
  if (const auto* reply = std::get_if<raft::VoteReply>(&message)) {
    if (reply->kind != raft::VoteKind::Real || reply->granted != raft::Answer::Yes) return;
    const bool wanted = now.role == raft::Role::Candidate && now.term == reply->term;
    hear(node, from, {.kind = Kind::Vote, .term = reply->term, .vote = ReplicaId(node + 1), .counts = wanted});
  } else if (const auto* request = std::get_if<raft::VoteRequest>(&message)) {
    if (request->kind != raft::VoteKind::Real) return;
    hear(node, from, {.kind = Kind::Vote, .term = request->term, .vote = ReplicaId(from + 1), .counts = true});
  } else if (const auto* accepted = std::get_if<raft::AppendReply>(&message)) {
    if (accepted->verdict != raft::AppendVerdict::Accepted) return;
    hear(node, from, {.kind = Kind::Holds, .term = accepted->term, .match = accepted->match, .counts = leads});
  } else if (const auto* beat = std::get_if<raft::HeartbeatReply>(&message)) {
    if (beat->match) hear(node, from, {.kind = Kind::Holds, .term = beat->term, .match = beat->match, .counts = leads});
  } else if (const auto* heartbeat = std::get_if<raft::Heartbeat>(&message)) {
    if (!heartbeat->durable.index) return;
    hear(node, from, {.kind = Kind::Holds, .term = heartbeat->term, .match = heartbeat->durable.index, .counts = true});
  } else if (const auto* asked = std::get_if<RecallRequest>(&message)) {
    hear(node, from, {.kind = Kind::Start, .boot = asked->boot, .counts = true});
  }
}

// A stream's answers repeat; once is enough.
void Promises::hear(uint32_t node, uint32_t from, Promise promise) {
  promise.by = from;
  promise.learned_by = node;
  promise.listener = nodes_[node]->stores().log().id();
  promise.epoch = nodes_[node]->epoch();
  promise.turn = nodes_[node]->turns();
  promise.at = world_.now();
  promise.counts = promise.counts && lists(node, from);
  const StoreId store = nodes_[from]->stores().log().id();
  std::vector<Promise>& given = promises_[store];
  const auto [place, first] = newest_.try_emplace({store, node, promise.kind}, given.size());
  if (!first) {
    const Promise& known = given[place->second];
    const bool again = known.term == promise.term && known.match == promise.match && known.vote == promise.vote &&
                       known.boot == promise.boot && known.epoch == promise.epoch && known.listener == promise.listener &&
                       (known.counts || !promise.counts);
    if (again) return;
  }
  place->second = given.size();
  given.push_back(promise);
  new_[node].emplace_back(store, given.size() - 1);
}

uint64_t Promises::chain_at(uint32_t node, Index index) const {
  const LogImage& log = nodes_[node]->stores().log().submitted();
  return index >= log.base.index && index <= log.last() ? log.chain(index) : 0;
}

// According to the newest configuration of its log.
bool Promises::lists(uint32_t node, uint32_t other) const {
  const raft::Core* core = nodes_[node]->up() ? nodes_[node]->engine()->core() : nullptr;
  const raft::Member* member = core == nullptr ? nullptr : raft::member_of(core->configuration(), ReplicaId(other + 1));
  return member != nullptr && member->store == nodes_[other]->stores().log().id();
}

// Whether the listener acted on what it learned: got the vote it asked for, counts the acknowledgement, follows the leader.
bool Promises::relied_on(uint32_t node, const Promise& promise) const {
  const raft::Core* core = nodes_[node]->engine()->core();
  if (core == nullptr) return false;
  const raft::Leadership& now = core->leadership();
  const bool own_campaign = promise.vote == ReplicaId(node + 1);
  switch (promise.kind) {
    case Promise::Kind::Start: return true;
    case Promise::Kind::Vote: return own_campaign || core->hard_state() == raft::HardState{promise.term, promise.vote};
    case Promise::Kind::Holds: break;
  }
  if (now.term != promise.term) return false;
  if (now.role == raft::Role::Leader) return core->match(ReplicaId(promise.by + 1)) >= promise.match;
  return now.leader == ReplicaId(promise.by + 1);
}

// A leader relies on its own disk as well, and no one can report that to it later.
void Promises::turned(uint32_t node) {
  for (auto& [store, place] : new_[node]) {
    Promise& promise = promises_[store][place];
    if (promise.turn != nodes_[node]->turns() || promise.learned_by != node) continue;
    promise.counts = promise.counts && relied_on(node, promise);
    if (promise.kind == Promise::Kind::Holds) {
      promise.chain = chain_at(
          promise.counts && nodes_[node]->engine()->leadership().role == raft::Role::Leader ? node : promise.by, promise.match);
    }
    learned_late(store, promise);
  }
  const raft::Core* core = nodes_[node]->engine()->core();
  if (core == nullptr || core->leadership().role != raft::Role::Leader) return;
  const Term term = core->leadership().term;
  const Index last = nodes_[node]->stores().log().durable().last();
  hear(node, node, {.kind = Promise::Kind::Vote, .term = term, .vote = ReplicaId(node + 1)});
  hear(node, node, {.kind = Promise::Kind::Holds, .term = term, .match = last, .chain = chain_at(node, last)});
}

// It was in flight when the disk was rolled back, and that disk has not taken part again.
void Promises::learned_late(StoreId store, const Promise& promise) {
  const SimLogStore& log = nodes_[promise.by]->stores().log();
  if (log.id() != store || log.stands_for(store) || promise.kind == Promise::Kind::Start) return;
  if (!held(promise, {log.durable(), nodes_[promise.by]->stores().state().applied(), log.boot(), world_.now()})) {
    forgotten_[store].push_back(promise);
  }
}

void Promises::writes(uint32_t node, WriteNumber number) {
  for (auto& [store, place] : new_[node]) {
    Promise& promise = promises_[store][place];
    if (!promise.rides_on) promise.rides_on = number;
  }
}

void Promises::synced(uint32_t node) {
  const WriteNumber durable = nodes_[node]->stores().log().durable_number();
  std::erase_if(new_[node], [&](const auto& learned) {
    Promise& promise = promises_[learned.first][learned.second];
    promise.stored = promise.rides_on && promise.rides_on <= durable;
    return promise.stored;
  });
}

void Promises::started(uint32_t node) {
  answered_[node].clear();
  given_[node].clear();
  new_[node].clear();
}

void Promises::stopped(uint32_t node) { started(node); }

// ---- what an image lacks

// A later leader may rightly have truncated what was acknowledged: then the disk does not hold it, old or new. A checkpoint
// whose last entry is of a later term than the log knows of keeps its replica from all terms before.
bool Promises::held(const Promise& promise, const Disk& disk) {
  const bool later_term = disk.state.term > promise.term;
  switch (promise.kind) {
    case Promise::Kind::Start: return promise.boot <= disk.boot;
    case Promise::Kind::Vote: {
      if (later_term) return true;
      const auto vote = disk.log.votes.find(promise.term);
      return vote != disk.log.votes.end() && vote->second == promise.vote;
    }
    case Promise::Kind::Holds: break;
  }
  if (disk.log.hard_state.term < promise.term && !later_term) return false;  // it has forgotten that there was such a leader
  if (promise.match <= std::max(disk.log.base.index, disk.state.index)) return true;
  if (promise.match <= disk.lacks.match.index && promise.term <= disk.lacks.term) return true;
  const bool same = disk.log.contains(promise.match) && disk.log.chain(promise.match) == promise.chain;
  return same || (promise.chain == 0 && disk.log.contains(promise.match));
}

// An older image knows less of what others learned from this disk, and of what it learned from others.
void Promises::set_back(uint32_t node, Disk now) {
  const SimLogStore& log = nodes_[node]->stores().log();
  const auto own = std::ranges::find(now.log.peers, log.id(), &PeerMark::store);
  if (own != now.log.peers.end()) now.lacks = *own;
  const Disk before{log.durable(), nodes_[node]->stores().state().applied(), log.boot(), world_.now()};
  std::vector<Promise>& forgotten = forgotten_[log.id()];
  for (const Promise& promise : promises_[log.id()]) {
    if (promise.at >= now.at && held(promise, before) && !held(promise, now)) forgotten.push_back(promise);
  }
  // A request is named by store, boot and number: names used in a forgotten life would be used again.
  if (now.boot < before.boot) forgotten.push_back({.kind = Promise::Kind::Start, .boot = before.boot, .learned_by = node});
  for (auto* book : {&promises_, &forgotten_}) {
    for (auto& [owner, given] : *book) {
      for (Promise& promise : given) {
        if (promise.listener == log.id()) promise.counts = false;
      }
    }
  }
}

bool Promises::knows(const Promise& promise) const {
  const Node& listener = *nodes_[promise.learned_by];
  return promise.counts && listener.stores().log().stands_for(promise.listener) && listener.stores().intact() &&
         (promise.stored || (listener.up() && listener.epoch() == promise.epoch));
}

// A forgotten start matters only for the names of requests. A replica that was started more often since, and took
// part in none of those starts, uses names that no earlier life has used; and a peer that remembers an older start is content.
bool Promises::outlived(const Promise& promise, BootCounter boot) {
  return promise.kind == Promise::Kind::Start && promise.boot < boot;
}

Promises::Verdict Promises::judge(uint32_t node) const {
  const auto forgotten = forgotten_.find(nodes_[node]->stores().log().id());
  if (forgotten == forgotten_.end()) return Verdict::Whole;
  const BootCounter boot = nodes_[node]->stores().log().boot();
  const auto matters = [boot](const Promise& promise) { return !outlived(promise, boot); };
  if (std::ranges::none_of(forgotten->second, matters)) return Verdict::Whole;
  const auto answered = answered_.find(node);
  const bool known = std::ranges::any_of(forgotten->second, [&](const Promise& promise) {
    return matters(promise) && promise.learned_by != node && answered != answered_.end() &&
           answered->second.contains(promise.learned_by) && knows(promise);
  });
  if (known) return Verdict::Known;
  return majority_answered(node) ? Verdict::Unknown : Verdict::Unasked;
}

// A majority of each half of the members that it goes by, or that one of those that answered called settled, itself included.
bool Promises::majority_answered(uint32_t node) const {
  const auto answered = answered_.find(node);
  const auto told = given_.find(node);
  std::vector<const GivenAnswer*> answers;
  if (answered != answered_.end() && told != given_.end()) {
    for (const auto& [by, answers_of] : told->second) {
      if (!answered->second.contains(by)) continue;
      for (const GivenAnswer& one : answers_of) answers.push_back(&one);
    }
  }
  const auto counts = [&](const raft::Member& member) {
    if (member.id == nodes_[node]->id()) return true;
    return std::ranges::any_of(answers, [&](const GivenAnswer* one) { return one->store == member.store; });
  };
  return MembershipObserver::quorum(nodes_[node]->engine()->core()->configuration(), counts) ||
         std::ranges::any_of(answers, [&](const GivenAnswer* one) { return MembershipObserver::quorum(one->members, counts); });
}

}  // namespace coordkit::sim
