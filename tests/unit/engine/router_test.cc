#include "engine/apply/router.h"

#include <gtest/gtest.h>

#include <set>

#include "base/check.h"
#include "base/random.h"
#include "raft/log/entry_codec.h"
#include "tests/unit/engine/router_rig.h"

namespace coordkit::engine {
namespace {

TEST(RouterTest, GenesisIsThereOnceAndFoundsTheMachineOfCoordkit) {
  Rig rig;
  EXPECT_EQ(rig.counter().cluster(), ClusterId(5));
  EXPECT_EQ(rig.counter(kSecond).cluster(), ClusterId());
  EXPECT_EQ(rig.router->genesis(), genesis());
  EXPECT_EQ(rig.router->configuration(), genesis().configuration);
  EXPECT_THROW(rig.add(raft::EntryKind::Genesis, coordkit::encode(genesis())), CheckFailure);
}

TEST(RouterTest, EntriesMustFollowWithoutAGap) {
  Rig rig;
  rig.queue(raft::EntryKind::LeaderStart, {});
  rig.queued[0].index = Index(3);
  EXPECT_THROW(rig.flush(), CheckFailure);
}

// Covers: FLT_V02
TEST(RouterTest, AnEntryOrCommandOfALaterVersionStopsTheReplicaBeforeIt) {
  Rig kind;
  EXPECT_THROW(kind.add(static_cast<raft::EntryKind>(9), {}), CheckFailure);
  Rig command;
  EXPECT_THROW(command.command("\x7a\x01z"), CheckFailure);
  EXPECT_EQ(command.router->applied().index, Index(1));
}

// Covers: S-42
TEST(RouterTest, RegistrationIsOnlyForTheMembersOwnStore) {
  Rig rig;
  rig.enroll({ReplicaId(1), StoreId(99), BootCounter(9)});
  rig.enroll({ReplicaId(3), StoreId(11), BootCounter(1)});
  EXPECT_FALSE(rig.router->origins().registered({ReplicaId(1), StoreId(99), BootCounter(9)}));
  EXPECT_FALSE(rig.router->origins().registered({ReplicaId(3), StoreId(11), BootCounter(1)}));
  EXPECT_EQ(rig.ask(kOne, 1, "add 1").refused, Reason::UnknownOrigin);
  rig.enroll(kOne);
  EXPECT_EQ(rig.ask(kOne, 1, "add 1").bytes, "1");
}

// Covers: S-41
TEST(RouterTest, ARepeatIsAnsweredFromMemoryAndNotExecuted) {
  Rig rig;
  rig.enroll(kOne);
  const Answer first = rig.ask(kOne, 1, "add 5");
  rig.ask(kOne, 2, "add 1");
  const Answer again = rig.ask(kOne, 1, "add 5");
  EXPECT_EQ(again.bytes, first.bytes);
  EXPECT_EQ(again.index, first.index);
  EXPECT_EQ(again.stage, first.stage);
  EXPECT_EQ(rig.counter().total(), 6);
}

// Covers: S-41
TEST(RouterTest, ARepeatWithinOneBatchIsExecutedOnce) {
  Rig rig;
  rig.enroll(kOne);
  for (const uint64_t sequence : {1, 1, 2, 1}) {
    rig.queue(raft::EntryKind::Command, encode(Request{{kOne, Sequence(sequence)}, Sequence(1), kCoordination, "add 1"}));
  }
  const RouterOutput& seen = rig.flush();
  ASSERT_EQ(seen.answers.size(), 4u);
  EXPECT_EQ(rig.counter().total(), 2);
  for (const Answer& answer : seen.answers) EXPECT_EQ(answer.bytes, answer.request.sequence == Sequence(1) ? "1" : "2");
}

// Covers: S-42
TEST(RouterTest, UnknownOriginComesBeforeStoredBeforeRetired) {
  Rig rig;
  EXPECT_EQ(rig.ask(kOne, 1, "add 1").refused, Reason::UnknownOrigin);
  rig.enroll(kOne);
  rig.ask(kOne, 1, "add 1");
  rig.ask(kOne, 2, "add 1");
  EXPECT_EQ(rig.ask(kOne, 2, "add 1", 2).bytes, "2");                     // stored, although it retires sequence 1
  EXPECT_EQ(rig.ask(kOne, 1, "add 1").refused, Reason::SequenceRetired);  // and this was stored once
  rig.enroll(kReborn);
  EXPECT_EQ(rig.ask(kOne, 2, "add 1").refused, Reason::UnknownOrigin);
  EXPECT_EQ(rig.counter().total(), 2);
}

// Covers: S-44
TEST(RouterTest, TheSameIdWithAnotherCommandOrMachineIsRefused) {
  Rig rig;
  rig.enroll(kOne);
  rig.ask(kOne, 1, "add 1");
  EXPECT_EQ(rig.ask(kOne, 1, "add 2").refused, Reason::SequenceReused);
  EXPECT_EQ(rig.ask(kOne, 1, "add 1", 1, kSecond).refused, Reason::SequenceReused);
  EXPECT_EQ(rig.counter(kSecond).total(), 0);
}

// Covers: S-42
TEST(RouterTest, ANewerBootReplacesTheOlderAndStartsItsSequencesAgain) {
  Rig rig;
  rig.enroll(kOne);
  rig.ask(kOne, 1, "add 1");
  rig.enroll(kReborn);
  EXPECT_EQ(rig.ask(kReborn, 1, "add 1").bytes, "2");
  rig.enroll(kOne);  // a late copy
  EXPECT_EQ(rig.ask(kReborn, 1, "add 1").bytes, "2");
}

TEST(RouterTest, OriginsDoNotShareSequences) {
  Rig rig;
  rig.enroll(kOne);
  rig.enroll(kTwo);
  EXPECT_EQ(rig.ask(kOne, 1, "add 1").bytes, "1");
  EXPECT_EQ(rig.ask(kTwo, 1, "add 1").bytes, "2");
}

TEST(RouterTest, ConsecutiveRequestsOfOneMachineAreOneCall) {
  Rig rig;
  rig.enroll(kOne);
  const auto queue = [&](uint64_t sequence, MachineId machine) {
    rig.queue(raft::EntryKind::Command, encode(Request{{kOne, Sequence(sequence)}, Sequence(1), machine, "add 1"}));
  };
  for (const uint64_t sequence : {1, 2, 3}) queue(sequence, kCoordination);
  queue(4, kSecond);
  queue(5, kCoordination);
  rig.queue(raft::EntryKind::LeaderStart, {});
  queue(6, kCoordination);
  rig.flush();
  EXPECT_EQ(rig.counter().batches(), (std::vector<size_t>{3, 1, 1}));
  EXPECT_EQ(rig.counter(kSecond).batches(), (std::vector<size_t>{1}));
}

// Covers: S-43
TEST(RouterTest, QueuedThenFinalAreTwoAnswersUnderOneId) {
  Rig rig;
  rig.enroll(kOne);
  EXPECT_EQ(rig.ask(kOne, 1, "wait").stage, Stage::Queued);
  EXPECT_EQ(rig.ask(kOne, 1, "wait").stage, Stage::Queued);  // a repeat joins, it does not wait twice
  rig.ask(kOne, 2, "wake", 2);
  ASSERT_EQ(rig.output.answers.size(), 2u);
  EXPECT_EQ(rig.output.answers[0].request.sequence, Sequence(1));
  EXPECT_EQ(rig.output.answers[0].stage, Stage::Final);
  EXPECT_EQ(rig.output.answers[0].bytes, "woken");
}

TEST(RouterTest, AMachineThatOwesAnAnswerStopsTheReplica) {
  Rig rig;
  rig.enroll(kOne);
  rig.command(encode(Request{{kOne, Sequence(1)}, Sequence(1), kCoordination, "forget"}));
  EXPECT_THROW(rig.ask(kOne, 1, "forget"), CheckFailure);
}

TEST(RouterTest, EventsAndTimersSayWhichMachineTheyAreOf) {
  Rig rig;
  rig.enroll(kOne);
  rig.ask(kOne, 1, "say hello", 1, kSecond);
  ASSERT_EQ(rig.output.events.size(), 1u);
  EXPECT_EQ(rig.output.events[0].machine, kSecond);
  EXPECT_EQ(rig.output.events[0].bytes, "hello");
  EXPECT_EQ(rig.output.events[0].index, rig.router->applied().index);
  rig.ask(kOne, 2, "arm 3 1 100", 1, kSecond);
  ASSERT_EQ(rig.output.timer_ops.size(), 1u);
  EXPECT_EQ(rig.output.timer_ops[0].machine, kSecond);
}

FireTimers firing(uint64_t term, uint64_t generation = 1) {
  return {Term(term), kCoordination, {{TimerId(3), Generation(generation)}}};
}

// Covers: LT-4 INV_L13
TEST(RouterTest, TimersFireOnlyInTheTermOfTheNewestLeaderStart) {
  Rig rig;
  rig.lead(2);
  rig.enroll(kOne);
  rig.ask(kOne, 1, "arm 3 1 100");
  rig.command(encode(firing(1)));  // of an earlier leader, appended by this one
  EXPECT_TRUE(rig.counter().fired().empty());
  rig.term = Term(3);
  rig.command(encode(firing(3)));  // of a leader whose first entry is missing
  rig.command(encode(firing(2)));  // of the previous leader
  EXPECT_TRUE(rig.counter().fired().empty());
  rig.lead(3);
  rig.command(encode(firing(2)));
  EXPECT_TRUE(rig.counter().fired().empty());
  rig.command(encode(firing(3)));
  EXPECT_EQ(rig.counter().fired().size(), 1u);
}

// Covers: LT-4
TEST(RouterTest, AnotherGenerationDoesNotFire) {
  Rig rig;
  rig.lead(2);
  rig.enroll(kOne);
  rig.ask(kOne, 1, "arm 3 1 100");
  rig.ask(kOne, 2, "arm 3 2 100");
  rig.command(encode(firing(2, 1)));
  EXPECT_TRUE(rig.counter().fired().empty());
  rig.command(encode(firing(2, 2)));
  EXPECT_EQ(rig.counter().fired().size(), 1u);
}

TEST(RouterTest, RequestsBeforeATimerInOneBatchAreExecutedBeforeIt) {
  Rig rig;
  rig.lead(2);
  rig.enroll(kOne);
  rig.ask(kOne, 1, "arm 3 1 100");
  rig.queue(raft::EntryKind::Command, encode(Request{{kOne, Sequence(2)}, Sequence(1), kCoordination, "disarm 3"}));
  rig.queue(raft::EntryKind::Command, encode(firing(2)));
  rig.flush();
  EXPECT_TRUE(rig.counter().fired().empty());
}

TEST(RouterTest, AConfigurationReplacesTheFormer) {
  Rig rig;
  raft::Configuration configuration = genesis().configuration;
  configuration.voters.push_back({ReplicaId(3), StoreId(33), "c"});
  EXPECT_TRUE(rig.add(raft::EntryKind::Configuration, coordkit::encode(configuration)).configurations.size() == 1);
  EXPECT_EQ(rig.router->configuration(), configuration);
  const Origin three{ReplicaId(3), StoreId(33), BootCounter(1)};
  rig.enroll(three);
  EXPECT_EQ(rig.ask(three, 1, "add 1").bytes, "1");
}

// One history of random entries; a copy restored from the incremental checkpoints at any step is indistinguishable from the
// original by anything that comes later, including retired marks and the term guard.
// Covers: S-44
TEST(RouterTest, ARestoredReplicaBehavesLikeTheOriginalFromAnyStepOn) {
  size_t refusals = 0, repeats = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Rig original;
    Table table;
    std::vector<std::unique_ptr<Rig>> copies;
    const auto feed = [](Rig& rig, Term term, raft::EntryKind kind, const std::string& payload) {
      rig.term = term;
      const RouterOutput& seen = rig.add(kind, payload);
      std::string text;
      for (const Answer& answer : seen.answers) {
        text += std::to_string(answer.request.sequence.value()) + "/" + std::to_string(static_cast<int>(answer.stage)) + "/" +
                std::string(answer.refused ? name_of(*answer.refused) : answer.bytes.view()) + "@" +
                std::to_string(answer.index.value()) + " ";
      }
      for (const MachineEvent& event : seen.events) text += event.bytes + " ";
      return text + std::to_string(seen.timer_ops.size()) + "/" + std::to_string(rig.router->digest());
    };
    uint64_t term = 1;
    for (int step = 0; step < 150; ++step) {
      raft::EntryKind kind = raft::EntryKind::Command;
      std::string payload;
      const Origin origins[] = {kOne, kReborn, kTwo};
      const Origin origin = origins[random.below(3)];
      switch (random.below(8)) {
        case 0: payload = encode(RegisterOrigin{origin}); break;
        case 1:
          payload = encode(FireTimers{Term(random.between(term - 1, term)),
                                      MachineId(random.between(1, 2)),
                                      {{TimerId(random.between(1, 3)), Generation(random.between(1, 2))}}});
          break;
        case 2:
          kind = raft::EntryKind::LeaderStart;
          ++term;
          break;
        default: {
          const uint64_t sequence = random.between(1, 25);
          const std::string words[] = {"add 1", "wait", "wake", "say x",
                                       "arm " + std::to_string(random.between(1, 3)) + " 1 100"};
          payload = encode(Request{{origin, Sequence(sequence)},
                                   Sequence(random.between(1, sequence)),
                                   MachineId(random.between(1, 2)),
                                   words[random.below(5)]});
        }
      }
      const size_t executed = original.counter().executed().size();
      const std::string expected = feed(original, Term(term), kind, payload);
      for (const Answer& answer : original.output.answers) {
        refusals += answer.refused.has_value();
        repeats += !answer.refused && original.counter().executed().size() == executed;
      }
      for (auto& copy : copies) ASSERT_EQ(feed(*copy, Term(term), kind, payload), expected) << "step " << step;
      if (step % 7 != 0) continue;
      CheckpointBatch batch;
      original.router->checkpoint(batch);
      table.commit(batch);
      copies.push_back(std::make_unique<Rig>(false));
      ASSERT_TRUE(copies.back()->router->restore(table).ok());
      EXPECT_EQ(copies.back()->router->applied(), original.router->applied());
      EXPECT_EQ(copies.back()->router->configuration(), original.router->configuration());
      EXPECT_EQ(copies.back()->router->digest(), original.router->digest());
    }
  }
  EXPECT_GT(refusals, 200u);
  EXPECT_GT(repeats, 200u);
}

// Replicas apply the same log in batches of different sizes: state, digest and answers must not show it.
TEST(RouterTest, BatchBoundariesLeaveNoTrace) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Rig one_by_one, batched;
    std::vector<std::string> expected, seen;
    const auto note = [](const RouterOutput& output, std::vector<std::string>& to) {
      for (const Answer& answer : output.answers) {
        to.push_back(std::to_string(answer.request.origin.replica.value()) + "/" +
                     std::to_string(answer.request.sequence.value()) +
                     std::string(answer.refused ? name_of(*answer.refused) : answer.bytes.view()) + "@" +
                     std::to_string(answer.index.value()));
      }
    };
    for (int step = 0; step < 200; ++step) {
      raft::EntryKind kind = raft::EntryKind::Command;
      std::string payload;
      const Origin origin = random.below(2) == 0 ? kOne : kTwo;
      if (const uint64_t what = random.below(20); what == 0) {
        kind = raft::EntryKind::LeaderStart;
      } else if (what < 3) {
        payload = encode(RegisterOrigin{origin});
      } else {
        const uint64_t sequence = static_cast<uint64_t>(step) / 8 + random.between(1, 6);
        const std::string_view words[] = {"add 1", "wait", "wake", "say x"};
        payload = encode(Request{{origin, Sequence(sequence)},
                                 Sequence(sequence - random.below(std::min<uint64_t>(sequence, 6))),
                                 MachineId(random.below(8) == 0 ? 2 : 1),
                                 words[random.below(4)]});
      }
      note(one_by_one.add(kind, payload), expected);
      batched.queue(kind, payload);
      if (random.below(6) == 0) note(batched.flush(), seen);
    }
    note(batched.flush(), seen);
    std::sort(expected.begin(), expected.end());
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(batched.router->digest(), one_by_one.router->digest());
    CheckpointBatch left, right;
    one_by_one.router->checkpoint(left);
    batched.router->checkpoint(right);
    EXPECT_EQ(right.rows, left.rows);
    EXPECT_NE(batched.counter().batches(), one_by_one.counter().batches());
  }
}

