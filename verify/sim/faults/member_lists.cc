#include "sim/faults/member_lists.h"

#include <fmt/format.h>

#include <algorithm>

namespace coordkit::sim {

std::string address_of(uint32_t node) { return fmt::format("node-{}", node + 1); }

std::vector<Peer> right_list(const Plan& plan, uint32_t node, bool again) {
  const uint32_t founders = plan.founders == 0 || again ? plan.nodes : plan.founders;
  std::vector<Peer> members;
  for (uint32_t i = 0; i < plan.nodes; ++i) {
    if (i < founders || i == node) members.push_back({ReplicaId(i + 1), address_of(i)});
  }
  return members;
}

void MemberLists::correct(uint32_t node) {
  nodes_[node].wrong = false;
  corrected_ = true;
}

std::vector<Peer> MemberLists::start(uint32_t node, bool again) {
  Listed& listed = nodes_[node];
  std::vector<Peer> members = right_list(plan_, node, again);
  const auto& wrong = plan_.first_start.wrong;
  const auto slip = std::ranges::find(wrong, node, &FirstStartPlan::WrongList::node);
  if (listed.wrong && !again && slip != wrong.end()) members = slip->members;
  const bool says = corrected_ || !plan_.first_start.unsaid;
  listed.said = says ? list_for_hello(members) : std::vector<ListedMember>();
  listed.misled.clear();
  if (!differ()) return members;
  std::vector<ReplicaId> ids;
  for (const Peer& member : members) ids.push_back(member.id);
  std::ranges::sort(ids);
  listed.ever.push_back(std::move(ids));
  return members;
}

std::vector<ListedMember> MemberLists::said_by(uint32_t node) const { return nodes_[node].said; }

bool MemberLists::ever_listed(uint32_t node, const std::vector<ReplicaId>& ids) const {
  return std::ranges::find(nodes_[node].ever, ids) != nodes_[node].ever.end();
}

void MemberLists::connects_to(uint32_t node, const std::vector<Peer>& peers) {
  if (!differ()) return;
  std::vector<ReplicaId>& misled = nodes_[node].misled;
  misled.clear();
  for (uint32_t other = 0; other < plan_.nodes; ++other) {
    const std::string address = address_of(other);
    for (const Peer& peer : peers) {
      if (peer.address == address && peer.id != ReplicaId(other + 1)) misled.push_back(peer.id);
    }
  }
}

bool MemberLists::has_address(uint32_t node, ReplicaId peer) const {
  return std::ranges::find(nodes_[node].misled, peer) == nodes_[node].misled.end();
}

}  // namespace coordkit::sim
