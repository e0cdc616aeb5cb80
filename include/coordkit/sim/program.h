// Your own code inside the simulated cluster. A Program does the work of one process of your
// service, on one node, from its start until it crashes. It calls the same Client as in production,
// in virtual time. The simulator crashes, freezes and cuts it off with everything else. Guide:
// docs/simulator.md.
//
// Crash: the client's callbacks end with Stopped, after() is dropped, then the program is
// destroyed; a later start makes a new one. Until it is destroyed the process accepts every call;
// its client refuses new calls. Facts that must outlive a process (such as acknowledged writes)
// belong to the test, not to the program.
//
// Threads: one; everything is called from simulate(). Time passes only between calls. A program
// must be deterministic: no clock, thread or randomness except the Process's, or a seed no longer
// repeats its run.
// Example: examples/08_test_your_machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coordkit/engine/client.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/raft/membership.h"
#include "coordkit/types.h"

namespace coordkit::sim {

// The process that a program runs in. It outlives the program.
class Process {
 public:
  virtual ~Process() = default;
  virtual ReplicaId node() const = 0;  // the replica of this process
  virtual Client& client() = 0;        // of this process, valid as long as the process
  // The applied state of this replica; null: no such machine.
  virtual const StateMachine* machine(MachineId id) const = 0;
  virtual Duration now() const = 0;             // true time since the start of the run
  virtual Now clock() const = 0;                // this machine's reading of its clock, wrong rate
                                                // included
  virtual uint64_t random(uint64_t below) = 0;  // `below` above zero
  // Runs `act` once, this much later; later if the process is frozen, never after its crash.
  virtual void after(Duration delay, std::function<void()> act) = 0;
  // Changes the members, pursued by this replica, as Replica::change_membership() does (S-61).
  // Members are identified by their ids, 1 to SimOptions::nodes; store and address may be left out.
  // `patience`: by this machine's clock, above zero. `done` is called once; with Stopped if the
  // process crashes before the outcome is known.
  virtual void change_members(std::vector<raft::MemberChange> changes, Duration patience, DoneCallback done) = 0;
  // Hands leadership over in the same way. Zero: to the voter that is best prepared.
  virtual void transfer_leadership(ReplicaId target, Duration patience, DoneCallback done) = 0;
  // The run has seen enough: its hostile part ends now. The calm part follows as usual, with all
  // its checks.
  virtual void end_run() = 0;
  // Ends the run as a violation named PROGRAM. Also when the process is dying.
  [[noreturn]] virtual void fail(std::string what) = 0;
};

class Program {
 public:
  virtual ~Program() = default;
  // All faults are over: begin nothing new, end all open work, release all holds.
  virtual void calm() {}
  // After calm(): none of its work is open any more. A run in which this does not come true is a
  // violation (INV_R20).
  virtual bool done() const { return true; }
};

}  // namespace coordkit::sim
