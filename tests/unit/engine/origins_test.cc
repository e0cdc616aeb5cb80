#include "engine/calls/origins.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "coordkit/feature_level.h"
#include "tests/unit/engine/counter.h"

namespace coordkit::engine {
namespace {

constexpr Origin kFirstBoot{ReplicaId(1), StoreId(11), BootCounter(1)};
constexpr Origin kSecondBoot{ReplicaId(1), StoreId(11), BootCounter(2)};
constexpr uint64_t kHash = 77;

Request request(uint64_t sequence, uint64_t lowest = 1, Origin origin = kFirstBoot) {
  return {{origin, Sequence(sequence)}, Sequence(lowest), kCoordination, {}};
}

void run(Origins& origins, const Request& one, std::string_view answer) {
  ASSERT_EQ(origins.admit(one, kHash, Index(1)).verdict, Origins::Verdict::Execute);
  origins.store(one.id, ApplyOutput::Stage::Final, SharedBytes(answer), Index(1));
}

Origins restored(Origins& origins) {
  Table table;
  CheckpointBatch batch;
  origins.checkpoint("o", kFeatureLevel, batch);
  table.commit(batch);
  Origins copy;
  EXPECT_TRUE(copy.restore("o", table).ok());
  return copy;
}

// Covers: S-42
TEST(OriginsTest, UnknownOriginIsRefusedBeforeAnythingElse) {
  Origins origins;
  const auto admission = origins.admit(request(1), kHash, Index(1));
  EXPECT_EQ(admission.verdict, Origins::Verdict::Refuse);
  EXPECT_EQ(admission.refusal, Reason::UnknownOrigin);
}

// Covers: S-41
TEST(OriginsTest, ARepeatGetsTheStoredAnswerBitForBit) {
  Origins origins;
  origins.enroll(kFirstBoot);
  ASSERT_EQ(origins.admit(request(1), kHash, Index(5)).verdict, Origins::Verdict::Execute);
  EXPECT_EQ(origins.admit(request(1), kHash, Index(5)).verdict, Origins::Verdict::Executing);
  origins.store(request(1).id, ApplyOutput::Stage::Queued, SharedBytes(std::string("a\0b", 3)), Index(5));
  const auto again = origins.admit(request(1), kHash, Index(9));
  ASSERT_EQ(again.verdict, Origins::Verdict::Repeat);
  EXPECT_EQ(again.answer->bytes, std::string("a\0b", 3));
  EXPECT_EQ(again.answer->stage, ApplyOutput::Stage::Queued);
  EXPECT_EQ(again.answer->index, Index(5));
}

// Copies of a request that arrive when its answer is not kept any more: one after the other, in one batch, after a restart.
// Covers: REG_R89
TEST(OriginsTest, CopiesThatComeAfterTheirAnswerWasDroppedAreRefused) {
  for (const bool restarted : {false, true}) {
    Origins origins;
    origins.enroll(kFirstBoot);
    run(origins, request(1), "x");
    run(origins, request(2), "y");
    ASSERT_EQ(origins.admit(request(3, 3), kHash, Index(3)).verdict, Origins::Verdict::Execute);
    if (restarted) origins = restored(origins);
    for (const uint64_t sequence : {1, 2, 1, 2, 1}) {
      const auto again = origins.admit(request(sequence), kHash, Index(4));
      EXPECT_EQ(again.verdict, Origins::Verdict::Refuse) << sequence;
      EXPECT_EQ(again.refusal, Reason::SequenceRetired) << sequence;
      EXPECT_EQ(origins.find_answer(request(sequence).id), nullptr);
    }
    const auto another = origins.admit(request(1), kHash + 1, Index(4));
    EXPECT_EQ(another.refusal, Reason::SequenceRetired) << "another command under that id is no new request either";
  }
}

// Covers: S-41
TEST(OriginsTest, SequencesMayBeExecutedInAnyOrder) {
  Origins origins;
  origins.enroll(kFirstBoot);
  for (const uint64_t sequence : {3, 1, 2}) run(origins, request(sequence), std::to_string(sequence));
  for (const uint64_t sequence : {1, 2, 3}) {
    const auto again = origins.admit(request(sequence), kHash, Index(9));
    ASSERT_EQ(again.verdict, Origins::Verdict::Repeat);
    EXPECT_EQ(again.answer->bytes, std::to_string(sequence));
  }
}

// Covers: S-43
TEST(OriginsTest, WhatTheOriginNoLongerAwaitsIsRetired) {
  Origins origins;
  origins.enroll(kFirstBoot);
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) run(origins, request(sequence), "x");
  run(origins, request(5, 3), "y");
  for (const uint64_t sequence : {1, 2}) {
    const auto late = origins.admit(request(sequence), kHash, Index(9));
    EXPECT_EQ(late.verdict, Origins::Verdict::Refuse);
    EXPECT_EQ(late.refusal, Reason::SequenceRetired);
  }
  EXPECT_EQ(origins.admit(request(3), kHash, Index(9)).verdict, Origins::Verdict::Repeat);
  EXPECT_EQ(origins.admit(request(4), kHash, Index(9)).verdict, Origins::Verdict::Execute);  // never executed, still awaited
}

// Covers: S-43
TEST(OriginsTest, ACommandOfASequenceThatWasGivenUpNeverExecutesLater) {
  Origins origins;
  origins.enroll(kFirstBoot);
  run(origins, request(9, 9), "x");  // 1 to 8 were given up
  EXPECT_EQ(origins.admit(request(8), kHash, Index(9)).refusal, Reason::SequenceRetired);
}

// Covers: S-43
TEST(OriginsTest, RetiredMarkNeverFalls) {
  Origins origins;
  origins.enroll(kFirstBoot);
  run(origins, request(5, 5), "x");
  run(origins, request(6, 2), "x");  // an older copy came later
  EXPECT_EQ(origins.admit(request(3, 1), kHash, Index(9)).refusal, Reason::SequenceRetired);
}

// Covers: S-43
TEST(OriginsTest, ARequestThatOvertakesLeavesNothingBehindUntilItComesAgain) {
  Origins origins;
  origins.enroll(kFirstBoot);
  run(origins, request(1), "one");
  const uint64_t digest = origins.digest();
  Request third = request(3);
  third.after = Sequence(2);
  EXPECT_EQ(origins.admit(third, kHash, Index(2)).verdict, Origins::Verdict::Overtakes);
  EXPECT_EQ(origins.digest(), digest);
  EXPECT_EQ(origins.find_answer(third.id), nullptr);
  EXPECT_EQ(restored(origins).digest(), digest);
  run(origins, request(2), "two");
  EXPECT_EQ(origins.admit(third, kHash, Index(4)).verdict, Origins::Verdict::Execute);
  EXPECT_EQ(origins.admit(third, kHash, Index(5)).verdict, Origins::Verdict::Executing) << "a copy, whatever it says";
}

// Covers: S-43
TEST(OriginsTest, WhatIsUnderWayInTheSameBatchOrWasRetiredIsNotOvertaken) {
  Origins origins;
  origins.enroll(kFirstBoot);
  ASSERT_EQ(origins.admit(request(1), kHash, Index(1)).verdict, Origins::Verdict::Execute);
  Request second = request(2);
  second.after = Sequence(1);
  EXPECT_EQ(origins.admit(second, kHash, Index(2)).verdict, Origins::Verdict::Execute);
  Request fourth = request(4, 4);  // and 3 is given up by its caller
  fourth.after = Sequence(3);
  EXPECT_EQ(origins.admit(fourth, kHash, Index(3)).verdict, Origins::Verdict::Execute);
}

// Covers: S-44
TEST(OriginsTest, TheSameIdWithAnotherCommandIsRefused) {
  Origins origins;
  origins.enroll(kFirstBoot);
  run(origins, request(1), "x");
  const auto other = origins.admit(request(1), kHash + 1, Index(9));
  EXPECT_EQ(other.verdict, Origins::Verdict::Refuse);
  EXPECT_EQ(other.refusal, Reason::SequenceReused);
  EXPECT_EQ(origins.admit(request(1), kHash, Index(9)).verdict, Origins::Verdict::Repeat);
}

// Covers: S-42
TEST(OriginsTest, ANewerBootDeletesTheOlderOne) {
  Origins origins;
  origins.enroll(kFirstBoot);
  run(origins, request(1), "x");
  origins.enroll(kSecondBoot);
  EXPECT_FALSE(origins.registered(kFirstBoot));
  EXPECT_TRUE(origins.registered(kSecondBoot));
  EXPECT_EQ(origins.admit(request(1), kHash, Index(9)).refusal, Reason::UnknownOrigin);
  EXPECT_EQ(origins.admit(request(1, 1, kSecondBoot), kHash, Index(9)).verdict, Origins::Verdict::Execute);
}

// Covers: S-42
TEST(OriginsTest, ALateRegistrationOfAnOlderOrTheSameBootChangesNothing) {
  Origins origins;
  origins.enroll(kSecondBoot);
  run(origins, request(1, 1, kSecondBoot), "x");
  const uint64_t before = origins.digest();
  origins.enroll(kFirstBoot);
  origins.enroll(kSecondBoot);
  EXPECT_EQ(origins.digest(), before);
  EXPECT_FALSE(origins.registered(kFirstBoot));
  EXPECT_EQ(origins.admit(request(1, 1, kSecondBoot), kHash, Index(9)).verdict, Origins::Verdict::Repeat);
}

// Removed, replaced by another disk, and back in the same process: the answers it had been given are gone.
// Covers: INV_L09
TEST(OriginsTest, AnOriginThatWasForgottenDoesNotRunStrayRepeats) {
  Origins origins;
  origins.enroll(kFirstBoot);
  run(origins, request(1), "x");
  origins.enroll({kFirstBoot.replica, StoreId(kFirstBoot.store.value() + 1), BootCounter(1)});
  origins.enroll(kFirstBoot, Sequence(2));
  EXPECT_EQ(origins.admit(request(1), kHash, Index(9)).refusal, Reason::SequenceRetired);
  EXPECT_EQ(origins.admit(request(2, 2), kHash, Index(9)).verdict, Origins::Verdict::Execute);
}

// The same, but the displaced process still counts on its old calls, or a copy of its first registration arrives late.
// Covers: FLT_P21 INV_L09
TEST(OriginsTest, ADisplacedOriginThatReturnsExecutesNoCallTwice) {
  const Origin other{kFirstBoot.replica, StoreId(kFirstBoot.store.value() + 1), BootCounter(1)};
  for (const bool checkpointed : {false, true}) {
    Origins origins;
    origins.enroll(kFirstBoot);
    run(origins, request(1), "x");
    run(origins, request(3), "y");
    origins.enroll(other);
    if (checkpointed) origins = restored(origins);
    EXPECT_EQ(origins.admit(request(1), kHash, Index(9)).refusal, Reason::UnknownOrigin);
    origins.enroll(kFirstBoot, Sequence(1));
    ASSERT_TRUE(origins.registered(kFirstBoot));
    for (const uint64_t sequence : {1, 2, 3}) {
      EXPECT_EQ(origins.admit(request(sequence), kHash, Index(9)).refusal, Reason::SequenceRetired) << sequence;
    }
    EXPECT_EQ(origins.admit(request(4, 4), kHash, Index(9)).verdict, Origins::Verdict::Execute);
    origins.enroll(kSecondBoot);
    EXPECT_EQ(origins.admit(request(1, 1, kSecondBoot), kHash, Index(9)).verdict, Origins::Verdict::Execute) << "a new life";
    origins.enroll(other);
    origins.enroll(kFirstBoot);
    EXPECT_FALSE(origins.registered(kFirstBoot)) << "a life that was over before";
  }
}

TEST(OriginsTest, AnotherStoreOfTheReplicaReplacesThePreviousWhateverItsBoot) {
  Origins origins;
  origins.enroll(kSecondBoot);
  const Origin replaced{ReplicaId(1), StoreId(12), BootCounter(1)};
  origins.enroll(replaced);
  EXPECT_FALSE(origins.registered(kSecondBoot));
  EXPECT_TRUE(origins.registered(replaced));
}

// Covers: FLT_O05
TEST(OriginsTest, ASequenceBeyondTheWindowIsRefusedAndReservesNothing) {
  Origins origins;
  origins.enroll(kFirstBoot);
  EXPECT_EQ(origins.admit(request(Origins::kAnswersMax), kHash, Index(1)).verdict, Origins::Verdict::Execute);
  const auto beyond = origins.admit(request(Origins::kAnswersMax + 1), kHash, Index(1));
  EXPECT_EQ(beyond.verdict, Origins::Verdict::Refuse);
  EXPECT_EQ(beyond.refusal, Reason::TooManyInFlight);
  EXPECT_EQ(origins.admit(request(~uint64_t{0}), kHash, Index(1)).refusal, Reason::TooManyInFlight);
  EXPECT_EQ(origins.admit(request(Origins::kAnswersMax + 1, 2), kHash, Index(1)).verdict, Origins::Verdict::Execute);
}

TEST(OriginsTest, DigestDependsOnTheHistoryNotOnHowItWasBatched) {
  const auto digest = [](bool batched) {
    Origins origins;
    origins.enroll(kFirstBoot);
    const auto admit = [&](uint64_t sequence, uint64_t lowest) { origins.admit(request(sequence, lowest), kHash, Index(1)); };
    const auto store = [&](uint64_t sequence) {
      origins.store(request(sequence).id, ApplyOutput::Stage::Final, SharedBytes("x"), Index(1));
    };
    admit(1, 1);
    if (!batched) store(1);
    admit(2, 2);  // retires the answer to 1
    if (batched) store(1);
    store(2);
    return origins.digest();
  };
  EXPECT_EQ(digest(true), digest(false));
}

TEST(OriginsTest, AnswersOfUnknownOrRetiredRequestsAreDropped) {
  Origins origins;
  origins.enroll(kFirstBoot);
  origins.store(request(1).id, ApplyOutput::Stage::Final, SharedBytes("x"), Index(1));
  origins.store(request(1, 1, kSecondBoot).id, ApplyOutput::Stage::Final, SharedBytes("x"), Index(1));
  EXPECT_EQ(origins.admit(request(1), kHash, Index(1)).verdict, Origins::Verdict::Execute);
}

TEST(OriginsTest, TheFirstAnswerStays) {
  Origins origins;
  origins.enroll(kFirstBoot);
  run(origins, request(1), "first");
  origins.store(request(1).id, ApplyOutput::Stage::Final, SharedBytes("second"), Index(2));
  EXPECT_EQ(origins.admit(request(1), kHash, Index(3)).answer->bytes, "first");
}

// Whatever happened, a table restored from its checkpoint is indistinguishable from the original by anything that comes later.
// Covers: S-44
TEST(OriginsTest, ARestoredTableBehavesLikeTheOriginalFromThenOn) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    Origins origins;
    Table table;
    std::vector<Origins> copies;
    const auto step = [&](Origins& one_table, uint64_t kind, const Request& one, uint64_t hash) -> std::string {
      if (kind == 0) {
        one_table.enroll(one.id.origin);
        return {};
      }
      const auto admission = one_table.admit(one, hash, Index(one.id.sequence.value()));
      std::string seen = std::to_string(static_cast<int>(admission.verdict)) + "/";
      if (admission.verdict == Origins::Verdict::Refuse) seen += name_of(admission.refusal);
      if (admission.answer) seen += admission.answer->bytes.view();
      if (admission.verdict == Origins::Verdict::Execute) {
        const std::string large(hash % 3 == 0 ? Origins::kSmallAnswerMax : 0, '.');
        one_table.store(one.id, ApplyOutput::Stage::Final, SharedBytes("answer " + std::to_string(hash) + large), Index(1));
      }
      return seen;
    };
    for (int i = 0; i < 120; ++i) {
      const Origin origin{ReplicaId(random.between(1, 2)), StoreId(11), BootCounter(random.between(1, 2))};
      const uint64_t sequence = random.between(1, 30);
      const Request one = request(sequence, random.between(1, sequence), origin);
      const uint64_t kind = random.below(6);
      const uint64_t hash = (random.below(20) == 0 ? kHash + 100 : kHash) + sequence;
      const std::string expected = step(origins, kind, one, hash);
      for (Origins& copy : copies) {
        ASSERT_EQ(step(copy, kind, one, hash), expected) << "seed " << seed << " step " << i;
        ASSERT_EQ(copy.digest(), origins.digest());
      }
      if (i % 10 != 0) continue;
      CheckpointBatch batch;
      origins.checkpoint("o", kFeatureLevel, batch);
      table.commit(batch);
      ASSERT_TRUE(copies.emplace_back().restore("o", table).ok());
    }
  }
}

