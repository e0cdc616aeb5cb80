// The consensus core alone, as a leader with two followers: a batch of commands from its proposal until it is committed, with
// the answers of one follower and of the own disk.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "coordkit/raft/core.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

raft::Options options() {
  raft::Options options;
  options.self = ReplicaId(1);
  options.seed = 1;
  return options;
}

raft::Recovered recovered() {
  raft::Recovered recovered{.hard_state = {Term(1), ReplicaId()}};
  for (uint64_t id = 1; id <= 3; ++id) recovered.configuration.voters.push_back({ReplicaId(id), StoreId(id)});
  return recovered;
}

class Leader {
 public:
  Leader() : core_(options(), recovered(), now_) {
    while (core_.leadership().role != raft::Role::Leader) {
      now_ += 1ms;
      core_.step(raft::Tick{}, now_);
      carry_out_effects();
    }
    carry_out_effects();
  }

  void commit(size_t commands, const SharedBytes& payload) {
    raft::Propose propose;
    for (size_t i = 0; i < commands; ++i) propose.proposals.push_back({Ticket(++ticket_), raft::EntryKind::Command, payload});
    core_.step(std::move(propose), now_);
    carry_out_effects();
    while (true) {
      const auto entries = core_.committed(applied_.next(), 1 << 20);
      if (entries.empty()) break;
      applied_ = entries.back().index;
      core_.applied(applied_);
    }
    COORDKIT_CHECK(applied_ == core_.status().last.index);
  }

 private:
  // Carries out what became due, and hears the answers of the disk and of the second replica.
  void carry_out_effects() {
    for (core_.drain(effects_); effects_.write || !effects_.sends.empty(); core_.drain(effects_)) {
      if (effects_.write) core_.step(raft::Written{effects_.write->number}, now_);
      for (raft::Send& send : effects_.sends) {
        if (send.to == ReplicaId(2)) std::visit([this](auto& message) { answer(message); }, send.message);
      }
    }
  }
  void answer(const raft::VoteRequest& request) {
    const bool pre = request.kind == raft::VoteKind::Pre;  // asks about a term that has not begun
    const Term term = pre ? Term(request.term.value() - 1) : request.term;
    reply(raft::VoteReply{.kind = request.kind, .term = term, .round = request.round, .granted = raft::Answer::Yes});
  }
  void answer(const raft::AppendRequest& request) {
    acknowledged_ = request.previous.index + request.entries.size();
    reply(raft::AppendReply{.term = request.term,
                            .stream = request.stream,
                            .verdict = raft::AppendVerdict::Accepted,
                            .match = acknowledged_,
                            .round = request.round});
  }
  void answer(const raft::Heartbeat& beat) {
    reply(raft::HeartbeatReply{.term = beat.term, .stream = beat.stream, .match = acknowledged_, .round = beat.round});
  }
  template <typename Other>
  void answer(const Other&) {}
  void reply(raft::Message message) { core_.step(raft::Received{ReplicaId(2), std::move(message)}, now_); }

  LaggingTime now_{1s};
  raft::Core core_;
  raft::Effects effects_;
  Index acknowledged_;  // by the second replica
  Index applied_;
  uint64_t ticket_ = 0;
};

void core_commit(benchmark::State& state) {
  Leader leader;
  const SharedBytes payload(std::string(60, 'c'));
  const auto commands = static_cast<size_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) leader.commit(commands, payload);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(core_commit)->Arg(1)->Arg(16)->Arg(64);

}  // namespace
}  // namespace coordkit::bench
