// Planted defects, one function for each place in the glue code. Without a defect each does nothing. They exist
// so that every check of the simulator can be seen to fail (tests/unit/sim/defects_test.cc).
#pragma once

#include <memory>

#include "base/random.h"
#include "coordkit/engine/engine.h"
#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {

class Inbox;

// The machine of every node, possibly wrapped in one that misbehaves.
std::unique_ptr<StateMachine> make_machine(const Defects& defects, uint32_t node);

// The machines that a state from a peer is built with.
std::vector<HostedMachine> changed_for_restore(const Defects& defects, std::vector<HostedMachine> machines);

// An engine in front of the engine for the client's calls; null if no defect wants one.
std::unique_ptr<Engine> make_proxy(const Defects& defects, Engine& engine);

// The clock reading that the client believes it sends at.
Now shifted_for_sending(const Defects& defects, Now now);

// The clock readings given to the engine.
Now shifted_for_engine(const Defects& defects, Now now);

// Changes the answers that the client is about to get.
void change_answers(const Defects& defects, EngineEffects& effects);

// Answers a leader's heartbeat at once, before it was received.
void answer_early(const Defects& defects, Inbox& inbox, const Outbound& outbound);

// Changes a message in flight.
void change_message(const Defects& defects, Random& random, Message& message);

// The same message after encode and decode; a message that does not survive is a violation.
Message through_wire(const Message& message);

}  // namespace coordkit::sim
