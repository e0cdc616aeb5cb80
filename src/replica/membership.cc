#include "coordkit/membership.h"

#include <algorithm>
#include <set>

#include "coordkit/error.h"
#include "transport/address.h"

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
  std::string problems;
  const auto problem = [&](std::string sentence) { problems += (problems.empty() ? "" : "; ") + std::move(sentence); };
  if (changes_.empty()) problem("the change is empty: say whom to add, remove, replace, promote or demote");
  if (misplaced_) problem("as_learner() follows an add()");
  std::set<uint64_t> named;
  std::set<std::string> addresses;
  for (const auto& [change, votes] : changes_) {
    const uint64_t id = change.member.id.value();
    const uint64_t old = change.replaced.value();
    const bool replaces = change.kind == Kind::Replace;
    if (id == 0 || (replaces && old == 0)) problem("a replica has id 0: ids start at 1");
    if (!named.insert(id).second || (replaces && old != id && !named.insert(old).second)) {
      problem(replica(id) + " is named twice: ask for one thing at a time");
    }
    if (!brings_somebody(change.kind)) continue;
    const std::string& address = change.member.address;
    if (const auto split = tcp::split_dialled(address); host_and_port && !split.ok()) {
      problem("the address of " + replica(id) + ": " + std::string(sentence_of(split.status())));
    } else if (!address.empty() && !addresses.insert(address).second) {
      problem("address " + address + " is given twice");
    }
  }
  return problems.empty() ? absl::OkStatus() : make_error(Reason::InvalidArgument, problems);
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
