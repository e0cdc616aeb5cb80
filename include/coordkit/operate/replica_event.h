// Events at a replica that an operator may want to know of, one value for each:
// ReplicaOptions::on_event.
//
// They are values, not lines. Filter by severity and kind, send `sentence` to the host's log
// (log_to_stderr.h is one), or count kinds for an alarm. docs/events.md says what each kind asks of
// an operator. The simulator prints the same stream.
//
// Threads: reported on the callback thread, in the order in which things happened. A cause that
// lasts is reported once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/clock.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// How urgently an operator should look.
enum class Severity : uint8_t {
  Debug,    // for debugging
  Info,     // normal operation
  Warning,  // the replica continues; an operator should check it
  Error,    // this replica does not continue, or its data may be wrong
};

// The kind of event. docs/events.md has the actions.
enum class ReplicaEventKind : uint8_t {
  Opened,            // the replica runs
  StateChanged,      // ReplicaState: ready, catching up, in quarantine, ...
  LeaderChanged,     // another leader, or none
  MembersChanged,    // the peers to be connected with
  PeerConnected,     // a peer's hello was verified
  PeerLost,          // the connection to it is gone
  PeerRefused,       // no connection until an operator acts
  PeerUnreachable,   // no answer at its address
  SettingsDiffer,    // a peer that is heard has other settings, which do no harm
  MemberSilent,      // a member did not answer for several election timeouts
  MemberResponding,  // that member answers again
  LevelRaised,       // the cluster's feature level: older builds cannot take part any more
  DiskFull,          // new commands are refused, or a checkpoint waits for room
  DiskHasRoom,       // that is over
  DiskSlow,          // a write took as long as half an election timeout, or waits for a descriptor
  DiskDamaged,       // stored bytes do not verify
  DiskMended,        // the damaged part was written again
  DiskFails,         // it returned an error for a file that can be made again
  DiskWorks,         // that file was made again
  Checkpointed,      // the applied state is durable
  StateSent,         // the transfer of the whole state to a peer has begun
  StateReceived,     // a peer's whole state replaced this one's
  Diverged,          // the states of replicas differ
  HostThrew,         // code of the host threw; only the call that ran it suffered
  ThreadHeldUp,      // a callback of an *_async call blocked the engine's thread; reported once it
                     // has returned
  RemoteActed,       // a command of a remote with a name was applied, or refused
  Halted,            // this replica has stopped for good
};

struct ReplicaEvent {
  // docs/events.md says when it is reported.
  ReplicaEventKind kind = ReplicaEventKind::Opened;
  // It may differ between events of one kind.
  Severity severity = Severity::Info;
  LaggingTime at = {};        // by the replica's clock: only differences have a meaning
  ReplicaId replica = {};     // the reporting replica
  ReplicaId peer = {};        // the peer it is about; zero: none, or with LeaderChanged: no leader
  Term term = {};             // as this replica knows it
  Index applied = {};         // at that moment; with RemoteActed: the entry of the command
  std::string remote = {};    // with RemoteActed: its name
  std::string sentence = {};  // without its end mark; no bytes of values, and of keys only with
                              // RemoteActed
  uint64_t missed = 0;        // earlier events that were lost, because on_event was too slow
};

// Receives every event. Must not block for long: events that wait too long are lost (`missed`).
using OnReplicaEvent = std::function<void(const ReplicaEvent&)>;

// "Warning DiskFull replica 1 term 7: ..."; one line, without the line break.
std::string to_string(const ReplicaEvent& event);

}  // namespace coordkit
