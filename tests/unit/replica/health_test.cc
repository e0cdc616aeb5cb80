// Health names who is missing and why, and so does the status of a waiting call.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <thread>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HealthTest : public ::testing::Test {
 protected:
  // Polls until it is so; only a hang takes forever.
  template <typename Matcher>
  Health health_until(uint64_t id, Matcher matcher) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      const Health health = cluster_[id].health();
      if (::testing::Matches(matcher)(health)) return health;
      if (std::chrono::steady_clock::now() > end) {
        EXPECT_THAT(health.reason, HasSubstr("the health that was waited for"));
        return health;
      }
    }
  }
  static auto warns(const std::string& words) { return Field(&Health::warnings, Contains(HasSubstr(words))); }

  Cluster cluster_;
};

TEST_F(HealthTest, AReadyClusterHasNoMissingMember) {
  cluster_.open_all();
  for (uint64_t id = 1; id <= 3; ++id) health_until(id, Field(&Health::missing, IsEmpty()));
}

TEST_F(HealthTest, AReplicaThatIsAloneAtInitializationSaysWhoIsMissingAndWhy) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(1));
  const std::string second = cluster_.options(1).members[1].address;
  const Health health = health_until(1, Field(&Health::reason, ContainsRegex("nothing listens there.*nothing listens there")));
  EXPECT_EQ(health.state, ReplicaState::WaitingForMembers);
  EXPECT_THAT(health.reason, HasSubstr("replica 2 at " + second + " has not been heard"));
  EXPECT_EQ(fault_of_words(health.reason), "");
  const absl::Status waited = cluster_[1].wait_ready(0s);
  EXPECT_THAT(waited, Is(Reason::CallTimeout));
  EXPECT_EQ(outcome_of(waited), Outcome::NoEffect);
  EXPECT_THAT(std::string(waited.message()), AllOf(HasSubstr("not ready yet"), HasSubstr("replica 3 at")));
}

TEST_F(HealthTest, WithTwoOfThreeDeadNobodySaysOnlyThatThereIsNoLeader) {
  cluster_.open_all();
  cluster_.close(2);
  cluster_.close(3);
  const Health health = health_until(
      1, AllOf(Field(&Health::state, ReplicaState::Starting), Field(&Health::reason, HasSubstr("the others are no majority"))));
  EXPECT_THAT(health.reason,
              ContainsRegex("no leader is known yet: 2 of 3 voters are missing.*replica 2 at .* was last heard .* "
                            "ago.*replica 3 at "));
  ASSERT_THAT(health.missing, ElementsAre(Field(&MissingMember::id, ReplicaId(2)), Field(&MissingMember::id, ReplicaId(3))));
  EXPECT_TRUE(health.missing[0].received);
  EXPECT_EQ(fault_of_words(health.reason), "");
  EXPECT_THAT(std::string(cluster_[1].wait_ready(0s).message()), HasSubstr("2 of 3 voters are missing"));
  health_until(1, warns("replica 2 at "));  // once it has lasted ten election timeouts
}

// It said of each of these that nobody listens there, once it had been so.
TEST_F(HealthTest, WhatListensAtTheAddressOfAMemberIsToldAsItIsNow) {
  ASSERT_NO_FATAL_FAILURE(cluster_.open(1));
  const auto says = [&](const std::string& words) { health_until(1, Field(&Health::reason, HasSubstr(words))); };
  const std::string address = cluster_.options(1).members[1].address;
  const std::string nothing = "replica 2 at " + address + " has not been heard";
  health_until(1, Field(&Health::reason, ContainsRegex(nothing + "[^;]*: nothing listens there")));
  {
    boost::asio::io_context io;
    boost::asio::ip::tcp::acceptor other(io, {boost::asio::ip::address_v4::loopback(),
                                              static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)))});
    std::thread closes([&] {
      boost::system::error_code ended;
      while (!ended) {
        boost::asio::ip::tcp::socket visitor(io);
        other.accept(visitor, ended);
      }
    });
    says("the process that listens there closes each connection before it names itself");
    ::shutdown(other.native_handle(), SHUT_RDWR);
    closes.join();
  }
  health_until(1, Field(&Health::reason, ContainsRegex(nothing + "[^;]*: nothing listens there")));
  ReplicaOptions another = cluster_.options(2);
  another.cluster = "another";
  another.data_dir += "-of-another";
  ASSERT_NO_FATAL_FAILURE(cluster_.open(another));
  says("names its cluster differently");
  cluster_.close(2);
  health_until(1, Field(&Health::reason, ContainsRegex(nothing + "[^;]*: nothing listens there")));
  another = cluster_.options(2);
  another.security = SharedSecret{std::string(32, 's')};
  ASSERT_NO_FATAL_FAILURE(cluster_.open(another));
  says("has a SharedSecret");
}

TEST_F(HealthTest, ANameThatDoesNotResolveIsNamed) {
  ReplicaOptions options = cluster_.options(1);
  options.members[1].address = "no-such-host.invalid:7400";
  ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(options)));
  const Health health = health_until(1, Field(&Health::reason, HasSubstr("does not resolve")));
  EXPECT_THAT(health.reason, HasSubstr("replica 2 at no-such-host.invalid:7400"));
  EXPECT_EQ(fault_of_words(health.reason), "");
}

// Covers: FLT_N16
TEST_F(HealthTest, AMemberThatIsNotAtItsAddressTakesPartAndIsNamed) {
  cluster_.open_all();
  cluster_.close(3);
  ReplicaOptions elsewhere = cluster_.options(3);
  elsewhere.listen = "127.0.0.1:0";
  const std::string address = elsewhere.members[2].address;
  ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(elsewhere)));
  ASSERT_THAT(cluster_[3].wait_ready(kPatience), IsOk());
  cluster_.close(2);  // from here on nothing is done without it
  ASSERT_THAT(cluster_[3].put("key", "value", {.timeout = kPatience}).status(), IsOk());
  const Health health =
      health_until(1, warns("has connected by itself and is not reached at " + address + ": nothing listens"));
  EXPECT_THAT(health.missing, ElementsAre(Field(&MissingMember::id, ReplicaId(2))));
  for (const std::string& warning : health.warnings) EXPECT_EQ(fault_of_words(warning), "");
}

TEST_F(HealthTest, ARefusedHelloIsToldWithItsReason) {
  ReplicaOptions other = cluster_.options(2);
  other.cluster = "another";
  ASSERT_NO_FATAL_FAILURE(cluster_.open(1));
  ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(other)));
  for (uint64_t id = 1; id <= 2; ++id) {
    const Health health = health_until(id, warns("names its cluster differently"));
    for (const std::string& warning : health.warnings) EXPECT_EQ(fault_of_words(warning), "");
    EXPECT_THAT(cluster_[id].health().reason, HasSubstr("names its cluster differently"));
  }
}

}  // namespace
}  // namespace coordkit::testkit
