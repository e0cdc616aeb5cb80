// The words that tests give to a shell.
#include "tests/support/command.h"

#include <gtest/gtest.h>

namespace coordkit {
namespace {

TEST(ShellWordTest, ReachesTheProgramAsItIs) {
  for (const std::string word : {"a b+ü%/coordkit", "it's", "''", "$HOME `id` \"x\" \\ * ; &", "", "-n", "two\nlines"}) {
    EXPECT_EQ(run_command("printf '%s|' " + shell_word(word)).text, word + "|");
  }
}

}  // namespace
}  // namespace coordkit
