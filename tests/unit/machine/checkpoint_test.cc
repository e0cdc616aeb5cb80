// Rows out and in: what is written, what is refused, and that nothing is left behind.
#include <gtest/gtest.h>

#include "machine/checkpoint_rows.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;

CheckpointBatch checkpoint(Machine& machine) {
  CheckpointBatch batch;
  machine.checkpoint(batch);
  return batch;
}

// A state with a row of every table.
void populate(Driver& d) {
  const SessionId a = d.open(), b = d.open();
  d.acquire(a, "n");
  d.acquire(b, "n", Wait::timed(3s), "tag");
  d.acquire(a, "m");
  d.submit(AcquireAll{.session = a, .owner_tag = "", .locks = {{"x"}, {"y", LockMode::Shared}}, .wait = {}, .texts = {}});
  const Acquire counted{.session = b, .owner_tag = "", .name = "z", .wait = {}, .texts = {.value = "v"}, .flags = kReentrant};
  for (int i = 0; i < 3; ++i) d.submit(counted);
  d.submit(Release{b, std::nullopt, "z", d.holder("z"), 1});
  const SessionId c = d.open();
  d.submit(Acquire{.session = c, .owner_tag = "", .name = "late", .wait = {}, .texts = {}, .delay = 2s});
  d.expire({c});
  d.acquire(b, "late", Wait::forever());
  d.submit(Put{"key", "value"});
  d.submit(Request{CancelAcquire{a, "", "q", {kOrigin, Sequence(500)}}, {}}, Sequence(501));
}

TEST(CheckpointTest, OnlyWhatChangedIsWritten) {
  Driver d;
  populate(d);
  EXPECT_EQ(checkpoint(d.machine).rows.size(), 1u + 1 + 4 + 1 + 2 + 2 + 1)
      << "counters, delay, holds, key, sessions, waiters, marks";
  EXPECT_TRUE(checkpoint(d.machine).rows.empty());
  d.submit(Put{"key", "other"});
  EXPECT_EQ(checkpoint(d.machine).rows.size(), 2u) << "counters and the new row: the old one is history";
  d.submit(Compact{Revision(3)});
  d.submit(Put{"key", "third"});
  d.submit(Compact{Revision(4)});
  EXPECT_EQ(checkpoint(d.machine).rows.size(), 3u) << "counters, the new row, and the first one, compacted away";
}

TEST(CheckpointTest, ALockTakenAndReleasedBetweenTwoCheckpointsIsNeverWritten) {
  Driver d;
  populate(d);
  const SessionId c = d.open();
  checkpoint(d.machine);
  for (int i = 0; i < 10; ++i) d.release(c, "brief", d.acquire(c, "brief").token);
  const CheckpointBatch batch = checkpoint(d.machine);
  ASSERT_EQ(batch.rows.size(), 1u);
  EXPECT_EQ(batch.rows[0].key[2], 'c') << "the counters only: tokens must not return";
}

TEST(CheckpointTest, KeysHaveAFixedWidthBelow64BytesWithTheLongestPrefix) {
  const std::string prefix(rows::kPrefixBytesMax, 'p');
  Driver d(kBase, prefix);
  d.acquire(d.open(), std::string(kNameBytesMax, 'n'));
  d.submit(Put{std::string(kKeyBytesMax, 'k'), ""});
  RowsView view;
  view.add(checkpoint(d.machine));
  for (const auto& [key, value] : view.rows) EXPECT_LT(key.size(), 64u);
  Machine copy(prefix);
  ASSERT_TRUE(copy.restore(view).ok());
  EXPECT_EQ(copy.digest(), d.machine.digest());
  EXPECT_THROW(Machine(prefix + "p"), CheckFailure);
}

TEST(CheckpointTest, RowsOfOtherPrefixesAreLeftAlone) {
  Driver d;
  populate(d);
  RowsView view;
  view.add(checkpoint(d.machine));
  view.rows["m0zzz"] = "another machine's";
  view.rows["m2"] = "and another's";
  Machine copy("m1");
  ASSERT_TRUE(copy.restore(view).ok());
  EXPECT_EQ(copy.digest(), d.machine.digest());
}

