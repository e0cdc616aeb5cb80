// What happened at a replica that an operator may want to know of, one value for each: ReplicaOptions::on_event.
//
// Values, not lines: filter by severity and kind, send `sentence` to whatever log the host keeps (log_to_stderr.h is one), or
// count kinds for an alarm. What each kind asks of an operator: docs/events.md. The simulator prints the same stream. Threads:
// reported on the callback thread, in the order in which things happened. A cause that goes on is reported once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "coordkit/clock.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

enum class Severity : uint8_t {
  Debug,    // for someone who looks for something
  Info,     // as it should be
  Warning,  // the replica goes on; an operator should look after it
  Error,    // this replica does not go on, or what it knows may be wrong
};
constexpr std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::Debug: return "Debug";
    case Severity::Info: return "Info";
    case Severity::Warning: return "Warning";
    case Severity::Error: return "Error";
  }
  return "?";
}

enum class ReplicaEventKind : uint8_t {
  Opened,            // the replica runs
  StateChanged,      // ReplicaState: ready, catching up, in quarantine, ...
  LeaderChanged,     // another leader, or none
  MembersChanged,    // who is to be connected with
  PeerConnected,     // a peer's hello was verified
  PeerLost,          // the connection to it is gone
  PeerRefused,       // no connection until an operator does something about it
  PeerUnreachable,   // no answer at its address
  SettingsDiffer,    // a peer that is heard was given other settings, which can be lived with
  MemberSilent,      // a member was not heard for several election timeouts
  MemberResponding,  // that one is heard again
  LevelRaised,       // the cluster's feature level: older builds cannot take part any more
  DiskFull,          // new commands are refused, or a checkpoint waits for room
  DiskHasRoom,       // that is over
  DiskSlow,          // a write took as long as half an election timeout, or waits for a descriptor
  DiskDamaged,       // what is stored does not verify
  DiskMended,        // it was written anew
  Checkpointed,      // the applied state is durable
  StateSent,         // a peer was begun to be sent the whole state
  StateReceived,     // a peer's whole state took the place of this one's
  Diverged,          // the states of replicas differ
  HostThrew,         // code of the host did; only what it was called for suffered
  ThreadHeldUp,      // a callback of an *_async call blocked the engine's thread; reported once it has returned
  Halted,            // this replica has stopped for good
};
constexpr std::string_view name_of(ReplicaEventKind kind) {
  switch (kind) {
    case ReplicaEventKind::Opened: return "Opened";
    case ReplicaEventKind::StateChanged: return "StateChanged";
    case ReplicaEventKind::LeaderChanged: return "LeaderChanged";
    case ReplicaEventKind::MembersChanged: return "MembersChanged";
    case ReplicaEventKind::PeerConnected: return "PeerConnected";
    case ReplicaEventKind::PeerLost: return "PeerLost";
    case ReplicaEventKind::PeerRefused: return "PeerRefused";
    case ReplicaEventKind::PeerUnreachable: return "PeerUnreachable";
    case ReplicaEventKind::SettingsDiffer: return "SettingsDiffer";
    case ReplicaEventKind::MemberSilent: return "MemberSilent";
    case ReplicaEventKind::MemberResponding: return "MemberResponding";
    case ReplicaEventKind::LevelRaised: return "LevelRaised";
    case ReplicaEventKind::DiskFull: return "DiskFull";
    case ReplicaEventKind::DiskHasRoom: return "DiskHasRoom";
    case ReplicaEventKind::DiskSlow: return "DiskSlow";
    case ReplicaEventKind::DiskDamaged: return "DiskDamaged";
    case ReplicaEventKind::DiskMended: return "DiskMended";
    case ReplicaEventKind::Checkpointed: return "Checkpointed";
    case ReplicaEventKind::StateSent: return "StateSent";
    case ReplicaEventKind::StateReceived: return "StateReceived";
    case ReplicaEventKind::Diverged: return "Diverged";
    case ReplicaEventKind::HostThrew: return "HostThrew";
    case ReplicaEventKind::ThreadHeldUp: return "ThreadHeldUp";
    case ReplicaEventKind::Halted: return "Halted";
  }
  return "?";
}

struct ReplicaEvent {
  ReplicaEventKind kind = ReplicaEventKind::Opened;
  Severity severity = Severity::Info;
  LaggingTime at = {};        // of the replica's clock: differences mean something
  ReplicaId replica = {};     // that tells it
  ReplicaId peer = {};        // the peer it is about; zero: none, or with LeaderChanged: no leader
  Term term = {};             // as this replica knows it
  Index applied = {};         // at that moment
  std::string sentence = {};  // without its end mark; no bytes of keys or values
  uint64_t missed = 0;        // events before this one that were lost, because on_event was too slow
};

using OnReplicaEvent = std::function<void(const ReplicaEvent&)>;

// "Warning DiskFull replica 1 term 7: ..."; one line, without its end.
std::string to_string(const ReplicaEvent& event);

}  // namespace coordkit
