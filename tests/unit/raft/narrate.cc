#include "narrate.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "raft/log/entry_codec.h"

namespace coordkit::raft::testing {
namespace {

std::string text(Position position) { return absl::StrCat(position.index.value(), "@", position.term.value()); }
const char* text(Answer answer) { return answer == Answer::Yes ? "yes" : "no"; }
const char* text(VoteKind kind) { return kind == VoteKind::Pre ? "pre-vote" : "vote"; }

const char* text(Role role) {
  switch (role) {
    case Role::Follower: return "follower";
    case Role::PreCandidate: return "pre-candidate";
    case Role::Candidate: return "candidate";
    case Role::Leader: return "leader";
  }
  return "?";
}

std::string ids(const std::vector<Member>& members) {
  return absl::StrJoin(members, ",", [](std::string* out, const Member& m) { absl::StrAppend(out, m.id.value()); });
}
std::string text(const Configuration& c) {
  return absl::StrCat("voters ", ids(c.voters), c.outgoing.empty() ? "" : " outgoing " + ids(c.outgoing),
                      c.learners.empty() ? "" : " learners " + ids(c.learners));
}

std::string text(const std::vector<Entry>& entries) {
  std::string out = "[";
  for (const Entry& entry : entries) {
    absl::StrAppend(&out, out.size() > 1 ? " " : "", text(entry.position()));
    if (entry.kind == EntryKind::LeaderStart) absl::StrAppend(&out, ":start");
    if (entry.kind == EntryKind::Command) absl::StrAppend(&out, ":", std::string(entry.payload.view()));
    if (entry.kind == EntryKind::Configuration)
      absl::StrAppend(&out, ":", text(decode_configuration(entry.payload.view()).value()));
  }
  return out + "]";
}

struct Words {
  std::string operator()(const VoteRequest& m) const {
    return absl::StrCat(text(m.kind), "? term ", m.term.value(), " last ", text(m.last),
                        m.cause == Cause::Transfer ? " handed over" : "");
  }
  std::string operator()(const VoteReply& m) const {
    return absl::StrCat(text(m.kind), ": ", text(m.granted), " term ", m.term.value());
  }
  std::string operator()(const AppendRequest& m) const {
    return absl::StrCat("append term ", m.term.value(), " after ", text(m.previous), " ", text(m.entries), " commit ",
                        m.commit.value());
  }
  std::string operator()(const AppendReply& m) const {
    if (m.verdict == AppendVerdict::Accepted) return absl::StrCat("accepted term ", m.term.value(), " match ", m.match.value());
    return absl::StrCat("conflict term ", m.term.value(), " at ", m.rejected.value(), " hint ", text(m.hint));
  }
  std::string operator()(const Heartbeat& m) const {
    return absl::StrCat("heartbeat term ", m.term.value(), " round ", m.round, " commit ", m.commit.value());
  }
  std::string operator()(const HeartbeatReply& m) const {
    return absl::StrCat("beat term ", m.term.value(), " round ", m.round, " match ", m.match.value());
  }
  std::string operator()(const TimeoutNow& m) const { return absl::StrCat("campaign now! term ", m.term.value()); }
  std::string operator()(const Removed& m) const {
    return absl::StrCat("removed! term ", m.term.value(), " by ", text(m.configuration));
  }
};

std::string text(const LogWrite& write) {
  std::string out = absl::StrCat("write ", write.number.value(), ":");
  if (write.hard_state)
    absl::StrAppend(&out, " term ", write.hard_state->term.value(), " vote ", write.hard_state->vote.value());
  if (write.reset_to) absl::StrAppend(&out, " start again after ", text(*write.reset_to));
  if (write.truncate_after) absl::StrAppend(&out, " truncate after ", write.truncate_after->value());
  if (!write.entries.empty()) absl::StrAppend(&out, " ", text(write.entries));
  return out;
}

std::string text(const ProposalOutcome& outcome) {
  if (outcome.kind == ProposalOutcome::Kind::Appended) return absl::StrCat("appended ", text(outcome.at));
  if (outcome.kind == ProposalOutcome::Kind::Transferring) return "refused: transferring";
  return outcome.kind == ProposalOutcome::Kind::NotLeader ? "refused: not leader" : "refused: no room";
}

const char* text(ChangeOutcome::Kind kind) {
  constexpr const char* kNames[] = {"",
                                    "committed",
                                    "overwritten",
                                    "not leader",
                                    "in progress",
                                    "conflict",
                                    "not enough voters",
                                    "learner lags",
                                    "last voter",
                                    "unknown member",
                                    "already member",
                                    "no room",
                                    "unknown"};
  return kNames[static_cast<size_t>(kind)];
}

const char* text(TransferOutcome::Kind kind) {
  constexpr const char* kNames[] = {"", "done", "lost", "expired", "not leader", "in progress", "unfit"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

std::string narrate(const Message& message) { return std::visit(Words{}, message); }

std::string narrate(const Node& node, const Effects& effects) {
  std::string out;
  const auto line = [&](auto&&... parts) { absl::StrAppend(&out, node.id.value(), parts..., "\n"); };
  if (effects.leadership) {
    const Leadership& now = *effects.leadership;
    line(": ", text(now.role), " term ", now.term.value(), now.leader ? absl::StrCat(" leader ", now.leader.value()) : "");
  }
  for (const ProposalOutcome& outcome : effects.outcomes) line(": ", text(outcome));
  if (effects.write) line(": ", text(*effects.write));
  for (const Send& send : effects.sends) {
    line("->", send.to.value(), " ", narrate(send.message),
         send.after ? absl::StrCat(" (after ", send.after.value(), ")") : "");
  }
  if (effects.commit > node.commit_before) line(": commit ", effects.commit.value());
  for (const Confirmation& c : effects.confirmations) line(": confirmed ", text(c.held), " read index ", c.read_index.value());
  for (const ChangeOutcome& outcome : effects.changes) {
    line(": change ", text(outcome.kind), outcome.configuration ? absl::StrCat(" at ", outcome.configuration.value()) : "");
  }
  for (const TransferOutcome& outcome : effects.transfers) line(": transfer ", text(outcome.kind));
  for (const ReplicaId peer : effects.behind) line(": ", peer.value(), " is behind");
  if (effects.compact) line(": compact ", text(*effects.compact));
  return out;
}

}  // namespace coordkit::raft::testing
