// A reader of English: it finds sentences that people have to read twice. It knows Markdown and the comments of C++. Code,
// links' targets and HTML comments are not read. A cell of a table, an item of a list and a heading each end where they end.
#pragma once

#include <cstddef>
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

}  // namespace coordkit::house
