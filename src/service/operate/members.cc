#include "coordkit/operate/members.h"

#include <algorithm>
#include <set>

#include "base/problems.h"
#include "coordkit/error.h"
#include "raft/log/entry_codec.h"
#include "transport/tcp/address.h"

namespace coordkit {
namespace {

using Kind = raft::MemberChange::Kind;

bool brings_somebody(Kind kind) { return kind == Kind::AddLearner || kind == Kind::Replace; }

std::string replica(uint64_t id) { return "replica " + std::to_string(id); }

}  // namespace

MembershipChange& MembershipChange::add(uint64_t id, std::string address) {
  changes_.push_back({{Kind::AddLearner, {ReplicaId(id), StoreId(), std::move(address)}, ReplicaId()}, true});
  return *this;
}

MembershipChange& MembershipChange::as_learner() {
  if (changes_.empty() || changes_.back().change.kind != Kind::AddLearner) {
    misplaced_ = true;
  } else {
    changes_.back().votes = false;
  }
  return *this;
}

MembershipChange& MembershipChange::remove(uint64_t id) {
  changes_.push_back({{Kind::Remove, {.id = ReplicaId(id)}, ReplicaId()}});
  return *this;
}

MembershipChange& MembershipChange::replace(uint64_t old, uint64_t id, std::string address) {
  changes_.push_back({{Kind::Replace, {ReplicaId(id), StoreId(), std::move(address)}, ReplicaId(old)}});
  return *this;
}

MembershipChange& MembershipChange::promote(uint64_t id) {
  changes_.push_back({{Kind::Promote, {.id = ReplicaId(id)}, ReplicaId()}});
  return *this;
}

MembershipChange& MembershipChange::demote(uint64_t id) {
  changes_.push_back({{Kind::Demote, {.id = ReplicaId(id)}, ReplicaId()}});
  return *this;
}

absl::Status MembershipChange::validate(bool host_and_port) const {
  Problems problems;
  if (changes_.empty()) problems.add("the change is empty: say which replica to add, remove, replace, promote or demote");
  if (misplaced_) problems.add("as_learner() does not follow an add(): call it right after the add() that it belongs to");
  std::set<uint64_t> named;
  std::set<std::string> addresses;
  for (const auto& [change, votes] : changes_) {
    const uint64_t id = change.member.id.value();
    const uint64_t old = change.replaced.value();
    const bool replaces = change.kind == Kind::Replace;
    if (id == 0 || (replaces && old == 0)) problems.add("a replica has id 0: give it an id from 1 up");
    if (is_remote(ReplicaId(id))) problems.add("a replica's id is not below 2^63: those ids are of remotes");
    if (!named.insert(id).second || (replaces && old != id && !named.insert(old).second)) {
      problems.add(replica(id) + " is named twice: ask for one change of it at a time");
    }
    if (!brings_somebody(change.kind)) continue;
    const std::string& address = change.member.address;
    if (const auto split = tcp::split_dialled(address); host_and_port && !split.ok()) {
      problems.add("the address of " + replica(id) + ": " + std::string(sentence_of(split.status())));
    } else if (address.size() > kAddressBytesMax) {
      problems.add("the address of " + replica(id) + " is longer than 1024 bytes");
    } else if (!address.empty() && !addresses.insert(address).second) {
      problems.add("address " + address + " is given twice: give each replica an address of its own");
    }
  }
  return problems.status();
}

std::vector<raft::MemberChange> MembershipChange::changes() const {
  std::vector<raft::MemberChange> changes;
  for (const auto& [change, votes] : changes_) {
    changes.push_back(change);
    if (votes) changes.push_back({Kind::Promote, {.id = change.member.id}, ReplicaId()});
  }
  return changes;
}

}  // namespace coordkit
