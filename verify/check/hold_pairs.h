// The common part of lock models. An owner's pairs of acquire and release may be removed from a counterexample together
// (Unbound in model.h). Nothing then shows that the hold ever existed.
#pragma once

#include <algorithm>
#include <span>

namespace coordkit::check {

// Whether the group is certain pairs, one after the other, acquire first: then no hold of theirs begins earlier or continues
// later. False if any answer showed that it was held. `acquires(call)`, `releases(call)`, and `alike(acquire, release)`: of
// the same hold.
template <typename Ref, typename Acquires, typename Releases, typename Alike>
bool whole_holds(std::span<const Ref> group, std::span<const Ref> all, Acquires acquires, Releases releases, Alike alike) {
  if (std::any_of(all.begin(), all.end(), [](const Ref& op) { return !op->what.granted; })) return false;
  for (size_t i = 0; i < group.size(); ++i) {
    const auto& call = group[i]->what;
    if (!group[i]->certain() || !(i % 2 == 0 ? acquires(call) : releases(call))) return false;
    if (i % 2 == 1 && !alike(group[i - 1]->what, call)) return false;
    if (i > 0 && group[i]->call < group[i - 1]->end) return false;
  }
  return group.size() % 2 == 0;
}

}  // namespace coordkit::check
