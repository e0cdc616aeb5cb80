#include "engine/peers/reachability.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"
#include "base/printable.h"
#include "raft/members/configuration_rules.h"
#include "raft/quorum.h"

namespace coordkit {
namespace {

std::string as_words(Duration time) {
  const auto milliseconds = time / std::chrono::milliseconds(1);
  return milliseconds < 10'000 ? std::to_string(milliseconds) + " ms" : std::to_string(milliseconds / 1000) + " s";
}

}  // namespace

std::string roll_call(const std::vector<MissingMember>& missing) {
  std::string out;
  for (const MissingMember& member : missing) {
    out += out.empty() ? "replica " : "; replica ";
    out += std::to_string(member.id.value());
    if (!member.address.empty()) out += " at " + member.address;
    out += member.received ? " was last heard " + as_words(member.silence) + " ago"
                           : " has not been heard in the " + as_words(member.silence) + " since this one was opened";
    if (!member.why.empty()) out += ": " + member.why;
  }
  return out;
}

}  // namespace coordkit

namespace coordkit::engine {

// A second connection to the same start of a peer changes nothing about it.
void Reachability::connected(const Hello& hello) {
  Seen& seen = seen_[hello.from];
  const bool same = seen.boot == hello.boot && seen.store == hello.store;
  std::string aside = same ? std::move(seen.aside) : std::string();
  seen = {.connected = true, .boot = hello.boot, .store = hello.store, .aside = std::move(aside)};
}

// Whatever a peer sends, it becomes a short line of printable letters.
void Reachability::stepped_aside(ReplicaId peer, std::string_view why) {
  seen_[peer].aside = printable(why, kSteppedAsideBytesMax);
}

void Reachability::lost(ReplicaId peer, LaggingTime now) {
  Seen& seen = seen_[peer];
  seen.connected = false;
  seen.lost = now;
}

void Reachability::set_refused(ReplicaId peer, std::string why, bool at_address) {
  Seen& seen = seen_[peer];
  seen.refused = std::move(why);
  seen.at_address = at_address;
}

void Reachability::unreachable(ReplicaId peer, std::string why) {
  Seen& seen = seen_[peer];
  seen.unreachable = std::move(why);
  if (std::exchange(seen.at_address, false)) seen.refused.clear();
}

void Reachability::forget_others(const std::vector<Peer>& peers) {
  absl::erase_if(seen_, [&](const auto& one) {
    return !one.second.connected && std::ranges::find(peers, one.first, &Peer::id) == peers.end();
  });
}

std::vector<MissingMember> Reachability::missing(const std::vector<Peer>& peers, ReplicaId self, const raft::Status* core,
                                                 LaggingTime now, Duration silence_max) const {
  std::vector<MissingMember> out;
  for (const Peer& peer : peers) {
    if (peer.id == self) continue;
    const auto found = seen_.find(peer.id);
    const Seen seen = found == seen_.end() ? Seen() : found->second;
    MissingMember member{.id = peer.id, .address = peer.address};
    if (!seen.connected) {
      member.received = seen.lost.has_value();
      member.silence = std::max(now - seen.lost.value_or(began_.value_or(now)), Duration::zero());
      member.why = seen.refused.empty() ? seen.unreachable : seen.refused;
      out.push_back(std::move(member));
      continue;
    }
    if (peer.store && seen.store != peer.store) {
      member.received = true;
      member.why = "it runs with another data directory than the cluster knows";
      out.push_back(std::move(member));
      continue;
    }
    if (!seen.aside.empty()) {
      member.received = true;
      member.why = "it is in quarantine and does not vote: " + seen.aside;
      out.push_back(std::move(member));
      continue;
    }
    if (core == nullptr || core->leadership.role != raft::Role::Leader) continue;
    const auto known = std::ranges::find(core->peers, peer.id, &raft::PeerStatus::peer);
    if (known == core->peers.end() || now - known->last_received < silence_max) continue;
    member.received = true;
    member.silence = now - known->last_received;
    member.why =
        "it is connected and answers nothing: it may be in quarantine or halted, or its disk may hang (look at its health()), "
        "or "
        "large packets are lost on the way to it (compare the MTU of both ends with the size that passes between them)";
    out.push_back(std::move(member));
  }
  std::ranges::sort(out, {}, &MissingMember::id);
  return out;
}

std::vector<std::string> Reachability::explanations() const {
  std::vector<std::string> out;
  for (const auto& [peer, seen] : seen_) {
    if (!seen.refused.empty()) out.push_back(seen.refused);
    if (!seen.aside.empty())
      out.push_back("replica " + std::to_string(peer.value()) + " is in quarantine and does not vote: " + seen.aside);
  }
  return out;
}

std::vector<std::string> Reachability::not_reached(const std::vector<Peer>& peers) const {
  std::vector<std::string> out;
  for (const Peer& peer : peers) {
    const auto found = seen_.find(peer.id);
    if (found == seen_.end() || !found->second.connected || found->second.unreachable.empty()) continue;
    out.push_back("replica " + std::to_string(peer.id.value()) + " has connected by itself and is not reached at " +
                  peer.address + ": " + found->second.unreachable);
  }
  return out;
}

std::string Reachability::why_refused(ReplicaId peer) const {
  const auto found = seen_.find(peer);
  return found == seen_.end() ? std::string() : found->second.refused;
}

bool Reachability::explained(ReplicaId peer) const {
  const auto found = seen_.find(peer);
  return found != seen_.end() && (!found->second.refused.empty() || !found->second.aside.empty());
}

std::vector<ReplicaId> Reachability::present() const {
  std::vector<ReplicaId> out;
  for (const auto& [peer, seen] : seen_) {
    if (seen.connected) out.push_back(peer);
  }
  return out;
}

// While the members change, it takes a majority of both halves.
std::string why_no_leader(const raft::Configuration& configuration, const std::vector<MissingMember>& missing) {
  const auto is_missing = [&](ReplicaId id) { return std::ranges::find(missing, id, &MissingMember::id) != missing.end(); };
  absl::btree_set<ReplicaId> voters;
  for (const auto* half : {&configuration.voters, &configuration.outgoing}) {
    for (const raft::Member& member : *half) voters.insert(member.id);
  }
  const auto away = static_cast<size_t>(std::ranges::count_if(voters, is_missing));
  if (away == 0) return "no leader is known yet: every voter is connected, so one should be elected soon";
  const bool enough = raft::quorum_agrees(configuration, [&](ReplicaId id) { return !is_missing(id); });
  const char* const whose =
      configuration.outgoing.empty() ? "" : " both of the voters before the change under way and of those after it";
  return "no leader is known yet: " + std::to_string(away) + " of " + std::to_string(voters.size()) + " voters " +
         (away == 1 ? "is" : "are") + " missing, " +
         (enough ? "the others can elect one without " + std::string(away == 1 ? "it" : "them")
                 : "and the others are no majority" + std::string(whose)) +
         "; " + roll_call(missing);
}

}  // namespace coordkit::engine
