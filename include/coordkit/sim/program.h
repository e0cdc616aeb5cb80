// Your own code inside the simulated cluster: a Program is what one process of your service does, on one node, from its
// start until it crashes. It calls the same Client as in production, in virtual time; the simulator crashes, freezes and cuts
// it off with everything else. Example: examples/08_test_your_machine. Guide: docs/simulator.md.
//
// Threads: one; everything is called from simulate(). Time passes only between calls. A program must be deterministic: no
// clock, thread or randomness but the Process's, or a seed no longer repeats its run.
// Crash: the client's callbacks end with Stopped, after() is forgotten, then the program is destroyed; a later start makes a
// new one. Whatever must outlive a process (what was acknowledged, say) belongs to the test, not to the program.
#pragma once

#include <functional>
#include <string>

#include "coordkit/client.h"
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
  // Ends the run as a violation named PROGRAM.
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
