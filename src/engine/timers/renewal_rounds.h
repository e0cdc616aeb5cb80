// The leader's side of renewals between receipt and answer (docs/time.md T2, T3): each waits for a quorum round
// that starts after it was received, and for the state of that moment to be applied here. None of it touches the log.
#pragma once

#include <vector>

#include "coordkit/engine/engine_message.h"
#include "engine/timers/timer_keeper.h"

namespace coordkit::engine {

struct ReceivedRenewal {
  ReplicaId from;
  LaggingTime received;
  RenewRequest request;
};

struct AnsweredRenewal {
  ReplicaId to;
  RenewReply reply;
};

// Lets a reply name no more timers than a message may. Those that it then does not name count as not renewed.
void shorten(RenewReply& reply);

class Renewals {
 public:
  void receive(ReceivedRenewal renewal) { received_.push_back(std::move(renewal)); }
  bool unconfirmed() const { return !received_.empty(); }

  // A confirmation was requested: it covers everything received so far.
  Ticket question(Ticket ticket);
  // It held at this index: once that is applied, the renewals may be answered.
  void confirmed(Ticket ticket, Index read_index);
  // Role changed or the round failed: the senders will try again.
  void drop_all();

  void answer(Index applied, LaggingTime now, TimerKeeper& keeper, std::vector<AnsweredRenewal>& out);

 private:
  struct Round {
    Ticket ticket;
    std::vector<ReceivedRenewal> renewals;
    bool held = false;
    Index read_index;
  };
  std::vector<ReceivedRenewal> received_;
  std::vector<Round> rounds_;  // oldest first
};

}  // namespace coordkit::engine
