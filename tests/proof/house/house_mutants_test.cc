// The table of defects on purpose (tests/proof/mutants) is complete and true: every invariant that is not open has one, each
// still fits the sources, and the tests that must kill them exist. The product does not know them.
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

#include "tests/support/source_dir.h"
#include "tests/support/tree.h"
#include "tools/mutants/tree.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;
using mutants::Kind;
using mutants::Mutant;
using mutants::read_file;
using Words = std::set<std::string>;

const fs::path kTree = source_dir();

std::vector<Mutant> table() { return mutants::read_table(kTree).mutants; }

Words words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// The ids of the rows of one table of docs/; with their last column.
std::map<std::string, std::string> rows_of(const std::string& document) {
  static const std::regex row("\\| ((?:(?:INV|REG|FLT)_[A-Z][0-9]+ ?)+) ?\\|.*\\| ?([^|]*)\\|");
  std::map<std::string, std::string> rows;
  std::ifstream in(kTree / "docs" / document);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    for (const std::string& id : words_of(match[1])) rows[id] = match[2];
  }
  return rows;
}

// All tests of one folder of tests/, of whichever kind, and of the suites that are instantiated there: "Suite.Name".
Words tests_of(const std::string& folder) {
  static const std::regex test("TEST(?:_F|_P)?\\(\\s*(\\w+),\\s*(\\w+)\\)");
  Words found;
  const fs::path tests = kTree / "tests";
  for (const fs::path& root :
       {tests / "unit" / folder, tests / "proof" / folder, tests / "system" / folder, kTree / "include/coordkit/testing"}) {
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::directory_iterator(root)) {
      if (!fs::is_regular_file(entry.path())) continue;
      const std::string text = read_file(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at) {
        found.insert((*at)[1].str() + "." + (*at)[2].str());
      }
    }
  }
  return found;
}

TEST(MutantsTest, EveryInvariantThatIsNotOpenHasOne) {
  Words broken;
  for (const Mutant& row : table()) broken.merge(words_of(row.breaks));
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
  for (const Mutant& row : table()) {
    for (const std::string& id : words_of(row.breaks)) EXPECT_TRUE(known.contains(id)) << row.name << " breaks " << id;
  }
}

TEST(MutantsTest, EachOriginalTextIsFoundExactlyOnce) {
  for (const std::string& complaint : mutants::complaints(mutants::read_table(kTree), kTree)) ADD_FAILURE() << complaint;
}

TEST(MutantsTest, TheProductDoesNotKnowThem) {
  static const std::regex word("mutant", std::regex::icase);
  for (const fs::path& path : files_below({"src", "include", "verify"})) {
    EXPECT_FALSE(std::regex_search(read_file(path), word)) << path;
  }
}

// "raft SuiteTest.Name", or with a pattern around an instantiated suite: "log */SuiteTest.Name/*".
TEST(MutantsTest, TheTestThatMustKillItExists) {
  static const std::regex form("(\\w+) (?:\\*/)?(\\w+\\.\\w+)(?:/\\*)?");
  std::map<std::string, Words> tests;
  for (const Mutant& row : table()) {
    std::smatch match;
    ASSERT_TRUE(std::regex_match(row.killer, match, form)) << row.name << ": " << row.killer;
    const std::string folder = match[1];
    if (!tests.contains(folder)) tests[folder] = tests_of(folder);
    EXPECT_TRUE(tests[folder].contains(match[2])) << row.name << ": " << row.killer;
  }
}

TEST(MutantsTest, TheProfileThatMustFindItExistsOrAReasonIsGiven) {
  const std::string plan = read_file(kTree / "verify/sim/plan.cc");
  for (const Mutant& row : table()) {
    const bool profile = plan.find("{\"" + row.found + "\", ") != std::string::npos;
    EXPECT_EQ(profile, row.kind != Kind::Unit) << row.name << ": " << row.found;
    EXPECT_TRUE(profile || words_of(row.found).size() > 3) << row.name << " without a reason";
  }
}

}  // namespace
}  // namespace coordkit::house
