// The limit of the space that keys may use (docs/semantics.md S-35).
#include <gtest/gtest.h>

#include "machine/keys/kv_codec.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;

constexpr uint64_t kChange = mvcc::kChangeWeight;

KeySpace space(const Driver& d) { return d.machine.reads()->key_space(); }

// Covers: S-35
TEST(KeySpaceTest, EveryChangeThatIsKeptWeighsItsKeyAndValueAndAFixedPart) {
  Driver d;
  EXPECT_EQ(space(d).weight, 0u);
  d.submit(Put{"key", "value"});
  EXPECT_EQ(space(d).weight, kChange + 8);
  d.submit(Put{"key", ""});
  d.submit(Delete{"key"});
  EXPECT_EQ(space(d).weight, 2 * kChange + 8 + 3) << "a delete must always be possible, and weighs nothing";
  EXPECT_EQ(space(d).keys, 0u);
  EXPECT_EQ(space(d).changes, 3u);
  d.submit(Put{"other", ""});
  d.submit(Compact{Revision(5)});
  EXPECT_FALSE(space(d).sweeping);
  EXPECT_EQ(space(d).weight, kChange + 5);
}

// Covers: S-35
TEST(KeySpaceTest, ACompactionAtTheNewestRevisionLeavesTheWeightOfTheKeysThatAreThere) {
  Driver d;
  for (int i = 0; i < 500; ++i) d.submit(Put{std::to_string(i % 100), "v"});
  d.submit(Compact{Revision(501)});
  while (space(d).sweeping) d.submit(Delete{"not there"});
  EXPECT_EQ(space(d).weight, 100 * (kChange + 1) + 190);
  d.submit(Delete{.key = "1", .end = std::string(kNoEnd)});
  d.submit(Compact{Revision(502)});
  while (space(d).sweeping) d.submit(Delete{"not there"});
  EXPECT_EQ(space(d).weight, kChange + 2) << "of the one before 1: the tombstones are kept, and what they took the place of";
  d.submit(Put{"0", ""});
  d.submit(Compact{Revision(503)});
  EXPECT_EQ(space(d).weight, kChange + 1);
  EXPECT_EQ(space(d).changes, 2u);
}

// Covers: S-35
TEST(KeySpaceTest, AtTheQuotaWhatPutsIsRefusedWithoutEffectAndWhatFreesIsNot) {
  Driver d;
  const SessionId session = d.open();
  const LeaseId lease(session.value());
  ASSERT_EQ(d.submit(Put{.key = "a", .value = "12345", .lease = lease}).code, Code::Ok);
  ASSERT_EQ(d.submit(SetKeyQuota{space(d).weight + kChange + 1 + 5}).code, Code::Ok);
  struct Case {
    Request::Body body;
    Code code;
  };
  const Transaction either{{Compare::exists("a")}, {Delete{"x"}}, {Put{"b", "123456"}}};
  const Transaction nested{{}, {Transaction{{}, {Put{"b", "1"}, Put{"c", "1"}}, {}}}, {}};
  const Transaction deletes{{}, {Delete{"x"}, RangeOperation::all()}, {}};
  const uint64_t digest = d.machine.digest();
  for (const Case& each : std::vector<Case>{
           {Put{"b", "123456"}, Code::NoSpace},
           {Put{"b", "", {}, false, false, false, true}, Code::NoSpace},  // sequential: 20 digits more
           {Put{.key = "ab", .value = "12345"}, Code::NoSpace},
           {either, Code::NoSpace},  // its branch is not known before it is applied
           {nested, Code::NoSpace},
           {deletes, Code::Ok},
           {Delete{"x"}, Code::Ok},
       }) {
    const Result result = d.submit(each.body);
    EXPECT_EQ(result.code, each.code) << each.body.index();
    EXPECT_EQ(result.revision, Revision(2));
    EXPECT_EQ(d.machine.digest(), digest);
  }
  EXPECT_EQ(d.acquire(session, "lock").code, Code::Granted);
  EXPECT_EQ(d.submit(GrantLease{{}, 5s}).code, Code::Ok);
  EXPECT_EQ(d.submit(Put{"b", "12345"}).code, Code::Ok) << "exactly as much as there is room for";
  EXPECT_EQ(d.submit(Put{"b", ""}).code, Code::NoSpace);
  EXPECT_EQ(d.submit(Delete{"b"}).deleted, 1u);
  d.expire({session});
  EXPECT_EQ(d.machine.keys(), 0u) << "an expiry is not refused either";
  EXPECT_EQ(d.submit(Put{"b", ""}).code, Code::NoSpace) << "what was deleted is still history";
  EXPECT_EQ(d.submit(Compact{Revision(5)}).code, Code::Ok);
  EXPECT_EQ(d.submit(Put{"b", ""}).code, Code::Ok) << "nothing had to be cleared";
}

