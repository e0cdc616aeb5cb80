#include "engine/loop/event_log.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "coordkit/error.h"
#include "engine/disks/disk_errors.h"
#include "engine/peers/hello_check.h"

namespace coordkit::engine {
namespace {

using EventKind = ReplicaEventKind;

constexpr Duration kLookEvery = std::chrono::seconds(1);        // at what is not reported
constexpr Duration kLookSoon = std::chrono::milliseconds(100);  // while the replica is on its way to serving
constexpr Duration kSlowAgain = std::chrono::minutes(1);        // between two complaints about the disk
constexpr int kSilentAfterTimeouts = 5;
constexpr size_t kComplaintsMax = 256;  // of which it is known that they were reported
constexpr size_t kConnectedMax = 256;   // more than a transport connects at a time

std::string replica(ReplicaId id) { return "replica " + std::to_string(id.value()); }
std::string entry(Index index) { return "entry " + std::to_string(index.value()); }

Severity severity_of(ReplicaState state) {
  switch (state) {
    case ReplicaState::WaitingForMembers:
    case ReplicaState::Starting:
    case ReplicaState::CatchingUp:
    case ReplicaState::Ready:
    case ReplicaState::Learner: return Severity::Info;
    case ReplicaState::Uninvited:
    case ReplicaState::Removed: return Severity::Warning;
    case ReplicaState::Quarantine:
    case ReplicaState::Halted: return Severity::Error;
  }
  return Severity::Error;
}

bool on_its_way(ReplicaState state) {
  return state == ReplicaState::Starting || state == ReplicaState::CatchingUp || state == ReplicaState::WaitingForMembers;
}

std::string list_of(const std::vector<Peer>& peers) {
  std::string list;
  for (const Peer& peer : peers) list += (list.empty() ? "" : ", ") + std::to_string(peer.id.value()) + " at " + peer.address;
  return list;
}

}  // namespace

// One input at a time; an input that is not named here is not an event.
class EventLog::Arrival {
 public:
  explicit Arrival(EventLog& log) : log_(log) {}

  void operator()(const PeerConnected& input) const { log_.connected(input.hello); }
  void operator()(const PeerLost& input) const { log_.lost(input.peer); }
  void operator()(const PeerRefused& input) const {
    log_.peer_reported(EventKind::PeerRefused, Severity::Warning, input.peer, input.why);
  }
  void operator()(const PeerUnreachable& input) const {
    log_.peer_reported(EventKind::PeerUnreachable, Severity::Info, input.peer,
                       replica(input.peer) + " is not reached: " + input.why);
  }
  void operator()(const LogWritten& input) const { log_.written(input.number); }
  void operator()(const LogSpaceChanged& input) const {
    const bool full = input.space == LogSpace::Full;
    const std::string what = full ? "writes wait: the disk of the log is full" : "the disk of the log is nearly full";
    const std::string why = what + ", new commands are refused here: free some space, or raise its quota";
    log_.waits(log_.log_waits_, input.space == LogSpace::Ample ? absl::OkStatus() : absl::ResourceExhaustedError(why));
  }
  void operator()(const LogWaits& input) const {
    if (input.why.ok()) return;  // how long it took is said of the write
    log_.report(EventKind::DiskSlow, Severity::Warning, "writes to the log wait: " + std::string(sentence_of(input.why)));
  }
  void operator()(const LogSpareFails& input) const { log_.spare_fails(input.why); }
  void operator()(const StateWaits& input) const {
    absl::IsDataLoss(input.why) ? checkpoint(input.why) : log_.waits(log_.checkpoint_waits_, input.why);
  }
  void operator()(const StateDamaged& input) const { checkpoint(input.why); }
  void operator()(const StateRotten& input) const { checkpoint(input.why); }
  void operator()(const LogDamaged& input) const {
    if (!input.last) {
      const std::string what = "the log on this disk was damaged: " + std::string(sentence_of(input.why));
      return log_.report(EventKind::DiskDamaged, Severity::Warning, what);
    }
    log_.damaged("the log, " + entry(input.first) + " to " + entry(input.last) + ",", input.why);
  }
  void operator()(const InstallRefused& input) const {
    log_.report(EventKind::DiskDamaged, Severity::Warning,
                "the state after " + entry(input.at.index) +
                    " that a peer sent is refused, and fetched again: " + std::string(sentence_of(input.why)));
  }
  void operator()(const StateCheckpointed& input) const { log_.checkpointed(input.applied.index); }
  template <typename Other>
  void operator()(const Other&) const {}

