// The witness check: the answers that callers get, checked against the log. Every call is begun here before the client makes
// it, and its answer goes to the witness of its kind; the rules for all kinds of calls are in answer_rules.h.
#pragma once

#include "sim/keys/key_witness.h"
#include "sim/keys/lease_witness.h"
#include "sim/locks/lock_witness.h"
#include "sim/objects/coordination_witness.h"
#include "sim/oracle/answer_rules.h"
#include "sim/oracle/model.h"
#include "sim/record/history_recorder.h"
#include "sim/sessions/session_witness.h"
#include "sim/users/calls.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Witness {
 public:
  using Duty = AnswerRules::Duty;

  // `history` receives every call and answer too, without what the log says about it. Null: none.
  Witness(World& world, const Model& model, Duty duty, HistoryRecorder* history, Calls::Locks locks, TrustCheck beliefs)
      : calls_(world, history, locks),
        rules_(world, model, calls_, duty),
        sessions_(model, rules_),
        locks_(model, calls_, rules_, history, locks, beliefs),
        keys_(model, calls_, rules_, history),
        leases_(model, calls_, rules_),
        coordination_(model, rules_) {}
  Witness(const Witness&) = delete;  // its parts refer to each other
  Witness& operator=(const Witness&) = delete;

  Calls& calls() { return calls_; }
  const Calls& calls() const { return calls_; }
  SessionWitness& sessions() { return sessions_; }
  LockWitness& locks() { return locks_; }
  KeyWitness& keys() { return keys_; }
  LeaseWitness& leases() { return leases_; }
  CoordinationWitness& coordination() { return coordination_; }

  void finish() const { rules_.finish(); }  // after the run

 private:
  Calls calls_;
  AnswerRules rules_;
  SessionWitness sessions_;
  LockWitness locks_;
  KeyWitness keys_;
  LeaseWitness leases_;
  CoordinationWitness coordination_;
};

}  // namespace coordkit::sim