// Covers: S-35
TEST(KeySpaceTest, AValueThatIsKeptCountsAsOneThatIsGiven) {
  Driver d;
  d.submit(Put{"a", std::string(1000, 'v')});
  d.submit(SetKeyQuota{2 * space(d).weight - 1});
  EXPECT_EQ(d.submit(Put{.key = "a", .ignore_value = true}).code, Code::NoSpace);
  EXPECT_EQ(d.submit(Put{.key = "a"}).code, Code::Ok);
  EXPECT_EQ(d.submit(Put{.key = "b", .ignore_value = true}).code, Code::KeyNotFound);
}

// Covers: S-35
TEST(KeySpaceTest, AQuotaBelowWhatThereIsDeletesNothingAndZeroLiftsIt) {
  Driver d;
  for (int i = 0; i < 10; ++i) d.submit(Put{std::to_string(i), "v"});
  d.submit(SetKeyQuota{1});
  EXPECT_EQ(d.machine.keys(), 10u);
  EXPECT_EQ(d.submit(Put{"a", ""}).code, Code::NoSpace);
  EXPECT_EQ(d.submit(SetKeyQuota{}).revision, Revision(11));
  EXPECT_EQ(d.submit(Put{"a", ""}).code, Code::Ok);
}

// Only entries sweep; a put that finds no room sweeps as much as it may.
// Covers: S-35
TEST(KeySpaceTest, WhatIsCompactedMakesRoomThoughNothingElseIsWritten) {
  Driver d;
  for (int i = 0; i < 40'000; ++i) d.submit(Put{"a", ""});
  d.submit(SetKeyQuota{10 * (kChange + 1)});
  d.submit(Compact{Revision(40'001)});
  int refused = 0;
  while (d.submit(Put{"a", ""}).code != Code::Ok) ASSERT_LT(++refused, 10);
  EXPECT_GT(refused, 0) << "one entry does not sweep it all";
  EXPECT_LE(space(d).weight, space(d).quota);
}

// Covers: S-35 INV_K03
TEST(KeySpaceTest, QuotaAndWeightSurviveARestore) {
  Driver d, copy;
  for (int i = 0; i < 5; ++i) d.submit(Put{"a", "v"});
  d.submit(SetKeyQuota{space(d).weight + 10});
  RowsView view;
  CheckpointBatch batch;
  d.machine.checkpoint(batch);
  view.add(batch);
  ASSERT_TRUE(copy.machine.restore(view).ok());
  EXPECT_EQ(copy.machine.digest(), d.machine.digest());
  EXPECT_EQ(space(copy), space(d));
  EXPECT_EQ(copy.submit(Put{"a", ""}).code, Code::NoSpace);
  d.submit(SetKeyQuota{});
  CheckpointBatch changed;
  d.machine.checkpoint(changed);
  EXPECT_EQ(changed.rows.size(), 1u) << "a quota alone is a change";
}

}  // namespace
}  // namespace coordkit::machine
