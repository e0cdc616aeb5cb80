// The site of ./dev docs has every page of docs/: its navigation (tools/docs/mkdocs.yml) names each, or the page is on the list
// of those that are left out on purpose. tests/system/docs looks at the pages built of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "tests/support/source_dir.h"
#include "tests/support/tree.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using PagePaths = std::set<std::string>;

const fs::path kTopOfPages = source_dir();

// Pages that the navigation does not name: each with its reason.
const PagePaths kLeftOut = {
    "docs/decisions/0000-template.md",  // no decision, but the form of one
};

PagePaths pages_below(std::string_view folder) {
  PagePaths found;
  for (const fs::path& path : files_below({folder}, {".md"})) found.insert(path_in_tree(path));
  return found;
}

// The files of the tree that a navigation names, one a line: "- Locks: docs/guides/locks.md". Two pages have another name
// there.
PagePaths named_by(const std::string& navigation) {
  static const std::regex page(R"(- (?:[^\n"]*: )?([\w./-]+\.md)\n)");
  PagePaths named;
  for (std::sregex_iterator at(navigation.begin(), navigation.end(), page), end; at != end; ++at) {
    const std::string path = (*at)[1];
    named.insert(path == "index.md" ? "docs/start/home.md" : path == "overview.md" ? "README.md" : path);
  }
  if (navigation.find("- \"@decisions\"") != std::string::npos) named.merge(pages_below("docs/decisions"));
  return named;
}

bool is_made(const std::string& path) {  // of headers and of examples, by tools/docs/pages.py
  return path.starts_with("reference/") || path == "examples/index.md";
}

TEST(SiteTest, EveryPageIsInTheNavigationOrLeftOutOnPurpose) {
  const PagePaths named = named_by(text_of_file(kTopOfPages / "tools/docs/mkdocs.yml"));
  for (const std::string& page : pages_below("docs")) EXPECT_TRUE(named.contains(page) || kLeftOut.contains(page)) << page;
  for (const std::string& page : named) EXPECT_TRUE(is_made(page) || fs::exists(kTopOfPages / page)) << page;
  for (const std::string& page : kLeftOut) EXPECT_TRUE(fs::exists(kTopOfPages / page)) << page;
}

TEST(SiteTest, ThePagesOfANavigationAreSeen) {
  EXPECT_THAT(named_by("nav:\n  - Home: index.md\n  - Start:\n      - a/b.md\n      - In: c-d.md\n      - \"@else\"\n"),
              ElementsAre("a/b.md", "c-d.md", "docs/start/home.md"));
  EXPECT_THAT(named_by("nav:\n  - Start:\n"), IsEmpty());
  EXPECT_TRUE(named_by("  - \"@decisions\"\n").contains("docs/decisions/README.md"));
}

// A newcomer finds the answer to each question from there in one click.
TEST(SiteTest, EachOfTheQuestionsHasAnAnswerAndALink) {
  const std::string page = text_of_file(kTopOfPages / "docs/start/questions.md");
  int questions = 0;
  for (size_t at = page.find("\n### "); at != std::string::npos; ++questions) {
    const size_t next = page.find("\n### ", at + 1);
    const std::string question = page.substr(at, next == std::string::npos ? next : next - at);
    EXPECT_NE(question.find("?\n\n"), std::string::npos) << question;
    EXPECT_NE(question.find("]("), std::string::npos) << question;
    at = next;
  }
  EXPECT_EQ(questions, 15);
}

}  // namespace
}  // namespace coordkit::house
