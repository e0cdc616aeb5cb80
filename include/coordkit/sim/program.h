// Your own code inside the simulated cluster: a Program is what one process of your service does, on one node, from its
// start until it crashes. It calls the same Client as in production, in virtual time; the simulator crashes, freezes and cuts
// it off with everything else. Example: examples/08_test_your_machine. Guide: docs/simulator.md.
//
// Threads: one; everything is called from simulate(). Time passes only between calls. A program must be deterministic: no
// clock, thread or randomness but the Process's, or a seed no longer repeats its run.
// Crash: the client's callbacks end with Stopped, after() is forgotten, then the program is destroyed; a later start makes a
// new one. Until it is destroyed the process may be asked for anything; its client refuses new calls.
// Whatever must outlive a process (what was acknowledged, say) belongs to the test, not to the program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coordkit/client.h"
#include "coordkit/raft/membership.h"
#include "coordkit/state_machine.h"
#include "coordkit/types.h"

namespace coordkit::sim {

// The process that a program runs in; outlives it.
class Process {
 public:
  virtual ~Process() = default;
  virtual ReplicaId node() const = 0;
  virtual Client& client() = 0;
  // What this replica has applied; null: no such machine.
  virtual const StateMachine* machine(MachineId id) const = 0;
  virtual Duration now() const = 0;             // true time since the start of the run
  virtual Now clock() const = 0;                // what this machine's clock shows, wrong rate and all
  virtual uint64_t random(uint64_t below) = 0;  // `below` above zero
  // Runs `act` once, this much later; as late as the process is frozen, never after its crash.
  virtual void after(Duration delay, std::function<void()> act) = 0;
  // Changes who belongs, seen through by this replica, as Replica::change_membership() does (S-61). Members are known by their
  // ids, 1 to SimOptions::nodes; store and address may be left out. `patience`: by this machine's clock, above zero. `done` is
  // called once; with Stopped when the process crashes before it is known.
  virtual void change_members(std::vector<raft::MemberChange> changes, Duration patience, DoneCallback done) = 0;
  // Likewise; zero: to the voter that is best prepared.
  virtual void transfer_leadership(ReplicaId target, Duration patience, DoneCallback done) = 0;
  // Enough was seen: the hostile part of the run ends now. The calm one, and all that is checked in it, follows as ever.
  virtual void end_run() = 0;
  // Ends the run as a violation named PROGRAM. Also when the process is dying.
  [[noreturn]] virtual void fail(std::string what) = 0;
};

class Program {
 public:
  virtual ~Program() = default;
  // All faults are over: begin nothing new, end what is open, give back what is held.
  virtual void calm() {}
  // After calm(): nothing of it is open any more. A run in which this does not come true is a violation (INV_R20).
  virtual bool done() const { return true; }
};

}  // namespace coordkit::sim
