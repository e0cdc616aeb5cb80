#include "machine/permissions/denial.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"

namespace coordkit::machine {
namespace {

// No list: everything but administration.
bool covers_name(const std::vector<Permission>* list, AnyOf right, std::string_view name) {
  if (list == nullptr) return right.usual();
  return !uncovered(*list, right, name, {});
}
bool covers_everything(const std::vector<Permission>* list, AnyOf right) {
  return list == nullptr ? right.usual() : !uncovered(*list, right, {}, kNoEnd);
}

class Judge {
 public:
  Judge(const State& state, const RemoteCaller& caller)
      : state_(state), caller_(caller), list_(state.permissions.list_for(caller.name)) {}

  // The part of a need that is missing, in words; nullopt: nothing is.
  std::optional<std::string> missing(const Need& need) const {
    switch (need.of) {
      case Need::Of::Names: return missing_names(need);
      case Need::Of::Attached: return missing_attached(need);
      case Need::Of::Process:
        if (own(need.process)) return std::nullopt;
        return "right to act for another process, which no list gives";
      case Need::Of::Session: return missing_session(need);
    }
    return right_to(need, "every name");
  }

 private:
  static std::string right_to(const Need& need, std::string_view what) {
    return absl::StrCat("right to ", need.right.words(), " ", std::string(what));
  }
  bool own(const TimerGroup& process) const {
    return process.node == caller_.origin.replica && process.boot == caller_.origin.boot &&
           process.incarnation == caller_.origin.store.value();
  }
  std::optional<std::string> missing_names(const Need& need) const {
    if (list_ == nullptr) {
      if (need.right.usual()) return std::nullopt;
      return right_to(need, need.key.empty() ? "every name" : quoted(need.key));
    }
    const std::optional<std::string> first = uncovered(*list_, need.right, need.key, need.end);
    if (!first) return std::nullopt;
    return right_to(need, first->empty() ? "every name" : quoted(*first));
  }
  std::optional<std::string> missing_attached(const Need& need) const {
    if (covers_everything(list_, need.right)) return std::nullopt;
    size_t seen = 0;
    std::optional<std::string> found;
    state_.keys.attached(need.lease, {}, [&](std::string_view key) {
      if (++seen > kAttachedSeen) {
        found = right_to(need, "every name, as a lease with so many keys needs");
      } else if (!covers_name(list_, need.right, key)) {
        found = right_to(need, "all keys that are attached to the lease");  // whose names it may not see
      }
      return !found;
    });
    return found;
  }
  std::optional<std::string> missing_session(const Need& need) const {
    const std::optional<lease::Session> session = state_.sessions.find(need.session);
    const bool others = session && !own(session->group);
    if (!others || covers_everything(list_, need.right)) return std::nullopt;
    return right_to(need, "every name, as the sessions of others need");
  }

  const State& state_;
  const RemoteCaller& caller_;
  const std::vector<Permission>* const list_;
};

}  // namespace

std::optional<std::string> denial(const State& state, const RemoteCaller& caller, const Needs& needs) {
  const Judge judge(state, caller);
  for (const Need& need : needs.all) {
    const std::optional<std::string> missing = judge.missing(need);
    if (!missing) continue;
    const std::string who = caller.name.empty() ? "a remote without a name" : "remote " + quoted(caller.name);
    return absl::StrCat(who, " has no ", *missing, "; an administrator can give it, with coordctl permit");
  }
  return std::nullopt;
}

// From each place the furthest end of a prefix that contains it, and so on.
std::optional<std::string> uncovered(const std::vector<Permission>& list, AnyOf right, std::string_view key,
                                     std::string_view end) {
  const bool endless = end == kNoEnd;
  std::string place(key);
  const auto open = [&] { return endless || (end.empty() ? place == key : place < end); };
  while (open()) {
    std::string furthest;
    for (const Permission& one : list) {
      if (!right.has(one.right) || !std::string_view(place).starts_with(one.prefix)) continue;
      std::string upto = prefix_end(one.prefix);
      if (upto == kNoEnd) return std::nullopt;
      furthest = std::max(furthest, std::move(upto));
    }
    if (furthest.empty()) return place;
    if (end.empty()) return std::nullopt;
    place = std::move(furthest);
  }
  return std::nullopt;
}

}  // namespace coordkit::machine
