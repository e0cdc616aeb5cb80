// The documents do not drift from the tree: code in them is code that compiles, commands exist, links lead somewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "coordkit/error.h"
#include "tests/support/source_dir.h"
#include "tests/support/tree.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const fs::path kTop = source_dir();

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<fs::path> documents() {
  std::vector<fs::path> found = files_below({"docs"}, {".md"});
  for (const auto& entry : fs::directory_iterator(kTop)) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  return found;
}

// The prose: lines between two fences are code.
std::string without_blocks(const std::string& document) {
  std::string prose;
  bool inside = false;
  for (const std::string& line : lines_of(document)) {
    if (line.starts_with("```")) inside = !inside;
    if (!inside) prose += line + "\n";
  }
  return prose;
}

struct CodeBlock {
  std::optional<std::string> source;  // of the marker right above: <!-- source: path -->
  Lines code;
};

std::vector<CodeBlock> cpp_blocks(const std::string& document) {
  static const std::regex marker("<!-- source: (\\S+) -->");
  std::vector<CodeBlock> blocks;
  std::optional<std::string> source;
  bool inside = false;
  for (const std::string& line : lines_of(document)) {
    std::smatch match;
    if (inside && line.starts_with("```")) {
      inside = false;
    } else if (inside) {
      blocks.back().code.push_back(line);
    } else if (std::regex_match(line, match, marker)) {
      source = match[1];
      continue;
    } else if (line == "```cpp") {
      blocks.push_back({source, {}});
      inside = true;
    }
    source.reset();
  }
  return blocks;
}

// Is `part` a run of consecutive lines of `whole`? Both may be indented differently as a block.
bool contains(const Lines& whole, const Lines& part) {
  const auto matches_at = [&](size_t at) {
    std::optional<size_t> indent;
    for (size_t i = 0; i < part.size(); ++i) {
      const std::string& line = whole[at + i];
      if (part[i].empty() || line.empty()) {
        if (part[i] != line) return false;
        continue;
      }
      if (!indent) indent = line.size() - std::min(line.size(), part[i].size());
      if (line != std::string(*indent, ' ') + part[i]) return false;
    }
    return true;
  };
  for (size_t at = 0; at + part.size() <= whole.size(); ++at) {
    if (matches_at(at)) return true;
  }
  return false;
}

// The commands named in a text as "./dev word".
std::set<std::string> commands_in(const std::string& text) {
  static const std::regex call("\\./dev(?: --preset \\w+)? (\\w+)");
  std::set<std::string> commands;
  for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) commands.insert((*at)[1]);
  return commands;
}

bool dev_has(const std::string& command) {
  static const std::string script = [] {
    std::string all = text_of_file(kTop / "dev");
    for (const fs::path& part : files_below({"tools/dev"}, {".sh"})) all += "\n" + text_of_file(part);
    return all;
  }();
  return script.find("\n" + command + "_command()") != std::string::npos ||
         script.find("\n  " + command + ")") != std::string::npos || script.find("\n  " + command + " |") != std::string::npos;
}

TEST(DocsTest, EveryCppBlockIsAPartOfACompiledFile) {
  for (const fs::path& document : documents()) {
    for (const CodeBlock& block : cpp_blocks(text_of_file(document))) {
      const std::string where =
          document.lexically_relative(kTop).string() + ", the block that begins with: " + block.code.at(0);
      if (!block.source) {
        ADD_FAILURE() << where << "\nhas no <!-- source: file --> line right above it";
      } else if (!fs::exists(kTop / *block.source)) {
        EXPECT_TRUE(files_below({"examples"}, {".cc"}).empty())
            << where << "\nnames " << *block.source << ", which does not exist";
      } else {
        EXPECT_TRUE(contains(lines_of(text_of_file(kTop / *block.source)), block.code))
            << where << "\nis not in " << *block.source << " like this";
      }
    }
  }
}

TEST(DocsTest, EveryCommandOfTheDocumentsExists) {
  EXPECT_THAT(commands_in(text_of_file(kTop / "README.md")), testing::IsSupersetOf({"demo", "test"}));
  for (const fs::path& document : documents()) {
    for (const std::string& command : commands_in(text_of_file(document)))
      EXPECT_TRUE(dev_has(command)) << document << ": ./dev " << command;
  }
}