constexpr Origin kRemote{ReplicaId(kRemoteBit | 7), StoreId(5), BootCounter(1)};

// Covers: S-42
TEST(OriginsTest, ARemoteIsForgottenOnlyInTheGenerationOfItsTimer) {
  Origins origins;
  origins.enroll(kRemote);
  run(origins, request(1, 1, kRemote), "answer");
  EXPECT_FALSE(origins.forget(kRemote.replica, Generation(2), Index(8)));
  EXPECT_TRUE(origins.registered(kRemote));
  const uint64_t digest = origins.digest();
  EXPECT_TRUE(origins.forget(kRemote.replica, Generation(kRemote.boot.value()), Index(8)));
  EXPECT_FALSE(origins.registered(kRemote));
  EXPECT_NE(origins.digest(), digest);
  EXPECT_EQ(origins.admit(request(1, 1, kRemote), kHash, Index(9)).refusal, Reason::UnknownOrigin);
  origins.enroll(kRemote, Sequence(2));
  EXPECT_EQ(origins.admit(request(1, 1, kRemote), kHash, Index(9)).refusal, Reason::SequenceRetired);
  EXPECT_EQ(origins.admit(request(2, 2, kRemote), kHash, Index(9)).verdict, Origins::Verdict::Execute);
}

// Covers: S-75
TEST(OriginsTest, AnOriginBelongsToTheNameOfItsRemote) {
  Origins origins;
  origins.enroll(kRemote, Sequence(1), "billing");
  Request named = request(1, 1, kRemote);
  EXPECT_EQ(origins.admit(named, kHash, Index(9)).refusal, Reason::UnknownOrigin);
  named.name = "thief";
  EXPECT_EQ(origins.admit(named, kHash, Index(9)).refusal, Reason::UnknownOrigin);
  named.name = "billing";
  EXPECT_EQ(origins.admit(named, kHash, Index(9)).verdict, Origins::Verdict::Execute);
  for (const StoreId store : {kRemote.store, StoreId(99)}) {
    origins.enroll({kRemote.replica, store, BootCounter(2)}, Sequence(1), "thief");
    EXPECT_EQ(origins.name_of(kRemote), "billing") << "its id is taken";
  }
  Origins copy = restored(origins);
  EXPECT_EQ(copy.name_of(kRemote), "billing");
  EXPECT_EQ(copy.digest(), origins.digest());
  ASSERT_TRUE(copy.forget(kRemote.replica, Generation(kRemote.boot.value()), Index(8)));
  copy.enroll(kRemote, Sequence(5), "thief");
  EXPECT_EQ(copy.name_of(kRemote), "thief") << "of the one before nothing is left";
  EXPECT_EQ(copy.name_of(kFirstBoot), std::nullopt);
}

