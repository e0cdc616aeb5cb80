// The fate of this replica's calls when a peer's state replaces its own.
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/check.h"
#include "engine/calls/proposals.h"

namespace coordkit::engine {
namespace {

// The machines' results for the calls that they queued. In order, because they answer in any.
using Known = absl::btree_map<Sequence, ApplyOutput::Result>;
Known known_of(const QueuedCalls& queued, const Origin& origin, const Router& router) {
  absl::btree_map<MachineId, std::vector<RequestId>> requests;
  queued.each([&](const QueuedCalls::Call& call) { requests[queued.machine(call)].push_back({origin, call.sequence()}); });
  Known known;
  for (const auto& [machine, asked] : requests) {
    router.queued_results(machine, asked, [&](const ApplyOutput::Result& result) {
      if (result.request.origin == origin) known.emplace(result.request.sequence, result);
    });
  }
  return known;
}

}  // namespace

// First the answers in the origin table, including those that say Queued; then everything queued, as its
// machine reports. A call without an answer was not executed yet: its entry comes later, or it is handed over again.
void Proposals::state_replaced(const Router& router, std::vector<Completion>& completions) {
  std::vector<Sequence> sequences;
  window_.for_each_unanswered([&](Sequence sequence, Ticket) { sequences.push_back(sequence); });
  for (const Sequence sequence : sequences) {
    if (auto answer = router.stored({origin_, sequence})) answered(*std::move(answer), completions);
  }
  std::vector<Ticket> queued;
  queued_.each([&](const QueuedCalls::Call& call) { queued.push_back(call.ticket()); });
  const Known known = known_of(queued_, origin_, router);
  for (const Ticket ticket : queued) {
    const Sequence sequence = queued_.find(ticket)->sequence();
    const auto result = known.find(sequence);
    if (result != known.end() && result->second.stage == ApplyOutput::Stage::Queued) continue;
    Completion completion{.request = {origin_, sequence}};
    if (result != known.end()) {
      completion.bytes = result->second.bytes;
      completion.index = result->second.index;
    } else {
      completion.status = make_error(Reason::SequenceRetired, Outcome::Unknown,
                                     "this replica was sent a whole state, and the answer is not in it any more");
    }
    complete(ticket, std::move(completion), completions);
  }
}

void Proposals::lost(Sequence sequence, std::vector<Completion>& completions) {
  const QueuedCalls::Call* const call = queued_.find(sequence);
  const Ticket ticket = call != nullptr ? call->ticket() : window_.unanswered(sequence);
  if (!ticket) return;
  complete(ticket,
           {.status = make_error(Reason::SequenceRetired, Outcome::Unknown,
                                 "the answer to this call is no longer kept; the call may have taken effect"),
            .request = {origin_, sequence}},
           completions);
}

void Proposals::known_as_origin(bool registered, std::vector<Completion>& completions, Index as_of) {
  registration_.as_of = as_of;
  const bool displaced = std::exchange(registration_.known, registered) && !registered;
  if (!displaced) return;
  for (const Ticket ticket : tickets()) {
    const Progress progress = progress_of(ticket);
    if (!progress.handed) continue;
    complete(ticket,
             {.status = make_error(Reason::UnknownOrigin, Outcome::Unknown,
                                   "another data directory took the place of this replica's, and the cluster's answers to this "
                                   "one are gone; the call may have taken effect"),
              .request = {origin_, progress.sequence}},
             completions);
  }
  renumber();
  COORDKIT_CHECK_MSG(window_.empty(), "a registration names a sequence above all that were handed over");
}

// Calls that have a sequence wait for another one, before those that have none yet. They were not handed over.
void Proposals::renumber() {
  std::vector<std::pair<Sequence, Ticket>> left;
  window_.for_each_unanswered([&left](Sequence sequence, Ticket ticket) { left.emplace_back(sequence, ticket); });
  for (Line* to : {&waiting_reserved_, &waiting_}) {
    Ring<Ticket> behind = std::exchange(to->tickets, {});
    for (const auto& [sequence, ticket] : left) {
      Call& call = calls_.find(ticket)->second;
      if (call.submit.urgency != to->urgency) continue;
      schedule(call, LaggingTime::max());
      call.sequence = Sequence();
      to->tickets.push_back(ticket);
      ++to->waiting;
    }
    while (!behind.empty()) to->tickets.push_back(behind.take_front());
  }
  for (const auto& [sequence, ticket] : left) window_.close(sequence);
}

}  // namespace coordkit::engine
