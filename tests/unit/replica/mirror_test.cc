// Copies of keys that follow the store, and settings and registries built on them, on real replicas.
#include "coordkit/keys/mirror.h"

#include <atomic>
#include <future>
#include <thread>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using What = MirrorSeen::What;

// The events of a mirror, and whether the copy is what they add up to.
class Listener {
 public:
  MirrorObserver observer() {
    return [this](const MirrorSeen& seen, const MirrorEntries& all) {
      std::unique_lock lock(mutex_);
      gate_.wait(lock, [this] { return open_; });
      if (seen.what == What::Snapshot || seen.what == What::Resync) own_ = all;
      if (seen.what == What::Changes) {
        for (const WatchEvent& event : seen.events) {
          if (event.deleted()) own_.erase(event.entry.key);
          if (!event.deleted()) own_.insert_or_assign(event.entry.key, event.entry);
        }
      }
      EXPECT_EQ(own_, all);
      if (seen.what != What::Ended) {
        EXPECT_GT(seen.revision, revision_);
      }
      revision_ = seen.revision;
      seen_.push_back(seen.what);
      why_ = seen.why;
      gate_.notify_all();
    };
  }
  void hold() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    gate_.notify_all();
  }
  // Waits until it has received this revision.
  void reach(Revision revision) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(gate_.wait_for(lock, kPatience, [&] { return revision_ >= revision; })) << revision.value();
  }
  absl::Status await_end() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(gate_.wait_for(lock, kPatience, [&] { return !seen_.empty() && seen_.back() == What::Ended; }));
    return why_;
  }
  std::vector<What> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable gate_;
  bool open_ = true;
  MirrorEntries own_;
  Revision revision_;
  std::vector<What> seen_;
  absl::Status why_;
};

class MirrorTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }
  Revision put(uint64_t at, const std::string& key, const std::string& value) {
    const absl::StatusOr<PutResult> put = Kv(cluster_[at]).put(key, value, {.timeout = kPatience});
    EXPECT_THAT(put.status(), IsOk());
    return put.ok() ? put->revision : Revision();
  }
  void expect_as_stored(const Mirror& mirror) {
    const absl::StatusOr<RangeResult> stored = Kv(cluster_[1]).range(RangeOperation::prefix("m/"), {.timeout = kPatience});
    ASSERT_THAT(stored.status(), IsOk());
    std::vector<KeyValue> entries;
    for (const auto& [key, entry] : mirror.entries()) entries.push_back(entry);
    EXPECT_EQ(entries, stored->entries);
  }

  Listener listener_;  // before the replicas: their callbacks use it
  Cluster cluster_;
};

// Covers: S-28
TEST_F(MirrorTest, ItBeginsWithAllThereIsAndFollowsEveryChange) {
  put(1, "m/a", "1"), put(1, "other", "1");
  Mirror mirror(cluster_[2], MirrorOptions::prefix("m/"), listener_.observer());
  ASSERT_THAT(mirror.wait_ready(kPatience), IsOk());
  EXPECT_EQ(mirror.get("m/a")->value, "1");
  EXPECT_EQ(mirror.get("other"), std::nullopt);
  put(3, "m/b", "2");
  put(1, "m/a", "2");
  const absl::StatusOr<EraseResult> erased = Kv(cluster_[2]).erase("m/b");
  ASSERT_THAT(erased.status(), IsOk());
  listener_.reach(erased->revision);
  EXPECT_EQ(mirror.revision(), erased->revision);
  EXPECT_THAT(mirror.entries(), SizeIs(1));
  EXPECT_EQ(listener_.seen().front(), What::Snapshot);
  expect_as_stored(mirror);
}

