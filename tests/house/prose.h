// A reader of English: it finds sentences that people have to read twice. It knows Markdown and the comments of C++. Code,
// links' targets and HTML comments are not read. A cell of a table, an item of a list and a heading each end where they end.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace coordkit::house {

struct Finding {
  size_t line = 0;
  std::string rule;      // "bare who", "bare what", "elliptic Of", "a sentence of 41 words", or a phrase: "goes on"
  std::string sentence;  // as it was read
};

std::vector<Finding> prose_of_document(std::string_view markdown);
std::vector<Finding> prose_of_comments(std::string_view cpp);

// The list of files that are not clean yet: "path count" a line, # begins a comment.
using Counts = std::map<std::string, size_t>;
Counts counts_in(std::string_view list);

// Compares the list with these counts, one sentence for each difference: files above it, and files below it. A file that the
// list does not name may have none.
struct Verdict {
  std::vector<std::string> above;
  std::vector<std::string> below;
};
Verdict compare(const Counts& found, const Counts& allowed);

// The list with every count that fell; no count rises and no file is added. Comments stay.
std::string lowered(std::string_view list, const Counts& found);

}  // namespace coordkit::house
