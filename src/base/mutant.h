// Defects on purpose, one at a time, in builds with COORDKIT_MUTANTS only: a check that has never failed is not known to work.
// In every other build mutant() is a constant false, so that nothing of a defect is compiled. What the defects are, what they
// break and which test and simulation must find them is said in mutants.def; ./dev mutants tries them all.
//
// The switch is one for the process, set before main from the environment variable COORDKIT_MUTANT.
#pragma once

#include <cstdint>
#include <string_view>

namespace coordkit {

enum class Mutant : uint8_t {
  None,
#define MUTANT(name, enumerator, kind, breaks, killer, places, found) enumerator,
#include "base/mutants.def"
#undef MUTANT
};

#ifdef COORDKIT_MUTANTS
extern Mutant active_mutant;
inline bool mutant(Mutant which) { return which == active_mutant; }
// By its name in mutants.def; false: there is none. Not while another thread runs code of this library.
bool switch_mutant(std::string_view name);
#else
constexpr bool mutant(Mutant) { return false; }
#endif

}  // namespace coordkit
