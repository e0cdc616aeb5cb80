#include "world.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/sums.h"

namespace coordkit::explore {
namespace {

uint64_t mixed(uint64_t value, uint64_t key) {
  value ^= key * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL;
  value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93ULL;
  value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93ULL;
  return value ^ (value >> 32);
}

// Identities do not matter as long as the members are the same: all names in all orders.
std::vector<Names> renamings(const Scope& scope) {
  std::vector<Names> all;
  std::array<uint8_t, 3> order = {1, 2, 3};
  do {
    Names names = kOwnNames;
    std::copy(order.begin(), order.end(), names.begin() + 1);
    all.push_back(names);
  } while (scope.changes == 0 && std::next_permutation(order.begin(), order.end()));
  return all;
}

}  // namespace

Space::Space(const Scope& scope) : scope_(scope), renamings_(renamings(scope)) {
  intern(Inbox{});
  intern_log({});
}

World Space::first() {
  World world;
  for (size_t i = 0; i < scope_.replicas; ++i) world.replicas[i] = intern(first_boot(ReplicaId(i + 1), scope_), i);
  world.committed = facts(world, 0).log;
  return world;
}

// ---- interning

Number Space::intern(Replica replica, size_t self) {
  Digest key;  // a replica's own name is not in its core
  const Fingerprint own = replica.fingerprint(kOwnNames, scope_);
  key.add(own.low), key.add(own.high), key.add(self);
  const auto [number, fresh] = replicas_.number_of(key.result(), [&] { return std::move(replica); });
  if (fresh) {
    facts_.push_back(facts_of(replicas_[number]));
  } else if (compares_twins_) {
    compare(replicas_[number], replica, self);
  }
  return number;
}

Facts Space::facts_of(const Replica& replica) {
  const Status status = replica.core.status();
  Facts facts{.role = status.leadership.role,
              .hears_leader = CoreTwin::hears_leader(replica.core),
              .may_campaign = replica.core.next_deadline() != LaggingTime::max() && CoreTwin::vote_durable(replica.core),
              .writes = static_cast<uint8_t>(replica.writes.size()),
              .commit = static_cast<uint8_t>(status.commit.value()),
              .term = status.hard_state.term.value()};
  facts.disk_term = replica.disk.hard_state.term.value();
  facts.log = intern_log(CoreTwin::log(replica.core));
  facts.disk = intern_log(replica.disk.entries);
  for (const PeerStatus& peer : status.peers) facts.match[peer.peer.value() - 1] = static_cast<uint8_t>(peer.match.value());
  for (size_t i = 0; i < renamings_.size(); ++i) {
    const Fingerprint print = replica.fingerprint(renamings_[i], scope_);
    facts.prints[i] = print.low ^ print.high << 1;
  }
  return facts;
}

Number Space::intern(const Letter& letter) {
  Digest digest;
  if (const auto* message = std::get_if<Message>(&letter.content))
    digest.add(*message);
  else
    digest.add(~std::get<PeerUp>(letter.content).boot.value());
  const Fingerprint print = digest.result();
  const auto [number, fresh] = letters_.number_of(print, [&] { return letter; });
  if (fresh) letter_prints_.push_back(print.low);
  return number;
}

// A set: its prints are sums.
Number Space::intern(Inbox inbox) {
  Fingerprint key;
  for (const Inbox::Item& item : inbox.items) {
    const uint64_t letter = letter_prints_[item.letter];
    key.low += mixed(letter, 1 + item.from);
    key.high += mixed(letter, 9 + item.from);
    for (size_t r = 0; r < renamings_.size(); ++r) inbox.prints[r] += mixed(letter, 16 + renamings_[r][item.from + 1u]);
  }
  return inboxes_.number_of(key, [&] { return std::move(inbox); }).first;
}

Number Space::intern_log(std::span<const Entry> entries) {
  Log log;
  uint64_t chain = 0;
  for (const Entry& entry : entries) {
    chain = hash_mix(chain, entry.content_sum);
    log.terms.push_back(entry.term.value());
    log.chain.push_back(chain);
  }
  return logs_.number_of({chain, log.chain.size()}, [&] { return std::move(log); }).first;
}

// ---- steps, each computed once

Space::Outcome Space::outcome(Number replica, const Move& move) {
  const uint64_t what = static_cast<uint64_t>(move.kind) << 28 | move.from << 26 | move.argument << 20 | move.letter;
  const uint64_t key = (uint64_t{replica} << 32 | what) + 1;
  if (const Number* known = outcome_of_.find(key)) return outcomes_[*known];
  const bool delivers = move.kind == Kind::Deliver || move.kind == Kind::DeliverLate;
  const Input input{.kind = move.kind,
                    .from = ReplicaId(move.from + 1u),
                    .letter = delivers ? &letters_[move.letter] : nullptr,
                    .argument = move.argument};
  Step taken = step(replicas_[replica], input, ReplicaId(move.self + 1u), scope_);
  Outcome outcome{.first = static_cast<uint32_t>(sendings_.size()), .count = static_cast<uint32_t>(taken.sent.size())};
  for (const Outgoing& sent : taken.sent) sendings_.push_back({static_cast<uint8_t>(sent.to.value() - 1), intern(sent.letter)});
  if (taken.violation.empty()) {
    outcome.replica = intern(std::move(taken.after), move.self);
    taken.violation = std::exchange(twin_difference_, "");
  }
  if (!taken.violation.empty()) {
    outcome.violation = static_cast<Number>(violations_.size());
    violations_.push_back(taken.violation);
  }
  outcome_of_.insert(key, static_cast<Number>(outcomes_.size()));
  return outcomes_.emplace_back(outcome);
}

// Letters without any future effect. Terms, votes, streams and rounds never go back, except for what a crash can still take
// from the replica: then only what is on its disk counts.
bool Space::dead(Number replica, const Inbox::Item& item, bool may_crash) {
  const Replica& receiver = replicas_[replica];
  const ReplicaId from(item.from + 1u);
  const auto* message = std::get_if<Message>(&letters_[item.letter].content);
  if (!message) return std::get<PeerUp>(letters_[item.letter].content).boot.value() <= receiver.noticed[from.value()];
  const Term term = std::visit([](const auto& value) { return value.term; }, *message);
  const HardState kept = may_crash ? receiver.disk.hard_state : receiver.core.status().hard_state;
  if (term > kept.term) return false;
  const bool free = scope_.elections == Elections::Free;
  if (free && term < kept.term) return true;  // its effect is Kind::Learn
  if (std::holds_alternative<VoteRequest>(*message)) return free && kept.vote && kept.vote != from;
  if (const auto* vote = std::get_if<VoteReply>(message); vote && vote->granted == Answer::No) return true;
  if (const auto* heartbeat = std::get_if<Heartbeat>(message))
    return !may_crash && tells_nothing(replica, item.from, *heartbeat);
  if (const auto* append = std::get_if<AppendReply>(message); append && CoreTwin::overtaken(receiver.core, from, *append))
    return true;
  return !std::holds_alternative<AppendRequest>(*message) && !CoreTwin::admissible(receiver.core, from, *message);
}

// While heartbeats are not answered and leaders bind no voter, a heartbeat only raises the commit index of its sender's
// followers. A replica that moves on to a later term never comes back.
bool Space::tells_nothing(Number replica, size_t from, const Heartbeat& heartbeat) const {
  if (scope_.heartbeats == Heartbeats::All || scope_.elections == Elections::Real) return false;
  const Leadership& now = replicas_[replica].core.leadership();
  return heartbeat.term < now.term || (now.leader == ReplicaId(from + 1) && heartbeat.commit.value() <= facts_[replica].commit);
}

// ---- inboxes

void Space::put(World& world, size_t from, size_t to, Number letter) {
  Number& number = world.inboxes[to];
  const uint64_t key = (uint64_t{number} << 32 | from << 28 | letter) + 1;
  if (const Number* known = inbox_with_.find(key)) {
    number = *known;
    return;
  }
  Inbox inbox{.items = inboxes_[number].items};
  const Inbox::Item item{static_cast<uint8_t>(from), letter};
  const auto at = std::lower_bound(inbox.items.begin(), inbox.items.end(), item);
  if (at == inbox.items.end() || *at != item) inbox.items.insert(at, item);
  inbox_with_.insert(key, number = intern(std::move(inbox)));
}

void Space::forget_dead(World& world, size_t replica) {
  Number& number = world.inboxes[replica];
  const bool may_crash = world.spent.crashes < scope_.crashes;
  const uint64_t key = (uint64_t{number} << 32 | world.replicas[replica] << 1 | (may_crash ? 1 : 0)) + 1;
  if (const Number* known = inbox_without_dead_.find(key)) {
    number = *known;
    return;
  }
  Inbox inbox{.items = inboxes_[number].items};
  std::erase_if(inbox.items, [&](const Inbox::Item& item) { return dead(world.replicas[replica], item, may_crash); });
  inbox_without_dead_.insert(key, number = intern(std::move(inbox)));
}

// ---- renamings

uint64_t Space::print_of(const World& world) const {
  uint64_t least = ~uint64_t{0};
  const Budget& spent = world.spent;
  uint64_t common = mixed(world.committed, 1);
  common += mixed(uint64_t{spent.timeouts} | spent.proposals << 8 | spent.crashes << 16 | uint64_t{spent.beats} << 24 |
                      uint64_t{spent.step_downs} << 32 | uint64_t{spent.changes} << 40,
                  2);
  for (size_t r = 0; r < renamings_.size(); ++r) {
    const Names& names = renamings_[r];
    uint64_t print = common;
    for (size_t i = 0; i < scope_.replicas; ++i) {
      print += mixed(facts_[world.replicas[i]].prints[r], 16 + names[i + 1]);
      print += mixed(inboxes_[world.inboxes[i]].prints[r], 32 + names[i + 1]);
    }
    for (size_t term = 0; term < world.leaders.size(); ++term) {
      if (world.leaders[term] != 0) print += mixed(names[world.leaders[term]], 128 + term);
    }
    least = std::min(least, print);
  }
  return least;
}

// ---- twins

// Everything that can be done to a replica, with some of the existing letters.
void Space::compare(const Replica& one, const Replica& other, size_t self) {
  const bool differ_inside = CoreTwin::now(one.core) != CoreTwin::now(other.core) || one.durable != other.durable;
  if (!differ_inside) return;
  ++twins_;
  std::vector<Input> inputs;
  if (one.core.next_deadline() != LaggingTime::max() && one.core.leadership().role != Role::Leader)
    inputs.push_back({Kind::Timeout});
  if (!one.writes.empty()) inputs.push_back({Kind::Written});
  if (one.core.leadership().role == Role::Leader)
    inputs.insert(inputs.end(), {{Kind::Beat}, {Kind::StepDown}, {Kind::Propose}});
  inputs.push_back({.kind = Kind::Restart, .argument = static_cast<uint8_t>(one.writes.size() / 2)});
  for (size_t i = 0; i < std::min<size_t>(letters_.size(), 32); ++i) {
    const Letter& letter = letters_[static_cast<Number>((twins_ * 37 + i * 101) % letters_.size())];
    inputs.push_back({.kind = Kind::Deliver, .from = ReplicaId(1 + (self + 1 + i % 2) % 3), .letter = &letter});
  }
  for (const Input& input : inputs) {
    const Step a = step(one, input, ReplicaId(self + 1), scope_);
    const Step b = step(other, input, ReplicaId(self + 1), scope_);
    Digest sent_a, sent_b;
    for (const Outgoing& sent : a.sent) sent_a.add(sent.to), sent_a.add(intern(sent.letter));
    for (const Outgoing& sent : b.sent) sent_b.add(sent.to), sent_b.add(intern(sent.letter));
    if (!a.violation.empty() && !b.violation.empty()) continue;  // an impossible letter
    const bool same = a.violation.empty() && b.violation.empty() && sent_a.result() == sent_b.result() &&
                      a.after.fingerprint(kOwnNames, scope_) == b.after.fingerprint(kOwnNames, scope_);
    if (!same)
      twin_difference_ = absl::StrCat("TWINS of replica ", self + 1, " differ after input ", static_cast<int>(input.kind));
  }
}

}  // namespace coordkit::explore