TEST(DocsTest, EveryRelativeLinkLeadsToAFile) {
  static const std::regex link("\\]\\(([^)#:]+)(#[^)]*)?\\)");
  for (const fs::path& document : documents()) {
    const std::string text = without_blocks(text_of_file(document));
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      EXPECT_TRUE(fs::exists(document.parent_path() / (*at)[1].str())) << document << ": " << (*at)[1];
    }
  }
}

// "SessionTest.ExpiryIsAnEntry" of a test, in text: every TEST, TEST_F and TEST_P of the tree.
std::vector<std::string> tests_in(const std::string& text) {
  static const std::regex test(R"(TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at)
    names.push_back((*at)[1].str() + "." + (*at)[2].str());
  return names;
}

// "SessionTest LT-1" of each id that the comment above a test says it covers.
std::set<std::string> covered_in(const std::string& text) {
  static const std::regex test(R"(// Covers: ([^\n]*(?:\n *// [^\n]*)*)\n *TEST(?:_F|_P)?\(\s*(\w+),)");
  static const std::regex id(R"([\w-]+)");
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at) {
    const std::string ids = (*at)[1];
    for (std::sregex_iterator one(ids.begin(), ids.end(), id); one != end; ++one)
      found.insert((*at)[2].str() + " " + one->str());
  }
  return found;
}

// The same of a document: "`SessionTest` (LT-1, T8)".
std::set<std::string> covered_by(const std::string& document) {
  static const std::regex suite(R"(`(\w+Test)` \(((?:(?:(?:REG|FLT|INV)_[A-Z]|S-|T|LT-)\d+(?:,\s+)?)+)\))");
  static const std::regex id(R"([\w-]+)");
  std::set<std::string> found;
  for (std::sregex_iterator at(document.begin(), document.end(), suite), end; at != end; ++at) {
    const std::string ids = (*at)[2];
    for (std::sregex_iterator one(ids.begin(), ids.end(), id); one != end; ++one)
      found.insert((*at)[1].str() + " " + one->str());
  }
  return found;
}

// Whether a name is among them, with * for whatever there is.
bool names_one(const std::string& pattern, const std::vector<std::string>& names) {
  const std::regex regex(std::regex_replace(std::regex_replace(pattern, std::regex("\\."), "\\."), std::regex("\\*"), ".*"));
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return std::regex_match(name, regex); });
}

TEST(DocsTest, EveryTestAndFileNamedInTheDocumentsExists) {
  static const std::regex test(R"(`(\w+Test\.[\w*]+)`)");
  static const std::regex file(R"(`((?:src|include|verify|tests|tools|examples|bench|cmake)/[\w/.-]+\.\w+)`)");
  std::vector<std::string> tests;
  std::set<std::string> covered;
  for (const fs::path& source : files_below({"tests", "include"}, {".cc", ".h"})) {
    for (std::string& name : tests_in(text_of_file(source))) tests.push_back(std::move(name));
    covered.merge(covered_in(text_of_file(source)));
  }
  for (const fs::path& document : documents()) {
    const std::string text = without_blocks(text_of_file(document));
    for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at)
      EXPECT_TRUE(names_one((*at)[1], tests)) << document << ": " << (*at)[1];
    for (const std::string& each : covered_by(text)) EXPECT_TRUE(covered.contains(each)) << document << ": " << each;
    for (std::sregex_iterator at(text.begin(), text.end(), file), end; at != end; ++at)
      EXPECT_TRUE(fs::exists(kTop / (*at)[1].str())) << document << ": " << (*at)[1];
  }
}

TEST(DocsTest, ATestThatDoesNotExistIsNoticed) {
  const std::vector<std::string> tests = tests_in("TEST_F(SessionTest, ExpiryIsAnEntry) {\nTEST(OtherTest,\n     One) {");
  EXPECT_EQ(tests, (std::vector<std::string>{"SessionTest.ExpiryIsAnEntry", "OtherTest.One"}));
  EXPECT_TRUE(names_one("SessionTest.Expiry*", tests) && names_one("OtherTest.One", tests));
  EXPECT_FALSE(names_one("SessionTest.Expiry", tests) || names_one("SessionTest.*One", tests));
  EXPECT_EQ(covered_in("// Covers: LT-1\n// FLT_D03\nTEST_F(SessionTest, One) {\n// Covers: T8\n\nTEST(OtherTest, Two) {"),
            (std::set<std::string>{"SessionTest LT-1", "SessionTest FLT_D03"}));
  EXPECT_EQ(covered_by("`SessionTest` (LT-1,\nFLT_D03), `OtherTest` (see T8)"),
            (std::set<std::string>{"SessionTest LT-1", "SessionTest FLT_D03"}));
}

