#include "engine/peers/message_policy.h"

#include <type_traits>
#include <variant>

namespace coordkit::engine {
namespace {

enum class Saying : uint8_t { Invitation, Candidacy, Append, LeadersWord, Removal, Answer, Call, Recall, Memory };

// No default: a message kind without a line here does not compile.
struct SayingOf {
  Saying operator()(const raft::VoteRequest&) const { return Saying::Candidacy; }
  Saying operator()(const raft::VoteReply&) const { return Saying::Answer; }
  Saying operator()(const raft::AppendRequest&) const { return Saying::Append; }
  Saying operator()(const raft::AppendReply&) const { return Saying::Answer; }
  Saying operator()(const raft::Heartbeat&) const { return Saying::LeadersWord; }
  Saying operator()(const raft::HeartbeatReply&) const { return Saying::Answer; }
  Saying operator()(const raft::TimeoutNow&) const { return Saying::LeadersWord; }
  Saying operator()(const raft::Removed&) const { return Saying::Removal; }
  Saying operator()(const GenesisOffer&) const { return Saying::Invitation; }
  Saying operator()(const Forward&) const { return Saying::Call; }
  Saying operator()(const Refusal&) const { return Saying::LeadersWord; }
  Saying operator()(const ReadIndexRequest&) const { return Saying::Call; }
  Saying operator()(const ReadIndexReply&) const { return Saying::LeadersWord; }
  Saying operator()(const RenewRequest&) const { return Saying::Call; }
  Saying operator()(const RenewReply&) const { return Saying::LeadersWord; }
  Saying operator()(const StateOffer&) const { return Saying::LeadersWord; }
  Saying operator()(const StateRequest&) const { return Saying::Answer; }
  Saying operator()(const StateChunk&) const { return Saying::LeadersWord; }
  Saying operator()(const StateLoading&) const { return Saying::Answer; }
  Saying operator()(const ChangeRequest&) const { return Saying::Call; }
  Saying operator()(const ChangeReply&) const { return Saying::LeadersWord; }
  Saying operator()(const TransferRequest&) const { return Saying::Call; }
  Saying operator()(const TransferReply&) const { return Saying::LeadersWord; }
  Saying operator()(const RecallRequest&) const { return Saying::Recall; }
  Saying operator()(const RecallReply&) const { return Saying::Recall; }
  Saying operator()(const SteppedAside&) const { return Saying::Memory; }
};

}  // namespace

bool may_say(const Speaker& speaker, const Message& message) {
  if (!speaker.belongs) return false;
  const bool member = speaker.capacity == Capacity::Member;
  const bool acquaintance = speaker.capacity == Capacity::Acquaintance;
  const bool impostor = speaker.capacity == Capacity::Impostor;
  switch (std::visit(SayingOf{}, message)) {
    case Saying::Invitation: return false;
    case Saying::Candidacy:
    case Saying::Removal: return member || acquaintance;
    case Saying::Recall:
    case Saying::Append: return member || acquaintance || impostor;
    case Saying::LeadersWord: return member || ((acquaintance || impostor) && speaker.leads);
    case Saying::Answer:
    case Saying::Memory: return member;
    case Saying::Call: return member || speaker.leaving;
  }
  return false;
}

}  // namespace coordkit::engine
