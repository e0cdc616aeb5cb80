// The commands of remotes at their gateway, from arrival to answer. Each remote has a limited share of them, and each turn
// takes from the remotes one after the other, up to a bound. So a remote that hands over without end delays the others by its
// share of a turn. An honest remote keeps to its share by itself (remote_engine.h).
//
// A command counts from its arrival until its answer is passed on. The answer of one that was lost on its way to a leader never
// comes. It no longer counts once another leader is known, or after a while. Its remote hands it over again. Pure.
#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "coordkit/engine/relay.h"
#include "coordkit/ports/clock.h"

namespace coordkit::remote {

// Legal: 1 and up.
struct CommandLimits {
  size_t commands_max = 256;               // of one remote, and a quarter more for releases, cancels and closes
  size_t bytes_max = 1 << 20;              // the same for their bytes; a remote may always have one larger command
  size_t command_bytes_max = kEncodedMax;  // of one command, encoded
  size_t turn_commands_max = 1024;         // of all remotes, of one turn
  size_t turn_bytes_max = 4 << 20;         // the same for their bytes; the last command may be beyond

  static constexpr size_t kEncodedMax = (3 << 19) + kGuardBytesMax + 192;  // see EngineOptions::request_bytes_max
};

class RelayedCommands {
 public:
  explicit RelayedCommands(const CommandLimits& limits) : limits_(limits) {}

  // False: it is beyond the share of its remote, and dropped. A repeat of a command that waits here is dropped as well.
  bool add(Relay::Command&& command, LaggingTime now) {
    const ReplicaId remote = command.id.origin.replica;
    const Sequence sequence = command.id.sequence;
    const size_t bytes = command.bytes.size();
    Share& share = shares_[remote];
    const auto known = share.unanswered.find(sequence);
    if (known != share.unanswered.end() && known->second.waits) return true;
    if (!room(share, sequence, bytes)) forget_handed_over(share, now - kForgotten);
    if (!room(share, sequence, bytes)) return false;
    share.bytes += bytes - bytes_of(share, sequence);
    share.unanswered.insert_or_assign(sequence, Unanswered{bytes, true, now});
    share.waiting.push_back(std::move(command));
    with_waiting_.insert(remote);
    return true;
  }
  // Its answer came: what the machine said, or that it has to be handed over again. A copy that waits here is of no use.
  void answered(const RequestId& request) {
    const auto found = shares_.find(request.origin.replica);
    if (found == shares_.end()) return;
    Share& share = found->second;
    const auto known = share.unanswered.find(request.sequence);
    if (known == share.unanswered.end()) return;
    if (known->second.waits) std::erase_if(share.waiting, [&](const auto& one) { return one.id == request; });
    forget(share, known);
    if (share.waiting.empty()) with_waiting_.erase(found->first);
    if (share.unanswered.empty()) shares_.erase(found);
  }
  // Commands that were handed over may be lost.
  void leader_changed() {
    for (auto at = shares_.begin(); at != shares_.end();) {
      forget_handed_over(at->second, LaggingTime::max());
      at = at->second.unanswered.empty() ? shares_.erase(at) : std::next(at);
    }
  }
  void gone(ReplicaId remote) {
    shares_.erase(remote);
    with_waiting_.erase(remote);
  }

  bool any() const { return !with_waiting_.empty(); }
  // One command of each remote, and again, up to the bounds of a turn; at least one.
  std::vector<Relay::Command> take() {
    std::vector<Relay::Command> out;
    size_t bytes = 0;
    while (any() && out.size() < limits_.turn_commands_max && bytes < limits_.turn_bytes_max) {
      auto next = with_waiting_.upper_bound(last_served_);
      if (next == with_waiting_.end()) next = with_waiting_.begin();
      last_served_ = *next;
      Share& share = shares_.find(last_served_)->second;
      Relay::Command& command = out.emplace_back(std::move(share.waiting.front()));
      share.waiting.pop_front();
      if (share.waiting.empty()) with_waiting_.erase(next);
      bytes += command.bytes.size();
      share.unanswered.find(command.id.sequence)->second.waits = false;
      if (!command.id.sequence) answered(command.id);  // a registration has no answer
    }
    return out;
  }
  size_t unanswered(ReplicaId remote) const {
    const auto found = shares_.find(remote);
    return found == shares_.end() ? 0 : found->second.unanswered.size();
  }

 private:
  static constexpr Duration kForgotten = std::chrono::seconds(10);
  struct Unanswered {
    size_t bytes = 0;
    bool waits = false;   // in line, not handed over yet
    LaggingTime since{};  // its last arrival
  };
  struct Share {
    absl::btree_map<Sequence, Unanswered> unanswered;  // a registration of the origin is number zero
    std::deque<Relay::Command> waiting;                // I: those of unanswered that wait
    size_t bytes = 0;                                  // I: the sum over unanswered
  };

  using Unanswereds = absl::btree_map<Sequence, Unanswered>;
  static size_t bytes_of(const Share& share, Sequence sequence) {
    const auto found = share.unanswered.find(sequence);
    return found == share.unanswered.end() ? 0 : found->second.bytes;
  }
  // With the reserve, as the honest remote counts it (SequenceWindow::room). A repeat takes the place of its first copy.
  bool room(const Share& share, Sequence sequence, size_t bytes) const {
    if (share.unanswered.empty()) return true;
    const size_t commands = share.unanswered.size() + (share.unanswered.contains(sequence) ? 0 : 1);
    return commands <= limits_.commands_max + limits_.commands_max / 4 + 1 &&
           share.bytes - bytes_of(share, sequence) + bytes <=
               std::max(limits_.bytes_max, limits_.command_bytes_max) + limits_.bytes_max / 4;
  }
  static void forget(Share& share, Unanswereds::iterator one) {
    share.bytes -= one->second.bytes;
    share.unanswered.erase(one);
  }
  static void forget_handed_over(Share& share, LaggingTime before) {
    absl::erase_if(share.unanswered, [&](const auto& each) {
      const bool forgotten = !each.second.waits && each.second.since < before;
      if (forgotten) share.bytes -= each.second.bytes;
      return forgotten;
    });
  }

  const CommandLimits limits_;
  absl::btree_map<ReplicaId, Share> shares_;  // I: each has unanswered commands
  absl::btree_set<ReplicaId> with_waiting_;   // I: whose `waiting` is not empty
  ReplicaId last_served_;
};

}  // namespace coordkit::remote