 private:
  void checkpoint(const absl::Status& why) const {
    is_disk_error(why) ? log_.checkpoint_fails(why) : log_.damaged("the checkpoint", why);
  }

  EventLog& log_;
};

void EventLog::opened(const Engine& engine, LaggingTime now) {
  next_.replica = engine.self();
  next_.at = now;
  next_.applied = engine.applied();
  next_.term = engine.leadership().term;
  const EngineStatus status = engine.status();
  state_ = status.state;
  feature_level_ = status.feature_level;
  leaderless_.since = now;
  report(
      EventKind::Opened, Severity::Info,
      "start " + std::to_string(engine.boot().value()) + " of this replica, with all applied up to " + entry(engine.applied()));
}

void EventLog::arrived(const EngineInput& input, LaggingTime now) {
  next_.at = now;
  std::visit(Arrival(*this), input);
}

void EventLog::turned(const Engine& engine, const EngineEffects& effects, LaggingTime now) {
  next_.at = now;
  next_.applied = engine.applied();
  next_.term = engine.leadership().term;
  look_at_acts(effects);
  look_at_leader(effects);
  if (engine.leadership().leader) {
    leaderless_.how = Leaderless::How::Led;
  } else if (leaderless_.how == Leaderless::How::Led) {
    leaderless_ = {Leaderless::How::Short, now};
  }
  look_at_disk(effects);
  look_at_states(effects);
  if (effects.divergence) report(EventKind::Diverged, Severity::Error, effects.divergence->sentence, effects.divergence->other);
  const bool changed = effects.leadership || effects.peers || effects.restored || effects.divergence || effects.halted;
  if (changed || now >= look_again_) {
    look_at_status(engine.status());
    look_again_ = now + (on_its_way(state_) ? kLookSoon : kLookEvery);
  }
  if (effects.halted) report(EventKind::Halted, Severity::Error, std::string(sentence_of(*effects.halted)));
}

void EventLog::threw(const absl::Status& why, LaggingTime now) {
  next_.at = now;
  report(EventKind::HostThrew, Severity::Warning, std::string(sentence_of(why)));
}

void EventLog::held_up(std::string sentence, LaggingTime now) {
  next_.at = now;
  report(EventKind::ThreadHeldUp, Severity::Warning, std::move(sentence));
}

void EventLog::report(EventKind kind, Severity severity, std::string sentence, ReplicaId peer) {
  next_.kind = kind;
  next_.severity = severity;
  next_.sentence = std::move(sentence);
  next_.peer = peer;
  on_event_(next_);
}

// The transport reports each connection; two members that dial each other have two. One event is enough for both, unless the
// peer has restarted between them.
void EventLog::connected(const Hello& hello) {
  const Disagreement found = check_hello(agreement_, feature_level_, hello);
  if (!found.dangerous.empty()) return peer_reported(EventKind::PeerRefused, Severity::Warning, hello.from, found.dangerous);
  peers_.complaints.erase(hello.from);
  if (peers_.connected.size() == kConnectedMax && !peers_.connected.contains(hello.from)) peers_.connected.clear();
  const auto [known, is_new] = peers_.connected.try_emplace(hello.from);
  const Connected before = std::exchange(known->second, {hello.store, hello.boot, found.tolerable});
  const bool same_life = !is_new && before.store == hello.store && before.boot == hello.boot;
  if (!same_life) report(EventKind::PeerConnected, Severity::Info, replica(hello.from) + " is connected", hello.from);
  if (same_life && before.differs == found.tolerable) return;
  if (!found.tolerable.empty()) report(EventKind::SettingsDiffer, Severity::Warning, found.tolerable, hello.from);
}

void EventLog::lost(ReplicaId peer) {
  peers_.connected.erase(peer);
  report(EventKind::PeerLost, Severity::Info, "the connection to " + replica(peer) + " is lost", peer);
}

// A transport retries again and again, and reports each failure. Where it names more peers than any cluster has, all are
// forgotten.
void EventLog::peer_reported(EventKind kind, Severity severity, ReplicaId peer, const std::string& why) {
  if (peers_.complaints.size() == kComplaintsMax && !peers_.complaints.contains(peer)) peers_.complaints.clear();
  std::string& reported = peers_.complaints[peer];
  if (std::exchange(reported, why) != why) report(kind, severity, why, peer);
}

void EventLog::written(WriteNumber number) {
  Duration longest{};
  for (; !writes_.empty() && writes_.front().number <= number; writes_.pop_front()) {
    longest = std::max(longest, next_.at - writes_.front().handed);
  }
  if (2 * longest < election_timeout_ || (slow_reported_ != LaggingTime::min() && next_.at - slow_reported_ < kSlowAgain))
    return;
  slow_reported_ = next_.at;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  report(EventKind::DiskSlow, Severity::Warning,
         "a write to the log took " + std::to_string(took) + " ms: at an election timeout of " +
             std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(election_timeout_).count()) +
             " ms a disk this slow can make a leader lose its leadership");
}

