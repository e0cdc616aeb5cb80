// Every row of the tables of docs/ has a test that covers its id, or a written reason why not. The script that says so (./dev
// test regressions, faults, invariants, semantics, time) is shown to bite.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/command.h"
#include "tests/support/source_dir.h"

namespace coordkit::house {
namespace {

using testing::HasSubstr;
using testing::Not;

class TableTest : public testing::TestWithParam<const char*> {};

TEST_P(TableTest, EveryRowHasATestOrAReason) {
  const Ran ran = run_command(shell_word(source_dir() + "/dev") + " test " + GetParam() + " 2>&1");
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr(" 0 missing"));
}

INSTANTIATE_TEST_SUITE_P(All, TableTest, testing::Values("regressions", "faults", "invariants", "semantics", "time"),
                         [](const auto& info) { return std::string(info.param); });

// The script over one table, one test file and one table of mutants.
class ScriptTest : public testing::Test {
 public:
  Ran covered(const std::string& table, const std::string& tests, const std::string& name = "regressions",
              const std::string& mutants = "", const std::string& only = "") {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder);
    const std::string table_path = name + ".md";
    const std::string tests_path = "some_test.cc";
    std::ofstream(folder / table_path) << "# " << name << "\n\n| id | what | open |\n|---|---|---|\n" << table;
    std::ofstream(folder / tests_path) << tests;
    std::filesystem::create_directories(folder / "tests/proof/mutants");
    const std::string mutants_path = "tests/proof/mutants/raft.txt";
    std::ofstream(folder / mutants_path) << mutants;
    return run_command("cd " + shell_word(folder) + " && awk -f " +
                       shell_word(source_dir() + "/tests/proof/house/covered.awk") + " -v only=" + only +
                       " -v table=" + table_path + " " + table_path + " " + tests_path + " " + mutants_path + " 2>&1");
  }
};

TEST_F(ScriptTest, ATestCountsForEveryIdThatItsCommentSaysItCovers) {
  const Ran ran = covered("| REG_R02 | a | |\n| REG_R08 | b | |\n| REG_F01 REG_F03 | c | |\n| REG_F31 | d | half |\n",
                          "// Covers: REG_R02 REG_R8\nTEST(QuorumTest, EverySize) {}\nTEST(QuorumTest, Another) {}\n"
                          "  // Its reason.\n  // Covers: S-38 REG_F03 FLT_D16\n  // REG_F31\n"
                          "  TEST_F(LongNameOfASuiteTest,\n         Something) {\n");
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("4 rows: 3 with tests, 1 in part, 0 none with a reason, 0 missing"));
  EXPECT_THAT(ran.text, HasSubstr("REG_R08            QuorumTest.EverySize\n"));
  EXPECT_THAT(ran.text, HasSubstr("REG_F31            LongNameOfASuiteTest.Something\n"));
  EXPECT_THAT(ran.text, Not(HasSubstr("Another")));
}

TEST_F(ScriptTest, TheTestsOfOneIdArePrintedAlone) {
  const std::string table = "| REG_R02 | a | |\n| REG_R08 | b | |\n";
  const std::string tests = "// Covers: REG_R02\nTEST(A, One) {}\n// Covers: REG_R02 REG_R08\nTEST(B, Two) {}\n";
  EXPECT_EQ(covered(table, tests, "regressions", "", "REG_R02").text, "A.One\nB.Two\n");
  EXPECT_EQ(covered(table, tests, "regressions", "", "REG_R8").text, "B.Two\n");
  const Ran ran = covered(table, tests, "regressions", "", "REG_R09");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("regressions.md has no REG_R09"));
}

TEST_F(ScriptTest, ARuleIsARow) {
  const std::string rules = "- **S-05** one\n- **S-10** another, see **S-99**\n| S-20 | later |\n| S-21 to S-23 | later |\n";
  const Ran ran =
      covered(rules, "// Covers: S-5 REG_F03 S-10\nTEST(A, B) {}\n// Covers: S-22 FLT_S05\nTEST(A, C) {}\n", "semantics");
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("6 rows: 2 with tests, 1 in part, 3 none with a reason, 0 missing"));
  EXPECT_NE(covered(rules, "// Covers: S-05 INV_S10\nTEST(A, B) {}\n", "semantics").status, 0) << "S-10 has none";
  EXPECT_NE(covered(rules, "// Covers: S-05 S-10 S-11\nTEST(A, B) {}\n", "semantics").status, 0) << "there is no S-11";
}