// Covers: S-28
TEST_F(MirrorTest, AMirrorOfKeysThatDoNotChangeReachesTheRevisionOfTheStore) {
  put(1, "m/a", "1");
  Mirror mirror(cluster_[2], MirrorOptions::prefix("m/"), listener_.observer());
  ASSERT_THAT(mirror.wait_ready(kPatience), IsOk());
  Revision elsewhere;
  for (int i = 0; i < 3; ++i) elsewhere = put(3, "other", std::to_string(i));
  EXPECT_TRUE(eventually([&] { return mirror.revision() >= elsewhere; })) << mirror.revision().value();
  EXPECT_THAT(listener_.seen(), ElementsAre(What::Snapshot)) << "nothing has changed for the observer";
  const Revision here = put(3, "m/a", "2");
  listener_.reach(here);
  EXPECT_EQ(mirror.get("m/a")->value, "2");
}

// It is kept from reading until what it has not read is gone.
// Covers: S-28
TEST_F(MirrorTest, WhenChangesWereMissedTheCopyIsTakenAnewAndMarked) {
  put(2, "m/gone", "1");
  MirrorOptions small = MirrorOptions::prefix("m/");
  small.room = 1 << 10;
  Mirror mirror(cluster_[2], small, listener_.observer());
  ASSERT_THAT(mirror.wait_ready(kPatience), IsOk());
  listener_.hold();
  for (int i = 0; i < 100; ++i) put(1, "m/" + std::to_string(i % 7), std::to_string(i));
  ASSERT_THAT(Kv(cluster_[1]).erase("m/gone").status(), IsOk());
  Revision last = put(1, "m/last", "1");
  ASSERT_THAT(Kv(cluster_[2]).compact(last).status(), IsOk());
  listener_.let_go();
  last = put(2, "m/last", "2");
  listener_.reach(last);
  expect_as_stored(mirror);
  const std::vector<What> seen = listener_.seen();
  EXPECT_EQ(std::count(seen.begin(), seen.end(), What::Resync), 1);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), What::Snapshot), 1);
}

TEST_F(MirrorTest, ChangesOfLeaderAndManyWritersLeaveItAsTheStoreIs) {
  std::vector<Mirror> mirrors;
  for (uint64_t id = 1; id <= 3; ++id) mirrors.emplace_back(cluster_[id], MirrorOptions::prefix("m/"));
  std::vector<std::thread> writers;
  for (uint64_t id = 1; id <= 3; ++id) {
    writers.emplace_back([&, id] {
      Kv kv(cluster_[id]);
      for (uint64_t i = 0; i < 40; ++i) {
        const std::string key = "m/" + std::to_string((i * id) % 11);
        if (i % 4 == 0) {
          EXPECT_THAT(kv.erase(key, {.timeout = kPatience}).status(), IsOk());
        } else {
          EXPECT_THAT(kv.put(key, std::to_string(i), {.timeout = kPatience}).status(), IsOk());
        }
      }
    });
  }
  for (uint64_t to = 1; to <= 3; ++to) EXPECT_THAT(cluster_[1].transfer_leadership(to, kPatience), IsOk());
  for (std::thread& writer : writers) writer.join();
  Mirror late(cluster_[3], MirrorOptions::prefix("m/"), listener_.observer());
  const Revision last = put(2, "m/last", "1");
  listener_.reach(last);
  for (const Mirror& mirror : mirrors) {
    while (mirror.revision() < last) std::this_thread::yield();
    expect_as_stored(mirror);
  }
  expect_as_stored(late);
}

TEST_F(MirrorTest, ItEndsWithItsReplicaAndSaysWhyItCannotBegin) {
  Mirror mirror(cluster_[1], MirrorOptions::prefix("m/"), listener_.observer());
  ASSERT_THAT(mirror.wait_ready(kPatience), IsOk());
  const absl::Status backwards = Mirror(cluster_[1], {.key = "b", .end = "a"}).wait_ready(kPatience);
  EXPECT_THAT(backwards, Is(Reason::EmptyRange));
  EXPECT_THAT(Mirror(cluster_[1], {.key = "", .end = "a"}).wait_ready(kPatience), Is(Reason::EmptyKey));
  EXPECT_THAT(Mirror().wait_ready(), Is(Reason::Closed));
  ASSERT_THAT(cluster_[1].close(), IsOk());
  EXPECT_THAT(listener_.await_end(), Is(Reason::Stopped));
  EXPECT_THAT(Mirror(cluster_[1], MirrorOptions::prefix("m/")).wait_ready(kPatience), Is(Reason::Closed));
}