TEST(OriginsTest, RowsOfAForgottenRemoteAreErasedOnceAndComeBackWithIt) {
  Origins origins;
  Table table;
  const auto checkpoint = [&] {
    CheckpointBatch batch;
    origins.checkpoint("o", kFeatureLevel, batch);
    table.commit(batch);
    return batch.rows.size();
  };
  origins.enroll(kRemote);
  origins.forget(kRemote.replica, Generation(1), Index(8));
  EXPECT_EQ(checkpoint(), 1u) << "it never had a row: nothing but the digests";
  origins.enroll(kRemote);
  run(origins, request(1, 1, kRemote), std::string(Origins::kSmallAnswerMax + 1, '.'));
  EXPECT_EQ(checkpoint(), 3u);
  origins.forget(kRemote.replica, Generation(1), Index(8));
  origins.enroll(kRemote, Sequence(2));
  EXPECT_EQ(checkpoint(), 4u) << "two erased, one put";
  Origins copy;
  ASSERT_TRUE(copy.restore("o", table).ok());
  EXPECT_TRUE(copy.registered(kRemote));
  EXPECT_EQ(copy.digest(), origins.digest());
  EXPECT_EQ(copy.forgotten(), Index(8));
  std::vector<TimerOp> timers;
  copy.timers([&timers](const TimerOp& op) { timers.push_back(op); });
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0], Origins::timer_of(kRemote));
}

