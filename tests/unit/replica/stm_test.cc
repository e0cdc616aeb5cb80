// Functions that change several keys concurrently, on real replicas.
#include "coordkit/keys/stm.h"

#include <future>
#include <limits>
#include <thread>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using Isolation = StmOptions::Isolation;

class StmTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }
  Kv kv(uint64_t id = 1) { return Kv(cluster_[id]); }
  void put(const std::string& key, const std::string& value) { ASSERT_THAT(kv(2).put(key, value).status(), IsOk()); }
  std::string value(const std::string& key) {
    const absl::StatusOr<GetResult> found = kv(3).get(key);
    return found.ok() && found->entry ? found->entry->value : "-";
  }
  static std::string read(Stm& stm, const std::string& key) {
    const absl::StatusOr<std::optional<std::string>> found = stm.get(key);
    EXPECT_THAT(found.status(), IsOk());
    return found.ok() ? found->value_or("-") : "?";
  }

  Cluster cluster_;
};

TEST_F(StmTest, WhatItWroteIsThereAtOnceAndItsOwnWritesAreSeen) {
  put("a", "1");
  const absl::StatusOr<StmResult> result = run_stm(kv(), [](Stm& stm) {
    EXPECT_EQ(read(stm, "a"), "1");
    EXPECT_EQ(read(stm, "b"), "-");
    stm.put("b", "2");
    stm.put("b", "3");
    stm.erase("a");
    EXPECT_EQ(read(stm, "b"), "3");
    EXPECT_EQ(read(stm, "a"), "-");
    return absl::OkStatus();
  });
  ASSERT_THAT(result.status(), IsOk());
  EXPECT_EQ(result->attempts, 1u);
  EXPECT_EQ(value("a") + value("b"), "-3");
  EXPECT_EQ(kv().get("b")->entry->mod, result->revision);
}

TEST_F(StmTest, AllReadsAreOfOneRevisionAndAConflictRunsTheFunctionAnew) {
  put("a", "old"), put("b", "old");
  std::vector<std::string> seen;
  const absl::StatusOr<StmResult> result = run_stm(kv(), [&](Stm& stm) {
    seen.push_back(read(stm, "a"));
    if (seen.size() == 1) {
      put("a", "new"), put("b", "new");
      EXPECT_EQ(kv().get("b")->entry->value, "new") << "now this replica has it too";
    }
    seen.back() += read(stm, "b");
    stm.put("sum", seen.back());
    return absl::OkStatus();
  });
  ASSERT_THAT(result.status(), IsOk());
  EXPECT_EQ(seen, (std::vector<std::string>{"oldold", "newnew"}));
  EXPECT_EQ(result->attempts, 2u);
  EXPECT_EQ(value("sum"), "newnew");
}

// Two doctors on call, each of whom may leave if the other stays.
TEST_F(StmTest, WhatWasOnlyReadIsGuardedToo) {
  put("alice", "on"), put("bob", "on");
  const auto leave = [&](const std::string& me, const std::string& other, bool& meanwhile) {
    return run_stm(kv(), [&](Stm& stm) {
      const bool may = read(stm, other) == "on";
      if (std::exchange(meanwhile, false)) put(other, "off");
      if (may) stm.put(me, "off");
      return absl::OkStatus();
    });
  };
  bool meanwhile = true;
  ASSERT_THAT(leave("alice", "bob", meanwhile).status(), IsOk());
  EXPECT_EQ(value("alice") + value("bob"), "onoff");
}

TEST_F(StmTest, AKeyThatIsOnlyWrittenConflictsUnlessThatIsNotAskedFor) {
  for (const Isolation isolation : {Isolation::SerializableSnapshot, Isolation::Serializable}) {
    for (const bool erase : {false, true}) {
      put("read", "1"), put("blind", "1");
      bool meanwhile = true;
      const auto interfere = [&] {
        if (!erase) return put("blind", "2");
        EXPECT_THAT(kv(2).erase("blind").status(), IsOk());
      };
      const auto overwrite = [&](Stm& stm) {
        read(stm, "read");
        if (std::exchange(meanwhile, false)) interfere();
        stm.put("blind", "3");
        return absl::OkStatus();
      };
      const absl::StatusOr<StmResult> result = run_stm(kv(), overwrite, {.isolation = isolation});
      ASSERT_THAT(result.status(), IsOk());
      EXPECT_EQ(result->attempts, isolation == Isolation::Serializable ? 1u : 2u) << erase;
      EXPECT_EQ(value("blind"), "3");
    }
  }
}

