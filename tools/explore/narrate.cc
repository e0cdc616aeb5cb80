#include "narrate.h"

#include "absl/strings/str_cat.h"

namespace coordkit::explore {
namespace {

constexpr const char* kWords[] = {"deliver", "late", "learn",   "written", "timeout",
                                  "beat",    "down", "propose", "change",  "restart"};

std::string at(Position position) { return absl::StrCat(position.index.value(), "@", position.term.value()); }
const char* yes(Answer answer) { return answer == Answer::Yes ? "yes" : "no"; }

struct MessageText {
  std::string operator()(const VoteRequest& m) const {
    return absl::StrCat(m.kind == VoteKind::Pre ? "pre-vote" : "vote", " for term ", m.term.value(), "? log ends at ",
                        at(m.last));
  }
  std::string operator()(const VoteReply& m) const {
    return absl::StrCat(m.kind == VoteKind::Pre ? "pre-vote" : "vote", " ", yes(m.granted), ", term ", m.term.value());
  }
  std::string operator()(const AppendRequest& m) const {
    std::string text = absl::StrCat("append term ", m.term.value(), " after ", at(m.previous), ":");
    for (const Entry& entry : m.entries) absl::StrAppend(&text, " ", at(entry.position()));
    return absl::StrCat(text, " commit ", m.commit.value(), " stream ", m.stream);
  }
  std::string operator()(const AppendReply& m) const {
    if (m.verdict == AppendVerdict::Accepted)
      return absl::StrCat("accepted up to ", m.match.value(), ", term ", m.term.value());
    return absl::StrCat("conflict at ", m.rejected.value(), ", try ", at(m.hint), ", term ", m.term.value());
  }
  std::string operator()(const Heartbeat& m) const {
    return absl::StrCat("heartbeat term ", m.term.value(), " commit ", m.commit.value(), " round ", m.round);
  }
  std::string operator()(const HeartbeatReply& m) const {
    return absl::StrCat("heard round ", m.round, ", match ", m.match.value(), ", term ", m.term.value());
  }
  std::string operator()(const TimeoutNow& m) const { return absl::StrCat("campaign now, term ", m.term.value()); }
  std::string operator()(const Removed& m) const { return absl::StrCat("removed at ", at(m.configuration)); }
};

std::string describe(const Letter& letter) {
  if (std::holds_alternative<PeerUp>(letter.content)) return "is up again";
  return std::visit(MessageText(), std::get<Message>(letter.content));
}

}  // namespace

std::string describe(const Space& space, const Move& move) {
  const std::string self = absl::StrCat("replica ", move.self + 1);
  switch (move.kind) {
    case Kind::Deliver: return absl::StrCat(move.from + 1, " -> ", move.self + 1, "  ", describe(space.letter(move.letter)));
    case Kind::DeliverLate:
      return absl::StrCat(move.from + 1, " -> ", move.self + 1, "  ", describe(space.letter(move.letter)),
                          "  (after an election timeout of silence)");
    case Kind::Learn: return absl::StrCat(self, ": learns of term ", move.argument);
    case Kind::Written: return self + ": its oldest write is durable";
    case Kind::Timeout: return self + ": its election timer runs out";
    case Kind::Beat: return self + ": sends heartbeats";
    case Kind::StepDown: return self + ": has not heard from a quorum for too long";
    case Kind::Propose: return self + ": is given a command";
    case Kind::Change: return self + ": is to replace member 3 by 4";
    case Kind::Restart: return absl::StrCat(self, ": crashes and starts again; ", move.argument, " unreported writes survive");
  }
  return self;
}

std::string describe(const Space& space, const World& world) {
  std::string text;
  for (size_t i = 0; i < space.scope().replicas; ++i) {
    const Status status = space.replica(world, i).core.status();
    constexpr const char* roles[] = {"follower", "pre-candidate", "candidate", "leader"};
    absl::StrAppend(&text, i == 0 ? "" : " | ", i + 1, " ", roles[static_cast<size_t>(status.leadership.role)], " term ",
                    status.hard_state.term.value(), " vote ", status.hard_state.vote.value(), " log ", at(status.last),
                    " durable ", status.durable.value(), " commit ", status.commit.value());
  }
  return text;
}

// A letter is named by its content, because its number depends on what was seen before.
std::string word_of(const Space& space, const Move& move) {
  std::string word = absl::StrCat(kWords[static_cast<size_t>(move.kind)], move.self + 1);
  if (move.kind == Kind::Deliver || move.kind == Kind::DeliverLate) {
    absl::StrAppend(&word, "<", move.from + 1, ":", absl::Hex(space.print_of_letter(move.letter) >> 32));
  }
  if (move.argument != 0) absl::StrAppend(&word, ".", move.argument);
  return word;
}

}  // namespace coordkit::explore