void EventLog::waits(std::string& for_room, const absl::Status& why) {
  const std::string sentence = why.ok() ? "" : std::string(sentence_of(why));
  const std::string previous = std::exchange(for_room, sentence);
  if (previous == sentence) return;
  if (!sentence.empty()) return report(EventKind::DiskFull, Severity::Warning, sentence);
  report(EventKind::DiskHasRoom, Severity::Info, "there is room on the disk again");
}

void EventLog::damaged(const std::string& what, const absl::Status& why) {
  const std::string sentence = what + " on this disk is damaged, and is replaced: " + std::string(sentence_of(why));
  disk_.rot.by = {};
  if (std::exchange(disk_.rot.sentence, sentence) != sentence) report(EventKind::DiskDamaged, Severity::Warning, sentence);
}

// The first of several errors in a row is told.
void EventLog::checkpoint_fails(const absl::Status& why) {
  const bool first = disk_.error.sentence.empty();
  disk_.error = {sentence_of_failed_checkpoint(why), Index()};
  if (first) report(EventKind::DiskFails, Severity::Warning, disk_.error.sentence);
}

void EventLog::spare_fails(const absl::Status& why) {
  if (std::exchange(disk_.spare_fails, !why.ok()) == !why.ok()) return;
  if (!why.ok()) return report(EventKind::DiskFails, Severity::Warning, sentence_of_failed_spare(why));
  report(EventKind::DiskWorks, Severity::Info, "the file that the log keeps ready was made again");
}

void EventLog::checkpointed(Index applied) {
  report(EventKind::Checkpointed, Severity::Debug, "the state after " + entry(applied) + " is durable");
  if (disk_.rot.taken(applied)) {
    report(EventKind::DiskMended, Severity::Info,
           "the damaged data was written again: " + std::exchange(disk_.rot, {}).sentence);
  }
  if (!disk_.error.taken(applied)) return;
  disk_.error = {};
  report(EventKind::DiskWorks, Severity::Info, "the checkpoint was written again as a whole, after an error of its disk");
}

void EventLog::look_at_acts(const EngineEffects& effects) {
  if (effects.acts.empty()) return;
  const Index applied = next_.applied;
  for (const ApplyOutput::Act& act : effects.acts) {
    next_.applied = act.index;
    next_.remote = act.remote;
    report(EventKind::RemoteActed, Severity::Info, act.remote + " at " + entry(act.index) + ": " + act.what);
  }
  next_.applied = applied;
  next_.remote.clear();
}

void EventLog::look_at_leader(const EngineEffects& effects) {
  if (!effects.leadership) return;
  const raft::Leadership& now = *effects.leadership;
  const std::string term = " in term " + std::to_string(now.term.value());
  if (!now.leader) return report(EventKind::LeaderChanged, Severity::Info, "no leader is known" + term);
  const std::string who = now.leader == next_.replica ? "this replica leads" : replica(now.leader) + " leads";
  report(EventKind::LeaderChanged, Severity::Info, who + term, now.leader);
}