TEST(CheckpointTest, AnEmptyViewRestoresABlankMachineThatCanBeFounded) {
  Driver d;
  populate(d);
  ASSERT_TRUE(d.machine.restore(RowsView()).ok());
  EXPECT_EQ(d.machine.digest(), Machine("m1").digest());
  d.machine.bootstrap(ClusterId(9), kBase);
  EXPECT_EQ(d.open(), SessionId(kBase + 1));
}

// Covers: REG_F31
TEST(CheckpointTest, EveryMissingRowThatOthersNeedIsNoticed) {
  Driver d;
  populate(d);
  RowsView view;
  view.add(checkpoint(d.machine));
  for (const auto& [key, value] : view.rows) {
    RowsView damaged = view;
    damaged.rows.erase(key);
    Machine copy("m1");
    const absl::Status status = copy.restore(damaged);
    EXPECT_TRUE(!status.ok() || copy.digest() != d.machine.digest()) << key;
    const bool needed = key[2] == 'c' || key[2] == 's';
    EXPECT_TRUE(!needed || status.code() == absl::StatusCode::kDataLoss) << key;
    EXPECT_TRUE(status.ok() || copy.digest() == Machine("m1").digest()) << "the former state stays";
  }
}

TEST(CheckpointTest, EveryFlippedByteIsRefusedOrShowsInTheDigestAndNeverCrashes) {
  Driver d;
  populate(d);
  RowsView view;
  view.add(checkpoint(d.machine));
  for (const auto& [key, value] : view.rows) {
    for (size_t i = 0; i < value.size(); ++i) {
      RowsView damaged = view;
      damaged.rows[key][i] = static_cast<char>(damaged.rows[key][i] ^ 0x11);
      Machine copy("m1");
      const absl::Status status = copy.restore(damaged);
      EXPECT_TRUE(!status.ok() || copy.digest() != d.machine.digest()) << key[2] << i;
    }
  }
}

TEST(CheckpointTest, UnknownRowsAreRefused) {
  for (const std::string& key :
       {std::string("m1"), std::string("m1s"), "m1z" + std::string(8, '\0'), "m1s" + std::string(9, '\0')}) {
    Driver d;
    populate(d);
    RowsView view;
    view.add(checkpoint(d.machine));
    view.rows[key] = "";
    EXPECT_EQ(Machine("m1").restore(view).code(), absl::StatusCode::kDataLoss);
  }
}

// Straight through apply, because decoding the answers would dominate the cost. Unoptimised builds do a tenth.
#ifdef NDEBUG
constexpr uint64_t kDistinctNames = 1'000'000;
#else
constexpr uint64_t kDistinctNames = 100'000;
#endif
// Covers: REG_F76
TEST(CheckpointTest, DistinctNamesLeaveNothing) {
  Driver d;
  const SessionId a = d.open();
  checkpoint(d.machine);
  const auto apply = [&](Request::Body body) {
    d.index = d.index.next();
    const std::string payload = encode(Request{std::move(body), {}});
    const Command command{d.index, {kOrigin, Sequence(d.index.value())}, payload};
    ApplyOutput output;
    d.machine.apply({&command, 1}, output);
  };
  for (uint64_t i = 0; i < kDistinctNames; ++i) {
    const std::string name = std::to_string(i);
    apply(Acquire{a, "", name, Wait::none(), {}, 0});
    apply(Release{a, std::nullopt, name, Token(d.machine.last_token())});
  }
  EXPECT_EQ(d.machine.last_token(), a.value() + kDistinctNames) << "every acquire was granted";
  EXPECT_EQ(d.machine.lock_names(), 0u);
  EXPECT_EQ(d.machine.lock_claims(), 0u);
  EXPECT_EQ(checkpoint(d.machine).rows.size(), 1u) << "the counters";
  EXPECT_EQ(d.acquire(a, "7").code, ResultCode::Granted) << "usable again at once";
  d.machine.verify();
}

}  // namespace
}  // namespace coordkit::machine
