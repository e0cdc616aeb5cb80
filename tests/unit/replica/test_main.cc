// The tests of this folder, and, with a different first argument, a process that such a test kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string_view>

#include "tests/unit/replica/victim.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc > 1 && std::string_view(argv[1]) == coordkit::testkit::kVictimRole) {
    return coordkit::testkit::run_victim({argv + 2, argv + argc});
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
