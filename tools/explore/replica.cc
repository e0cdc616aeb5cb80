#include "replica.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/sums.h"
#include "raft/log/entry_codec.h"

namespace coordkit::explore {
namespace {

constexpr Duration kElectionTimeout = std::chrono::milliseconds(12);
constexpr Duration kHeartbeatInterval = std::chrono::milliseconds(5);
constexpr uint64_t kSeed = 1;

Member member(uint64_t id) { return {ReplicaId(id), StoreId(100 + id), ""}; }

Entry genesis(size_t voters) {
  Genesis genesis{.cluster = ClusterId(1), .token_base = 1};
  for (uint64_t id = 1; id <= voters; ++id) genesis.configuration.voters.push_back(member(id));
  Entry entry{.index = Index(1), .term = Term(1), .kind = EntryKind::Genesis, .payload = SharedBytes(encode(genesis))};
  entry.content_sum = content_sum(kOnlyGroup, entry.term, entry.index, entry.kind, entry.payload.view());
  return entry;
}

Core boot(ReplicaId self, const Disk& disk, uint8_t count, const Scope& scope) {
  Options options{.self = self,
                  .store = StoreId(100 + self.value()),
                  .election_timeout = kElectionTimeout,
                  .heartbeat_interval = kHeartbeatInterval,
                  .disk_lag_max = Duration::max(),
                  .seed = kSeed + count};  // the same for all, so that replicas differ only in their names
  options.append_messages_in_flight = scope.window;
  if (scope.single_entries) options.append_bytes_max = 1;
  return Core(options, Recovered{.hard_state = disk.hard_state, .entries = disk.entries},
              LaggingTime(Duration(std::chrono::seconds(1))));
}

std::array<uint64_t, kReplicasMost> ids_by_name(const Names& names) {
  std::array<uint64_t, kReplicasMost> ids{};
  for (uint64_t id = 1; id <= kReplicasMost; ++id) ids[names[id] - 1u] = id;
  return ids;
}

bool asks_for_vote(const Letter& letter) {
  const auto* message = std::get_if<Message>(&letter.content);
  return message && std::holds_alternative<VoteRequest>(*message);
}

// One step of one replica, and what it must not do.
class Stepper {
 public:
  Stepper(const Replica& before, ReplicaId self, const Scope& scope)
      : before_(before), self_(self), scope_(scope), step_{before, {}, {}}, now_(CoreTwin::now(before.core)) {}

  Step run(const Input& input) {
    try {
      take(input);
    } catch (const CheckFailure& failure) {
      violate(failure.what());
    }
    return std::move(step_);
  }

 private:
  Replica& after() { return step_.after; }
  void violate(std::string what) {
    if (step_.violation.empty()) step_.violation = std::move(what);
  }

  void take(const Input& input) {
    switch (input.kind) {
      case Kind::Deliver:
        if (scope_.elections == Elections::Free && asks_for_vote(*input.letter)) forget_leader();
        return deliver(input);
      case Kind::DeliverLate: now_ += kElectionTimeout; return deliver(input);
      case Kind::Written: return written();
      case Kind::Timeout: return campaign();
      case Kind::StepDown: now_ = after().core.status().quorum_contact + kElectionTimeout; return turn(Tick{});
      case Kind::Beat: now_ += kElectionTimeout / 2; return turn(Tick{});
      case Kind::Learn: return turn(Received{input.from, VoteReply{VoteKind::Real, Term(input.argument), 0, Answer::No}});
      case Kind::Propose:
        return turn(Propose{{{Ticket(1), EntryKind::Command, SharedBytes(std::string(1, char('a' + input.argument)))}}});
      case Kind::Change: return change();
      case Kind::Restart: return restart(input.argument);
    }
  }

  void campaign() {
    now_ = CoreTwin::deadline_without_repeats(after().core);  // the network keeps what was sent, and repeats it
    turn(Tick{});
    if (scope_.elections == Elections::Real) return;
    for (const auto& [voter, request] : std::exchange(pre_votes_, {})) {
      turn(Received{voter, VoteReply{VoteKind::Pre, request.term.previous(), request.round, Answer::Yes}});
    }
  }

  void forget_leader() {
    const bool bound = after().core.leadership().role != Role::Leader && CoreTwin::hears_leader(after().core);
    if (bound) now_ += kElectionTimeout;
  }

  bool arrives(const Send& send) {
    const auto* request = std::get_if<VoteRequest>(&send.message);
    if (scope_.elections == Elections::Free && request && request->kind == VoteKind::Pre) {
      pre_votes_.push_back({send.to, *request});
      return false;
    }
    if (scope_.elections == Elections::Free && tells_term_only(send.message)) return false;
    if (scope_.heartbeats == Heartbeats::All) return true;
    if (const auto* heartbeat = std::get_if<Heartbeat>(&send.message))
      return scope_.heartbeats == Heartbeats::News && heartbeat->commit;
    return !std::holds_alternative<HeartbeatReply>(send.message);
  }

