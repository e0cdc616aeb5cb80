// One core among peers that the test plays by hand: every incoming message is made up, every effect is checked.
#pragma once

#include <algorithm>
#include <limits>

#include "raft/log/entry_codec.h"
#include "raft_cluster.h"
#include "twin/core_twin.h"

namespace coordkit::raft::testing {

inline std::vector<Entry> log_of(size_t voters, std::initializer_list<uint64_t> terms) {
  std::vector<Entry> entries{genesis_entry(voters)};
  for (const uint64_t term : terms) {
    entries.push_back(make_entry(entries.back().index.next(), Term(term), EntryKind::Command, "e" + std::to_string(term)));
  }
  return entries;
}

class Solo {
 public:
  // Replica 1 of `voters`, with entries of these terms after the genesis.
  explicit Solo(size_t voters, std::initializer_list<uint64_t> terms = {}, HardState hard_state = {}, Options options = {})
      : options_(options) {
    options_.self = ReplicaId(1);
    core_.emplace(options_, Recovered{.hard_state = hard_state, .entries = log_of(voters, terms)}, now);
    drain();
  }
  explicit Solo(Recovered recovered, Options options = {}) : options_(options) {
    options_.self = ReplicaId(1);
    core_.emplace(options_, std::move(recovered), now);
    drain();
  }

  Core& core() { return *core_; }
  Effects& step(Input input) {
    core_->step(std::move(input), now);
    return drain();
  }
  Effects& receive(uint64_t from, Message message) { return step(Received{ReplicaId(from), std::move(message)}); }
  Effects& drain() {
    core_->drain(effects);
    if (effects.write) last_write = effects.write->number;
    return effects;
  }
  Effects& written() { return step(Written{last_write}); }
  Effects& timeout() {
    now = std::max(now, CoreTwin::deadline_without_repeats(*core_));
    return step(Tick{});
  }
  Effects& heartbeat_interval() {
    now += options_.heartbeat_interval;
    return step(Tick{});
  }

  // From the last drain: the messages of one type to one peer.
  template <typename M>
  std::vector<M> sent(uint64_t to) const {
    std::vector<M> found;
    for (const Send& send : effects.sends) {
      if (send.to.value() == to && std::holds_alternative<M>(send.message)) found.push_back(std::get<M>(send.message));
    }
    return found;
  }
  template <typename M>
  M only(uint64_t to) const {
    const auto found = sent<M>(to);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? M{} : found.back();
  }

  Term term() { return core_->leadership().term; }
  Role role() { return core_->leadership().role; }
  Index last() { return core_->status().last.index; }

  // Pre-votes and votes of the given peers; its own vote is written.
  void lead(std::initializer_list<uint64_t> voters) {
    timeout();
    for (const VoteKind kind : {VoteKind::Pre, VoteKind::Real}) {
      const uint64_t round = effects.sends.empty() ? 0 : std::get<VoteRequest>(effects.sends.front().message).round;
      const bool real = kind == VoteKind::Real;
      if (real) core_->step(Written{last_write}, now);
      for (const uint64_t voter : voters) {
        core_->step(Received{ReplicaId(voter), VoteReply{kind, real ? term() : Term(1), round, Answer::Yes}}, now);
      }
      drain();
      for (const Send& send : effects.sends) {
        if (const auto* append = std::get_if<AppendRequest>(&send.message)) streams[send.to.value()] = append->stream;
      }
    }
    EXPECT_EQ(role(), Role::Leader);
  }
  Effects& accept(uint64_t from, uint64_t match) {
    return receive(from, AppendReply{.term = term(), .stream = streams[from], .match = Index(match), .round = 1});
  }
  Effects& propose(std::string text, EntryKind kind = EntryKind::Command) {
    return step(Propose{{{Ticket(1), kind, bytes(std::move(text))}}});
  }

  // As a legitimate leader of this term would send it.
  AppendRequest append(uint64_t term, Position previous, std::vector<Entry> entries, uint64_t commit = 0) {
    return {.term = Term(term),
            .stream = 1,
            .previous = previous,
            .entries = std::move(entries),
            .commit = Index(commit),
            .round = 1};
  }

  LaggingTime now{Duration(std::chrono::seconds(1))};
  Effects effects;
  WriteNumber last_write;
  std::map<uint64_t, uint64_t> streams;

 private:
  Options options_;
  std::optional<Core> core_;
};

inline Position at(uint64_t index, uint64_t term) { return {Index(index), Term(term)}; }
inline Entry command(uint64_t index, uint64_t term, std::string text = "x") {
  return make_entry(Index(index), Term(term), EntryKind::Command, std::move(text));
}

}  // namespace coordkit::raft::testing
