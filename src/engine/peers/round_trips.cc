#include "engine/peers/round_trips.h"

#include <algorithm>
#include <variant>

namespace coordkit::engine {
namespace {

constexpr size_t kEnough = 4;  // samples that suffice
constexpr int kTripsPerTimeout = 10;
constexpr int kGivenUpAfter = 20;  // election timeouts: that answer was lost

std::string in_milliseconds(Duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

void RoundTrips::sent(ReplicaId to, const raft::Message& message, LaggingTime now) {
  if (const auto* beat = std::get_if<raft::Heartbeat>(&message)) return asked(to, {beat->term, beat->round}, now);
  const auto* vote = std::get_if<raft::VoteRequest>(&message);
  if (vote != nullptr && vote->kind == raft::VoteKind::Pre) asked(to, {Term(), vote->round}, now);
}

void RoundTrips::received(ReplicaId from, const raft::VoteReply& reply, LaggingTime now) {
  if (reply.kind == raft::VoteKind::Pre) answered(from, {Term(), reply.round}, now);
}

void RoundTrips::asked(ReplicaId to, TimedQuestion question, LaggingTime now) {
  Peer& peer = peers_[to];
  const bool waits = peer.question.round != 0 && now - peer.asked < kGivenUpAfter * election_timeout_;
  if (waits || question.round == 0) return;
  peer.question = question;
  peer.asked = now;
}

void RoundTrips::answered(ReplicaId from, TimedQuestion question, LaggingTime now) {
  const auto found = peers_.find(from);
  if (found == peers_.end() || question.round == 0 || found->second.question != question) return;
  Peer& peer = found->second;
  peer.samples[peer.taken++ % kSamples] = now - peer.asked;
  peer.question = {};
}

std::vector<std::string> RoundTrips::warnings() const {
  std::vector<std::string> out;
  for (const auto& [id, peer] : peers_) {
    if (peer.taken < kEnough) continue;
    const auto end = peer.samples.begin() + static_cast<std::ptrdiff_t>(std::min(peer.taken, kSamples));
    const Duration shortest = *std::min_element(peer.samples.begin(), end);
    if (shortest * kTripsPerTimeout <= election_timeout_) continue;
    const bool hopeless = shortest >= election_timeout_;
    out.push_back("a round trip to replica " + std::to_string(id.value()) + " takes at least " + in_milliseconds(shortest) +
                  (hopeless ? ", longer than" : ", more than a tenth of") + " the election timeout of " +
                  in_milliseconds(election_timeout_) + ": set election_timeout to at least ten round trips on every replica");
  }
  return out;
}

}  // namespace coordkit::engine
