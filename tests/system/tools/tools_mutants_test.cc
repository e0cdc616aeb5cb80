// The tool that tries the tests must itself be right: malformed tables are refused, misfits are reported, a tree has
// exactly the rewrites that are described, and the simulator's output is read correctly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tools/mutants/process.h"
#include "tools/mutants/table.h"
#include "tools/mutants/tree.h"
#include "tools/mutants/trial.h"

namespace coordkit::mutants {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kRow = "votes_twice\nsafety: swarm\nbreaks: INV_R02\nkiller: raft VoteTest.Once\n";

Table table_of(const std::string& text) {
  Table table;
  parse("tests/proof/mutants/raft.txt", text, table);
  return table;
}

std::string refusal_of(const std::string& text) {
  try {
    table_of(text);
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "";
}

TEST(MutantTableTest, ARowAndItsRewritesAreRead) {
  const Table table = table_of("# Elections\n\n" + kRow +
                               "in: src/vote.cc\n void vote() {\n-  once();\n+  mutant(votes_twice) ? twice() : once();\n }\n"
                               "in: src/log.cc\n+// mutant(votes_twice)\n one();\n");
  ASSERT_EQ(table.mutants.size(), 1u);
  EXPECT_EQ(table.mutants[0].name, "votes_twice");
  EXPECT_EQ(table.mutants[0].kind, Kind::Safety);
  EXPECT_EQ(table.mutants[0].found, "swarm");
  EXPECT_EQ(table.mutants[0].folder(), "raft");
  EXPECT_EQ(table.mutants[0].filter(), "VoteTest.Once");
  ASSERT_EQ(table.rewrites.size(), 2u);
  EXPECT_EQ(table.rewrites[0].place, "tests/proof/mutants/raft.txt:7");
  EXPECT_EQ(table.rewrites[0].original, "void vote() {\n  once();\n}\n");
  EXPECT_EQ(table.rewrites[0].mutated, "void vote() {\n  mutant(votes_twice) ? twice() : once();\n}\n");
  EXPECT_EQ(table.rewrites[1].original, "one();\n");
}

TEST(MutantTableTest, WhatIsNoTableIsRefusedWithItsPlace) {
  EXPECT_THAT(refusal_of("Votes\n"), HasSubstr("raft.txt:1: 'Votes' is neither a name nor a field"));
  EXPECT_THAT(refusal_of("breaks: INV_R02\n"), HasSubstr("without a row"));
  EXPECT_THAT(refusal_of("votes_twice\nsafety: swarm\nbreaks: INV_R02\n"), HasSubstr("lacks"));
  EXPECT_THAT(refusal_of(kRow + kRow), HasSubstr("twice"));
  EXPECT_THAT(refusal_of(kRow + "speed: slow\n"), HasSubstr("no field speed"));
  EXPECT_THAT(refusal_of(kRow + "-a\n"), HasSubstr("without its file"));
  EXPECT_THAT(refusal_of(kRow + "in: src/a.cc\n-a\n+b\n"), HasSubstr("without a switch"));
  EXPECT_THAT(refusal_of(kRow + "in: src/a.cc\n a\n"), HasSubstr("changes nothing"));
}

// A tree of a few files in a folder of its own.
class MutantTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    top_ = fs::path(::testing::TempDir()) / ("mutants-" + name) / "tree";
    into_ = top_ / "out" / "second";
    fs::remove_all(top_);
    write("src/vote.cc", "a();\nb();\na();\nc();\n");
    write("src/base/other.cc", "other();\n");
    write("include/coordkit/some.h", "#pragma once\n");
    write("CMakeLists.txt", "project(x)\n");
  }
  void TearDown() override { fs::remove_all(top_.parent_path()); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((top_ / file).parent_path());
    std::ofstream(top_ / file) << text;
  }

  std::vector<std::string> complaints_about(const std::string& rewrites) const {
    return complaints(table_of(kRow + rewrites), top_);
  }

  fs::path top_;
  fs::path into_;
};

TEST_F(MutantTreeTest, AnOriginalTextIsThereOnceInWholeLines) {
  EXPECT_THAT(complaints_about("in: src/vote.cc\n-b();\n+mutant(votes_twice);\n"), IsEmpty());
  EXPECT_THAT(complaints_about("in: src/vote.cc\n b();\n-a();\n+mutant(votes_twice);\n"), IsEmpty());
  EXPECT_THAT(complaints_about("in: src/vote.cc\n-a();\n+mutant(votes_twice);\n"), ElementsAre(HasSubstr("2 times")));
  EXPECT_THAT(complaints_about("in: src/vote.cc\n-();\n+mutant(votes_twice);\n"),
              ElementsAre(HasSubstr("is not in src/vote.cc")));
  EXPECT_THAT(complaints_about("in: src/none.cc\n-a();\n+mutant(votes_twice);\n"),
              ElementsAre(HasSubstr("there is no src/none.cc")));
  EXPECT_THAT(complaints_about("in: CMakeLists.txt\n-project(x)\n+mutant(votes_twice)\n"),
              ElementsAre(HasSubstr("below src/")));
}

TEST_F(MutantTreeTest, TwoRewritesDoNotOverlap) {
  EXPECT_THAT(
      complaints_about("in: src/vote.cc\n-b();\n+mutant(votes_twice);\nin: src/vote.cc\n b();\n+mutant(votes_twice);\n a();\n"),
      ElementsAre(HasSubstr("overlaps tests/proof/mutants/raft.txt:5")));
  EXPECT_THAT(
      complaints_about("in: src/vote.cc\n-b();\n+mutant(votes_twice);\nin: src/vote.cc\n-c();\n+mutant(votes_twice);\n"),
      IsEmpty());
}

