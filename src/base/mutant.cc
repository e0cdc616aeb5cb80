#include "base/mutant.h"

#ifdef COORDKIT_MUTANTS

#include <cstdlib>
#include <string>

namespace coordkit {
namespace {

struct Named {
  std::string_view name;
  Mutant mutant;
};

constexpr Named kNames[] = {
#define MUTANT(name, enumerator, kind, breaks, killer, places, found) {#name, Mutant::enumerator},
#include "base/mutants.def"
#undef MUTANT
};

Mutant from_environment() {
  const char* name = std::getenv("COORDKIT_MUTANT");
  if (name == nullptr || *name == '\0') return Mutant::None;
  for (const Named& one : kNames) {
    if (one.name == name) return one.mutant;
  }
  return Mutant::None;
}

}  // namespace

Mutant active_mutant = from_environment();

bool switch_mutant(std::string_view name) {
  for (const Named& one : kNames) {
    if (one.name != name) continue;
    active_mutant = one.mutant;
    return true;
  }
  return false;
}

}  // namespace coordkit

#endif