TEST(OriginsTest, ARemoteKeepsItsAnswersWhenTheMembersChange) {
  Origins origins;
  origins.enroll(kRemote);
  run(origins, request(1, 1, kRemote), "answer");
  origins.keep_members_only({});
  EXPECT_NE(origins.find_answer({kRemote, Sequence(1)}), nullptr);
}

TEST(OriginsTest, CheckpointsAreIncrementalAndTogetherComplete) {
  Origins origins;
  Table table;
  const auto checkpoint = [&] {
    CheckpointBatch batch;
    origins.checkpoint("o", kFeatureLevel, batch);
    table.commit(batch);
    return batch.rows.size();
  };
  const Origin other{ReplicaId(2), StoreId(22), BootCounter(1)};
  origins.enroll(kFirstBoot);
  origins.enroll(other);
  EXPECT_EQ(checkpoint(), 3u);  // both, and the digest
  run(origins, request(1, 1, other), "x");
  EXPECT_EQ(checkpoint(), 2u);
  EXPECT_EQ(checkpoint(), 1u);
  // A refused request may retire answers, and that alone makes the row change.
  EXPECT_EQ(origins.admit(request(Origins::kAnswersMax + 9, 3, other), kHash, Index(2)).refusal, Reason::TooManyInFlight);
  EXPECT_EQ(checkpoint(), 2u);

  Origins copy;
  ASSERT_TRUE(copy.restore("o", table).ok());
  EXPECT_EQ(copy.digest(), origins.digest());
  EXPECT_TRUE(copy.registered(kFirstBoot));
  EXPECT_EQ(copy.admit(request(2, 1, other), kHash, Index(3)).refusal, Reason::SequenceRetired);
}

