// The lock table a second time, obviously right: a flat list of claims, and everything is found by scanning it, as often as
// needed. docs/semantics.md S-36 to S-40, S-46 to S-49, S-53 and S-58, nearly word for word.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lock/terms.h"

namespace coordkit::lock {

class NaiveTable {
 public:
  using Owner = std::pair<SessionId, std::string>;
  struct Claim {
    Owner owner;
    std::vector<std::pair<std::string, Mode>> names;
    Index queued;
    Token token;
    bool timed = false;
    Duration delay{};
    bool reentrant = false;
    uint32_t count = 1;
    uint64_t releases = 0;
    std::string value;
    uint64_t block = 0;  // S-58: its size; the other fields are for a hold
    uint64_t first = 0, last_of_block = 0, newest = 0;
    bool asked = false;
    Sequence request;  // of the acquire; to answer it
    bool held() const { return static_cast<bool>(token); }
  };
  using Grants = std::vector<std::pair<Index, Token>>;

  std::vector<Claim> claims;  // in the order of their acquires
  std::map<std::string, std::pair<uint64_t, Duration>> delays;
  std::vector<std::pair<std::string, Token>> asked;  // delegations, since it was last cleared
  uint64_t last = 0;                                 // token or delay

  static const Mode* mode_of(const Claim& claim, const std::string& name) {
    for (const auto& [each, mode] : claim.names) {
      if (each == name) return &mode;
    }
    return nullptr;
  }
  // Both on one name, and not both sharing it.
  static bool clash(const Claim& a, const Claim& b, const std::string& name) {
    const Mode *one = mode_of(a, name), *other = mode_of(b, name);
    return one && other && !(*one == Mode::Shared && *other == Mode::Shared);
  }
  Claim* find(const Owner& owner, const std::string& name, bool sticky = false) {
    for (Claim& claim : claims) {
      if (claim.owner == owner && mode_of(claim, name) && (claim.block != 0) == sticky) return &claim;
    }
    return nullptr;
  }
  Claim* delegation(const std::string& name) {
    for (Claim& claim : claims) {
      if (claim.held() && claim.block != 0 && mode_of(claim, name)) return &claim;
    }
    return nullptr;
  }
  static bool may_be_current(const Claim& claim, uint64_t token) {
    return claim.first <= token && token <= claim.last_of_block && token >= claim.newest;
  }
  // S-58: the block of a hold that takes the next token.
  void fill(Claim& claim) {
    if (claim.block == 0) return;
    claim.first = last;
    claim.last_of_block = last += claim.block - 1;
    claim.newest = 0;
  }
  // S-45: a process that takes a session over gets new holds in place of the existing ones.
  void renew(SessionId session) {
    std::vector<Claim*> held;
    for (Claim& claim : claims) {
      if (claim.owner.first == session && claim.held()) held.push_back(&claim);
    }
    std::ranges::sort(held, {}, [](const Claim* claim) { return claim->token; });
    for (Claim* claim : held) {
      claim->token = Token(++last);
      claim->releases = 0;
      fill(*claim);
    }
  }
  void ask(const std::string& name) {
    Claim* hold = delegation(name);
    if (!hold || hold->asked) return;
    hold->asked = true;
    asked.emplace_back(name, hold->token);
  }
  Claim* find(Token token) {
    for (Claim& claim : claims) {
      if (claim.token == token) return &claim;
    }
    return nullptr;
  }

  bool grantable(const Claim& wait) const {
    for (const auto& [name, mode] : wait.names) {
      if (delays.contains(name)) return false;
      for (const Claim& other : claims) {
        if (other.held() && clash(wait, other, name)) return false;
        if (!other.held() && other.queued < wait.queued && mode_of(other, name)) return false;
      }
    }
    return true;
  }
  Grants decide_waits() {
    Grants grants;
    for (;;) {
      const auto next = std::ranges::find_if(claims, [&](const Claim& c) { return !c.held() && grantable(c); });
      if (next == claims.end()) return grants;
      next->token = Token(++last);
      grants.emplace_back(next->queued, next->token);
      fill(*next);
      const std::string& name = next->names.front().first;
      const bool wanted = std::ranges::any_of(claims, [&](const Claim& c) { return !c.held() && mode_of(c, name); });
      if (next->block != 0 && wanted) ask(name);
    }
  }

  // The owners that must act before this wait can end. Behind a compatible waiter, a wait inherits what that waiter waits for.
  std::set<Owner> in_the_way(const Claim& wait) const {
    std::set<Owner> owners;
    for (const auto& [name, mode] : wait.names) {
      for (const Claim& other : claims) {
        if (!mode_of(other, name) || (!other.held() && other.queued >= wait.queued)) continue;
        if (other.held() && other.block != 0) continue;  // S-58: its local holder is unknown
        if (clash(wait, other, name)) {
          owners.insert(other.owner);
        } else if (!other.held()) {
          owners.merge(in_the_way(other));
        }
      }
    }
    return owners;
  }
  // Does the owner wait for itself, once it waits for these?
  bool cycle(const Owner& owner, std::set<Owner> pending) const {
    std::set<Owner> seen;
    while (!pending.empty()) {
      const Owner next = *pending.begin();
      pending.erase(pending.begin());
      if (next == owner) return true;
      if (seen.insert(next).second) pending.merge(all_in_the_way(next));
    }
    return false;
  }
  std::set<Owner> all_in_the_way(const Owner& owner) const {
    std::set<Owner> owners;
    for (const Claim& claim : claims) {
      if (claim.owner == owner && !claim.held()) owners.merge(in_the_way(claim));
    }
    return owners;
  }
  bool any_cycle() const {  // INV_L17
    return std::ranges::any_of(claims, [&](const Claim& c) { return cycle(c.owner, all_in_the_way(c.owner)); });
  }

  void begin_delay(const std::string& name, Duration duration) {
    const auto [row, fresh] = delays.try_emplace(name, 0, duration);
    row->second = {++last, std::max(duration, row->second.second)};
  }
  void end(SessionId session, bool expired) {
    std::vector<Claim> gone;
    for (const Claim& claim : claims) {
      if (claim.owner.first == session && claim.held()) gone.push_back(claim);
    }
    std::ranges::sort(gone, {}, &Claim::token);
    for (const Claim& claim : gone) {
      if (!expired || claim.delay == Duration::zero()) continue;
      for (const auto& [name, mode] : claim.names) begin_delay(name, claim.delay);
    }
    std::erase_if(claims, [session](const Claim& claim) { return claim.owner.first == session; });
  }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const Claim& claim : claims) {
      for (const auto& [name, mode] : claim.names) names.insert(name);
    }
    for (const auto& [name, delay] : delays) names.insert(name);
    return names;
  }
};

}  // namespace coordkit::lock