TEST_F(StmTest, OneThatOnlyReadsWritesNothingAndOneThatFailsNeither) {
  put("a", "1");
  const Revision before = kv().range(RangeOperation::of("a"))->revision;
  const Index applied = cluster_[1].health().applied;
  const absl::StatusOr<StmResult> looked = run_stm(kv(), [](Stm& stm) { return stm.get("a").status(); });
  ASSERT_THAT(looked.status(), IsOk());
  EXPECT_EQ(looked->revision, before);
  EXPECT_EQ(cluster_[1].health().applied, applied) << "no entry";
  const absl::Status refused = run_stm(kv(), [](Stm& stm) {
                                 stm.put("a", "2");
                                 return absl::NotFoundError("I have thought better of it");
                               }).status();
  EXPECT_THAT(refused, HasCode(absl::StatusCode::kNotFound));
  EXPECT_EQ(value("a"), "1");
  const auto thrown = [](Stm& stm) -> absl::Status {
    stm.put("a", "2");
    throw 1;
  };
  EXPECT_THROW(run_stm(kv(), thrown).status().IgnoreError(), int);
  EXPECT_EQ(value("a"), "1");
  const absl::StatusOr<StmResult> nothing = run_stm(kv(), [](Stm&) { return absl::OkStatus(); });
  EXPECT_EQ(nothing->revision, Revision());
}