TEST_F(MutantTreeTest, EachRowHasASwitchAndEachSwitchARow) {
  EXPECT_THAT(complaints_about(""), ElementsAre(HasSubstr("votes_twice has no rewrite")));
  EXPECT_THAT(complaints_about("in: src/vote.cc\n-b();\n+mutant(votes_twice); mutant(unknown);\n"),
              ElementsAre(HasSubstr("there is no mutant unknown")));
}

TEST_F(MutantTreeTest, ThePlantedTreeHasTheRewritesAndEverythingElseAsItWas) {
  const Table table = table_of(kRow + "in: src/vote.cc\n b();\n-a();\n+if (!mutant(votes_twice)) a();\n");
  EXPECT_EQ(plant(table, top_, into_).files, 1u);
  EXPECT_THAT(read_file(into_ / "src/vote.cc"), HasSubstr("#line 1\na();\nb();\nif (!::coordkit::mutant("));
  EXPECT_THAT(read_file(into_ / "src/vote.cc"), HasSubstr("votes_twice)) a();\nc();\n"));
  EXPECT_EQ(read_file(into_ / "src/base/other.cc"), "other();\n");
  EXPECT_EQ(read_file(into_ / "CMakeLists.txt"), "project(x)\n");
  EXPECT_FALSE(fs::exists(into_ / "out"));
}

TEST_F(MutantTreeTest, OnlyWhatChangedIsWrittenAgainAndWhatIsGoneGoes) {
  const Table table = table_of(kRow + "in: src/vote.cc\n-b();\n+mutant(votes_twice);\n");
  plant(table, top_, into_);
  EXPECT_EQ(plant(table, top_, into_).written, 0u);
  write("src/base/other.cc", "changed();\n");
  EXPECT_EQ(plant(table, top_, into_).written, 1u);
  fs::remove(top_ / "src/base/other.cc");
  plant(table, top_, into_);
  EXPECT_FALSE(fs::exists(into_ / "src/base/other.cc"));
}

TEST_F(MutantTreeTest, WhatDoesNotFitIsNotPlanted) {
  EXPECT_THROW(plant(table_of(kRow), top_, into_), std::invalid_argument);
  EXPECT_FALSE(fs::exists(into_));
}

TEST(MutantTrialTest, TheSimulatorsWordsAreRead) {
  const Simulated found = read_simulation(
      "\nINV_R02 violated by seed 7 at 1.5 s of virtual time\n  two leaders\n"
      "{\"runs\":7,\"seed\":1,\"wall_seconds\":2.57,\"violations\":1}\n",
      1, 3);
  EXPECT_EQ(found.violation, "INV_R02");
  EXPECT_EQ(found.seeds, "7");
  EXPECT_EQ(found.seconds, 2.57);

  EXPECT_EQ(read_simulation("HALTED violated by seed 7 at 1 s\n  a check failed: INV_R03 here\n", 1, 3).violation,
            "HALTED INV_R03");
  EXPECT_EQ(read_simulation("CHECK violated by seed 7 at 1 s\n  something\n", 1, 3).violation, "CHECK");

  const Simulated crash = read_simulation("", kSignalled + 11, 3);
  EXPECT_EQ(crash.violation, "crash 11");
  EXPECT_EQ(crash.seconds, 3);

  const Simulated nothing = read_simulation("{\"runs\":900,\"wall_seconds\":300.1}\n", kTimedOut, 300);
  EXPECT_EQ(nothing.violation, "");
  EXPECT_EQ(nothing.seeds, "900");
}

// Stand-ins for the programs of a build.
class MutantRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(::testing::TempDir()) / ("mutants-" + name);
    fs::create_directories(folder_ / "tests/raft");
  }
  void TearDown() override { fs::remove_all(folder_); }

  Directed tried(const std::string& body) const {
    const fs::path program = folder_ / "tests/raft/test_raft";
    std::ofstream(program) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(program, fs::perms::owner_all);
    return try_directed(table_of(kRow).mutants[0], {.build = folder_, .logs = folder_});
  }

  fs::path folder_;
};

TEST_F(MutantRunTest, ATestKillsWhenItPassesWithoutAndFailsWith) {
  const std::string passes = "echo '[  PASSED  ] 1 test.'";
  EXPECT_EQ(tried(passes + "\n[ -z \"$COORDKIT_MUTANT\" ]"), Directed::Killed);
  EXPECT_EQ(tried(passes + "\n[ -z \"$COORDKIT_MUTANT\" ] || kill -SEGV $$"), Directed::Killed);
  EXPECT_EQ(tried(passes), Directed::Alive);
  EXPECT_EQ(tried(passes + "\nexit 1"), Directed::Broken);
  EXPECT_EQ(tried("echo '[  PASSED  ] 0 tests.'"), Directed::Broken);
}

TEST_F(MutantRunTest, WhatRunsTooLongIsEnded) {
  const Job job{.program = "/bin/sleep", .arguments = {"60"}, .log = folder_ / "log", .limit = std::chrono::seconds(0)};
  EXPECT_EQ(run_to_end(job), kTimedOut);
}

TEST_F(MutantRunTest, AProgramThatIsNotThereSaysSoAsAShellWould) {
  EXPECT_EQ(run_to_end({.program = folder_ / "none", .log = folder_ / "log", .limit = std::chrono::seconds(60)}), kNotFound);
}

}  // namespace
}  // namespace coordkit::mutants
