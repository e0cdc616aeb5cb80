// Who belongs, as the engine lives by it: whom to hear, to greet, to be connected with; and the calls that change it.
#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "engine/engine_impl.h"
#include "raft/membership.h"
#include "raft/quorum.h"

namespace coordkit::engine {
namespace {

constexpr int kStuckAfter = 10;  // election timeouts

}  // namespace

// ---- who is there

void EngineImpl::take(PeerConnected& input, Now now) {
  attendance_.connected(input.hello);
  members_.connected(input.hello);
  if (quarantined_) say_stepped_aside(input.hello.from);
  if (core_) return welcome(input.hello, now);
  founding_.hello(input.hello);
}

void EngineImpl::take(PeerLost& input, Now now) {
  attendance_.lost(input.peer, now.lagging);
  round_trips_.forget(input.peer);
  members_.lost(input.peer);
  attestation_.lost(input.peer);
}

void EngineImpl::take(PeerRefused& input, Now) { attendance_.refused(input.peer, std::move(input.why)); }
void EngineImpl::take(PeerUnreachable& input, Now) { attendance_.unreachable(input.peer, std::move(input.why)); }

void EngineImpl::welcome(const Hello& hello, Now now) {
  greet_again_ = LaggingTime::min();
  if (members_.standing(hello.from) != Standing::Member) return;
  core_->step(raft::PeerUp{hello.from, hello.boot}, now.lagging);
  attestation_.connected(hello.from);
  receiver_.reconnected(hello.from);
}

void EngineImpl::take(MessageReceived& input, Now now) {
  if (auto* offer = std::get_if<GenesisOffer>(&input.message)) return receive(input.from, *offer, now);
  if (!core_) return;
  if (!members_.hears(input.from, input.message, leadership_.leader, router_.configuration())) {
    ++unheard_;
    return;
  }
  std::visit([&](auto& message) { receive(input.from, message, now); }, input.message);
}

void EngineImpl::receive(ReplicaId from, GenesisOffer& message, Now) {
  if (!core_ && !quarantined_) founding_.offered(from, message);
}

// The configuration in force changed: on append, or because its entry was cut off.
void EngineImpl::follow_members(Now now) {
  if (const Position at = core_->configuration_position(); at != followed_) {
    followed_ = at;
    for (const Hello& hello : members_.follow(core_->configuration(), router_.genesis()->cluster)) welcome(hello, now);
    forget_strangers();
    greet_again_ = LaggingTime::min();
  }
  greet(now);
}

// What this directory's own log says at the start: it belongs to another replica (FLT_P18). On a copy of it this one would
// repeat that one's votes and acknowledgements. Empty: it is ours, or nobody's. Later entries prove nothing: while it catches
// up, a replica reads of members that are no more.
std::string EngineImpl::directory_of_another() const {
  const raft::Member* stranger = nullptr;
  for (const raft::Configuration* configuration : {&core_->configuration(), &router_.configuration()}) {
    const raft::Member* owner = raft::owner_of(*configuration, origin_.store);
    if (owner && owner->id == self()) return "";
    if (owner) stranger = owner;
  }
  if (stranger == nullptr || mutant(Mutant::AnyDirectoryWillDo)) return "";
  return "this data directory is that of replica " + std::to_string(stranger->id.value()) + ", and this is replica " +
         std::to_string(self().value()) + ": start it on its own directory, or on an empty one and replace the member";
}

// Out by what is committed, or told so by somebody who knows what is (thesis 4.2.3). A leader's word ends it (R44).
void EngineImpl::notice_own_standing() {
  const auto names_us = [this](const raft::Configuration& configuration) {
    const raft::Member* self = raft::member_of(configuration, this->self());
    return self && self->store == origin_.store;
  };
  const bool named = names_us(core_->configuration()) || names_us(router_.configuration());
  named_once_ = named_once_ || named;
  const bool out = core_->removed() || (named_once_ && !named);
  if (out && !removed_) {
    change_.removed(effects_->completions);
    const std::string why = "this replica was removed from the cluster";
    transfer_.fail(Reason::Removed, why, effects_->completions);
    proposals_.fail_all(Reason::Removed, why, effects_->completions);
    reads_.fail_all(Reason::Removed, why, effects_->completions);
  }
  removed_ = out;
}

std::string EngineImpl::removal() const {
  return "replica " + std::to_string(self().value()) +
         " was removed from the cluster: stop it, or add it again with change_membership on a running replica";
}

// ---- who should be connected

// The members in force and the committed ones, the operator's list as long as the log does not name us, and whom a change
// started here wants to meet.
void EngineImpl::tell_peers() {
  const auto basis = std::tuple(followed_, router_.configuration_at(), change_.under_way());
  if (std::exchange(peers_basis_, basis) == basis) return;
  absl::btree_map<ReplicaId, Peer> wanted;
  const auto want = [&](const raft::Configuration& configuration) {
    for (const auto* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
      for (const raft::Member& member : *members) wanted.try_emplace(member.id, Peer{member.id, member.address, member.store});
    }
  };
  bool named = false;
  if (core_) {
    want(core_->configuration());
    want(router_.configuration());
    named = wanted.contains(self());
  }
  for (Peer& peer : change_.prospects()) wanted[peer.id] = std::move(peer);
  if (!named) {
    for (const Peer& peer : options_.members) wanted.try_emplace(peer.id, peer);
  }
  wanted.erase(self());
  std::vector<Peer> peers;
  for (auto& [id, peer] : wanted) peers.push_back(std::move(peer));
  if (peers == told_) return;
  told_ = peers;
  effects_->peers = std::move(peers);
}

// ---- greetings: what peers must be told that no log tells them, again and again until they have shown that they know

// A named store that is blank is given the genesis: at the birth by anybody, later by the leader, as an invitation. An
// acquaintance whom the committed configuration does not know is told so.
void EngineImpl::greet(Now now) {
  if (now.lagging < next_greeting()) return;
  greet_again_ = now.lagging + options_.raft.election_timeout;
  for (const ReplicaId peer : members_.uninitiated()) {
    const StoreId invited = leads() ? members_.hello_of(peer)->store : StoreId();
    effects_->sends.push_back({peer, GenesisOffer{*router_.genesis(), invited}});
  }
  if (!leads()) return;
  for (const ReplicaId peer : members_.of(Standing::Acquaintance)) {
    if (raft::member_of(router_.configuration(), peer)) continue;  // not decided yet
    effects_->sends.push_back({peer, raft::Removed{leadership_.term, router_.configuration_at()}});
  }
}

LaggingTime EngineImpl::next_greeting() const {
  const bool mine = leads() || !leadership_.leader;
  const bool somebody = !members_.uninitiated().empty() || (leads() && !members_.of(Standing::Acquaintance).empty());
  return mine && somebody && router_.genesis() ? greet_again_ : LaggingTime::max();
}

// Whoever is blank can only be invited; what else is on its way to it would be lost on it, and may be large.
void EngineImpl::spare_the_blank() {
  std::erase_if(effects_->sends, [this](const Outbound& one) {
    const Hello* hello = members_.hello_of(one.to);
    return hello && !hello->cluster && !std::holds_alternative<GenesisOffer>(one.message);
  });
}

// At a birth, or right after a start, a cluster that exists and an invitation to it are some messages apart.
void EngineImpl::fail_uninvited(Now now) {
  if (!founding_.uninvited()) return;
  if (!uninvited_since_) uninvited_since_ = now.lagging;
  if (now.lagging < *uninvited_since_ + 2 * options_.raft.election_timeout) return;
  uninvited_ = true;
  proposals_.fail_all(Reason::NotMember, founding_.reason(), effects_->completions);
  reads_.fail_all(Reason::NotMember, founding_.reason(), effects_->completions);
}

LaggingTime EngineImpl::next_uninvited(LaggingTime next) const {
  if (!founding_.uninvited() || !uninvited_since_ || uninvited_ || proposals_.size() + reads_.size() == 0) return next;
  return std::min(next, *uninvited_since_ + 2 * options_.raft.election_timeout);
}

void EngineImpl::say_stepped_aside(ReplicaId to) {
  effects_->sends.push_back({to, SteppedAside{reason_.substr(0, kSteppedAsideBytesMax)}});
}

void EngineImpl::receive(ReplicaId from, SteppedAside& message, Now) {
  if (members_.standing(from) == Standing::Member) attendance_.stepped_aside(from, message.why);
}

// Whom it is connected with, and before the first turn whom it will be.
std::vector<MissingMember> EngineImpl::missing() const {
  if (!last_turn_) return {};
  const Duration patience = kStuckAfter * options_.raft.election_timeout;
  std::vector<Peer> peers = told_;
  if (core_) {  // others are greeted, not missed
    std::erase_if(peers, [this](const Peer& peer) { return !raft::is_member(core_->configuration(), peer.id); });
  }
  std::optional<raft::Status> core = core_ ? std::optional(core_->status()) : std::nullopt;
  return attendance_.missing(peers, self(), core ? &*core : nullptr, last_turn_->lagging, patience);
}

std::vector<std::string> EngineImpl::warnings(const std::vector<MissingMember>& missing) const {
  std::vector<std::string> found = attendance_.explanations();
  for (const MissingMember& member : missing) {
    if (attendance_.explained(member.id) || members_.standing(member.id) == Standing::Impostor) continue;
    if (member.silence >= kStuckAfter * options_.raft.election_timeout) found.push_back(roll_call({member}));
  }
  for (std::string& slow : round_trips_.warnings()) found.push_back(std::move(slow));
  for (const ReplicaId peer : members_.of(Standing::Impostor)) {
    found.push_back("replica " + std::to_string(peer.value()) +
                    " runs with another data directory than the cluster knows: restore that one, or replace the member");
  }
  if (std::string stuck = slow_disk(); !stuck.empty()) found.push_back(std::move(stuck));
  if (log_space_ != LogSpace::Ample) {
    found.push_back("the disk of the log is nearly full, new commands are refused here: free some space");
  }
  if (knows_leader() && core_->holds_back()) {
    found.push_back("a voter is further behind the leader than follower_lag_bytes_max: new commands are held back");
  }
  repair_.warnings(found);
  lost_.warnings(found);
  if (!divergence_.warning().empty()) found.push_back(divergence_.warning());
  if (core_) {
    if (const std::optional<raft::TermLeap> leap = core_->status().leap) found.push_back(disbelief(*leap));
  }
  return found;
}

// FLT_S08. Nothing that this replica does can be wrong by it; but whoever says so has lost its mind, or is not who it says.
std::string EngineImpl::disbelief(const raft::TermLeap& leap) const {
  return "replica " + std::to_string(leap.from.value()) + " claimed term " + std::to_string(leap.claimed.value()) +
         ", out of all reach of this cluster's, " + std::to_string(leap.count) + (leap.count == 1 ? " time" : " times") +
         ": nothing of it was believed; look after its machine and its disk";
}

// FLT_P11: a disk that never answers holds nobody's thread, so somebody must be told. A leader has handed over by then.
std::string EngineImpl::slow_disk() const {
  if (!writing_since_ || !last_turn_) return {};
  const Duration waited = last_turn_->lagging - *writing_since_;
  if (waited < kStuckAfter * options_.raft.election_timeout) return {};
  return "the disk of the log has not answered for " + std::to_string(waited / std::chrono::seconds(1)) +
         " s: look after it; what was sent here meanwhile is neither voted nor acknowledged";
}

// ---- calls

void EngineImpl::take(ChangeMembers& input, Now) {
  absl::Status refusal = refusal_at_door(Urgency::Normal);
  if (refusal.ok() && !core_) refusal = make_error(Reason::NotReady, "this replica has no cluster yet: " + founding_.reason());
  if (!refusal.ok()) return effects_->completions.push_back({.ticket = input.ticket, .status = std::move(refusal)});
  change_.start(std::move(input), router_.configuration_at().index, router_.configuration(), effects_->completions);
}

void EngineImpl::take(TransferLeadership& input, Now) {
  absl::Status refusal = refusal_at_door(Urgency::Normal);
  if (refusal.ok() && !core_) refusal = make_error(Reason::NotReady, "this replica has no cluster yet: " + founding_.reason());
  if (!refusal.ok()) return effects_->completions.push_back({.ticket = input.ticket, .status = std::move(refusal)});
  transfer_.start(std::move(input), core_->configuration(), leadership_, effects_->completions);
}

void EngineImpl::ask_about_members(Now now) {
  if (!knows_leader()) return;
  const auto hello_of = [this](ReplicaId peer) { return members_.hello_of(peer); };
  if (auto request = change_.question(now.lagging, hello_of, effects_->completions)) {
    if (leads()) {
      receive(self(), *request, now);
    } else {
      effects_->sends.push_back({leadership_.leader, *std::move(request)});
    }
  }
  if (auto request = transfer_.question(now.lagging, leadership_.leader)) {
    if (leads()) {
      receive(self(), *request, now);
    } else {
      effects_->sends.push_back({leadership_.leader, *request});
    }
  }
}

void EngineImpl::receive(ReplicaId from, ChangeRequest& message, Now now) {
  const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
  core_->step(raft::ChangeMembership{ticket, message.changes, message.expected}, now.lagging);
  asked_changes_.emplace(ticket, AskedChange{from, std::move(message)});
}

void EngineImpl::receive(ReplicaId, ChangeReply& message, Now now) {
  change_.replied(message, now.lagging, effects_->completions);
}

void EngineImpl::receive(ReplicaId from, TransferRequest& message, Now now) {
  const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
  core_->step(raft::Transfer{ticket, message.target, now.lagging + message.time_left}, now.lagging);
  asked_transfers_.emplace(ticket, AskedTransfer{from, message.attempt});
}

void EngineImpl::receive(ReplicaId, TransferReply& message, Now now) {
  transfer_.replied(message, now.lagging, effects_->completions);
}

void EngineImpl::settle(const raft::ChangeFate& fate, Now now) {
  const auto asked = asked_changes_.find(fate.ticket);
  if (asked == asked_changes_.end()) return;
  const AskedChange one = std::move(asked->second);
  asked_changes_.erase(asked);
  ChangeReply reply = reply_to(one.request, fate, now.lagging);
  if (one.from == self()) return change_.replied(reply, now.lagging, effects_->completions);
  effects_->sends.push_back({one.from, reply});
}

void EngineImpl::settle(const raft::TransferFate& fate, Now now) {
  const auto asked = asked_transfers_.find(fate.ticket);
  if (asked == asked_transfers_.end()) return;
  const AskedTransfer one = asked->second;
  asked_transfers_.erase(asked);
  const TransferReply reply{one.attempt, fate.kind};
  if (one.from == self()) return transfer_.replied(reply, now.lagging, effects_->completions);
  effects_->sends.push_back({one.from, reply});
}

// Of those who are to vote, the one that is furthest behind.
ChangeReply EngineImpl::reply_to(const ChangeRequest& request, const raft::ChangeFate& fate, LaggingTime now) const {
  ChangeReply reply{.attempt = request.attempt, .fate = fate.kind, .configuration = fate.configuration};
  if (fate.kind != raft::ChangeFate::Kind::LearnerLags) return reply;
  const raft::Status status = core_->status();
  for (const raft::MemberChange& wish : request.changes) {
    for (const raft::PeerStatus& peer : status.peers) {
      const bool votes = wish.kind == raft::MemberChange::Kind::Promote || wish.kind == raft::MemberChange::Kind::Replace;
      if (peer.peer != wish.member.id || !votes) continue;
      const uint64_t lag = status.last.index - std::min(peer.match, status.last.index);
      const bool silent = !peer.match || now - peer.last_heard >= options_.raft.election_timeout;
      if (!reply.lagging || lag > reply.lag || silent) reply.lagging = peer.peer, reply.lag = lag;
    }
  }
  return reply;
}

}  // namespace coordkit::engine