TEST_F(StmTest, AttemptsAndTimeHaveAnEnd) {
  put("a", "0");
  int runs = 0;
  const auto hindered = [&](Stm& stm) {
    read(stm, "a");
    put("a", std::to_string(++runs));
    stm.put("a", "mine");
    return absl::OkStatus();
  };
  const absl::Status conflict = run_stm(kv(), hindered, {.attempts_max = 5}).status();
  EXPECT_THAT(conflict, Is(Reason::Conflict));
  EXPECT_EQ(outcome_of(conflict), Outcome::NoEffect);
  EXPECT_EQ(runs, 5);
  EXPECT_EQ(value("a"), "5");
  EXPECT_THAT(run_stm(kv(), hindered, {.attempts_max = 0}).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(run_stm(kv(), hindered, {.timeout = Duration::zero()}).status(), Is(Reason::InvalidArgument));
  EXPECT_EQ(runs, 5);
}

TEST_F(StmTest, ASnapshotThatIsCompactedUnderItIsFollowedByANewOne) {
  put("a", "1"), put("b", "1");
  int runs = 0;
  const absl::StatusOr<StmResult> result = run_stm(kv(2), [&](Stm& stm) -> absl::Status {
    read(stm, "a");
    if (++runs == 1) {
      put("b", "2");
      EXPECT_THAT(kv(2).compact(kv(2).range(RangeOperation::of("b"))->revision).status(), IsOk());
    }
    const absl::StatusOr<std::optional<std::string>> b = stm.get("b");
    if (!b.ok()) return b.status();
    stm.put("c", **b);
    return absl::OkStatus();
  });
  ASSERT_THAT(result.status(), IsOk());
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(value("c"), "2");
}

TEST_F(StmTest, BadInputAndAFenceAreRefusedWithoutEffect) {
  const auto swallow = [](Stm& stm) {
    stm.get("").IgnoreError();  // as if nothing had gone wrong
    stm.put("x", "1");
    return absl::OkStatus();
  };
  EXPECT_THAT(run_stm(kv(), [&](Stm& stm) { return stm.get("").status(); }).status(), Is(Reason::EmptyKey));
  EXPECT_THAT(run_stm(kv(), [](Stm& stm) { return stm.put("", "1"), absl::OkStatus(); }).status(), Is(Reason::EmptyKey));
  EXPECT_THAT(run_stm(kv(),
                      [](Stm& stm) {
                        for (int i = 0; i < 129; ++i) stm.put("many/" + std::to_string(i), "1");
                        return absl::OkStatus();
                      })
                  .status(),
              Is(Reason::TooManyOps));
  EXPECT_THAT(run_stm(kv(), swallow).status(), Is(Reason::EmptyKey));
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> grant = me.acquire("lock");
  ASSERT_THAT(grant.status(), IsOk());
  const StmOptions fenced{.fence = fenced_by(*grant)};
  const auto write = [](Stm& stm) { return stm.put("x", "1"), absl::OkStatus(); };
  EXPECT_THAT(run_stm(kv(), write, fenced).status(), IsOk());
  EXPECT_THAT(grant->release(), IsOk());
  EXPECT_THAT(run_stm(
                  kv(), [](Stm& stm) { return stm.put("x", "2"), absl::OkStatus(); }, fenced)
                  .status(),
              Is(Reason::Fenced));
  EXPECT_EQ(value("x"), "1");
  const Kv closed = kv();
  ASSERT_THAT(cluster_[1].close(), IsOk());
  EXPECT_THAT(run_stm(closed, write).status(), Is(Reason::Closed));
}

// The sum never changes, for any reader at any time, and nothing is lost.
// Covers: INV_K02
TEST_F(StmTest, TransfersOfAllReplicasAddUp) {
  constexpr int kAccounts = 4;
  for (int i = 0; i < kAccounts; ++i) put("account/" + std::to_string(i), "100");
  const auto account = [](int i) { return "account/" + std::to_string(i % kAccounts); };
  std::vector<std::thread> threads;
  for (uint64_t id = 1; id <= 3; ++id) {
    threads.emplace_back([&, id] {
      const Kv here = kv(id);
      for (int i = 0; i < 20; ++i) {
        const std::string from = account(static_cast<int>(id) + i), to = account(static_cast<int>(id) * 2 + i + 1);
        if (from == to) continue;
        EXPECT_THAT(run_stm(here,
                            [&](Stm& stm) {
                              stm.put(from, std::to_string(std::stoi(read(stm, from)) - i));
                              stm.put(to, std::to_string(std::stoi(read(stm, to)) + i));
                              return absl::OkStatus();
                            },
                            {.timeout = kPatience})
                        .status(),
                    IsOk());
        int sum = 0;
        EXPECT_THAT(run_stm(here,
                            [&](Stm& stm) {
                              sum = 0;
                              for (int k = 0; k < kAccounts; ++k) sum += std::stoi(read(stm, account(k)));
                              return absl::OkStatus();
                            })
                        .status(),
                    IsOk());
        EXPECT_EQ(sum, 100 * kAccounts);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Covers: S-37
TEST_F(StmTest, IdsComeInBlocksAndNoneTwice) {
  IdAllocator one(cluster_[1], "ids", 10), two(cluster_[2], "ids", 10);
  std::vector<int64_t> ids;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (IdAllocator* ids_of : {&one, &one, &two}) {
    threads.emplace_back([&, ids_of] {
      for (int i = 0; i < 25; ++i) {
        const absl::StatusOr<int64_t> id = ids_of->next();
        ASSERT_THAT(id.status(), IsOk());
        const std::lock_guard lock(mutex);
        ids.push_back(*id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
  EXPECT_EQ(ids.front(), 1);
  EXPECT_EQ(Counter(cluster_[3], "ids").get().value(), 80) << "five blocks and three";
  while (*one.next() % 10 != 0) {
  }
  ASSERT_THAT(cluster_[1].close(), IsOk());
  EXPECT_THAT(one.next().status(), Is(Reason::Closed));
}

// Covers: S-37
TEST_F(StmTest, IdsGoUpToTheLastNumberThereIs) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  Counter counter(cluster_[1], "ids");
  ASSERT_THAT(counter.set(kLast - 2).status(), IsOk());
  IdAllocator ids(cluster_[1], "ids", 2);
  EXPECT_EQ(ids.next().value(), kLast - 1);
  EXPECT_EQ(ids.next().value(), kLast);
  EXPECT_THAT(ids.next().status(), Is(Reason::CounterOverflow));
  EXPECT_EQ(counter.get().value(), kLast);
}

// Covers: FLT_A01
TEST_F(StmTest, AnIdWithinACallbackNeitherFetchesABlockNorWaitsForWhoDoes) {
  IdAllocator ids(cluster_[1], "ids", 2);
  const auto next_in_a_callback = [&] {
    std::promise<absl::StatusOr<int64_t>> next;
    cluster_[1].get_async("k", Consistency::Local, [&](const absl::StatusOr<GetResult>&) { next.set_value(ids.next()); });
    return next.get_future().get();
  };
  EXPECT_THAT(next_in_a_callback().status(), Is(Reason::InCallback));
  EXPECT_EQ(ids.next().value(), 1);
  EXPECT_EQ(next_in_a_callback().value(), 2) << "it was there";
  for (uint64_t id = 2; id <= 3; ++id) cluster_.close(id);
  std::thread fetching([&] { EXPECT_FALSE(ids.next().ok()) << "there is no majority"; });
  ASSERT_TRUE(eventually([&] { return cluster_[1].metrics()->memory.request_bytes > 0; }));
  EXPECT_THAT(next_in_a_callback().status(), Is(Reason::InCallback));
  ASSERT_THAT(cluster_[1].close(), IsOk());
  fetching.join();
}

}  // namespace
}  // namespace coordkit::testkit