// Covers: INV_R14
TEST(RouterTest, TheDigestCoversMembersOriginsTermAndMachines) {
  const auto digest_after = [](auto change) {
    Rig rig;
    rig.enroll(kOne);
    change(rig);
    return rig.router->digest();
  };
  raft::Configuration other = genesis().configuration;
  other.voters[0].address = "elsewhere";
  const std::vector<uint64_t> digests = {
      digest_after([](Rig&) {}),
      digest_after([&](Rig& rig) { rig.add(raft::EntryKind::Configuration, coordkit::encode(other)); }),
      digest_after([](Rig& rig) { rig.enroll(kTwo); }),
      digest_after([](Rig& rig) { rig.lead(2); }),
      digest_after([](Rig& rig) { rig.ask(kOne, 1, "add 1"); }),
      digest_after([](Rig& rig) { rig.ask(kOne, 1, "arm 3 1 100"); }),
      digest_after([](Rig& rig) { rig.ask(kOne, 1, "add 1", 1, kSecond); }),
      digest_after([](Rig& rig) {
        rig.ask(kOne, 1, "add 1", 1, kSecond, Request::GuardView{kCoordination, "9"});
      }),
  };
  EXPECT_EQ(std::set<uint64_t>(digests.begin(), digests.end()).size(), digests.size());
}

