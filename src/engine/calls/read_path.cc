#include "engine/calls/read_path.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/thrown.h"
#include "coordkit/error.h"

namespace coordkit::engine {
namespace {

// A read changes nothing, so one that throws costs only its caller.
absl::StatusOr<std::string> query(const Ask& ask, const Router& router, EngineEffects& effects) {
  if (!ask.question) return std::string();
  std::string why;
  try {
    absl::StatusOr<std::string> answer = router.machine(ask.machine)->query(*ask.question);
    if (answer.ok()) return answer;
    return make_error(Reason::InvalidArgument, sentence_of(answer.status()));
  } catch (const CheckFailure&) {
    throw;  // one of our own checks, about the state
  } catch (const std::bad_alloc&) {
    if (ask.machine < kFirstHostMachine) throw;  // it may have changed an index halfway
    why = what_was_thrown();
  } catch (...) {
    why = what_was_thrown();
  }
  effects.threw.push_back(make_error(Reason::HostThrew, Outcome::NoEffect,
                                     "query() of machine " + std::to_string(ask.machine.value()) + " threw: " + why));
  return effects.threw.back();
}

// How old the applied state is, as far as this replica knows.
std::optional<Duration> age(const SuspendMeter& sleep, const Turn& turn) {
  const raft::Core* core = turn.consensus.core();
  const std::optional<LaggingTime> fresh_at = core ? core->fresh_at() : std::nullopt;
  if (!fresh_at) return std::nullopt;
  const Duration asleep = sleep.since(*fresh_at);
  return asleep == Duration::max() ? asleep : turn.now.lagging - *fresh_at + asleep;
}

}  // namespace

ReadPath::ReadPath(const EngineOptions& options, BootCounter boot)
    : options_(options), reads_(options.raft.election_timeout, boot) {}

// ---- calls

void ReadPath::take(Ask ask, const SuspendMeter& sleep, const Turn& turn) {
  if (ask.consistency == Consistency::Local) {
    const Index at_least = ask.at_least;
    reads_.await(at_least, std::move(ask));
  } else if (const std::optional<Index> leased = ask.consistency == Consistency::Lease ? lease(sleep, turn) : std::nullopt) {
    reads_.await(*leased, std::move(ask));
  } else {
    reads_.ask(std::move(ask));
  }
}

// The index a leader may read at without asking, if its lease holds at this moment of the turn. A holder errs on the early
// side: sleep counts (docs/time.md).
std::optional<Index> ReadPath::lease(const SuspendMeter& sleep, const Turn& turn) const {
  const raft::Core* core = turn.consensus.core();
  const std::optional<raft::Lease> lease = core ? core->lease() : std::nullopt;
  if (!lease) return std::nullopt;
  const Duration left = options_.raft.lease - (turn.now.lagging - lease->since);
  const bool awake = sleep.since(lease->since) < left;
  return left > Duration::zero() && awake ? std::optional(lease->read_index) : std::nullopt;
}

void ReadPath::take(Renew renew, Turn& turn) {
  if (!turn.consensus.knows_leader()) return;  // the sender asks again
  if (turn.consensus.leads()) {
    renewals_.receive({options_.raft.self, turn.now.lagging, std::move(renew.request)});
  } else {
    turn.effects.sends.push_back({turn.consensus.leader(), std::move(renew.request)});
  }
}

void ReadPath::receive(ReplicaId from, const ReadIndexRequest& request, Turn& turn) {
  turn.consensus.step(raft::SendCommit{from}, turn.now.lagging);
  confirm(PeerRead{from, request.id}, turn);
}

// Where the log is longer than it is known to be this leader's, it could be another's: the leader's next append shows it, and
// the question is asked again.
void ReadPath::receive(const ReadIndexReply& reply, Index applied, const Turn& turn) {
  const raft::Core* core = turn.consensus.core();
  const bool unproven = core == nullptr || (applied >= reply.read_index && core->proven() < reply.read_index);
  if (reply.held == raft::Answer::Yes && !unproven) reads_.confirmed(reply.id, reply.read_index);
}

void ReadPath::receive(ReplicaId from, RenewRequest request, LaggingTime now) {
  renewals_.receive({from, now, std::move(request)});
}

// ---- questions to the core

Ticket ReadPath::confirm(Purpose purpose, Turn& turn) {
  const Ticket ticket = turn.consensus.next_ticket();
  questions_.emplace(ticket, purpose);
  turn.consensus.step(raft::Confirm{ticket}, turn.now.lagging);
  return ticket;
}

void ReadPath::ask_leader(Turn& turn) {
  if (!turn.consensus.knows_leader()) return;
  const bool leads = turn.consensus.leads();
  if (const uint64_t id = reads_.question(turn.now.lagging); id != 0) {
    if (leads) {
      confirm(OwnRead{id}, turn);
    } else {
      turn.effects.sends.push_back({turn.consensus.leader(), ReadIndexRequest{id}});
    }
  }
  if (leads && renewals_.unconfirmed()) renewals_.question(confirm(RenewalRound{}, turn));
}

void ReadPath::decided(const raft::Confirmation& confirmation, Expirations& expirations, EngineEffects& effects) {
  const auto question = questions_.find(confirmation.ticket);
  if (question == questions_.end()) return;
  const Purpose purpose = question->second;
  questions_.erase(question);
  if (const auto* peer = std::get_if<PeerRead>(&purpose)) {
    effects.sends.push_back({peer->peer, ReadIndexReply{peer->id, confirmation.held, confirmation.read_index}});
    return;
  }
  if (confirmation.held != raft::Answer::Yes) return;
  if (const auto* own = std::get_if<OwnRead>(&purpose)) {
    reads_.confirmed(own->id, confirmation.read_index);
  } else if (std::holds_alternative<RenewalRound>(purpose)) {
    renewals_.confirmed(confirmation.ticket, confirmation.read_index);
  } else {
    expirations.leadership_confirmed(confirmation.ticket);
  }
}

void ReadPath::leadership_changed() {
  reads_.leadership_changed();
  renewals_.drop_all();
}

// ---- answers

void ReadPath::answer(const Router& router, Expirations& expirations, const SuspendMeter& sleep, Turn& turn) {
  reads_.collect(router.applied().index, ready_);
  std::reverse(ready_.begin(), ready_.end());
  for (; !ready_.empty(); ready_.pop_back()) {  // each is removed once answered, so that none is lost to an exception
    turn.effects.completions.push_back(read(ready_.back(), router, sleep, turn));
  }
  answer_renewals(router.applied().index, expirations.timers(), turn);
}

Completion ReadPath::read(const Ask& ask, const Router& router, const SuspendMeter& sleep, Turn& turn) {
  absl::StatusOr<std::string> result = query(ask, router, turn.effects);
  Completion completion{.ticket = ask.ticket, .index = router.applied().index};
  if (ask.consistency == Consistency::Local) completion.age = age(sleep, turn);
  if (result.ok()) {
    completion.bytes = SharedBytes::of(*std::move(result));
  } else {
    completion.status = result.status();
  }
  return completion;
}

void ReadPath::answer_renewals(Index applied, TimerKeeper& timers, Turn& turn) {
  std::vector<AnsweredRenewal> renewed;
  renewals_.answer(applied, turn.now.lagging, timers, renewed);
  for (AnsweredRenewal& one : renewed) {
    if (one.to == options_.raft.self) {
      turn.effects.renewals.push_back(std::move(one.reply));
    } else {
      shorten(one.reply);
      turn.effects.sends.push_back({one.to, std::move(one.reply)});
    }
  }
}

void ReadPath::fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions) {
  reads_.fail_all(reason, why, completions);
  for (const Ask& ask : std::exchange(ready_, {})) {
    completions.push_back({.ticket = ask.ticket, .status = make_error(reason, Outcome::NoEffect, why)});
  }
}

}  // namespace coordkit::engine
