#include "twin/fingerprint.h"

#include <algorithm>

#include "base/sums.h"

namespace coordkit::raft {

void Digest::add(const Entry& entry) {
  add(entry.position());
  add(static_cast<uint64_t>(entry.kind));
  add(entry.content_sum);
}

void Digest::add(const std::vector<Entry>& entries) {
  add(entries.size());
  for (const Entry& entry : entries) add(entry);
}

void Digest::add(const Configuration& configuration) {
  for (const auto* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
    std::vector<const Member*> sorted;
    for (const Member& member : *members) sorted.push_back(&member);
    std::sort(sorted.begin(), sorted.end(), [this](auto* a, auto* b) { return name_of(a->id) < name_of(b->id); });
    add(sorted.size());
    for (const Member* member : sorted) add(member->id);
  }
}

namespace {

struct MessageWords {
  Digest& to;

  void operator()(const VoteRequest& m) {
    to.add(m.term), to.add(static_cast<uint64_t>(m.kind)), to.add(m.round), to.add(m.last);
    to.add(static_cast<uint64_t>(m.cause));
  }
  void operator()(const VoteReply& m) {
    to.add(m.term), to.add(static_cast<uint64_t>(m.kind)), to.add(m.round), to.add(static_cast<uint64_t>(m.granted));
  }
  void operator()(const AppendRequest& m) {
    to.add(m.term), to.add(m.stream), to.add(m.previous), to.add(m.entries);
    to.add(m.commit), to.add(m.everyone_has), to.add(m.round), to.add(m.previous_sum), to.add(m.last);
  }
  void operator()(const AppendReply& m) {
    to.add(m.term), to.add(m.stream), to.add(static_cast<uint64_t>(m.verdict)), to.add(m.match);
    to.add(m.hint), to.add(m.rejected), to.add(m.round);
  }
  void operator()(const Heartbeat& m) {  // except the fields that no core reads
    to.add(m.term), to.add(m.stream), to.add(m.commit), to.add(m.everyone_has), to.add(m.committed), to.add(m.round),
        to.add(m.needed);
  }
  void operator()(const HeartbeatReply& m) { to.add(m.term), to.add(m.stream), to.add(m.match), to.add(m.round); }
  void operator()(const TimeoutNow& m) { to.add(m.term); }
  void operator()(const Removed& m) { to.add(m.term), to.add(m.configuration); }
};

}  // namespace

void Digest::add(const Message& message) {
  add(message.index());
  std::visit(MessageWords{*this}, message);
}

Fingerprint Digest::result() const {
  const std::string_view bytes(reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(uint64_t));
  return {hash_bytes(bytes, 1), hash_bytes(bytes, 2)};
}

}  // namespace coordkit::raft