// Covers: INV_R14
TEST(RouterTest, DigestsAreThoseOfTheirIndexHoweverEntriesAreBatched) {
  const auto notes = [](size_t batch) {
    Rig rig(false, {kCoordination, kSecond}, 4);
    rig.add(raft::EntryKind::Genesis, coordkit::encode(genesis()));
    rig.enroll(kOne);
    std::vector<std::pair<uint64_t, uint64_t>> seen;
    for (uint64_t sequence = 1; sequence <= 24; ++sequence) {
      const MachineId machine(sequence % 3 == 0 ? 2 : 1);
      rig.queue(raft::EntryKind::Command, encode(Request{{kOne, Sequence(sequence)}, Sequence(1), machine, "add 1"}));
      if (sequence % batch != 0) continue;
      for (const DigestNote& note : rig.flush().digests) seen.emplace_back(note.index.value(), note.digest);
    }
    return seen;
  };
  const auto expected = notes(1);
  ASSERT_EQ(expected.size(), 6u);
  for (const auto& [index, digest] : expected) EXPECT_EQ(index % 4, 0u);
  for (const size_t batch : {2, 3, 8, 24}) EXPECT_EQ(notes(batch), expected) << batch;
}

TEST(RouterTest, ADigestOfAReplicaChangesNothingAndIsReported) {
  Rig rig;
  const uint64_t before = rig.router->digest();
  const RouterOutput& seen = rig.command(encode(DigestVote{ReplicaId(2), Index(128), 99}));
  ASSERT_EQ(seen.digests.size(), 1u);
  EXPECT_EQ(seen.digests[0].voter, ReplicaId(2));
  EXPECT_EQ(seen.digests[0].index, Index(128));
  EXPECT_EQ(seen.digests[0].digest, 99u);
  EXPECT_EQ(rig.router->digest(), before);
}