// Tables and code have the width they need, and so has an address.
TEST(DocsTest, ProseIsNoWiderThanAScreen) {
  constexpr size_t kWidth = 120;
  for (const fs::path& document : documents()) {
    for (const std::string& line : lines_of(without_blocks(text_of_file(document)))) {
      const bool free = line.find("](http") != std::string::npos || line.find_first_not_of(' ') == line.find('|');
      EXPECT_TRUE(free || line.size() <= kWidth) << document << ": " << line;
    }
  }
}

TEST(DocsTest, EveryInvariantNamedInCodeIsDescribed) {
  static const std::regex id("INV_[A-Z][0-9]{2}");
  const std::string described = text_of_file(kTop / "docs/invariants.md");
  for (const fs::path& file : files_below({"src", "include", "verify", "tests", "tools"}, {".h", ".cc", ".txt"})) {
    if (file.filename() == "docs_test.cc") continue;
    const std::string text = text_of_file(file);
    for (std::sregex_iterator at(text.begin(), text.end(), id), end; at != end; ++at) {
      EXPECT_NE(described.find("| " + at->str() + " |"), std::string::npos) << file << ": " << at->str();
    }
  }
}

std::string spelled(absl::StatusCode code) {  // kOutOfRange, of OUT_OF_RANGE
  std::string out = "k";
  bool first = true;
  for (const char each : absl::StatusCodeToString(code)) {
    if (each != '_') out += first ? each : static_cast<char>(each - 'A' + 'a');
    first = each == '_';
  }
  return out;
}

// A reader finds there what each reason means, and whether it may be tried again.
TEST(DocsTest, EveryReasonHasARowThatSaysItsCode) {
  std::map<std::string, std::string> rows;
  for (const std::string& line : lines_of(text_of_file(kTop / "docs" / "semantics.md"))) {
    static const std::regex row(R"(\| ([A-Z]\w+(?:, [A-Z]\w+)*) \| (k[A-Z]\w+(?:, k[A-Z]\w+)*) \|.*)");
    static const std::regex word(R"(\w+)");
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const std::string names = match[1], codes = match[2];
    std::sregex_iterator code(codes.begin(), codes.end(), word);
    for (std::sregex_iterator name(names.begin(), names.end(), word), end; name != end; ++name) {
      EXPECT_TRUE(rows.emplace(name->str(), code->str()).second) << name->str() << " has two rows";
      if (std::next(code) != end) ++code;
    }
  }
  for (uint16_t number = 1; name_of(static_cast<Reason>(number)) != "?"; ++number) {
    const auto reason = static_cast<Reason>(number);
    if (reason == Reason::NotLeader) continue;  // given to no caller
    EXPECT_EQ(rows[std::string(name_of(reason))], spelled(code_of(reason))) << name_of(reason);
  }
}

TEST(DocsTest, AChangedWordInABlockIsNoticed) {
  const Lines file = {"int main() {", "  lock();", "", "  unlock();", "}"};
  EXPECT_TRUE(contains(file, {"lock();", "", "unlock();"}));
  EXPECT_TRUE(contains(file, {"  lock();", ""}));
  EXPECT_FALSE(contains(file, {"lock();", "unlock();"}));
  EXPECT_FALSE(contains(file, {"lock();", "", "unlocked();"}));
  EXPECT_FALSE(contains(file, {"lock();", "", "  unlock();"}));
}

TEST(DocsTest, ABlockKnowsTheMarkerRightAboveItOnly) {
  const auto blocks = cpp_blocks(
      "<!-- source: a.cc -->\n```cpp\nint a;\n```\n\n<!-- source: b.cc -->\n\n```cpp\nint b;\n```\n```sh\nls\n```\n");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].source, "a.cc");
  EXPECT_EQ(blocks[0].code, Lines{"int a;"});
  EXPECT_EQ(blocks[1].source, std::nullopt);
}

TEST(DocsTest, AnUnknownCommandIsNoticed) {
  EXPECT_EQ(commands_in("run ./dev test quick, then `./dev --preset asan sim --runs 1`"),
            (std::set<std::string>{"test", "sim"}));
  EXPECT_TRUE(dev_has("test"));
  EXPECT_TRUE(dev_has("clean"));
  EXPECT_TRUE(dev_has("help"));
  EXPECT_FALSE(dev_has("nonsense"));
}

}  // namespace
}  // namespace coordkit::house
