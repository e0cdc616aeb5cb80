#include "sim/plan_lists.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/faults/member_lists.h"
#include "sim/plan_parts.h"
#include "sim/world/draw.h"

namespace coordkit::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using WrongList = FirstStartPlan::WrongList;
using WrongLists = std::vector<WrongList>;

uint32_t founders_of(const Plan& plan) { return plan.founders == 0 ? plan.nodes : plan.founders; }

bool lists(const std::vector<Peer>& members, ReplicaId id) {
  return std::ranges::find(members, id, &Peer::id) != members.end();
}

// Some founders, in any order.
std::vector<uint32_t> draw_some(Random& random, uint32_t founders, uint64_t count) {
  std::vector<uint32_t> all;
  for (uint32_t node = 0; node < founders; ++node) all.push_back(node);
  shuffle(all, random);
  all.resize(count);
  return all;
}

// ---- slips

WrongLists one_is_missing(const Plan& plan, Random& random) {
  WrongLists wrong;
  const uint32_t founders = founders_of(plan);
  for (const uint32_t node : draw_some(random, founders, random.between(1, founders - 1))) {
    std::vector<Peer> members = right_list(plan, node);
    members.erase(members.begin() + (node + 1 + static_cast<uint32_t>(random.below(founders - 1))) % founders);
    wrong.push_back({.node = node, .members = std::move(members)});
  }
  return wrong;
}

WrongLists each_the_first_and_itself(const Plan& plan) {
  WrongLists wrong;
  for (uint32_t node = 1; node < founders_of(plan); ++node) {
    wrong.push_back({.node = node, .members = {{ReplicaId(1), address_of(0)}, {ReplicaId(node + 1), address_of(node)}}});
  }
  return wrong;
}

// They agree among themselves, and found a cluster.
WrongLists a_part_alone(const Plan& plan, Random& random) {
  const uint32_t founders = founders_of(plan);
  const std::vector<uint32_t> part = draw_some(random, founders, random.between(1, founders - 1));
  std::vector<Peer> members;
  for (const uint32_t node : part) members.push_back({ReplicaId(node + 1), address_of(node)});
  std::ranges::sort(members, {}, &Peer::id);
  WrongLists wrong;
  for (const uint32_t node : part) wrong.push_back({.node = node, .members = members});
  return wrong;
}

WrongLists two_are_swapped(const Plan& plan, Random& random) {
  const uint32_t node = static_cast<uint32_t>(random.below(founders_of(plan)));
  std::vector<Peer> members = right_list(plan, node);
  std::vector<size_t> others;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].id != ReplicaId(node + 1)) others.push_back(i);
  }
  const size_t first = random.below(others.size() - 1);
  std::swap(members[others[first]].address, members[others[first + 1]].address);
  return {{.node = node, .members = std::move(members)}};
}

// Another name of the same address, at which the member is reached as well.
WrongLists another_name(const Plan& plan, Random& random) {
  const uint32_t node = static_cast<uint32_t>(random.below(founders_of(plan)));
  std::vector<Peer> members = right_list(plan, node);
  members[random.below(members.size())].address += ".other";
  return {{.node = node, .members = std::move(members)}};
}

WrongLists one_too_many(const Plan& plan, Random& random) {
  WrongLists wrong;
  for (const uint32_t node : draw_some(random, founders_of(plan), random.between(1, founders_of(plan)))) {
    std::vector<Peer> members = right_list(plan, node);
    members.push_back({ReplicaId(plan.nodes + 1), address_of(plan.nodes)});
    wrong.push_back({.node = node, .members = std::move(members)});
  }
  return wrong;
}

WrongLists draw_slips(const Plan& plan, Random& random) {
  const uint32_t founders = founders_of(plan);
  const uint64_t dice = random.below(12);
  if (founders == 1 || dice == 0) return one_too_many(plan, random);
  if (dice < 2) return another_name(plan, random);
  if (dice < 4) return a_part_alone(plan, random);
  if (founders >= 3 && dice < 6) return two_are_swapped(plan, random);
  if (founders >= 3 && dice < 7) return each_the_first_and_itself(plan);
  return one_is_missing(plan, random);
}

// ---- what an operator may be told to answer for

// A majority of a wrong list founds a cluster of it. A replica that is told a list in silence, or later than another
// one, may take part in the founding by the right list as well. Then the two must have a voter in common, and the cluster of
// the right list must not be founded without the lowest of them: it would keep a genesis that nobody else has.
bool one_cluster_at_most(const Plan& plan, const WrongLists& wrong, bool unsaid) {
  std::map<std::vector<uint64_t>, std::vector<const WrongList*>> by_list;
  for (const WrongList& one : wrong) {
    std::vector<uint64_t> ids;
    for (const Peer& member : one.members) ids.push_back(member.id.value());
    by_list[std::move(ids)].push_back(&one);
  }
  const uint32_t founders = founders_of(plan);
  size_t founded = 0;
  for (const auto& [ids, nodes] : by_list) {
    const bool elsewhere = ids.back() > plan.nodes || ids.size() == founders;  // one that is never there, or the right ids
    const size_t needed = unsaid ? ids.size() / 2 + 1 : ids.size();
    if (elsewhere || nodes.size() < needed) continue;
    ++founded;
    const bool later = std::ranges::any_of(nodes, [](const WrongList* one) { return one->from > Duration::zero(); });
    if (!unsaid && !later) continue;
    const bool common = ids.size() / 2 + 1 + founders / 2 + 1 > founders;
    if (!common || !lists(nodes.front()->members, ReplicaId(1))) return false;
  }
  return founded <= 1;
}

}  // namespace

void draw_first_start(Plan& plan, Random& random, double chance) {
  constexpr int kTries = 8;
  if (!random.chance(chance)) return;
  FirstStartPlan& start = plan.first_start;
  start.unsaid = random.chance(0.4);
  for (int i = 0; i < kTries && start.wrong.empty(); ++i) {
    WrongLists wrong = draw_slips(plan, random);
    for (WrongList& one : wrong) {
      if (random.chance(0.2)) one.from = draw_wide(random, milliseconds(1), seconds(1));
    }
    if (one_cluster_at_most(plan, wrong, start.unsaid)) start.wrong = std::move(wrong);
  }
  // All at one moment, or one after the other.
  Duration next = draw_wide(random, milliseconds(1), plan.hostile / 2);
  const Duration gap = random.chance(0.3) ? Duration() : draw_wide(random, milliseconds(1), seconds(2));
  const Duration first = next;
  for (WrongList& one : start.wrong) {
    one.corrected = std::max(next, one.from + milliseconds(1));
    next += draw(random, Duration(), gap);
  }
  start.down_max = draw_wide(random, milliseconds(1), seconds(1));
  if (random.chance(0.3)) {  // all are started again
    for (uint32_t node = 0; node < plan.nodes; ++node)
      start.restarts.push_back({node, first, draw(random, {}, start.down_max)});
  }
  for (uint64_t more = random.below(5); more > 0; --more) {
    start.restarts.push_back({.node = static_cast<uint32_t>(random.below(plan.nodes)),
                              .at = Duration(random.below((next + seconds(1)).count())),
                              .down = draw_wide(random, milliseconds(1), seconds(1))});
  }
}

}  // namespace coordkit::sim
