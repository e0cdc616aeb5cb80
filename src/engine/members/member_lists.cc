#include "engine/members/member_lists.h"

#include <algorithm>

#include "base/sums.h"

namespace coordkit {
namespace {

uint32_t sum_of(const std::string& address) { return static_cast<uint32_t>(hash_bytes(address)); }

}  // namespace

std::vector<ListedMember> list_for_hello(const std::vector<Peer>& members) {
  std::vector<ListedMember> list;
  for (const Peer& member : members) list.push_back({member.id, sum_of(member.address)});
  std::ranges::sort(list, {}, &ListedMember::id);
  return list;
}

}  // namespace coordkit

namespace coordkit::engine {
namespace {

std::string with_address(const Peer& member) {
  const std::string name = "replica " + std::to_string(member.id.value());
  return member.address.empty() ? name : name + " at " + member.address;
}

// How their list differs in a member that both have.
std::string other_address(const std::vector<Peer>& mine, const Peer& member, uint32_t theirs, bool& contradicts) {
  const std::string name = "replica " + std::to_string(member.id.value());
  for (const Peer& other : mine) {
    if (other.id == member.id || sum_of(other.address) != theirs) continue;
    contradicts = true;
    return name + " at the address that " + with_address(other) + " has here";
  }
  return name + " at another address than " + member.address;
}

}  // namespace

ListComparison compare_lists(const std::vector<Peer>& mine, const std::vector<ListedMember>& theirs) {
  ListComparison found;
  if (theirs.empty()) return found;
  const auto add = [&found](const std::string& what) { found.how += (found.how.empty() ? "it " : ", ") + what; };
  for (const Peer& member : mine) {
    const auto listed = std::ranges::find(theirs, member.id, &ListedMember::id);
    if (listed == theirs.end()) {
      found.parts = true;
      add("does not list " + with_address(member));
    } else if (listed->address != sum_of(member.address)) {
      add("lists " + other_address(mine, member, listed->address, found.parts));
    }
  }
  for (const ListedMember& listed : theirs) {
    if (std::ranges::find(mine, listed.id, &Peer::id) != mine.end()) continue;
    found.parts = true;
    add("lists replica " + std::to_string(listed.id.value()) + ", which this one does not");
  }
  return found;
}

std::vector<Peer> list_of(const std::vector<raft::Member>& members) {
  std::vector<Peer> list;
  for (const raft::Member& member : members) list.push_back({member.id, member.address, member.store});
  return list;
}

DifferingList differing_list(ReplicaId peer, const std::string& how) {
  return {peer, "replica " + std::to_string(peer.value()) + " was started with another list of members: " + how +
                    "; give all members one list, and restart those that had another, on the directories that they have"};
}

std::string names_of(const std::vector<Peer>& members) {
  std::string names;
  for (size_t i = 0; i < members.size(); ++i) {
    names += (i == 0 ? "" : i + 1 == members.size() ? " and " : ", ") + std::to_string(members[i].id.value());
  }
  return names;
}

}  // namespace coordkit::engine
