// Names are asked of a service that keeps some waiting.
#include "transport/tcp/lookup.h"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <optional>

#include "name_service.h"

namespace coordkit::tcp {
namespace {

class LookupTest : public ::testing::Test {
 protected:
  // Runs the loop until there is an answer.
  const Found& answer(const std::optional<Found>& found) {
    while (!found) io_.run_one();
    return *found;
  }
  static Lookup::Done into(std::optional<Found>& found) {
    return [&found](const Found& one) { found = one; };
  }

  testkit::NameService names_;
  asio::io_context io_;
  asio::executor_work_guard<Executor> work_{io_.get_executor()};
};

// Covers: FLT_N17
TEST_F(LookupTest, ANameWithoutAnswerHoldsUpNoOther) {
  Lookup silent(io_);
  Lookup known(io_);
  std::optional<Found> nothing;
  std::optional<Found> found;
  silent.begin({"a.silent.test", "7"}, into(nothing));
  names_.wait_asked(1);
  known.begin({"known.test", "7"}, into(found));
  const Tcp::endpoint endpoint(asio::ip::make_address("127.0.0.1"), 7);
  EXPECT_EQ(answer(found).endpoints, std::vector{endpoint});
  EXPECT_EQ(found->failed, "");
  EXPECT_FALSE(known.pending());
  EXPECT_TRUE(silent.pending());
  names_.release();
  EXPECT_NE(answer(nothing).failed, "");
  EXPECT_TRUE(nothing->endpoints.empty());
  EXPECT_FALSE(silent.pending());
}

// Covers: FLT_N17
TEST_F(LookupTest, NobodyWaitsForAnAnswerThatIsNotWantedAnyMore) {
  std::optional<Found> unwanted;
  std::optional<Found> found;
  {
    Lookup lookup(io_);
    lookup.begin({"a.silent.test", "7"}, into(unwanted));
    names_.wait_asked(1);
    lookup.cancel();
    EXPECT_FALSE(lookup.pending());
    lookup.begin({"known.test", "7"}, into(found));  // the next one, meanwhile
    answer(found);
    lookup.begin({"b.silent.test", "7"}, into(unwanted));
    names_.wait_asked(2);
  }
  names_.release();
  work_.reset();
  io_.run();
  EXPECT_FALSE(unwanted.has_value());
}

TEST_F(LookupTest, AnAnswerThatIsOnItsWayMayBeCancelled) {
  std::optional<Found> found;
  Lookup lookup(io_);
  lookup.begin({"known.test", "7"}, into(found));
  io_.run_one();
  ASSERT_TRUE(found.has_value());
  found.reset();
  lookup.begin({"a.silent.test", "7"}, into(found));
  names_.release();  // its thread may have posted by now
  lookup.cancel();
  work_.reset();
  io_.run();
  EXPECT_FALSE(found.has_value());
}

TEST_F(LookupTest, WhoeverIsToldMayAskAgain) {
  Lookup lookup(io_);
  std::optional<Found> found;
  lookup.begin({"known.test", "7"}, [&](const Found&) { lookup.begin({"known.test", "8"}, into(found)); });
  ASSERT_EQ(answer(found).endpoints.size(), 1u);
  EXPECT_EQ(found->endpoints[0].port(), 8);
}

TEST_F(LookupTest, NoHostIsThisMachine) {
  Lookup lookup(io_);
  std::optional<Found> found;
  lookup.begin({"", "7"}, into(found));
  ASSERT_FALSE(answer(found).endpoints.empty());
  for (const Tcp::endpoint& each : found->endpoints) EXPECT_TRUE(each.address().is_loopback());
}

}  // namespace
}  // namespace coordkit::tcp
