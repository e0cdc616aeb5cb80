// The extra switch in a tree of mutants: one for the process, set before main from the environment variable
// COORDKIT_MUTANT. It is written into that tree and into no other.
#pragma once

#include <string>

#include "tools/mutants/table.h"

namespace coordkit::mutants {

inline constexpr const char* kSwitchInclude = "coordkit/mutant_switch.h";  // below include/
inline constexpr const char* kSwitchSource = "src/base/mutant_switch.cc";

std::string switch_header(const Table& table);
std::string switch_source(const Table& table);

// A text of the table as C++: mutant(votes_twice) becomes a query of the switch.
std::string with_switches(const std::string& mutated);

}  // namespace coordkit::mutants
