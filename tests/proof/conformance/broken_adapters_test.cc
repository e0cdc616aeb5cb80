// The conformance suites bite: each adapter that is broken on purpose fails the test that is there for its defect, with
// that test's own message. Each runs in a process of its own, which this program starts from itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <tuple>

#include "tests/proof/conformance/planted.h"
#include "tests/support/command.h"
#include "tests/support/source_dir.h"

namespace coordkit::testkit {

void PrintTo(const Planted& one, std::ostream* out) { *out << one.suite << " " << one.name; }

namespace {

// A missing report is awaited only as long as a machine under load may take for one that comes.
Ran run_alone(const std::string& filter) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      std::string(kBrokenAdapters) + "=1 COORDKIT_TEST_PATIENCE=3 '" + program + "' --gtest_filter='" + filter + "' 2>&1";
  return run_command(command);
}

class BrokenAdapterTest : public ::testing::TestWithParam<Planted> {};

TEST_P(BrokenAdapterTest, IsCaught_Slow_WithItsSentence) {
  const Planted& one = GetParam();
  const Ran ended = run_alone(std::string("Broken/") + one.suite + "." + one.caught_by + "/" + one.name);
  EXPECT_EQ(ended.status, 1) << ended.text;
  EXPECT_NE(ended.text.find("[  FAILED  ] 1 test, listed below"), std::string::npos) << "it was not caught:\n" << ended.text;
  EXPECT_NE(ended.text.find(one.sentence), std::string::npos) << "it was caught, and the sentence is another:\n" << ended.text;
}

std::string test_name(const ::testing::TestParamInfo<Planted>& info) {
  return std::string(info.param.suite) + "_" + info.param.name;
}
INSTANTIATE_TEST_SUITE_P(All, BrokenAdapterTest, ::testing::ValuesIn(planted()), test_name);

TEST(PlantedTest, NoneIsListedTwice) {
  std::set<std::tuple<std::string, std::string>> seen;
  for (const Planted& one : planted()) EXPECT_TRUE(seen.emplace(one.suite, one.name).second) << one.name;
}

std::string row_of(const Planted& one) {
  return std::string("| ") + one.suite + " | " + one.name + " | " + one.defect + " | " + one.caught_by + " | " + one.sentence +
         " |\n";
}

TEST(PlantedTest, TheDocumentHasThisList) {
  std::ifstream in(source_dir() + "/docs/conformance.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  std::string table;
  for (const Planted& one : planted()) table += row_of(one);
  EXPECT_NE(document.find(table), std::string::npos) << "docs/conformance.md must have these lines, and no other of the kind:\n"
                                                     << table;
  const std::string rows = document.substr(std::min(document.find(table), document.size()));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '|'), 6 * static_cast<ptrdiff_t>(planted().size()));
}

}  // namespace
}  // namespace coordkit::testkit
