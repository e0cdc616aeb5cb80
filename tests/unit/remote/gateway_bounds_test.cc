// What one remote can occupy at a gateway, and how remotes share it.
#include <gmock/gmock.h>

#include "coordkit/error.h"
#include "engine/apply/log_command.h"
#include "remote/relayed_commands.h"
#include "tests/unit/remote/remote_world.h"

namespace coordkit::remote {
namespace {

using test::Answer;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr ReplicaId kOne{kRemoteBit | 1};
constexpr ReplicaId kTwo{kRemoteBit | 2};
constexpr ReplicaId kThree{kRemoteBit | 3};
constexpr LaggingTime kNow{1h};

RequestId id(ReplicaId remote, uint64_t sequence) { return {{remote, StoreId(1), BootCounter(1)}, Sequence(sequence)}; }
Relay::Command command(ReplicaId remote, uint64_t sequence, size_t bytes = 1) {
  return {SharedBytes(std::string(bytes, 'c')), id(remote, sequence)};
}
std::vector<std::pair<ReplicaId, uint64_t>> words(const std::vector<Relay::Command>& commands) {
  std::vector<std::pair<ReplicaId, uint64_t>> out;
  for (const Relay::Command& one : commands) out.emplace_back(one.id.origin.replica, one.id.sequence.value());
  return out;
}

// Covers: FLT_N08
TEST(RelayedCommandsTest, EachTurnTakesFromTheRemotesByTurns) {
  RelayedCommands commands({.turn_commands_max = 4});
  for (uint64_t i = 1; i <= 5; ++i) EXPECT_TRUE(commands.add(command(kOne, i), kNow));
  commands.add(command(kTwo, 1), kNow);
  commands.add(command(kThree, 1), kNow);
  using Words = std::vector<std::pair<ReplicaId, uint64_t>>;
  EXPECT_EQ(words(commands.take()), (Words{{kOne, 1}, {kTwo, 1}, {kThree, 1}, {kOne, 2}}));
  commands.add(command(kThree, 2), kNow);
  EXPECT_EQ(words(commands.take()), (Words{{kThree, 2}, {kOne, 3}, {kOne, 4}, {kOne, 5}}));
  EXPECT_FALSE(commands.any());
}

TEST(RelayedCommandsTest, ATurnTakesAtMostSoManyBytesAndAlwaysSome) {
  RelayedCommands commands({.turn_bytes_max = 10});
  for (uint64_t i = 1; i <= 3; ++i) commands.add(command(kOne, i, 8), kNow);
  commands.add(command(kTwo, 1, 100), kNow);
  EXPECT_EQ(commands.take().size(), 2u);
  EXPECT_EQ(commands.take().size(), 2u);
}

TEST(RelayedCommandsTest, ARemoteHasItsShareUntilItIsAnswered) {
  RelayedCommands commands({.commands_max = 4});
  uint64_t taken = 0;
  while (commands.add(command(kOne, taken + 1), kNow)) ++taken;
  EXPECT_EQ(taken, 6u) << "a quarter is for releases";
  EXPECT_TRUE(commands.add(command(kTwo, 1), kNow));
  EXPECT_TRUE(commands.add(command(kOne, 1), kNow)) << "a repeat";
  EXPECT_EQ(commands.take().size(), 7u) << "whose first copy waited";
  EXPECT_FALSE(commands.add(command(kOne, 7), kNow));
  EXPECT_TRUE(commands.add(command(kOne, 1), kNow)) << "its answer may have been lost";
  EXPECT_EQ(commands.take().size(), 1u);
  commands.answered(id(kOne, 3));
  commands.answered(id(kOne, 3));
  EXPECT_TRUE(commands.add(command(kOne, 7), kNow));
  EXPECT_FALSE(commands.add(command(kOne, 8), kNow));
}

TEST(RelayedCommandsTest, ACopyOfAnAnsweredCommandIsNotHandedOver) {
  RelayedCommands commands({});
  commands.add(command(kOne, 1), kNow);
  commands.take();
  commands.add(command(kOne, 1), kNow);
  commands.answered(id(kOne, 1));
  EXPECT_FALSE(commands.any());
  EXPECT_EQ(commands.unanswered(kOne), 0u);
}

TEST(RelayedCommandsTest, BytesCountAndALargeCommandPassesAlone) {
  RelayedCommands commands({.bytes_max = 100, .command_bytes_max = 200});
  EXPECT_TRUE(commands.add(command(kOne, 1, 200), kNow));
  EXPECT_TRUE(commands.add(command(kOne, 2, 25), kNow)) << "a release";
  EXPECT_FALSE(commands.add(command(kOne, 3, 1), kNow));
  commands.take();
  EXPECT_TRUE(commands.add(command(kOne, 2, 20), kNow)) << "a repeat";
  commands.take();
  EXPECT_FALSE(commands.add(command(kOne, 2, 90), kNow)) << "which cannot grow";
  EXPECT_EQ(commands.unanswered(kOne), 2u);
  commands.answered(id(kOne, 1));
  EXPECT_TRUE(commands.add(command(kOne, 3, 100), kNow));
}

TEST(RelayedCommandsTest, WhatMayBeLostNoLongerCounts) {
  RelayedCommands commands({.commands_max = 1});
  EXPECT_TRUE(commands.add(command(kOne, 1), kNow));
  EXPECT_TRUE(commands.add(command(kOne, 2), kNow));
  EXPECT_FALSE(commands.add(command(kOne, 3), kNow));
  commands.leader_changed();
  EXPECT_FALSE(commands.add(command(kOne, 3), kNow)) << "the others wait here";
  commands.take();
  commands.leader_changed();
  EXPECT_EQ(commands.unanswered(kOne), 0u);
  commands.add(command(kOne, 3), kNow);
  commands.add(command(kOne, 4), kNow);
  commands.take();
  EXPECT_FALSE(commands.add(command(kOne, 5), kNow + 9s));
  EXPECT_TRUE(commands.add(command(kOne, 5), kNow + 11s));
  commands.gone(kOne);
  EXPECT_FALSE(commands.any());
  EXPECT_THAT(commands.take(), IsEmpty());
}

TEST(RelayedCommandsTest, ARegistrationCountsOnlyWhileItWaits) {
  RelayedCommands commands({.commands_max = 1});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(commands.add(command(kOne, 0), kNow));
  EXPECT_EQ(commands.take().size(), 1u);
  EXPECT_EQ(commands.unanswered(kOne), 0u);
}

// ---- real gateways

std::string put_of(const Origin& origin, uint64_t sequence) {
  const std::string put = machine::encode(machine::Request{.body = machine::Put{"hostile", "value"}});
  return engine::encode(engine::Request{{origin, Sequence(sequence)}, Sequence(1), kCoordination, put});
}

// Covers: FLT_N08
TEST(GatewayBoundsTest, ARemoteThatHandsOverWithoutEndHasItsShareAndNoMore) {
  World world(1, {.commands = {.turn_commands_max = 8}});
  Caller& hostile = world.add_caller();
  Caller& honest = world.add_caller();
  world.run(100ms);
  const Origin own{hostile.id, hostile.engine.store(), hostile.engine.boot()};
  Commands flood;
  for (uint64_t i = 1; i <= 1'000; ++i) flood.payloads.emplace_back(put_of(own, 1'000 + i));
  world.gateway(0).received(hostile.id, encode(FromRemote(flood)), world.now);
  EXPECT_EQ(world.gateway(0).counters().beyond, 1'000u - 321u);
  Answer<PutResult> put;
  honest.client.put("key", "value", put.callback());
  for (int i = 0; i < 6 && put.times() == 0; ++i) {
    world.run(1ms);
    world.gateway(0).received(hostile.id, encode(FromRemote(flood)), world.now);
  }
  EXPECT_TRUE(put.ok()) << "it did not wait for 321 others, 8 at a time";
}

TEST(GatewayBoundsTest, AnHonestRemoteKeepsToItsShareByItself) {
  World world;
  Caller& one = world.add_caller(0);
  const auto put = [&](size_t bytes) {
    Answer<PutResult> answer;
    one.client.put("key", std::string(bytes, 'v'), answer.callback());
    return answer;
  };
  std::vector<Answer<PutResult>> answers;
  for (int i = 0; i < 1'000; ++i) answers.push_back(put(i % 4 == 0 ? 10'000 : 10));
  answers.push_back(put(1 << 20));
  answers.push_back(put(1 << 20));
  for (int i = 0; i < 300; ++i) answers.push_back(put(10));
  for (int i = 0; i < 40; ++i) {
    world.run(1ms);
    if (i % 8 == 5) one.lose_next = 1;
    if (i % 16 == 9) one.link(1 - one.gateway);
  }
  for (const auto& answer : answers) EXPECT_TRUE(world.await(answer).ok()) << answer.status();
  EXPECT_EQ(world.gateway(0).counters().beyond + world.gateway(1).counters().beyond, 0u);
}

// The window is full of commands that nobody answers.
TEST(GatewayBoundsTest, AReleaseIsHandedOverWhenTheWindowIsFull) {
  World world(1);
  Caller& one = world.add_caller();
  const SessionRef session = world.open(one, 60s);
  const auto held = world.await(world.acquire(one, session));
  ASSERT_TRUE(held.ok());
  world.gateways_post = false;
  const size_t before = one.commands;
  std::vector<Answer<PutResult>> puts(600);
  for (auto& put : puts) one.client.put("key", "value", put.callback());
  world.run(5ms);
  EXPECT_EQ(one.commands, before + 256);
  Answer<void> released;
  one.client.release(*held, released.callback());
  world.run(5ms);
  EXPECT_EQ(one.commands, before + 257);
  world.gateways_post = true;
  EXPECT_TRUE(world.await(released).ok());
  for (const auto& put : puts) EXPECT_TRUE(world.await(put).ok());
  EXPECT_EQ(world.gateway(0).counters().beyond, 0u);
}

TEST(GatewayBoundsTest, ARemoteObservesOnlySoManySubjects) {
  World world(1, {.interests_max = 4, .subject_bytes_max = 10});
  Caller& one = world.add_caller();
  const auto say = [&](std::string subject, bool wanted) {
    const FromRemote interest = Interest{kCoordination, std::move(subject), wanted};
    world.gateway(0).received(one.id, encode(interest), world.now);
  };
  for (int i = 0; i < 6; ++i) say(std::to_string(i), true);
  EXPECT_EQ(world.gateway(0).counters().beyond, 2u);
  say("0", false);
  say("7", true);
  EXPECT_EQ(world.gateway(0).counters().beyond, 2u);
  say("0", false);
  say(std::string(11, 's'), true);
  EXPECT_EQ(world.gateway(0).counters().invalid, 1u);
}

// ---- a remote that was forgotten

// Covers: S-42
TEST(RemoteEngineTest, ARegistrationNamesASequenceAboveAllThatWereHandedOver) {
  RemoteEngine engine({.origin = {kOne, StoreId(1), BootCounter(1)}});
  Now now{LaggingTime(1h), LeadingTime(2h)};
  EngineEffects effects;
  std::vector<std::string> kept;
  uint64_t number = 0;
  uint64_t highest = 0;
  uint64_t registered_from = 0;
  const auto tell = [&](bool registered) {
    engine.received(encode(FromGateway(Standing{++number, Index(10), 6, ReplicaId(1), registered})));
    now.lagging += 1ms;
    engine.turn(now, effects);
    for (const Frame& frame : engine.take_frames()) {
      const FromRemote message = decode_from_remote(frame.body).value();
      const auto* commands = std::get_if<Commands>(&message);
      if (commands == nullptr) continue;
      for (const SharedBytes& payload : commands->payloads) {
        kept.emplace_back(payload.view());
        const engine::LogCommand command = engine::decode_command(kept.back()).value();
        if (const auto* request = std::get_if<engine::Request>(&command)) {
          highest = std::max(highest, request->id.sequence.value());
        } else {
          registered_from = std::get<engine::RegisterOrigin>(command).lowest_unanswered.value();
          EXPECT_EQ(std::get<engine::RegisterOrigin>(command).as_of, Index(10));
        }
      }
    }
  };
  engine.linked();
  tell(true);
  for (uint64_t ticket = 1; ticket <= 300; ++ticket) {
    engine.post(Submit{.ticket = Ticket(ticket), .command = SharedBytes("c"), .deadline = now.lagging + 5ms});
  }
  tell(true);
  EXPECT_EQ(highest, 256u);
  for (int i = 0; i < 10; ++i) {
    tell(false);
    EXPECT_EQ(effects.completions.size(), i == 0 ? 256u : i == 3 ? 44u : 0u) << i;
    EXPECT_GT(registered_from, highest);
  }
}

// Covers: INV_R15
TEST(RemoteEngineTest, TheNextGatewayLearnsOfTheNewestEntryThatAnyHasShown) {
  RemoteEngine engine({.origin = {kOne, StoreId(1), BootCounter(1)}});
  const Now now{LaggingTime(1h), LeadingTime(2h)};
  EngineEffects effects;
  std::vector<Index> arrivals;
  std::vector<Index> asked;
  const auto turn = [&] {
    engine.turn(now, effects);
    for (const Frame& frame : engine.take_frames()) {
      const FromRemote message = decode_from_remote(frame.body).value();
      if (const auto* arrival = std::get_if<Arrival>(&message)) arrivals.push_back(arrival->seen);
      if (const auto* question = std::get_if<Question>(&message)) asked.push_back(question->at_least);
    }
  };
  const auto tell = [&](uint64_t number, uint64_t applied) {
    engine.received(encode(FromGateway(Standing{number, Index(applied), 6, ReplicaId(1), true})));
    turn();
  };
  engine.linked();
  tell(1, 10);
  tell(2, 12);
  engine.unlinked();
  engine.linked();
  tell(1, 15);
  engine.post(Ask{.ticket = Ticket(1), .question = "q", .consistency = Consistency::Local, .deadline = now.lagging + 1s});
  turn();
  EXPECT_THAT(arrivals, ElementsAre(Index(), Index(12)));
  EXPECT_THAT(asked, ElementsAre(Index(15)));
}

}  // namespace
}  // namespace coordkit::remote
