// Violations that take a view of all replicas (docs/invariants.md): INV_R01 R04 R06 R07 R08 R10 R18. Those of one replica by
// itself are in replica.cc. The replica that moved is compared with the others and with the history that the world carries.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "raft/quorum.h"
#include "world.h"

namespace coordkit::explore {

bool Space::begins_with(Number log, Number prefix, size_t length) const {
  if (length == 0) return true;
  const Log& all = logs_[log];
  return all.chain.size() >= length && all.chain[length - 1] == logs_[prefix].chain[length - 1];
}

// INV_R04 for two logs: the same term at the same index only on top of the same prefix.
bool Space::matching(Number a, Number b) {
  if (a == b) return true;
  const uint64_t key = (uint64_t{std::min(a, b)} << 32 | std::max(a, b)) + 1;
  if (const Number* known = matching_.find(key)) return *known != 0;
  const Log& one = logs_[a];
  const Log& other = logs_[b];
  bool match = true;
  for (size_t i = 0; i < std::min(one.chain.size(), other.chain.size()); ++i) {
    match = match && (one.terms[i] != other.terms[i] || one.chain[i] == other.chain[i]);
  }
  matching_.insert(key, match ? 1 : 0);
  return match;
}

std::string Space::judge(World& world, size_t moved, Number number_before) {
  const Facts& before = facts_[number_before];
  const Facts& now = facts_[world.replicas[moved]];
  const auto by = [moved](const std::string& what) { return absl::StrCat(what, " by replica ", moved + 1); };
  const bool elected = now.role == Role::Leader && (before.role != Role::Leader || before.term != now.term);
  if (elected) {
    uint8_t& leader = world.leaders[std::min<uint64_t>(now.term, kTermsMost)];
    if (leader != 0 && leader != moved + 1) return by("INV_R01 a second leader of one term");
    leader = static_cast<uint8_t>(moved + 1);
    // One that learns late of its election need not have what leaders of later terms committed.
    const bool latest =
        std::all_of(world.leaders.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(now.term, kTermsMost)) + 1,
                    world.leaders.end(), [](uint8_t id) { return id == 0; });
    if (latest && !begins_with(now.log, world.committed, logs_[world.committed].chain.size()))
      return by("INV_R06 committed entries are missing");
  }
  if (before.role == Role::Leader && now.role == Role::Leader &&
      !begins_with(now.log, before.log, logs_[before.log].chain.size()))
    return by("INV_R05 a leader's log was changed");
  if (!begins_with(now.log, before.log, std::min<size_t>(before.commit, now.commit)))
    return by("INV_R10 committed entries were changed");
  if (!matching(now.log, world.committed)) return by("INV_R04 against the committed log");
  for (size_t other = 0; other < scope_.replicas; ++other) {
    if (other == moved) continue;
    const Facts& it = facts(world, other);
    if (!matching(now.log, it.log) || !matching(now.log, it.disk))
      return by(absl::StrCat("INV_R04 against replica ", other + 1));
    const auto exceeds = [&](const Facts& leader, const Facts& follower, size_t of) {
      return leader.role == Role::Leader && leader.match[of] != 0 && !begins_with(follower.disk, leader.log, leader.match[of]);
    };
    // A follower that moved on to a later term may have replaced what it had acknowledged.
    if (now.term >= it.term && exceeds(now, it, other)) return by("INV_R18 match is beyond that peer's disk");
    if (it.term >= now.term && exceeds(it, now, moved)) return by("INV_R18 a match of it is beyond its disk");
  }
  return judge_commit(world, moved, number_before);
}

// INV_R07 R08. The configuration in force is the one before or after this step: the first count may have changed it.
std::string Space::judge_commit(World& world, size_t moved, Number number_before) {
  const Facts& now = facts_[world.replicas[moved]];
  const Facts& before = facts_[number_before];
  if (now.commit == before.commit) return {};
  const size_t known = logs_[world.committed].chain.size();
  if (!begins_with(now.log, world.committed, std::min<size_t>(known, now.commit)))
    return absl::StrCat("INV_R07 replica ", moved + 1, " commits other entries up to ", now.commit);
  if (now.commit <= known) return {};
  const auto durable = [&](ReplicaId id) {
    return id.value() <= scope_.replicas && begins_with(facts(world, id.value() - 1).disk, now.log, now.commit);
  };
  const bool agreed = quorum_agrees(replicas_[world.replicas[moved]].core.status().configuration, durable) ||
                      quorum_agrees(replicas_[number_before].core.status().configuration, durable);
  if (!agreed) return absl::StrCat("INV_R08 replica ", moved + 1, " commits ", now.commit, " without a durable quorum");
  const auto entries = CoreTwin::log(replicas_[world.replicas[moved]].core);
  world.committed = intern_log(std::span(entries).first(now.commit));
  return {};
}

}  // namespace coordkit::explore