TEST(OriginsTest, ALargeAnswerIsARowThatIsPutOnceAndErasedWhenItIsRetired) {
  Origins origins;
  const std::string large(Origins::kSmallAnswerMax + 1, 'x');
  const auto checkpoint = [&] {
    CheckpointBatch batch;
    origins.checkpoint("o", kFeatureLevel, batch);
    std::vector<std::string> single;  // + and -
    for (const CheckpointBatch::Row& row : batch.rows) {
      if (row.key.size() == 17) single.push_back((row.value ? "+" : "-") + std::to_string(int{row.key.back()}));
    }
    return single;
  };
  using Single = std::vector<std::string>;
  origins.enroll(kFirstBoot);
  run(origins, request(2), large);
  run(origins, request(3), "small");
  EXPECT_EQ(checkpoint(), Single{"+2"});
  run(origins, request(1), large);
  run(origins, request(4), large);
  EXPECT_EQ(checkpoint(), (Single{"+1", "+4"}));
  run(origins, request(5, 4), "small");
  run(origins, request(6), large);
  run(origins, request(7, 7), large);  // and the one before was in no checkpoint
  EXPECT_EQ(checkpoint(), (Single{"+7", "-1", "-2", "-4"}));
  EXPECT_EQ(checkpoint(), Single{});
  origins.enroll(kSecondBoot);
  run(origins, request(7, 1, kSecondBoot), large);
  run(origins, request(8, 1, kSecondBoot), large);
  EXPECT_EQ(checkpoint(), (Single{"+7", "+8"})) << "that of the earlier boot is replaced";
  run(origins, request(9, 9, kSecondBoot), "small");
  origins.forget_stored();
  EXPECT_EQ(checkpoint(), Single{}) << "a whole checkpoint takes the place of all rows";
}