TEST_F(ScriptTest, ARuleOfTimeIsARowOfTwoNames) {
  const std::string rules = "## The rules\n\n| T1, LT-1 | one |\n| T9 | two |\n| LT-9 | three |\n\n## Where\n\n| T2 | code |\n";
  const Ran ran = covered(rules, "// Covers: LT-1 T9\nTEST(A, B) {}\n// Covers: LT-9\nTEST(A, C) {}\n", "time");
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("3 rows: 3 with tests"));
  EXPECT_EQ(covered(rules, "// Covers: LT-1\nTEST(A, B) {}\n// Covers: T1\nTEST(A, C) {}\n", "time", "", "T1").text,
            "A.C\nA.B\n");
  EXPECT_NE(covered(rules, "// Covers: T1 T9\nTEST(A, B) {}\n", "time").status, 0) << "LT-9 is not T9";
}

TEST_F(ScriptTest, ARowWithNeitherTestNorReasonFails) {
  const Ran ran =
      covered("| REG_R02 | a | |\n| REG_R08 | b | a reason |\n", "TEST(A, B) {}\n// REG_R02 in a comment\nTEST(A, C) {}\n");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("1 none with a reason, 1 missing"));
}

TEST_F(ScriptTest, AnIdThatNoRowHasFails) {
  const Ran ran = covered("| REG_R02 | a | |\n", "// Covers: REG_R02\nTEST(A, B) {}\n// Covers: REG_R99\nTEST(A, C) {}\n");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("A.C covers REG_R99"));
}

TEST_F(ScriptTest, AWordThatIsNoIdFails) {
  const Ran ran = covered("| FLT_N01 | a | later |\n", "// Covers: FLT_N01, loss\nTEST(A, B) {}\n", "faults");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("some_test.cc:1 covers FLT_N01,, which is no id"));
  EXPECT_THAT(ran.text, HasSubstr("some_test.cc:1 covers loss, which is no id"));
}

TEST_F(ScriptTest, IdsThatNoTestFollowsFail) {
  for (const char* after : {"\nTEST(A, B) {}\n", "class Fixture {};\n", "// Covers: FLT_N01\nTEST(A, B) {}\n", ""}) {
    const Ran ran = covered("| FLT_N01 | a | later |\n", std::string("// Covers: FLT_N01\n") + after, "faults");
    EXPECT_NE(ran.status, 0) << after;
    EXPECT_THAT(ran.text, HasSubstr("some_test.cc:1 covers ids, but no test follows"));
  }
}

TEST_F(ScriptTest, AnIdInANameFails) {
  for (const char* name : {"FLT_N01_Lost", "S45_Lost", "T8_Lost", "LT_4_Lost", "LT4_Lost", "Lost_REG_R02_Again"}) {
    const Ran ran = covered("| FLT_N01 | a | later |\n", std::string("TEST(A, ") + name + ") {}\n", "faults");
    EXPECT_NE(ran.status, 0);
    EXPECT_THAT(ran.text, HasSubstr(std::string("A.") + name + " has an id in its name"));
  }
  EXPECT_EQ(covered("| FLT_N01 | a | later |\n", "TEST(A, Lost_Slow_Twice) {}\n", "faults").status, 0);
}

TEST_F(ScriptTest, TwoRowsOfOneIdFail) {
  const Ran ran = covered("| FLT_N01 | a | later |\n| FLT_N1 | b | later |\n", "", "faults");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("FLT_N1 has two rows"));
}

TEST_F(ScriptTest, MutantsAreListedWithTheRowsTheyBreakAndAreNoTests) {
  const Ran ran =
      covered("| INV_R02 | a | b | |\n| INV_R08 | a | b | later |\n", "// Covers: INV_R02\nTEST(A, B) {}\n", "invariants",
              "# breaks: INV_R08\nvotes_twice\nsafety: swarm\nbreaks: REG_R99 INV_R02\nkiller: raft A.B\n"
              "in: src/raft/a.cc\n-breaks: INV_R08\n+mutant(votes_twice)\n");
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("mutants: votes_twice\n"));
  EXPECT_THAT(ran.text, HasSubstr("2 rows: 1 with tests, 0 in part, 1 none with a reason, 0 missing"));
}

TEST_F(ScriptTest, AMutantOfARowThatIsNotThereFails) {
  const Ran ran =
      covered("| REG_R02 | a | |\n", "// Covers: REG_R02\nTEST(A, B) {}\n", "regressions", "votes_twice\nbreaks: REG_R99\n");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("mutant votes_twice breaks REG_R99"));
}

TEST_F(ScriptTest, ATableWithoutRowsFails) { EXPECT_NE(covered("", "TEST(A, Something) {}\n").status, 0); }

}  // namespace
}  // namespace coordkit::house
