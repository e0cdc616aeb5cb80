#include "sim/faults/stranger.h"

#include <utility>

#include "base/sums.h"

namespace coordkit::sim {
namespace {

using std::chrono::seconds;

template <size_t... I>
Message empty_of_kind(size_t kind, std::index_sequence<I...>) {
  Message message;
  ((kind == I ? void(message = Message(std::in_place_index<I>)) : void()), ...);
  return message;
}

Term wild(Term term, Random& random) {
  const uint64_t leaps[] = {0, 1, 2, 1000, uint64_t{1} << 32, uint64_t{1} << 62};
  return Term(term.value() + leaps[random.below(std::size(leaps))]);
}

raft::AppendRequest lying_append(const WhatIsTrue& truth, Term term, Random& random) {
  raft::AppendRequest append{
      .term = term, .stream = random.below(4), .previous = truth.last, .commit = truth.last.index.next()};
  raft::Entry entry{.index = truth.last.index.next(), .term = term, .payload = SharedBytes("a lie")};
  entry.content_sum = content_sum(kOnlyGroup, entry.term, entry.index, entry.kind, entry.payload.view());
  append.entries.push_back(std::move(entry));
  return append;
}

Message lie(const WhatIsTrue& truth, Random& random) {
  const Term term = wild(truth.term, random);
  const Position ahead{truth.last.index.next(), term};
  const raft::Member& victim = truth.members[random.below(truth.members.size())];
  switch (random.below(14)) {
    case 0: return lying_append(truth, term, random);
    case 1: return raft::VoteRequest{.kind = raft::VoteKind::Real, .term = term.next(), .round = 1, .last = ahead};
    case 2: return raft::VoteRequest{.kind = raft::VoteKind::Pre, .term = term.next(), .round = 1, .last = ahead};
    case 3: return raft::VoteReply{.kind = raft::VoteKind::Real, .term = term, .granted = raft::Answer::Yes};
    case 4: return raft::AppendReply{.term = term, .stream = random.below(4), .match = truth.last.index};
    case 5: return raft::HeartbeatReply{.term = term, .stream = random.below(4), .match = truth.last.index};
    case 6: return raft::Heartbeat{.term = term, .commit = truth.last.index};
    case 7: return raft::Removed{term, ahead};
    case 8:
      return ChangeRequest{.attempt = 1,
                           .expected = truth.configuration,
                           .changes = {{raft::MemberChange::Kind::Remove, {.id = victim.id}, ReplicaId()}}};
    case 9: return TransferRequest{.attempt = 1, .target = victim.id, .time_left = seconds(1)};
    case 10: return RecallRequest{victim.store, BootCounter(1'000'000), random()};
    case 11: return RecallReply{{victim.store, BootCounter(1), random()}, PeerMark{}};
    case 12: return raft::TimeoutNow{truth.term};
    default:
      return empty_of_kind(random.below(std::variant_size_v<Message>),
                           std::make_index_sequence<std::variant_size_v<Message>>());
  }
}

}  // namespace

std::vector<Message> draw_lies(const WhatIsTrue& truth, Random& random) {
  std::vector<Message> lies;
  while (lies.size() < 20 && (lies.empty() || !random.chance(0.1))) {
    Message one = lie(truth, random);
    if (!std::holds_alternative<GenesisOffer>(one)) lies.push_back(std::move(one));  // meant for blank nodes
  }
  return lies;
}

// A blank node has nothing to lose yet, and the first to reach it may be anyone (decisions/0018).
void visit(uint32_t node, const std::vector<std::unique_ptr<Node>>& nodes, const Network& network,
           SituationObserver& situations, Random& random) {
  Node& host = *nodes[node];
  if (!host.up() || host.frozen() || host.engine()->core() == nullptr) return;
  const raft::Status status = host.engine()->core()->status();
  const WhatIsTrue truth{.term = status.leadership.term,
                         .last = status.last,
                         .configuration = status.configuration_index,
                         .members = status.configuration.voters};
  Hello claim = nodes[(node + 1) % nodes.size()]->hello_to(host);
  claim.from = ReplicaId(nodes.size() + 1 + random.below(3));
  claim.store = StoreId(random() | 1);
  claim.cluster = ClusterId();
  const raft::Member& victim = truth.members[random.below(truth.members.size())];
  const uint32_t named = static_cast<uint32_t>(victim.id.value() - 1);
  if (named != node && !network.connected(node, named)) {
    situations.reach(Situation::StrangerAsMember);
    claim.from = victim.id;
    if (random.chance(0.7)) claim.store = victim.store;
    claim.boot = nodes[named]->stores().log().boot().next();
  }
  situations.reach(Situation::StrangerSpoke);
  host.visited(claim, draw_lies(truth, random));
}

}  // namespace coordkit::sim