// Covers: INV_R14
TEST(OriginsTest, RowsAreThoseOfTheStateWheneverCheckpointsWereTaken) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    Origins origins, other;
    Table table, other_table;
    const auto checkpoint = [](Origins& from, Table& to) {
      CheckpointBatch batch;
      from.checkpoint("o", kFeatureLevel, batch);
      to.commit(batch);
    };
    uint64_t boot = 1, lowest = 1;
    for (int i = 0; i < 150; ++i) {
      const bool reborn = i == 0 || random.below(25) == 0;
      if (reborn) lowest = 1, ++boot;
      const Origin origin{ReplicaId(1), StoreId(11), BootCounter(boot)};
      lowest += random.below(3);
      const Request one = request(lowest + random.below(6), lowest, origin);
      const SharedBytes answer(std::string(random.below(2 * Origins::kSmallAnswerMax), 'a'));
      for (Origins* each : {&origins, &other}) {
        if (reborn) each->enroll(origin);
        if (each->admit(one, kHash, Index(i)).verdict != Origins::Verdict::Execute) continue;
        each->store(one.id, ApplyOutput::Stage::Final, answer, Index(i));
      }
      if (random.below(3) == 0) checkpoint(origins, table);
      if (random.below(20) == 0) {
        checkpoint(origins, table);
        ASSERT_TRUE(origins.restore("o", table).ok());
      }
      if (random.below(40) == 0) checkpoint(other, other_table);
    }
    checkpoint(origins, table);
    checkpoint(other, other_table);
    ASSERT_EQ(table.rows, other_table.rows) << "seed " << seed;
    ASSERT_TRUE(std::ranges::all_of(table.rows, [](const auto& row) { return row.second.size() < 3000; }));
  }
}

