// Replicas that share a secret, and one with a different secret.
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kSecret = "drawn at random, once";

ReplicaOptions with_secret(ReplicaOptions options, std::string_view secret) {
  options.security = SharedSecret{std::string(secret)};
  return options;
}

// Covers: FLT_S03
TEST(SecretTest, WhoSharesASecretFoundsAClusterAndWorks) {
  Cluster cluster;
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_NO_FATAL_FAILURE(cluster.open(with_secret(cluster.options(id), kSecret)));
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster[id].wait_ready(kPatience), IsOk());
  Session session = cluster.session(3);
  EXPECT_THAT(session.acquire("lock", {.timeout = kPatience}).status(), IsOk());
}

// Covers: FLT_S03
TEST(SecretTest, AnotherOrAMissingSecretIsAWarningOnBothSidesWithoutTheSecret) {
  Cluster cluster;
  for (const uint64_t id : {1, 2}) ASSERT_NO_FATAL_FAILURE(cluster.open(with_secret(cluster.options(id), kSecret)));
  const auto warns = [&](uint64_t id) {
    const std::vector<std::string> warnings = cluster[id].health().warnings;
    for (const std::string& warning : warnings) EXPECT_THAT(warning, Not(HasSubstr(kSecret)));
    return std::any_of(warnings.begin(), warnings.end(),
                       [](const std::string& one) { return one.find("SharedSecret") != one.npos; });
  };
  ASSERT_NO_FATAL_FAILURE(cluster.open(with_secret(cluster.options(3), "another one, as long")));
  EXPECT_TRUE(eventually([&] { return warns(1) && warns(2) && warns(3); }));
  cluster.close(3);
  ASSERT_NO_FATAL_FAILURE(cluster.open(cluster.options(3)));
  EXPECT_TRUE(eventually([&] { return warns(1) && warns(2) && warns(3); }));
}

}  // namespace
}  // namespace coordkit::testkit
