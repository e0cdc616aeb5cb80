// The counts of a replica, compared with what a test knows that it did.
#include "coordkit/operate/metrics.h"

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "coordkit/coordkit.h"
#include "tests/support/source_dir.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(WaitTimesTest, TheHistogramOfAPageEndsWithAll) {
  Metrics metrics;
  metrics.log.durable.add(std::chrono::microseconds(3));
  metrics.log.durable.add(std::chrono::milliseconds(2));
  metrics.log.durable.add(std::chrono::minutes(5));  // beyond the last bucket with a bound
  const std::string page = prometheus_text(metrics, "cluster=\"shop\",replica=\"1\"");
  EXPECT_THAT(page, HasSubstr("# TYPE coordkit_log_durable_seconds histogram\n"));
  EXPECT_THAT(page, HasSubstr("coordkit_log_durable_seconds_bucket{cluster=\"shop\",replica=\"1\",le=\"2e-06\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("coordkit_log_durable_seconds_bucket{cluster=\"shop\",replica=\"1\",le=\"4e-06\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("coordkit_log_durable_seconds_bucket{cluster=\"shop\",replica=\"1\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("coordkit_log_durable_seconds_count{cluster=\"shop\",replica=\"1\"} 3\n"));
}

// Every sample belongs to the family above it, and each family appears once.
TEST(PrometheusTest, APageIsWellFormedWithAndWithoutLabels) {
  Metrics metrics;
  metrics.peers.tcp.emplace();
  for (const std::string labels : {"", "replica=\"1\""}) {
    std::istringstream page(prometheus_text(metrics, labels));
    std::set<std::string> families;
    std::string family;
    size_t samples = 0;
    for (std::string line; std::getline(page, line);) {
      std::istringstream words(line);
      std::string first, second, third;
      words >> first >> second >> third;
      if (first == "#") {
        if (second == "TYPE") {
          EXPECT_TRUE(third.starts_with("coordkit_")) << line;
          EXPECT_TRUE(families.insert(third).second) << line << ": appears twice";
          family = third;
        }
        continue;
      }
      ++samples;
      EXPECT_TRUE(line.starts_with(family)) << line << " stands below " << family;
      EXPECT_EQ(line.find("{}"), std::string::npos) << line;
      EXPECT_EQ(line.find(",}"), std::string::npos) << line;
      EXPECT_FALSE(second.empty()) << line;
    }
    EXPECT_GT(samples, 60u);
  }
}

TEST(PrometheusTest, TheDashboardAsksForNothingThatIsNotTold) {
  Metrics metrics;
  metrics.peers.tcp.emplace();
  const std::string page = prometheus_text(metrics);
  std::ifstream file(source_dir() + "/examples/19_metrics/dashboard.json");
  const std::string dashboard{std::istreambuf_iterator<char>(file), {}};
  const std::regex name("coordkit_[a-z_]+");
  size_t asked = 0;
  for (std::sregex_iterator it(dashboard.begin(), dashboard.end(), name), end; it != end; ++it, ++asked) {
    EXPECT_THAT(page, ::testing::ContainsRegex("\n" + it->str() + "[ {]"));
  }
  EXPECT_GT(asked, 10u);
}

TEST(MetricsTest, CountWhatWasDone) {
  Cluster cluster;
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  const uint64_t leader = cluster[1].health().leader.value();
  const absl::StatusOr<Metrics> before = cluster[leader].metrics();
  ASSERT_THAT(before.status(), IsOk());
  EXPECT_TRUE(before->consensus.leads);
  EXPECT_EQ(before->consensus.won, 1u);
  const std::string value(1000, 'v');
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(cluster[leader].put("key", value, {.timeout = kPatience}).status(), IsOk());
  }
  absl::StatusOr<Metrics> after;
  eventually([&] {  // one of the peers gets entries a moment later (decision 0038)
    after = cluster[leader].metrics();
    return !after.ok() || after->peers.bytes_sent >= before->peers.bytes_sent + 40'000;
  });
  ASSERT_THAT(after.status(), IsOk());
  EXPECT_EQ(after->commands.submitted, before->commands.submitted + 20);
  EXPECT_EQ(after->commands.latency.count(), before->commands.latency.count() + 20);
  EXPECT_EQ(after->commands.refused, before->commands.refused);
  EXPECT_GE(after->log.entries, before->log.entries + 20);
  EXPECT_GE(after->log.bytes, before->log.bytes + 20'000);
  EXPECT_GE(after->log.written_bytes - before->log.written_bytes, after->log.bytes - before->log.bytes);
  EXPECT_EQ(after->log.written_bytes % 4096, 0u) << "whole blocks";
  EXPECT_GE(after->peers.bytes_sent, before->peers.bytes_sent + 40'000) << "to two peers";
  EXPECT_EQ(after->peers.malformed, 0u);
  EXPECT_GT(after->log.reports, before->log.reports);
  EXPECT_LE(after->log.durable.count(), after->log.writes);
  EXPECT_EQ(after->log.durable.count() + after->log.waiting, after->log.writes);
  EXPECT_GE(after->consensus.commit.value(), before->consensus.commit.value() + 20);
  EXPECT_EQ(after->turns.took.count(), after->turns.turns);
  ASSERT_TRUE(after->peers.tcp);
  EXPECT_GE(after->peers.tcp->opened, 2u);
  EXPECT_THAT(prometheus_text(*after), HasSubstr("coordkit_leads 1\n"));
}

TEST(MetricsTest, RenewalsAndWhatIsHeldAreCounted) {
  Cluster cluster;
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  Session session = *cluster[1].open_session({.ttl = 1500ms});
  const auto grant = session.acquire("lock", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  ASSERT_THAT(cluster[1].put("key", std::string(1000, 'v'), {.timeout = kPatience}).status(), IsOk());
  Metrics seen;
  for (const auto limit = std::chrono::steady_clock::now() + kPatience; std::chrono::steady_clock::now() < limit;) {
    seen = *cluster[1].metrics();
    if (seen.renewals.answered.count() >= 2) break;
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_GE(seen.renewals.answered.count(), 2u);
  EXPECT_GE(seen.renewals.sent, seen.renewals.answered.count());
  const Contents& held = seen.memory.contents;
  EXPECT_EQ(held.sessions, 1u);
  EXPECT_EQ(held.locks, 1u);
  EXPECT_EQ(held.claims, 1u);
  EXPECT_EQ(held.keys, 1u);
  EXPECT_EQ(held.changes, 1u);
  EXPECT_GE(held.key_weight, 1000u);
  EXPECT_GE(seen.memory.log_bytes, 1000u);
  EXPECT_EQ(seen.memory.request_bytes, 0u);
  EXPECT_THAT(prometheus_text(seen), HasSubstr("coordkit_keys 1\n"));
}

TEST(MetricsTest, ARefusedCommandIsNoLatency) {
  Cluster cluster(3);
  ASSERT_NO_FATAL_FAILURE(cluster.open(1));  // no majority: no leader
  EXPECT_FALSE(cluster[1].put("key", "value", {.timeout = 100ms}).ok());
  const absl::StatusOr<Metrics> seen = cluster[1].metrics();
  ASSERT_THAT(seen.status(), IsOk());
  EXPECT_EQ(seen->commands.submitted, 1u);
  EXPECT_EQ(seen->commands.refused, 1u);
  EXPECT_EQ(seen->commands.latency.count(), 0u);
  EXPECT_EQ(seen->consensus.leaders, 0u);
}

TEST(MetricsTest, AreReadableAfterTheEnd) {
  Cluster cluster(1);
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  ASSERT_THAT(cluster[1].put("key", "value").status(), IsOk());
  ASSERT_THAT(cluster[1].close(), IsOk());
  const absl::StatusOr<Metrics> seen = cluster[1].metrics();
  ASSERT_THAT(seen.status(), IsOk());
  EXPECT_GE(seen->commands.submitted, 1u);
  EXPECT_TRUE(seen->peers.tcp);
}

}  // namespace
}  // namespace coordkit::testkit