// Covers: FLT_M06
TEST(RouterTest, ACheckpointInTheMiddleOfAChangeHoldsBothHalves) {
  const raft::Configuration joint{.voters = {{ReplicaId(1), StoreId(11), "a"}, {ReplicaId(2), StoreId(12), "b"}},
                                  .outgoing = {{ReplicaId(1), StoreId(11), "a"}, {ReplicaId(3), StoreId(13), "c"}},
                                  .learners = {{ReplicaId(3), StoreId(33), "c"}}};
  Rig rig;
  rig.enroll(kOne);
  rig.add(raft::EntryKind::Configuration, coordkit::encode(joint));
  const Position at = rig.router->configuration_at();
  rig.ask(kOne, 1, "add 1");
  Table table;
  CheckpointBatch batch;
  rig.router->checkpoint(batch);
  table.commit(batch);
  Rig copy(false);
  ASSERT_TRUE(copy.router->restore(table).ok());
  EXPECT_EQ(copy.router->configuration(), joint);
  EXPECT_EQ(copy.router->configuration_at().index, at.index);
  EXPECT_LT(at.index, copy.router->applied().index);
}

TEST(RouterTest, TimersAreEnumeratedAfterARestore) {
  Rig rig;
  rig.enroll(kOne);
  rig.ask(kOne, 1, "arm 3 1 100");
  rig.ask(kOne, 2, "arm 4 1 100 7 1 1", 1, kSecond);
  Table table;
  CheckpointBatch batch;
  rig.router->checkpoint(batch);
  table.commit(batch);
  Rig copy(false);
  ASSERT_TRUE(copy.router->restore(table).ok());
  std::vector<MachineTimerOp> timers;
  copy.router->timers(timers);
  ASSERT_EQ(timers.size(), 2u);
  EXPECT_EQ(timers[0].machine, kCoordination);
  EXPECT_EQ(timers[0].op.id, TimerId(3));
  EXPECT_EQ(timers[1].machine, kSecond);
  EXPECT_EQ(timers[1].op.group.node, ReplicaId(7));
}

