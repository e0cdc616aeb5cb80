// The table of defects on purpose (src/base/mutants.def) is complete and true: every invariant that is not open has one, each
// stands in the sources where its row says and nowhere else, and the tests that must kill them exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_dir.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;
using Words = std::set<std::string>;

const fs::path kTop = source_dir();

enum class Kind { Safety, Liveness, Unit };

struct Row {
  std::string name;
  std::string enumerator;
  Kind kind;
  std::string breaks;
  std::string killer;
  std::string places;
  std::string found;  // a profile, or why there is none
};

std::vector<Row> table() {
  return {
#define MUTANT(name, enumerator, kind, breaks, killer, places, found) \
  {#name, #enumerator, Kind::kind, breaks, killer, places, found},
#include "base/mutants.def"
#undef MUTANT
  };
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

Words words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// "ImpostorHeard" -> "impostor_heard"
std::string in_words(const std::string& enumerator) {
  std::string words;
  for (const char c : enumerator) {
    if (std::isupper(c) != 0 && !words.empty()) words += '_';
    words += static_cast<char>(std::tolower(c));
  }
  return words;
}

// Where each enumerator is used: files below src/.
std::map<std::string, Words> uses() {
  static const std::regex use("mutant\\(Mutant::(\\w+)\\)");
  std::map<std::string, Words> found;
  for (const auto& entry : fs::recursive_directory_iterator(kTop / "src")) {
    if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
    const std::string text = read(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), use), end; at != end; ++at) {
      found[(*at)[1]].insert(entry.path().lexically_relative(kTop / "src").string());
    }
  }
  return found;
}

// The ids of the rows of one table of docs/; with their last column.
std::map<std::string, std::string> rows_of(const std::string& document) {
  static const std::regex row("\\| ((?:(?:INV|REG|FLT)_[A-Z][0-9]+ ?)+) ?\\|.*\\| ?([^|]*)\\|");
  std::map<std::string, std::string> rows;
  std::ifstream in(kTop / "docs" / document);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    for (const std::string& id : words_of(match[1])) rows[id] = match[2];
  }
  return rows;
}

// All tests of one folder of tests/, and of the suites that are instantiated there: "Suite.Name".
Words tests_of(const std::string& folder) {
  static const std::regex test("TEST(?:_F|_P)?\\(\\s*(\\w+),\\s*(\\w+)\\)");
  Words found;
  for (const fs::path& root : {kTop / "tests" / folder, kTop / "include/coordkit/testing"}) {
    for (const auto& entry : fs::directory_iterator(root)) {
      if (!fs::is_regular_file(entry.path())) continue;
      const std::string text = read(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at) {
        found.insert((*at)[1].str() + "." + (*at)[2].str());
      }
    }
  }
  return found;
}

TEST(MutantsTest, NamesAreTheEnumeratorsInWords) {
  Words names;
  for (const Row& row : table()) {
    EXPECT_EQ(row.name, in_words(row.enumerator));
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is there twice";
  }
}

TEST(MutantsTest, EveryInvariantThatIsNotOpenHasOne) {
  Words broken;
  for (const Row& row : table()) broken.merge(words_of(row.breaks));
  const auto invariants = rows_of("invariants.md");
  EXPECT_GT(invariants.size(), 40u);
  for (const auto& [id, open] : invariants) {
    EXPECT_TRUE(!open.empty() || broken.contains(id)) << id << " has no mutant that breaks it";
  }
}

TEST(MutantsTest, WhatTheyBreakIsDescribed) {
  Words known;
  for (const char* document : {"invariants.md", "regressions.md", "faults.md"}) {
    for (const auto& [id, open] : rows_of(document)) known.insert(id);
  }
  for (const Row& row : table()) {
    EXPECT_FALSE(row.breaks.empty()) << row.name;
    for (const std::string& id : words_of(row.breaks)) EXPECT_TRUE(known.contains(id)) << row.name << " breaks " << id;
  }
}

TEST(MutantsTest, EachStandsWhereItsRowSays) {
  std::map<std::string, Words> used = uses();
  for (const Row& row : table()) {
    EXPECT_EQ(used[row.enumerator], words_of(row.places)) << row.name;
    used.erase(row.enumerator);
  }
  for (const auto& [enumerator, places] : used) ADD_FAILURE() << enumerator << " has no row";
}

// "raft SuiteTest.Name", or with a pattern around an instantiated suite: "log */SuiteTest.Name/*".
TEST(MutantsTest, TheTestThatMustKillItExists) {
  static const std::regex form("(\\w+) (?:\\*/)?(\\w+\\.\\w+)(?:/\\*)?");
  std::map<std::string, Words> tests;
  for (const Row& row : table()) {
    std::smatch match;
    ASSERT_TRUE(std::regex_match(row.killer, match, form)) << row.name << ": " << row.killer;
    const std::string folder = match[1];
    if (!tests.contains(folder)) tests[folder] = tests_of(folder);
    EXPECT_TRUE(tests[folder].contains(match[2])) << row.name << ": " << row.killer;
  }
}

TEST(MutantsTest, TheProfileThatMustFindItExistsOrAReasonIsGiven) {
  const std::string plan = read(kTop / "src/sim/plan.cc");
  for (const Row& row : table()) {
    const bool profile = plan.find("{\"" + row.found + "\", ") != std::string::npos;
    EXPECT_EQ(profile, row.kind != Kind::Unit) << row.name << ": " << row.found;
    EXPECT_TRUE(profile || words_of(row.found).size() > 3) << row.name << " without a reason";
  }
}

}  // namespace
}  // namespace coordkit::house
