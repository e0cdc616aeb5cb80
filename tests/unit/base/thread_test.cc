#include "base/thread.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include "base/thrown.h"

namespace coordkit {
namespace {

bool blocks(int signal) {
  sigset_t set;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &set);
  return ::sigismember(&set, signal) == 1;
}

TEST(ThreadTest, ItHasItsNameAndBlocksTheHostsSignals) {
  std::string name(16, '\0');
  bool terminate = false, fault = true;
  Thread thread("coordkit/tester", [&] {
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
    terminate = blocks(SIGTERM);
    fault = blocks(SIGSEGV);
  });
  thread.join();
  EXPECT_STREQ(name.c_str(), "coordkit/tester");
  EXPECT_TRUE(terminate);
  EXPECT_FALSE(fault);
  EXPECT_FALSE(thread.joinable());
}

TEST(ThreadTest, WhatTheMakerOfAThreadBlocksStaysAsItWasAndIsNotInherited) {
  sigset_t profiler, before;
  ::sigemptyset(&profiler);
  ::sigaddset(&profiler, SIGPROF);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &profiler, &before), 0);
  bool inherited = true;
  Thread("coordkit/tester", [&] { inherited = blocks(SIGPROF); }).join();
  EXPECT_FALSE(inherited);
  EXPECT_TRUE(blocks(SIGPROF));
  EXPECT_FALSE(blocks(SIGTERM));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ThreadTest, AnExceptionThatLeavesTheBodyEndsInItsHandler) {
  std::string thrown;
  Thread(
      "coordkit/tester", [] { throw std::runtime_error("no more"); }, [&] { thrown = what_was_thrown(); })
      .join();
  EXPECT_EQ(thrown, "no more");
}

}  // namespace
}  // namespace coordkit