// Covers: FLT_D08
TEST(RouterTest, AWholeCheckpointIsTheSameStateWhateverWasStoredBefore) {
  Rig rig;
  rig.enroll(kOne);
  rig.enroll(kTwo);  // and is never heard of again
  rig.ask(kOne, 1, "add 1");
  rig.ask(kOne, 2, "arm 3 1 100", 1, kSecond);
  CheckpointBatch lost;
  rig.router->checkpoint(lost);
  rig.ask(kOne, 3, "add 1");
  CheckpointBatch whole;
  ASSERT_TRUE(rig.router->whole_checkpoint(whole).ok());
  EXPECT_TRUE(whole.whole);
  Table table;
  table.commit(whole);
  Rig copy(false);
  ASSERT_TRUE(copy.router->restore(table).ok());
  EXPECT_EQ(copy.router->digest(), rig.router->digest());
  EXPECT_EQ(copy.router->applied(), rig.router->applied());
  EXPECT_TRUE(copy.router->origins().registered(kTwo)) << "its row was stored before and did not change since";
  const Answer repeated = copy.ask(kOne, 1, "add 1");
  EXPECT_EQ(repeated.bytes, rig.ask(kOne, 1, "add 1").bytes) << "answers belong to the state";
}

TEST(RouterTest, AMachineThatCannotWriteAllItsRowsAnewIsNamed) {
  Rig rig;
  rig.enroll(kOne);
  rig.ask(kOne, 1, "add 1", 1, kSecond);
  rig.counter(kSecond).cannot_write_anew = true;
  CheckpointBatch whole;
  const absl::Status status = rig.router->whole_checkpoint(whole);
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status.ToString();
  EXPECT_NE(status.message().find("machine 2"), std::string::npos);
}

