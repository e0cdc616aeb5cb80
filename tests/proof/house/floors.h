// The floors of ARCHITECTURE.md as a table, and a scanner that reads a source text like a strict reviewer: which
// headers it includes, which forbidden words it uses, how long it is. Text in, findings out; no file is touched.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coordkit::house {

// Folder -> folders it may include, itself not listed. Those that judge the product are below verify/, the others below src/.
const std::map<std::string, std::set<std::string>>& floors();

// "src" or "verify".
std::string tree_of(const std::string& folder);

struct Findings {
  std::vector<std::string> broken;  // against the rules
  std::vector<std::string> long_;   // files longer than they should be, but not yet absurd
};

// `path` is relative to the top: "src/raft/core.cc" or "include/coordkit/types.h".
void scan(std::string_view path, std::string_view text, Findings& findings);

}  // namespace coordkit::house
