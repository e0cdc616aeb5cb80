#include "tools/support/claims.h"

#include <algorithm>

namespace coordkit::support {
namespace {

std::string text(const Claim& claim) {
  return "node " + std::to_string(claim.holder) + " with token " + std::to_string(claim.token);
}

// Calls with each grant and the one before it.
template <typename Visit>
void for_each_step(const std::map<uint64_t, Claim>& by_token, Visit visit) {
  const Claim* before = nullptr;
  for (const auto& [token, claim] : by_token) {
    if (before) visit(*before, claim);
    before = &claim;
  }
}

}  // namespace

void Claims::granted(int holder, uint64_t token, int64_t at_ns) {
  const auto [at, fresh] = by_token_.try_emplace(token, Claim{holder, token, at_ns, at_ns, 0});
  if (!fresh) faults_.push_back("token " + std::to_string(token) + " was granted twice");
}

void Claims::valid(uint64_t token, int64_t at_ns) {
  const auto claim = by_token_.find(token);
  if (claim == by_token_.end()) {
    faults_.push_back("token " + std::to_string(token) + " was used before it was granted");
  } else {
    claim->second.until_ns = std::max(claim->second.until_ns, at_ns);
  }
}

void Claims::ended(uint64_t token, int64_t at_ns) {
  const auto claim = by_token_.find(token);
  if (claim != by_token_.end() && claim->second.ended_ns == 0) claim->second.ended_ns = at_ns;
}

std::vector<Claim> Claims::in_order() const {
  std::vector<Claim> claims;
  for (const auto& [token, claim] : by_token_) claims.push_back(claim);
  return claims;
}

const Claim* Claims::newest() const { return by_token_.empty() ? nullptr : &by_token_.rbegin()->second; }

size_t Claims::handovers() const {
  size_t count = 0;
  for_each_step(by_token_, [&](const Claim& before, const Claim& after) { count += before.holder != after.holder ? 1 : 0; });
  return count;
}

int64_t Claims::longest_gap_ns() const {
  int64_t longest = 0;
  for_each_step(by_token_, [&](const Claim& before, const Claim& after) {
    if (before.ended_ns != 0) longest = std::max(longest, after.from_ns - before.ended_ns);
  });
  return longest;
}

// Every pair, not only neighbours: a claim that stays open by mistake may reach over several others.
size_t Claims::overlaps() const {
  size_t count = 0;
  for (auto one = by_token_.begin(); one != by_token_.end(); ++one) {
    for (auto other = std::next(one); other != by_token_.end(); ++other) {
      if (one->second.from_ns < other->second.until_ns && other->second.from_ns < one->second.until_ns) ++count;
    }
  }
  return count;
}

std::vector<std::string> Claims::faults() const {
  std::vector<std::string> faults = faults_;
  if (const size_t count = overlaps(); count > 0) faults.push_back(std::to_string(count) + " pairs of holders at once");
  for_each_step(by_token_, [&](const Claim& before, const Claim& after) {
    if (after.from_ns < before.from_ns) faults.push_back(text(after) + " was granted before " + text(before));
    if (before.until_ns > after.from_ns) faults.push_back(text(before) + " still trusted it when " + text(after) + " began");
  });
  return faults;
}

std::vector<std::string> faults_of(const std::vector<Admission>& admissions, const std::vector<Claim>& claims) {
  std::vector<std::string> faults;
  uint64_t highest = 0;
  for (const Admission& write : admissions) {
    const std::string who = "a write of node " + std::to_string(write.holder) + " with token " + std::to_string(write.token);
    const auto owns = [&](const Claim& claim) { return claim.token == write.token && claim.holder == write.holder; };
    if (std::none_of(claims.begin(), claims.end(), owns)) faults.push_back(who + " has no grant behind it");
    if (write.accepted && write.token < highest) faults.push_back(who + " got in after token " + std::to_string(highest));
    if (!write.accepted && write.token >= highest) faults.push_back(who + " was refused though nothing newer had been let in");
    if (write.accepted) highest = std::max(highest, write.token);
  }
  return faults;
}

}  // namespace coordkit::support
