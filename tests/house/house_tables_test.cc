// Every row of the tables of docs/ has a test that carries its id, or a written reason why not. The script that says so (./dev
// test regressions, faults, invariants, semantics) is shown to bite.
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

INSTANTIATE_TEST_SUITE_P(All, TableTest, testing::Values("regressions", "faults", "invariants", "semantics"),
                         [](const auto& info) { return std::string(info.param); });

// The script over one table, one test file and one table of mutants.
class ScriptTest : public testing::Test {
 public:
  Ran covered(const std::string& table, const std::string& tests, const std::string& name = "regressions",
              const std::string& mutants = "") {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder);
    const std::string table_path = name + ".md";
    const std::string tests_path = "some_test.cc";
    std::ofstream(folder / table_path) << "# " << name << "\n\n| id | what | open |\n|---|---|---|\n" << table;
    std::ofstream(folder / tests_path) << tests;
    std::filesystem::create_directories(folder / "tests/mutants");
    const std::string mutants_path = "tests/mutants/raft.txt";
    std::ofstream(folder / mutants_path) << mutants;
    return run_command("cd " + shell_word(folder) + " && awk -f " + shell_word(source_dir() + "/tests/house/covered.awk") +
                       " -v table=" + table_path + " " + table_path + " " + tests_path + " " + mutants_path + " 2>&1");
  }
};

TEST_F(ScriptTest, ATestCountsForEveryIdInItsName) {
  const Ran ran = covered("| REG_R02 | a | |\n| REG_R08 | b | |\n| REG_F01 REG_F03 | c | |\n| REG_F31 | d | half |\n",
                          "TEST(QuorumTest, REG_R02_R8_EverySize) {}\n"
                          "  TEST_F(LongNameOfASuiteTest,\n         S38_REG_F03_FLT_D16_REG_F31_Something) {\n");
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("4 rows: 3 with tests, 1 in part, 0 none with a reason, 0 missing"));
  EXPECT_THAT(ran.text, HasSubstr("QuorumTest.REG_R02_R8_EverySize"));
}

TEST_F(ScriptTest, ARuleIsARowAndTestsCarryItsNumber) {
  const std::string rules = "- **S-05** one\n- **S-10** another, see **S-99**\n| S-20 | later |\n| S-21 to S-23 | later |\n";
  const Ran ran = covered(rules, "TEST(KvTest, S05_REG_F03_S10_Something) {}\nTEST(KvTest, S22_Early) {}\n", "semantics");
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("6 rows: 2 with tests, 1 in part, 3 none with a reason, 0 missing"));
  EXPECT_NE(covered(rules, "TEST(KvTest, S05_Something) {}\n", "semantics").status, 0) << "S-10 has none";
  EXPECT_NE(covered(rules, "TEST(KvTest, S05_S10_S11_Something) {}\n", "semantics").status, 0) << "there is no S-11";
}

TEST_F(ScriptTest, ARowWithNeitherTestNorReasonFails) {
  const Ran ran =
      covered("| REG_R02 | a | |\n| REG_R08 | b | a reason |\n", "TEST(A, R02_NoPrefix) {}\n// REG_R02 in a comment\n");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("1 none with a reason, 1 missing"));
}

TEST_F(ScriptTest, AnIdThatNoRowHasFails) {
  const Ran ran = covered("| REG_R02 | a | |\n", "TEST(A, REG_R02_Something) {}\nTEST(A, REG_R99_Something) {}\n");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("A.REG_R99_Something carries REG_R99"));
}

TEST_F(ScriptTest, APrefixWithoutAnIdFails) {
  const Ran ran = covered("| FLT_N01 | a | later |\n", "TEST(A, FLT_Something) {}\n", "faults");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("A.FLT_Something says FLT but not which"));
}

TEST_F(ScriptTest, TwoRowsOfOneIdFail) {
  const Ran ran = covered("| FLT_N01 | a | later |\n| FLT_N1 | b | later |\n", "", "faults");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("FLT_N1 has two rows"));
}

TEST_F(ScriptTest, MutantsAreListedWithTheRowsTheyBreakAndAreNoTests) {
  const Ran ran =
      covered("| INV_R02 | a | b | |\n| INV_R08 | a | b | later |\n", "TEST(A, INV_R02_Something) {}\n", "invariants",
              "# breaks: INV_R08\nvotes_twice\nsafety: swarm\nbreaks: REG_R99 INV_R02\nkiller: raft A.INV_R02_Something\n"
              "in: src/raft/a.cc\n-breaks: INV_R08\n+mutant(votes_twice)\n");
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("mutants: votes_twice\n"));
  EXPECT_THAT(ran.text, HasSubstr("2 rows: 1 with tests, 0 in part, 1 none with a reason, 0 missing"));
}

TEST_F(ScriptTest, AMutantOfARowThatIsNotThereFails) {
  const Ran ran =
      covered("| REG_R02 | a | |\n", "TEST(A, REG_R02_Something) {}\n", "regressions", "votes_twice\nbreaks: REG_R99\n");
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.text, HasSubstr("mutant votes_twice breaks REG_R99"));
}

TEST_F(ScriptTest, ATableWithoutRowsFails) { EXPECT_NE(covered("", "TEST(A, Something) {}\n").status, 0); }

}  // namespace
}  // namespace coordkit::house
