#include "engine/attestation.h"

namespace coordkit::engine {
namespace {

std::string set_back(ReplicaId by, std::string what) {
  return "this disk was set back to an older state, or has lost what it had stored: replica " + std::to_string(by.value()) +
         " remembers " + std::move(what) + "; replace this member";
}

std::string named(const char* what, uint64_t number) { return std::string(what) + " " + std::to_string(number); }

}  // namespace

void Attestation::connected(ReplicaId peer) {
  connected_.insert(peer);
  again_ = LaggingTime::min();
}

std::vector<ReplicaId> Attestation::due(LaggingTime now) {
  std::vector<ReplicaId> peers;
  if (now < next_deadline()) return peers;
  again_ = waiting_ ? now + options_.raft.heartbeat_interval : LaggingTime::max();
  for (const ReplicaId peer : connected_) {
    if (!answered_.contains(peer)) peers.push_back(peer);
  }
  return peers;
}

LaggingTime Attestation::next_deadline() const { return begun_ ? again_ : LaggingTime::max(); }

std::optional<std::string> Attestation::answered(ReplicaId from, const RecallReply& reply, Term term, Index last) {
  if (!begun_ || reply.asked != question()) return std::nullopt;
  const PeerMark& known = reply.known;
  const bool another_start = known.boot == self_.boot && known.start != options_.start && known.start && options_.start;
  if (known.boot > self_.boot || another_start) {
    return set_back(from, named("start", known.boot.value()) + ", this is " + named("start", self_.boot.value()) +
                              (another_start ? " for the second time" : ""));
  }
  if (known.term > term) {
    return set_back(from, named("a vote or an acknowledgement in term", known.term.value()) + ", the disk knows " +
                              named("term", term.value()));
  }
  if (known.term == term && known.match > last) {
    return set_back(from, named("entry", known.match.value()) + " acknowledged in " + named("term", term.value()) +
                              ", the log here ends with " + named("entry", last.value()));
  }
  answered_.insert(from);
  return std::nullopt;
}

}  // namespace coordkit::engine