TEST_F(MirrorTest, WithoutAMajorityItWaitsAndBeginsWhenThereIsOne) {
  cluster_.close(2), cluster_.close(3);
  Mirror mirror(cluster_[1], MirrorOptions::prefix("m/"));
  EXPECT_THAT(mirror.wait_ready(1ms), Is(Reason::CallTimeout));
  EXPECT_EQ(mirror.revision(), Revision());
  cluster_.open(2);
  EXPECT_THAT(mirror.wait_ready(kPatience), IsOk());
}

// A removed replica refuses every read at once, so the mirror waits between two of them.
// Covers: S-28
TEST_F(MirrorTest, OneThatWaitsToReadAgainEndsWithItsReplicaToo) {
  ASSERT_THAT(cluster_[1].change_membership(MembershipChange().remove(3)).status(), IsOk());
  ASSERT_TRUE(eventually([this] { return cluster_[3].health().state == ReplicaState::Removed; }));
  const Mirror mirror(cluster_[3], MirrorOptions::prefix("m/"), listener_.observer());
  EXPECT_THAT(cluster_[3].get("m/a").status(), Is(Reason::Removed)) << "asked behind the mirror, and answered behind it";
  ASSERT_THAT(cluster_[3].close(), IsOk());
  EXPECT_THAT(listener_.await_end(), Is(Reason::Stopped));
  EXPECT_THAT(mirror.wait_ready(kPatience), Is(Reason::Stopped));
}

TEST_F(MirrorTest, AMirrorThatGoesWhileItIsToldIsToldNothingMore) {
  for (int i = 0; i < 20; ++i) {
    auto calls = std::make_shared<std::atomic<int>>(0);
    {
      const Mirror mirror(cluster_[1], MirrorOptions::prefix("m/"),
                          [calls](const MirrorSeen&, const MirrorEntries&) { ++*calls; });
      put(1, "m/a", std::to_string(i));
    }
    put(1, "m/b", "1");  // its end has been posted before
    const int before = *calls;
    put(1, "m/b", "2");
    Mirror fresh(cluster_[1], MirrorOptions::prefix("m/"));
    ASSERT_THAT(fresh.wait_ready(kPatience), IsOk());  // everything announced before has run
    EXPECT_LE(*calls, before + 1) << "one call may have been under way";
  }
}

// ---- settings

struct Limits {
  int low = 0;
  int high = 0;
};

absl::StatusOr<Limits> decode(const MirrorEntries& entries) {
  Limits limits;
  for (const auto& [key, entry] : entries) {
    const int number = std::atoi(entry.value.c_str());
    if (number == 0) return absl::InvalidArgumentError(key + " is no number");
    (key == "m/low" ? limits.low : limits.high) = number;
  }
  return limits;
}