// Covers: FLT_A07
TEST(RouterTest, ARowThatIsNotItsMachinesGetsIntoNoCheckpointAndTheMachineIsNamed) {
  for (const std::string& key : {row_prefix(kCoordination) + "state", std::string("state"), row_prefix(kSecond).substr(0, 7),
                                 row_prefix(kSecond) + std::string(kStateKeyBytesMax - 7, 'k')}) {
    Rig rig;
    rig.enroll(kOne);
    rig.ask(kOne, 1, "add 1", 1, kSecond);
    rig.counter(kSecond).another_row = key;
    CheckpointBatch batch;
    try {
      rig.router->checkpoint(batch);
      ADD_FAILURE() << "it is written: " << key;
    } catch (const MachineThrew& refused) {
      EXPECT_TRUE(std::string_view(refused.what()).starts_with("machine 2 added a row")) << refused.what();
    }
  }
}

TEST(RouterTest, ACheckpointWithoutGenesisOrWithTornRowsIsDataLoss) {
  Rig copy(false);
  Table empty;
  EXPECT_EQ(copy.router->restore(empty).code(), absl::StatusCode::kDataLoss);
  Rig rig;
  CheckpointBatch batch;
  rig.router->checkpoint(batch);
  Table torn;
  torn.commit(batch);
  torn.rows.begin()->second.pop_back();
  EXPECT_EQ(Rig(false).router->restore(torn).code(), absl::StatusCode::kDataLoss);
}

// The first registration may be under way for longer than the origin is known.
// Covers: S-42 INV_L09
TEST(RouterTest, ALateRegistrationDoesNotBringBackARemoteThatWasForgotten) {
  constexpr Origin kRemote{ReplicaId(kRemoteBit | 7), StoreId(5), BootCounter(1)};
  Rig rig;
  rig.command(encode(RaiseLevel{Origins::kRemotesLevel}));
  rig.lead(2);
  const Index before = rig.router->applied().index;
  rig.command(encode(RegisterOrigin{kRemote, Sequence(1), before}));
  EXPECT_EQ(rig.ask(kRemote, 1, "add 3").refused, std::nullopt);
  rig.command(encode(FireTimers{rig.term, kOrigins, {{TimerId(kRemote.replica.value()), Generation(1)}}}));
  ASSERT_FALSE(rig.router->origins().registered(kRemote));

  const std::string late = encode(RegisterOrigin{kRemote, Sequence(1), before});
  EXPECT_TRUE(rig.command(late).timer_ops.empty());
  EXPECT_FALSE(rig.router->origins().registered(kRemote));
  EXPECT_EQ(rig.ask(kRemote, 1, "add 3").refused, Reason::UnknownOrigin);

  rig.command(encode(RegisterOrigin{kRemote, Sequence(2), rig.router->applied().index}));
  EXPECT_EQ(rig.ask(kRemote, 1, "add 3", 1).refused, Reason::SequenceRetired);
  EXPECT_EQ(rig.ask(kRemote, 2, "add 4", 2).refused, std::nullopt);
  EXPECT_EQ(rig.counter().total(), 7);
}

