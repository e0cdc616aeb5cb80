// The calls of this replica that go through the log, from entry to answer (docs/semantics.md S-41..S-43).
//
// A call gets the next sequence of this incarnation when it fits the window (sequence_window.h). It is handed to the leader,
// here or over the network, and again whenever leadership changes or nothing is heard, until its answer comes out of this
// replica's own apply or its deadline passes. Repeats are recognised in apply, so handing over twice is always safe.
// Invariants: an accepted call completes exactly once and leaves nothing behind (R75).
#pragma once

#include <string>
#include <vector>

#include "base/deadlines.h"
#include "base/flat_table.h"
#include "base/ring.h"
#include "coordkit/engine/engine.h"
#include "engine/apply/router.h"
#include "engine/calls/queued_calls.h"
#include "engine/calls/sequence_window.h"
#include "engine/loop/turn.h"

namespace coordkit::engine {

// The bytes that a call counts in EngineOptions::request_bytes_in_flight_max.
inline size_t bytes_of(const Submit& submit) { return submit.command.size() + (submit.guard ? submit.guard->bytes.size() : 0); }

class Proposals {
 public:
  // `command_bytes_max`: handed over and unanswered. `name`: of a remote.
  Proposals(const EngineOptions& options, Origin origin, size_t command_bytes_max = SequenceWindow::kNoLimit,
            std::string name = {});

  // A new call. Refused ones complete at once.
  void submit(Submit&& submit, std::vector<Completion>& completions);
  void forget(Ticket ticket);

  // Another replica leads, or none: everything unanswered is handed over again.
  void leadership_changed();
  // Hand over again at `when`.
  void postpone(Sequence sequence, LaggingTime when);

  enum class Handing : uint8_t { First, Repeated };
  // The leader refused it. If it was never handed over before, it certainly has no effect so far.
  void refused(Sequence sequence, Handing handing, LaggingTime when);

  enum class Route : uint8_t { NoLeader, Unregistered, Open };  // how far a call can get at the moment

  // To be handed to the leader now, ready to be an entry; registration first. Call only when a leader is known.
  struct Dispatch {
    Sequence sequence;  // zero: the registration
    Handing handing = Handing::First;
    SharedBytes payload;
  };
  enum class Into : uint8_t {
    OtherLog,  // the leader may or may not get it: handed over again after a while
    OwnLog,    // we lead: its outcome is known in the same turn
  };
  void collect(LaggingTime now, bool registered, std::vector<Dispatch>& out, Into into = Into::OtherLog);

  // It reached the log before its predecessor: handed over again at once.
  void overtook(const RequestId& request);

  // Whether the applied state knows this origin. If it did and no longer does, another data directory has taken this
  // replica's place: answers to what was handed over are gone, so those calls end as unknown and are never handed over again.
  // All other calls get sequences above theirs. So the next registration retires every copy that is still on its way.
  // `as_of`: for a remote, the entry up to which that state is known (RegisterOrigin::as_of).
  void known_as_origin(bool registered, std::vector<Completion>& completions, Index as_of = Index());
  // An answer that came out of apply.
  void answered(Answer&& answer, std::vector<Completion>& completions);
  // Another state replaced ours, and entries were skipped: what it knows about our calls is taken from it. The rest is
  // still to be applied, or ends as unknown (regression R73).
  void state_replaced(const Router& router, std::vector<Completion>& completions);
  // A queued call whose decision is no longer known anywhere.
  void lost(Sequence sequence, std::vector<Completion>& completions);
  // visit(machine, sequence) for all calls that a machine has queued, in the order of their sequences.
  template <typename Visit>
  void each_queued(Visit visit) const {
    queued_.each([&](const QueuedCalls::Call& call) { visit(queued_.machine(call), call.sequence()); });
  }
  // Calls whose deadline has passed, as many as a turn has time for. True: more are left.
  bool expire(LaggingTime now, Route route, std::vector<Completion>& completions);
  // The end: everything completes with this reason.
  void fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions);

  LaggingTime next_deadline(Route route) const;
  size_t size() const { return calls_.size() + queued_.size(); }
  size_t bytes() const { return bytes_; }  // of commands and guards; a call that a machine has queued keeps none
  const Origin& origin() const { return origin_; }

 private:
  struct Call {
    Submit submit;
    Sequence sequence;                          // zero: still waiting for a place in the window
    bool handed = false;                        // ever, and not refused: the outcome is unknown until answered
    LaggingTime retry_at = LaggingTime::max();  // unanswered: when to hand over (again)
    uint8_t handings = 0;                       // to this leader
  };
  using Calls = FlatMap<Ticket, Call>;

  // Calls without a sequence yet, in order. Ended ones are skipped.
  struct Line {
    const Urgency urgency;
    Ring<Ticket> tickets = {};
    size_t waiting = 0;  // of them, not ended
  };

  Call* unanswered(Sequence sequence);
  void admit_waiting(LaggingTime now);
  Line& line(Urgency urgency) { return urgency == Urgency::Reserved ? waiting_reserved_ : waiting_; }
  bool next_fits() const;
  void leave(Line& from);
  void renumber();
  Dispatch hand_over(Call& call, LaggingTime retry_at);
  Sequence comes_after(const Call& call) const;
  void schedule(Call& call, LaggingTime when);
  Duration retry_delay(Call& call) const;
  static bool timed(LaggingTime when);
  bool retries_at(LaggingTime when, Sequence sequence);
  void retry_ended();
  std::vector<Ticket> tickets() const;  // of all calls, ascending
  void accepted(Calls::iterator call, Completion&& completion, std::vector<Completion>& completions);
  void complete(Ticket ticket, Completion&& completion, std::vector<Completion>& completions);
  void drop(Ticket ticket);
  void deadline_ended();
  absl::Status never_handed_over(Route route) const;
  bool contains(Ticket ticket) const { return calls_.contains(ticket) || queued_.find(ticket) != nullptr; }
  // How far a call got.
  struct Progress {
    bool handed = false;
    Sequence sequence;  // zero: it has none yet
  };
  Progress progress_of(Ticket ticket) const;

  const EngineOptions& options_;
  Origin origin_;
  Calls calls_;                    // every call in progress that no machine has queued
  Line waiting_{Urgency::Normal};  // without a sequence yet
  Line waiting_reserved_{Urgency::Reserved};
  SequenceWindow window_;
  QueuedCalls queued_;
  Ring<Sequence> at_once_;       // to be handed over as soon as a leader is known; answered ones are skipped
  Deadlines<Sequence> retries_;  // to be handed over later
  Deadlines<Ticket> deadlines_;
  size_t bytes_ = 0;  // I: the sum of bytes_of over calls_
  struct Registration {
    std::string name;  // of a remote
    Index as_of;
    LaggingTime at{LaggingTime::min()};
    bool known = false;
  };
  Registration registration_;
  std::string scratch_;  // a request while it is written
  ByteSlab slab_;
};

}  // namespace coordkit::engine