void EventLog::look_at_disk(const EngineEffects& effects) {
  for (const LogWrite& write : effects.writes) writes_.push_back({write.number, next_.at});
  if (!effects.checkpoint) return;
  for (Repair* repair : {&disk_.rot, &disk_.error}) {
    if (!repair->by) repair->by = effects.checkpoint->applied.index;
  }
}

void EventLog::look_at_states(const EngineEffects& effects) {
  if (effects.peers)
    report(EventKind::MembersChanged, Severity::Info, "this replica now connects with: " + list_of(*effects.peers));
  for (const ViewOrder& order : effects.views) {
    if (std::holds_alternative<ViewOpen>(order)) report(EventKind::StateSent, Severity::Info, "a peer is sent the whole state");
  }
  if (!effects.restored) return;
  report(EventKind::StateReceived, Severity::Info,
         "a peer's state after " + entry(effects.restored->index) + " took the place of the one here");
}

void EventLog::look_at_status(const EngineStatus& status) {
  if (std::exchange(state_, status.state) != status.state && status.state != ReplicaState::Halted) {
    const std::string why = status.reason.empty() ? "" : ": " + status.reason;
    report(EventKind::StateChanged, severity_of(status.state), std::string(name_of(status.state)) + why);
  }
  if (const uint64_t before = std::exchange(feature_level_, status.feature_level); before < feature_level_) {
    report(EventKind::LevelRaised, Severity::Info,
           "the cluster is at feature level " + std::to_string(feature_level_) + ": builds that speak less are refused");
  }
  look_for_leader(status);
  look_at_missing(status.missing);
  look_at_lists(status.differing_lists);
}

// Every start and every hand-over has a moment without a leader: only a longer one is worth a warning. A replica that waits
// for its first members, is removed or is in quarantine follows no leader, and its state says why.
void EventLog::look_for_leader(const EngineStatus& status) {
  if (leaderless_.how != Leaderless::How::Short || status.state != ReplicaState::Starting) return;
  const Duration since = next_.at - leaderless_.since;
  if (since < kSilentAfterTimeouts * election_timeout_) return;
  leaderless_.how = Leaderless::How::Reported;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  report(EventKind::LeaderChanged, Severity::Warning,
         "this replica has known no leader for " + std::to_string(milliseconds) + " ms: " + status.reason);
}

void EventLog::look_at_missing(const std::vector<MissingMember>& missing) {
  absl::btree_set<ReplicaId> silent;
  for (const MissingMember& member : missing) {
    if (member.silence < kSilentAfterTimeouts * election_timeout_) continue;
    silent.insert(member.id);
    if (!peers_.silent.contains(member.id)) report(EventKind::MemberSilent, Severity::Warning, roll_call({member}), member.id);
  }
  for (const ReplicaId id : peers_.silent) {
    if (!silent.contains(id))
      report(EventKind::MemberResponding, Severity::Info, replica(id) + " is heard again, or is no longer a member", id);
  }
  peers_.silent = std::move(silent);
}

void EventLog::look_at_lists(const std::vector<DifferingList>& differing) {
  absl::btree_map<ReplicaId, std::string> before = std::exchange(peers_.lists, {});
  for (const auto& [peer, sentence] : differing) {
    if (before[peer] != sentence) report(EventKind::SettingsDiffer, Severity::Warning, sentence, peer);
    peers_.lists[peer] = sentence;
  }
}

}  // namespace coordkit::engine

namespace coordkit {

std::string to_string(const ReplicaEvent& event) {
  std::string line(name_of(event.severity));
  line.append(" ").append(name_of(event.kind)).append(" replica ").append(std::to_string(event.replica.value()));
  line.append(" term ").append(std::to_string(event.term.value())).append(": ").append(event.sentence);
  if (event.missed > 0) line += " (" + std::to_string(event.missed) + " events before this one were lost)";
  return line;
}

}  // namespace coordkit
