// What happens to this replica's calls when a peer's state replaces its own.
#include <utility>

#include "engine/proposals.h"

namespace coordkit::engine {

// First the answers in the origin table, including those that say Queued; then everything queued, as its
// machine reports. A call without an answer was not executed yet: its entry comes later, or it is handed over again.
void Proposals::state_replaced(const Router& router, std::vector<Completion>& completions) {
  std::vector<Sequence> sequences;
  window_.for_each_unanswered([&](Sequence sequence, Ticket) { sequences.push_back(sequence); });
  for (const Sequence sequence : sequences) {
    if (auto answer = router.stored({origin_, sequence})) answered(*std::move(answer), completions);
  }
  for (const Sequence sequence : queued_.sequences()) {
    const QueuedCalls::Call& call = *queued_.find(sequence);
    const RequestId request{origin_, sequence};
    const auto queued_result = router.queued_result(call.machine(), Command{Index(), request, call.command()});
    if (queued_result && queued_result->stage == ApplyOutput::Stage::Queued) continue;
    Completion completion{.request = request};
    if (queued_result) {
      completion.bytes = queued_result->bytes;
      completion.index = queued_result->index;
    } else {
      completion.status = make_error(Reason::SequenceRetired, Outcome::Unknown,
                                     "this replica was sent a whole state, and the answer is not in it any more");
    }
    complete(call.ticket(), std::move(completion), completions);
  }
}

void Proposals::known_as_origin(bool registered, std::vector<Completion>& completions) {
  const bool displaced = std::exchange(registered_, registered) && !registered;
  if (!displaced) return;
  for (const Ticket ticket : tickets()) {
    const Progress progress = progress_of(ticket);
    if (!progress.handed) continue;
    complete(ticket,
             {.status = make_error(Reason::UnknownOrigin, Outcome::Unknown,
                                   "another data directory took the place of this replica's, and what the cluster had answered "
                                   "to this one is gone; the call may have taken effect"),
              .request = {origin_, progress.sequence}},
             completions);
  }
}

}  // namespace coordkit::engine
