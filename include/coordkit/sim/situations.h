// Situations that must come up somewhere in a large set of runs; otherwise the runs prove nothing
// about them. A situation is counted when it is seen. coordkit-sim prints the counts and names the
// situations that were never reached.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coordkit::sim {

// Events that a run may have. Values are positions in SituationCounts; Count is none of them.
enum class Situation : uint8_t {
  JointConfiguration,        // a leader acts by both halves of a change
  CrashWhileJoint,           // of any replica
  LeaderLostWhileJoint,      // crash or freeze of the leader
  PartitionWhileJoint,       // a cut begins
  ReadWhileJoint,            // a leader confirms a read
  ConfigurationRolledBack,   // truncated with the log
  ChangeOverwritten,         // its caller learns that it never took effect
  LearnerPromoted,           // it votes
  LeaderLostAfterPromotion,  // within a second
  LeaderRemoved,             // the committed configuration leaves out its leader
  MemberReplaced,            // the same id with another disk
  MajorityExchanged,         // of the members that a voter knows, while it was away
  MembersOvertaken,          // a log has uncommitted members, and a peer knows newer ones at no
                             // higher index
  DiskSetBack,               // to an older state
  SetBackNoticed,            // and its replica is in quarantine
  SetBackHarmless,           // it has lost nothing that any peer had heard, and continues
  SetBackUnnoticed,          // no peer that had heard it answered: beyond the promise, its disk is
                             // exchanged
  DiskMixedUp,               // a copy of another replica's is in its place
  MixUpNoticed,              // and its replica is in quarantine
  RemovedMemberReturned,     // was a member, was removed, is one again
  TransferOrdered,           // TimeoutNow left
  TransferDuringPartition,   // while some link is cut
  TransferCampaignWon,       // the replica that was asked to campaign leads
  TransferToDying,           // leadership is to go to a replica that was struck a moment ago
  StateOffered,              // a peer needs a state
  StateInstalled,            // and a peer took one in
  InstallWhileJoint,         // the newest committed configuration is joint
  LeaderChangedDuringState,  // an election while a peer takes in a state
  CrashDuringState,          // of the replica that takes in
  StateResumed,              // rows that were already there are not sent again
  UnsyncedWriteFound,        // recovery found a write that had not been reported
  HolesFound,                // and entries that the disk has lost
  ShortLogFound,             // and that acknowledged writes are missing without a trace: the disk
                             // is replaced
  LogLost,                   // all its files, between two processes
  SegmentLost,               // one of them
  CheckpointLost,            // the same
  StoresRefused,             // log and checkpoint do not belong together: the disk is replaced
  OlderBuildRefused,         // a replica was started as a build that supports less than it has or
                             // is sent
  RottenStateFound,          // a row of its checkpoint does not verify: the disk is replaced
  OpenFailed,                // because of a fault in force
  PowerLostInOpen,           // while the log was recovered
  HaltedByDisk,              // a failed store ended its process
  WaitedForSpace,            // writes wait for the next segment
  SegmentAwaited,            // they do because no file for it can be made, but for lack of space
  SpareDropped,              // a file that was kept ready for the log, or was to be, has an error
  SpareMadeAgain,            // and one is ready again
  CheckpointWaited,          // for room on the disk
  CheckpointInDoubt,         // a write or a sync of it failed: the state goes to a fresh file
  FreshCheckpointFailed,     // and that one failed as well
  CheckpointSoundAgain,      // the whole state is durable in a fresh file
  StateRewritten,            // a write of a running replica's checkpoint failed, or its rows do not
                             // verify: all of its state is written again from memory
  LargeAnswerStored,         // an answer has a row of its own in a checkpoint
  LogScrubbed,               // a scrub has found rotten entries of a running replica's log
  RotHealed,                 // the parts that had rotted under a running replica are whole again,
                             // or no longer needed
  LogMended,                 // a log that had lost entries reaches as far again as before
  SessionResumed,            // by another process
  SessionVouchedFor,         // the process that had it is gone, as its new process knows
  SessionVouchedTooLate,     // the same, but another process had it by then
  SessionTakenOver,          // while the process that had it runs
  PreviousHolderRefused,     // by a gate: it wrote with a token from before its session was taken
                             // over
  SessionKilled,             // by another process
  HoldForced,                // to end, by another process
  PermitsGranted,            // of a semaphore
  LatchOpened,               // for the waiters
  BarrierOpened,             // the same
  PartiesMet,                // at a double barrier
  PartiesLeft,               // it
  ItemClaimed,               // of a queue
  ItemClaimedAgain,          // because it came back
  ItemAcknowledged,          // and is gone
  NumberGiven,               // by a counter
  MemberJoined,              // a group
  LeaderSeen,                // of an election
  StreamFollowed,            // a change was reported to an observer
  StreamResynced,            // a new snapshot after a gap
  WatchCaughtUp,             // several revisions were delivered at once
  WatchProgressed,           // progress was reported
  WatchOfTheFuture,          // starts at a revision that does not exist
  WatchCompacted,            // ended because its next revision is compacted
  WatchLostItsReplica,       // and resumes at another one
  TransactionThen,           // its conditions held
  TransactionElse,           // they did not
  PastRead,                  // at a revision that is not the newest
  PastCompacted,             // or would have been
  LeaseGone,                 // before something was attached to it
  LeaseKept,                 // of keys; by the process that asked for it
  LeaseRenewed,              // by an entry
  LeaseRevokedWithKeys,      // some were deleted with it
  LeaseRefused,              // its id is taken
  LeaseSeen,                 // with its keys
  WriteFenced,               // its lock was not held, or not free
  ListsDiffered,             // of members, at the first start or soon after it
  ListsCorrected,            // and all replicas were started with one
  WrongListFounded,          // a cluster was born by then, of the members of a list that was
                             // corrected
  GenesisGaveWay,            // to the corrected list, at a start
  GenesisReplaced,           // by another one, in the log
  GenesisLeftBehind,         // it was stored when others had given it up: its replica starts once
                             // more
  StrangerSpoke,             // to a replica that belongs to the cluster
  StrangerAsMember,          // under the name of a member that is away
  MajoritySetBack,           // most disks, at once, to older states: beyond the promise
  CopyBesideOriginal,        // a copied directory runs, as the same member: beyond the promise
  Cut,                       // two histories begin on its sides
  SoundFollowerCompacted,    // its log does not reach back to where a history that began on disks
                             // that were set back differs
  SteppedAside,              // after one of the two faults: a replica is in quarantine
  RemoteAnswered,            // a call of a process without a replica
  RemoteInDoubt,             // such a call ended, and its process cannot know whether it was executed
  RemoteMoved,               // such a process is served by another gateway
  RemoteMovedInCalls,        // the same, while calls were under way
  GatewayLostInCalls,        // the gateway died, while calls were under way
  GatewayOutlived,           // a gateway takes what a process sent that has left it
  RemoteForgotten,           // the cluster forgot such a process, which came back
  Count,
};
inline constexpr size_t kSituations = static_cast<size_t>(Situation::Count);  // the number of them
using SituationCounts = std::array<uint64_t, kSituations>;                    // by the value of
                                                                              // Situation: how
                                                                              // often it was seen

std::string_view name_of(Situation situation);  // such as "genesis_gave_way"

}  // namespace coordkit::sim