TEST(OriginsTest, MalformedRowsAreDataLoss) {
  Origins origins;
  origins.enroll(kFirstBoot);
  run(origins, request(1), "x");
  Table intact;
  CheckpointBatch batch;
  origins.checkpoint("o", kFeatureLevel, batch);
  intact.commit(batch);
  const auto code = [](const Table& table) {
    Origins copy;
    return copy.restore("o", table).code();
  };
  Table bad_key = intact;
  bad_key.rows["oxyz"] = "";
  EXPECT_EQ(code(bad_key), absl::StatusCode::kDataLoss);
  Table torn = intact;
  for (auto& [key, value] : torn.rows) {
    if (key.size() == 9) value.pop_back();
  }
  EXPECT_EQ(code(torn), absl::StatusCode::kDataLoss);
  run(origins, request(2), std::string(Origins::kSmallAnswerMax + 1, 'x'));
  batch = {};
  origins.checkpoint("o", kFeatureLevel, batch);
  intact.commit(batch);
  const auto large = std::ranges::find_if(intact.rows, [](const auto& row) { return row.first.size() == 17; });
  ASSERT_NE(large, intact.rows.end());
  for (const auto& [place, byte] : {std::pair(8, '\2'), std::pair(16, '\3')}) {  // of another replica, another sequence
    Table moved = intact;
    std::string key = large->first;
    key[place] = byte;
    moved.rows[key] = large->second;
    EXPECT_EQ(code(moved), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(code(intact), absl::StatusCode::kOk);
}

TEST(OriginsTest, RestoreForgetsWhatWasThere) {
  Origins empty;
  Table table;
  CheckpointBatch batch;
  empty.checkpoint("o", kFeatureLevel, batch);
  table.commit(batch);
  Origins origins;
  origins.enroll(kFirstBoot);
  ASSERT_TRUE(origins.restore("o", table).ok());
  EXPECT_FALSE(origins.registered(kFirstBoot));
  EXPECT_EQ(origins.digest(), empty.digest());
  EXPECT_EQ(restored(origins).digest(), empty.digest());
}

}  // namespace
}  // namespace coordkit::engine
