// Which moves exist, and what one does to the world.
#include "world.h"

namespace coordkit::explore {
namespace {

uint8_t* spent_by(Budget& spent, Kind kind) {
  switch (kind) {
    case Kind::Timeout: return &spent.timeouts;
    case Kind::Beat: return &spent.beats;
    case Kind::StepDown: return &spent.step_downs;
    case Kind::Propose: return &spent.proposals;
    case Kind::Change: return &spent.changes;
    case Kind::Restart: return &spent.crashes;
    default: return nullptr;
  }
}

bool asks_for_a_vote(const Letter& letter) {
  const auto* message = std::get_if<Message>(&letter.content);
  return message && std::holds_alternative<VoteRequest>(*message);
}

}  // namespace

// Once no crash is left, a write of a non-leader may as well be finished first: whatever can happen before, can happen after.
// Messages that the replica would have held back until then are only in flight earlier, and the network may take its time. A
// candidate leads no sooner than its last vote arrives; log, term and vote are the same. Heartbeats must not be answered,
// though, because the answer reveals how much is durable.
std::optional<Move> Space::harmless(const World& world) const {
  if (world.spent.crashes < scope_.crashes || scope_.heartbeats == Heartbeats::All) return std::nullopt;
  for (uint8_t self = 0; self < scope_.replicas; ++self) {
    const Facts& it = facts(world, self);
    if (it.role != Role::Leader && it.writes > 0) return Move{Kind::Written, self};
  }
  return std::nullopt;
}

void Space::moves(const World& world, std::vector<Move>& into) const {
  into.clear();
  if (const auto alone = harmless(world)) return into.push_back(*alone);
  const Budget& spent = world.spent;
  for (uint8_t self = 0; self < scope_.replicas; ++self) {
    const Facts& it = facts(world, self);
    const bool leads = it.role == Role::Leader;
    for (const Inbox::Item& item : inboxes_[world.inboxes[self]].items) {
      const bool notice = std::holds_alternative<PeerUp>(letters_[item.letter].content);
      if (notice && !leads) continue;  // has no effect on it, so it may as well come later or never
      into.push_back({Kind::Deliver, self, item.from, 0, item.letter});
      const bool waits =
          scope_.elections == Elections::Real && !leads && it.hears_leader && asks_for_a_vote(letters_[item.letter]);
      if (waits) into.push_back({Kind::DeliverLate, self, item.from, 0, item.letter});
    }
    if (scope_.elections == Elections::Free) learning(world, self, into);
    if (it.writes > 0) into.push_back({Kind::Written, self});
    const bool campaigns = !leads && it.may_campaign && it.term < scope_.term_limit;
    if (campaigns && spent.timeouts < scope_.timeouts) into.push_back({Kind::Timeout, self});
    if (leads && spent.beats < scope_.beats) into.push_back({Kind::Beat, self});
    if (leads && spent.step_downs < scope_.step_downs) into.push_back({Kind::StepDown, self});
    if (leads && spent.proposals < scope_.proposals) into.push_back({Kind::Propose, self, 0, spent.proposals});
    if (leads && spent.changes < scope_.changes) into.push_back({Kind::Change, self});
    if (spent.crashes == scope_.crashes) continue;
    for (uint8_t reached = 0; reached <= it.writes; ++reached) into.push_back({Kind::Restart, self, 0, reached});
  }
}

// From the terms on the others' disks: any of them may have answered something with it.
void Space::learning(const World& world, uint8_t self, std::vector<Move>& into) const {
  std::array<bool, kTermsMost + 1> known{};
  for (uint8_t other = 0; other < scope_.replicas; ++other) {
    const uint64_t term = facts(world, other).disk_term;
    if (other == self || term <= facts(world, self).term || std::exchange(known[term], true)) continue;
    into.push_back({Kind::Learn, self, other, static_cast<uint8_t>(term)});
  }
}

std::string Space::make(World& world, const Move& move) {
  if (uint8_t* spent = spent_by(world.spent, move.kind)) ++*spent;
  const Number before = world.replicas[move.self];
  const Outcome outcome = this->outcome(before, move);
  if (outcome.violation != 0) return violations_[outcome.violation];
  world.replicas[move.self] = outcome.replica;
  for (uint32_t i = outcome.first; i < outcome.first + outcome.count; ++i) {
    const Sending sending = sendings_[i];
    put(world, move.self, sending.to, sending.letter);
    forget_dead(world, sending.to);
  }
  if (move.kind == Kind::Restart) {
    const Number up = intern(Letter{PeerUp{ReplicaId(), BootCounter(replicas_[outcome.replica].boot)}});
    for (size_t other = 0; other < scope_.replicas; ++other) {
      if (other != move.self) put(world, move.self, other, up);
    }
    for (size_t other = 0; other < scope_.replicas; ++other) forget_dead(world, other);
  }
  if (outcome.replica == before) return {};
  forget_dead(world, move.self);
  return judge(world, move.self, before);
}

}  // namespace coordkit::explore
