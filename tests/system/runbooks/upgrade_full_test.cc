// The runbook of docs/upgrading.md with an older build's processes, which `./dev test upgrade REVISION` builds: replicas
// are replaced one after the other, under load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "coordkit/feature_level.h"
#include "tests/system/deployment/deployment.h"
#include "tools/support/loopback.h"

namespace coordkit::testkit {
namespace {

class UpgradeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (older_ == nullptr) {
      GTEST_SKIP() << "COORDKIT_OLDER_MEMBER names no older build: ./dev test upgrade REVISION makes one";
    }
  }
  support::Child started(int id, const std::string& program, const std::vector<std::string>& arguments) {
    return support::Child::start_program(upgraded_.contains(id) ? program : older_, arguments);
  }
  int other_than(int id) const { return id % 3 + 1; }

  // Stops one, and restarts it with the target build; two others carry load meanwhile.
  void exchange(int id) {
    const int other = other_than(id);
    const int third = other_than(other);
    for (const int at : {other, third}) begin_load(at);
    if (machines_.leader() == id) {
      ASSERT_EQ(machines_.coordctl(id, "transfer " + std::to_string(other)).status, 0);
    }
    machines_.stop(id);
    ASSERT_EQ(machines_.start(id), "opened");
    ASSERT_TRUE(machines_.wait_ready(id)) << machines_.coordctl(id, "status").text;
    const std::string locked = machines_.ask(id, "locks 200");  // through the one that has just started, beside the load
    EXPECT_TRUE(locked.starts_with("took 200 ")) << locked;
    for (const int at : {other, third}) end_load(at);
  }
  void begin_load(int id) {
    const std::string prefix = "load-" + std::to_string(++loads_) + "-";
    prefixes_[id] = prefix;
    ASSERT_EQ(machines_.ask(id, "load " + prefix), "loading");
  }
  // No put may fail, and each must be readable afterwards.
  void end_load(int id) {
    std::istringstream report(machines_.ask(id, "unload"));
    std::string loaded, runs;
    uint64_t count = 0, median = 0, p99 = 0, longest = 0, unknown = 0, refused = 0;
    report >> loaded >> count >> median >> p99 >> longest >> unknown >> refused >> runs;
    ASSERT_EQ(loaded, "loaded");
    std::printf("%s: %lu puts, refused %lu, unknown %lu, longest gap %lu ms\n", prefixes_[id].c_str(), count + 1, refused,
                unknown, longest / 1000);
    EXPECT_EQ(refused, 0u);
    EXPECT_EQ(unknown, 0u);
    EXPECT_EQ(runs.find(','), std::string::npos) << "one run without a hole: " << runs;
    const std::string last = runs.substr(runs.find('-') + 1);
    for (const int at : {1, 2, 3}) EXPECT_EQ(machines_.ask(at, "get " + prefixes_[id] + last), "value " + last);
  }
  bool all_at(uint64_t level) {
    for (const int id : {1, 2, 3}) {
      if (!machines_.wait_for(id, "feature_level", std::to_string(level))) return false;
    }
    return true;
  }

  const char* const older_ = std::getenv("COORDKIT_OLDER_MEMBER");
  std::set<int> upgraded_;
  Deployment machines_{support::free_loopback_addresses(3),
                       [this](int id, const std::string& program, const std::vector<std::string>& arguments) {
                         return started(id, program, arguments);
                       }};
  std::map<int, std::string> prefixes_;
  int loads_ = 0;
};

// Covers: FLT_V01
TEST_F(UpgradeTest, MemberByMemberUnderLoadAndBackAsLongAsItIsPossible) {
  for (const int id : {1, 2, 3}) ASSERT_EQ(machines_.start(id, {1, 2, 3}), "opened");
  for (const int id : {1, 2, 3}) ASSERT_TRUE(machines_.wait_ready(id));
  ASSERT_EQ(machines_.ask(1, "put before 1"), "done");
  const bool same_level = machines_.status_of(1, "feature_level") == std::to_string(kFeatureLevel);

  upgraded_ = {1};
  ASSERT_NO_FATAL_FAILURE(exchange(1));
  upgraded_ = {};  // and back: nothing was raised
  ASSERT_NO_FATAL_FAILURE(exchange(1));
  for (const int id : {1, 2, 3}) {
    upgraded_.insert(id);
    ASSERT_NO_FATAL_FAILURE(exchange(id));
  }
  ASSERT_TRUE(all_at(kFeatureLevel));
  for (const int id : {1, 2, 3}) EXPECT_EQ(machines_.ask(id, "get before"), "value 1");

  machines_.stop(2);  // too late for a downgrade if the level was raised
  upgraded_.erase(2);
  const std::string opened = machines_.start(2);
  std::printf("the older build, %s: %s\n", same_level ? "of the same level" : "after the level was raised", opened.c_str());
  ASSERT_EQ(machines_.ask(1, "put after 1"), "done");
  if (same_level) {
    EXPECT_TRUE(machines_.wait_ready(2));
    machines_.stop(2);
  } else {
    if (opened == "opened") {
      EXPECT_NE(machines_.status_of(2, "state"), "Ready");
      EXPECT_THAT(machines_.coordctl(1, "status").text, ::testing::HasSubstr("start a newer build there"));
    } else {
      // Builds of level 2 and below say the second when it is the log that they cannot read.
      EXPECT_THAT(opened, ::testing::AnyOf(::testing::HasSubstr("start a newer build"),
                                           ::testing::HasSubstr("the log was written by a newer version")));
    }
    machines_.kill(2);
  }
  upgraded_.insert(2);
  ASSERT_EQ(machines_.start(2), "opened") << "nothing was spoiled";
  ASSERT_TRUE(machines_.wait_ready(2));
  EXPECT_EQ(machines_.ask(2, "get after"), "value 1");
}

}  // namespace
}  // namespace coordkit::testkit