TEST_F(MirrorTest, SettingsOfOneTransactionAreNeverSeenApartAndASlipChangesNothing) {
  Kv kv(cluster_[1]);
  const auto set = [&](const std::string& low, const std::string& high) {
    const absl::StatusOr<TransactionResult> done =
        kv.commit({{}, {PutOperation{.key = "m/low", .value = low}, PutOperation{.key = "m/high", .value = high}}, {}});
    EXPECT_THAT(done.status(), IsOk());
    return done->revision;
  };
  set("1", "2");
  std::vector<int> lows;
  std::promise<void> done;
  Config<Limits> config(cluster_[3], MirrorOptions::prefix("m/"), decode, [&](const Limits& limits) {
    EXPECT_EQ(limits.high, 2 * limits.low);
    lows.push_back(limits.low);
    if (limits.low == 9) done.set_value();
  });
  ASSERT_THAT(config.wait_ready(kPatience), IsOk());
  const std::shared_ptr<const Limits> before = config.current();
  const Revision slip = set("x", "y");
  while (config.problem().ok()) std::this_thread::yield();
  EXPECT_THAT(config.problem(), HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_LT(config.revision(), slip);
  EXPECT_EQ(config.current(), before);
  const Revision last = set("9", "18");
  done.get_future().get();
  EXPECT_THAT(config.problem(), IsOk());
  EXPECT_EQ(config.revision(), last);
  EXPECT_EQ(before->high, 2) << "what was handed out stays as it was";
  EXPECT_EQ(lows.back(), 9);
}

TEST_F(MirrorTest, SettingsThatCannotBeDecodedFromTheBeginningSaySo) {
  put(1, "m/low", "x");
  Config<Limits> config(cluster_[1], MirrorOptions::prefix("m/"), decode);
  EXPECT_THAT(config.wait_ready(kPatience), HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(config.current()->low, 0) << "what was there before";
  EXPECT_EQ(config.revision(), Revision());
}

TEST_F(MirrorTest, SettingsWhoseDecoderTakesLongerThanTheWaitAreNotReadyYet) {
  std::promise<void> decoding, go_on;
  Config<int> config(cluster_[1], MirrorOptions::prefix("m/"), [&](const MirrorEntries&) -> absl::StatusOr<int> {
    decoding.set_value();
    go_on.get_future().wait();
    return 1;
  });
  decoding.get_future().wait();
  EXPECT_THAT(config.wait_ready(1ms), Is(Reason::CallTimeout));
  go_on.set_value();
  EXPECT_THAT(config.wait_ready(kPatience), IsOk());
}

// ---- registries

// Covers: S-39
TEST_F(MirrorTest, WhoJoinsIsFoundUntilItLeavesOrItsSessionEnds) {
  Registry here(cluster_[1], "m/"), there(cluster_[2], "m/");
  Session one = cluster_.session(1), two = cluster_.session(2);
  Mirror mirror = Registry(cluster_[3], "m/").observe(listener_.observer());
  const absl::StatusOr<std::string> first = here.join(one, "a"), second = there.join(two, "b"), third = here.join(one, "c");
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  EXPECT_LT(*first, *second);
  ASSERT_THAT(there.update(*second, "b2"), IsOk());
  std::vector<std::string> values;
  const absl::StatusOr<RangeResult> members = there.members();
  ASSERT_THAT(members.status(), IsOk());
  for (const KeyValue& entry : members->entries) values.push_back(entry.value);
  EXPECT_THAT(values, ElementsAre("a", "b2", "c"));
  ASSERT_THAT(here.leave(*third), IsOk());
  EXPECT_THAT(here.leave(*third), Is(Reason::KeyNotFound));
  const absl::Status gone = here.update(*third, "d");
  EXPECT_THAT(gone, Is(Reason::KeyNotFound));
  EXPECT_THAT(std::string(sentence_of(gone)), ::testing::HasSubstr("join")) << "not to put it in full, without a session";
  EXPECT_THAT(here.leave("elsewhere"), Is(Reason::KeyNotFound));
  ASSERT_THAT(two.close(), IsOk());
  const absl::StatusOr<RangeResult> left = there.members();
  ASSERT_THAT(left.status(), IsOk());
  EXPECT_THAT(left->entries, SizeIs(1));
  listener_.reach(left->revision);
  expect_as_stored(mirror);
  EXPECT_THAT(here.join(two, "late").status(), Is(Reason::LeaseNotFound));
  EXPECT_THAT(here.join(Session(), "nobody").status(), Is(Reason::Closed));
  EXPECT_THAT(Registry(cluster_[1], "").join(one, "x").status(), Is(Reason::EmptyKey));
}

}  // namespace
}  // namespace coordkit::testkit
