// One replica as the explorer sees it: a real core, its disk, the pending writes and the messages that wait for them. An
// input turns it into another replica and releases messages.
//
// Time. Each replica has its own clock, and the clocks drift arbitrarily: nothing relates them. So it is enough to
// move a clock where it makes a difference, and to the first moment at which it does:
//
//   Timeout      to the core's own deadline; not for leaders
//   DeliverLate  a vote request arrives an election timeout later, so that the last leader no longer binds. This waiting
//                commutes with every input except those from a leader, which end it, so it is done right before the
//                only message whose handling depends on it
//   Beat         half an election timeout: a heartbeat is due, and unanswered ones are overdue
//   StepDown     a leader's own deadline for contact with its quorum
//
// In free elections (scope.h) a Timeout is followed by all pre-votes, and no voter is bound by a leader. An answer
// that only reveals a later term is not sent: Learn stands for it, a term from any other replica's disk, at any time.
// So more can happen than under the real rules, but no replica stays a pre-candidate; the scope `prevotes` covers that.
//
// Between these the clock stands still. The jitter of election timers is constant: no clock is compared with another.
//
// A turn is one input and one drain. Nothing is applied, so nothing is evicted or compacted.
#pragma once

#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "coordkit/raft/core.h"
#include "scope.h"
#include "twin/core_twin.h"

namespace coordkit::explore {

using namespace coordkit::raft;  // NOLINT: the words of this program are the core's

struct Disk {
  HardState hard_state;
  std::vector<Entry> entries;  // from index 1
  void apply(const LogWrite& write);
};

struct Letter {
  std::variant<Message, PeerUp> content;
};

struct Outgoing {
  ReplicaId to;
  Letter letter;
};

struct Replica {
  Core core;
  Disk disk;                    // durable
  std::deque<LogWrite> writes;  // submitted, not reported durable
  WriteNumber durable;
  std::vector<Send> held;  // a set: the network keeps neither order nor count
  uint8_t boot = 0;
  std::array<uint8_t, kReplicasMost + 1> noticed{};  // the last known boot of each peer
  std::array<uint8_t, kTermsMost + 1> votes{};  // INV_R02: the candidate this store has voted for, by term, in all incarnations

  Replica(Core its_core, Disk its_disk) : core(std::move(its_core)), disk(std::move(its_disk)) {}
  Replica(const Replica& other);
  Replica(Replica&&) = default;
  Replica& operator=(Replica&&) = default;
  Fingerprint fingerprint(const Names& names, const Scope& scope) const;
};

enum class Kind : uint8_t { Deliver, DeliverLate, Learn, Written, Timeout, Beat, StepDown, Propose, Change, Restart };

struct Input {
  Kind kind = Kind::Deliver;
  ReplicaId from;                  // Deliver...: the letter's sender
  const Letter* letter = nullptr;  // Deliver...
  uint8_t argument =
      0;  // Learn: the term; // Restart: how many of the writes in progress reached the disk; Propose: which command
};

// `violation`: that of a single replica by itself, as a text that begins with the invariant; empty: none.
struct Step {
  Replica after;
  std::vector<Outgoing> sent;
  std::string violation;
};

Replica first_boot(ReplicaId id, const Scope& scope);
Step step(const Replica& before, const Input& input, ReplicaId self, const Scope& scope);

}  // namespace coordkit::explore