  // An answer to a letter of an old term, or a refused vote. Kind::Learn stands for it.
  bool tells_term_only(const Message& message) const {
    const auto* vote = std::get_if<VoteReply>(&message);
    const auto* append = std::get_if<AppendReply>(&message);
    return (vote && vote->granted == Answer::No) || (append && append->term > received_term_);
  }

  void deliver(const Input& input) {
    if (const auto* up = std::get_if<PeerUp>(&input.letter->content)) return notice(input.from, up->boot);
    const Message& message = std::get<Message>(input.letter->content);
    received_term_ = std::visit([](const auto& value) { return value.term; }, message);
    turn(Received{input.from, message});
  }

  // A connection is made once, whatever else the network repeats.
  void notice(ReplicaId peer, BootCounter boot) {
    uint8_t& noticed = after().noticed[peer.value()];
    if (boot.value() <= noticed) return;
    noticed = static_cast<uint8_t>(boot.value());
    turn(PeerUp{peer, boot});
  }

  void change() {
    const Index expected = after().core.status().configuration_index;
    turn(ChangeMembership{Ticket(2), {{MemberChange::Kind::Replace, member(4), ReplicaId(3)}}, expected});
  }

  void written() {
    Replica& replica = after();
    store(replica.writes.front());
    const WriteNumber number = replica.durable = replica.writes.front().number;
    replica.writes.pop_front();
    release();
    turn(Written{number});
  }

  void store(const LogWrite& write) {
    const HardState before = after().disk.hard_state;
    after().disk.apply(write);
    const HardState& now = after().disk.hard_state;
    if (now.term < before.term || (now.term == before.term && before.vote && now.vote != before.vote))
      violate("INV_R03 hard state on disk");
  }

  void restart(uint8_t reached_disk) {
    Replica& replica = after();
    for (; reached_disk > 0; --reached_disk, replica.writes.pop_front()) store(replica.writes.front());
    if (scope_.defect == Defect::ForgetsVote) replica.disk.hard_state.vote = ReplicaId();
    replica.writes.clear();
    replica.held.clear();
    replica.durable = WriteNumber();
    ++replica.boot;
    replica.core = boot(self_, replica.disk, replica.boot, scope_);
    drain();
  }

  template <typename Input>
  void turn(Input input) {
    CoreTwin::reseed(after().core, kSeed);
    const bool counts = std::is_same_v<Input, Written> || std::is_same_v<Input, Received>;
    after().core.step(std::move(input), now_);
    if (counts && scope_.defect == Defect::CountsOlderTerms) CoreTwin::commit_by_counting(after().core);
    drain();
    judge();
  }

  void drain() {
    Effects effects;
    Replica& replica = after();
    replica.core.drain(effects);
    if (effects.write) replica.writes.push_back(*effects.write);
    for (Send& send : effects.sends) {
      if (!arrives(send)) continue;
      simplify(send.message);
      if (std::find(replica.held.begin(), replica.held.end(), send) == replica.held.end())
        replica.held.push_back(std::move(send));
    }
    if (effects.contradiction) violate("FLT_P27 a leader contradicts what is committed, though no disk was set back");
    if (effects.compact || !effects.reads.empty()) violate("the explorer knows neither compaction nor reads");
    release();
  }

  // Without compaction it does not matter what everyone has or needs; nor does the age of a state, since it is never read.
  static void simplify(Message& message) {
    std::visit(
        [](auto& one) {
          if constexpr (requires { one.everyone_has; }) one.everyone_has = Index();
          if constexpr (requires { one.committed; }) one.committed = Index();
          if constexpr (requires { one.needed; }) one.needed = Index();
        },
        message);
  }

  void release() {
    Replica& replica = after();
    for (Send& send : replica.held) {
      if (send.after > replica.durable && scope_.defect != Defect::SendsAtOnce) continue;
      judge(send);
      step_.sent.push_back({send.to, {std::move(send.message)}});
      send.to = ReplicaId();
    }
    std::erase_if(replica.held, [](const Send& send) { return !send.to; });
  }

  void judge();
  void judge(const Send& send);
  void voted(Term term, ReplicaId candidate);

