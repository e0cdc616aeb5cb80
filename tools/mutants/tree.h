// A second source tree with every mutant in it, each behind its switch: what `./dev mutants` builds. src/ and include/ are
// copies, rewritten where the table says so; everything else is linked. A file whose content has not changed keeps its time, so
// that a build of the tree compiles only what it must.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/mutants/table.h"

namespace coordkit::mutants {

// Why the table does not fit the tree, a sentence each; empty: it fits. Each original text is found exactly once in its file,
// no two overlap, each row has a switch somewhere and each switch a row.
std::vector<std::string> complaints(const Table& table, const std::filesystem::path& top);

struct Planted {
  size_t files = 0;    // that contain mutants
  size_t written = 0;  // files that changed
};

// Throws std::invalid_argument, with the complaints, if the table does not fit.
Planted plant(const Table& table, const std::filesystem::path& top, const std::filesystem::path& into);

}  // namespace coordkit::mutants