// ---- remotes with names

constexpr Origin kRemote{ReplicaId(kRemoteBit | 7), StoreId(5), BootCounter(1)};

Request remote_request(uint64_t sequence, std::string_view words, std::string_view name, MachineId machine = kCoordination) {
  Request request{{kRemote, Sequence(sequence)}, Sequence(1), machine, words, {}};
  request.name = name;
  return request;
}

// Covers: S-70
TEST(RouterTest, NamesOfRemotesCountFromTheirLevelOn) {
  Rig rig;
  rig.command(encode(RaiseLevel{Origins::kRemotesLevel}));
  rig.command(encode(RegisterOrigin{.origin = kRemote, .name = "billing"}));
  EXPECT_EQ(rig.router->origins().name_of(kRemote), "") << "an older build skips it";
  EXPECT_EQ(rig.command(encode(remote_request(1, "add 1", "billing"))).answers.back().refused, std::nullopt);
  EXPECT_TRUE(rig.counter().remotes.empty());
  EXPECT_TRUE(rig.output.acts.empty());
  rig.command(encode(RaiseLevel{Origins::kNamesLevel}));
  EXPECT_EQ(rig.command(encode(remote_request(2, "add 1", "billing"))).answers.back().refused, Reason::UnknownOrigin);
  EXPECT_EQ(rig.command(encode(remote_request(2, "add 1", ""))).answers.back().refused, std::nullopt);
  EXPECT_EQ(rig.counter().remotes, std::vector<std::string>{""});
}

// Covers: S-75 S-77
TEST(RouterTest, GuardsAndOtherMachinesNeedThePermissionOfOurOwnMachine) {
  Rig rig;
  rig.command(encode(RaiseLevel{Origins::kNamesLevel}));
  rig.command(encode(RegisterOrigin{.origin = kRemote, .name = "billing"}));
  rig.enroll(kOne);
  const auto ask = [&](Request request) { return rig.command(encode(request)).answers.back().refused; };
  EXPECT_EQ(ask(remote_request(1, "add 1", "billing", kSecond)), std::nullopt);
  ASSERT_EQ(rig.output.acts.size(), 1u);
  EXPECT_EQ(rig.output.acts[0].remote, "billing");
  EXPECT_EQ(rig.output.acts[0].what, "a command of machine 2");
  rig.counter().permitted = false;
  EXPECT_EQ(ask(remote_request(2, "add 1", "billing", kSecond)), Reason::PermissionDenied);
  ASSERT_EQ(rig.output.acts.size(), 1u);
  EXPECT_EQ(rig.output.acts[0].what, "a command of machine 2: PermissionDenied");
  EXPECT_EQ(ask(remote_request(3, "add 1", "billing")), std::nullopt) << "which it checks itself";
  Request guarded = remote_request(4, "add 1", "billing");
  guarded.guard = {kCoordination, "0"};
  EXPECT_EQ(ask(guarded), Reason::PermissionDenied);
  EXPECT_EQ(ask(guarded), Reason::PermissionDenied) << "a repeat gets the answer that is kept";
  guarded.id.origin = kOne;
  guarded.name = {};
  EXPECT_EQ(ask(guarded), std::nullopt) << "a member is not restricted";
  EXPECT_EQ(rig.counter(kSecond).total(), 1);
  EXPECT_EQ(rig.counter().total(), 2);
}

// Covers: S-70
TEST(RouterTest, ARegistrationUnderAnImpossibleNameIsIgnored) {
  Rig rig;
  rig.command(encode(RaiseLevel{Origins::kNamesLevel}));
  rig.command(encode(RegisterOrigin{.origin = kRemote, .name = "two words"}));
  EXPECT_FALSE(rig.router->origins().registered(kRemote));
}

}  // namespace
}  // namespace coordkit::engine