  const Replica& before_;
  const ReplicaId self_;
  const Scope& scope_;
  Step step_;
  LaggingTime now_;
  Term received_term_;                                        // of the letter delivered; zero: none
  std::vector<std::pair<ReplicaId, VoteRequest>> pre_votes_;  // requested in free elections
};

// INV_R03 R05 R09 R10 R18, as far as one replica can tell, within one incarnation.
void Stepper::judge() {
  const Status was = before_.core.status();
  const Status is = after().core.status();
  if (is.commit < was.commit) violate("INV_R03 commit went back");
  if (is.hard_state.term < was.hard_state.term) violate("INV_R03 term went back");
  if (is.last.index < was.commit) violate("INV_R10 committed entries are gone");
  const bool led = was.leadership.role == Role::Leader;
  const bool leads = is.leadership.role == Role::Leader;
  if (led && leads && is.last.index < was.last.index) violate("INV_R05 a leader's log became shorter");
  if (leads && is.commit > was.commit) {
    const auto entry = after().core.committed(is.commit, 1);
    if (entry.empty() || entry.front().term != is.leadership.term) violate("INV_R09 an entry of another term was counted");
  }
  for (const PeerStatus& peer : is.peers) {
    if (peer.match >= peer.next) violate("INV_R18 next <= match");
    for (const PeerStatus& before : was.peers) {
      const bool same = led && leads && before.peer == peer.peer && was.leadership.term == is.leadership.term;
      if (same && peer.match < before.match && peer.match) violate("INV_R18 match went back");
    }
  }
}

// INV_R17 against the disk, INV_R02 against everything this store ever sent.
void Stepper::judge(const Send& send) {
  const Disk& disk = after().disk;
  const auto stored = [&](Term term) { return disk.hard_state.term >= term; };
  const auto stored_vote = [&](Term term, ReplicaId vote) {
    return disk.hard_state.term > term || (disk.hard_state.term == term && disk.hard_state.vote == vote);
  };
  if (const auto* reply = std::get_if<VoteReply>(&send.message)) {
    if (!stored(reply->term) && reply->term > Term(1)) violate("INV_R17 term of a vote reply");
    if (reply->kind == VoteKind::Pre || reply->granted == Answer::No) return;
    if (!stored_vote(reply->term, send.to)) violate("INV_R17 vote");
    voted(reply->term, send.to);
  } else if (const auto* request = std::get_if<VoteRequest>(&send.message); request && request->kind == VoteKind::Real) {
    if (!stored_vote(request->term, self_)) violate("INV_R17 own vote");
    voted(request->term, self_);
  } else if (const auto* accepted = std::get_if<AppendReply>(&send.message)) {
    if (!stored(accepted->term)) violate("INV_R17 term of an append reply");
    const bool here = disk.hard_state.term > accepted->term || disk.entries.size() >= accepted->match.value();
    if (!here) violate("INV_R17 acknowledged entries");
  } else if (const auto* answer = std::get_if<HeartbeatReply>(&send.message)) {
    if (!stored(answer->term)) violate("INV_R17 term of a heartbeat reply");
  }
}

void Stepper::voted(Term term, ReplicaId candidate) {
  uint8_t& vote = after().votes[std::min<uint64_t>(term.value(), kTermsMost)];
  if (vote != 0 && vote != candidate.value()) {
    violate(absl::StrCat("INV_R02 replica ", self_.value(), " voted for ", vote, " and ", candidate.value(), " in term ",
                         term.value()));
  }
  vote = static_cast<uint8_t>(candidate.value());
}

}  // namespace

void Disk::apply(const LogWrite& write) {
  if (write.hard_state) hard_state = *write.hard_state;
  if (write.truncate_after) entries.resize(write.truncate_after->value());
  entries.insert(entries.end(), write.entries.begin(), write.entries.end());
}

Replica::Replica(const Replica& other)
    : core(CoreTwin::copy(other.core)),
      disk(other.disk),
      writes(other.writes),
      durable(other.durable),
      held(other.held),
      boot(other.boot),
      noticed(other.noticed),
      votes(other.votes) {}

Fingerprint Replica::fingerprint(const Names& names, const Scope& scope) const {
  Digest digest(names);
  CoreTwin::digest(core, digest,
                   {.followers_clocks = scope.elections == Elections::Free || scope.defect == Defect::ComparesTooLittle,
                    .compaction = true});
  digest.add(disk.hard_state);
  digest.add(disk.entries);
  digest.add(writes.size());
  for (const LogWrite& write : writes) {
    digest.add(write.hard_state.has_value());
    if (write.hard_state) digest.add(*write.hard_state);
    digest.add(write.truncate_after ? write.truncate_after->value() + 1 : 0);
    digest.add(write.entries);
  }
  uint64_t sends = 0;
  for (const Send& send : held) {
    Digest one(names);
    one.add(send.to), one.add(send.after - durable), one.add(send.message);
    sends += one.result().low;
  }
  digest.add(sends);
  digest.add(boot);
  for (const uint64_t id : ids_by_name(names)) digest.add(noticed[id]);
  for (const uint8_t vote : votes) digest.add(ReplicaId(vote));
  return digest.result();
}

Replica first_boot(ReplicaId id, const Scope& scope) {
  Disk disk;
  disk.entries.push_back(genesis(3));
  Core core = boot(id, disk, 0, scope);
  Effects effects;
  core.drain(effects);
  return Replica(std::move(core), std::move(disk));
}

Step step(const Replica& before, const Input& input, ReplicaId self, const Scope& scope) {
  return Stepper(before, self, scope).run(input);
}

}  // namespace coordkit::explore
