// Watches of callers without a replica, beside a watch of the replica itself.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/random.h"
#include "coordkit/client/keys.h"
#include "coordkit/error.h"
#include "machine/questions.h"
#include "tests/unit/remote/remote_world.h"

namespace coordkit::remote {
namespace {

using test::Answer;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using What = WatchBatch::What;

std::string shown(const WatchEvent& event) {
  std::string out = (event.deleted() ? "-" : "+") + event.entry.key;
  if (!event.deleted()) out += "=" + event.entry.value;
  if (event.previous) out += "(was " + event.previous->value + ")";
  return out + "@" + std::to_string(event.entry.mod.value());
}

// One watch, and all that it was told. Each batch has whole revisions, above those of the one before.
class Stream {
 public:
  Stream(Client& client, WatchOptions options) : client_(&client) {
    id_ = client.watch(std::move(options), [told = told_](const WatchBatch& batch) { told->take(batch); });
  }

  std::vector<std::string> events() const {
    std::vector<std::string> out;
    for (const WatchEvent& event : told_->events) out.push_back(shown(event));
    return out;
  }
  const std::vector<WatchEvent>& all() const { return told_->events; }
  bool created() const { return told_->created; }
  bool ended() const { return !told_->why.ok(); }
  Revision ended_at() const { return told_->ended_at; }
  const absl::Status& why() const { return told_->why; }
  std::optional<Reason> reason() const { return reason_of(told_->why); }
  const std::vector<uint64_t>& progress() const { return told_->progress; }
  const std::vector<uint64_t>& pending() const { return told_->pending; }
  void keep_batches(bool keeps) {
    told_->keeps = keeps;
    if (!keeps) told_->kept.clear();
  }
  void ask_progress() { client_->ask_progress(id_); }
  void end() {
    client_->end_watch(id_, [](absl::Status) {});
  }

 private:
  struct Told {
    std::vector<WatchEvent> events;
    std::vector<uint64_t> progress, pending;
    std::vector<WatchEvents> kept;
    Revision last, ended_at;
    absl::Status why;
    bool created = false;
    bool keeps = false;

    void take(const WatchBatch& batch) {
      EXPECT_TRUE(why.ok()) << "nothing follows the end";
      if (batch.what == What::Created) created = true;
      if (batch.what == What::Ended) {
        why = batch.why;
        ended_at = batch.revision;
      }
      if (batch.what == What::Pending) pending.push_back(batch.revision.value());
      if (batch.what == What::Progress) {
        EXPECT_GE(batch.revision, last);
        progress.push_back(batch.revision.value());
        last = batch.revision;
      }
      for (const WatchEvent& event : batch.events) {
        EXPECT_GT(event.entry.mod, last);
        events.push_back(event);
      }
      if (batch.what == What::Events) last = batch.revision;
      if (keeps) kept.push_back(batch.events);
    }
  };
  Client* client_;
  WatchId id_;
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
};

class WatchWorld : public World {
 public:
  explicit WatchWorld(size_t gateways = 2, const GatewayOptions& options = {}) : World(gateways, options) {
    local = std::make_unique<Client>(*engine, ClientOptions());
  }
  Revision put(std::string key, std::string value) {
    Answer<PutResult> answer;
    local->put(std::move(key), std::move(value), answer.callback());
    return await(answer).ok() ? (*answer).revision : Revision();
  }
  void erase(std::string key) {
    Answer<EraseResult> answer;
    local->keys().erase({.key = std::move(key)}, answer.callback());
    EXPECT_TRUE(await(answer).ok());
  }
  void put_together(const std::vector<std::string>& keys, const std::string& value) {
    Transaction both;
    for (const std::string& key : keys) both.then.emplace_back(PutOperation{.key = key, .value = value});
    Answer<TransactionResult> answer;
    local->keys().commit(std::move(both), answer.callback());
    EXPECT_TRUE(await(answer).ok());
  }
  // The history below it is swept, too.
  void compact(Revision at) {
    Answer<CompactResult> answer;
    local->keys().compact(at, answer.callback());
    EXPECT_TRUE(await(answer).ok());
    run(5ms);
  }
  Revision revision() const { return machine->reads()->key_space().revision; }
  const WaitingReads& waiting(size_t number = 0) { return gateway(number).waiting(); }
};

// ---- what a watch sees

// Covers: S-21 S-22
TEST(RemoteWatchTest, ItSeesWhatHappensAfterItsCreation) {
  WatchWorld world;
  Caller& one = world.add_caller();
  world.put("a", "0");
  Stream seen(one.client, WatchOptions::prefix("a"));
  world.run(20ms);
  EXPECT_TRUE(seen.created());
  world.put("a", "1");
  world.put("b", "1");
  world.erase("a");
  world.put_together({"a1", "b1", "a2"}, "x");
  world.run(20ms);
  EXPECT_THAT(seen.events(), ElementsAre("+a=1@3", "-a@5", "+a1=x@6", "+a2=x@6"));
}

// Covers: S-21
TEST(RemoteWatchTest, ItMayBeginInThePast) {
  WatchWorld world;
  Caller& one = world.add_caller();
  for (const char* value : {"1", "2", "3"}) world.put("a", value);
  Stream seen(one.client, {.key = "a", .from = Revision(3)});
  world.run(20ms);
  EXPECT_THAT(seen.events(), ElementsAre("+a=2@3", "+a=3@4"));
  world.put("a", "4");
  world.run(20ms);
  EXPECT_THAT(seen.events(), SizeIs(3));
}

// More than one answer has.
TEST(RemoteWatchTest, ALongHistoryComesInPieces) {
  WatchWorld world;
  Caller& one = world.add_caller();
  for (int i = 0; i < 30; ++i) {
    std::vector<std::string> keys;
    for (int k = 0; k < 100; ++k) keys.push_back("a" + std::to_string(k));
    world.put_together(keys, std::string(1000, 'x'));
  }
  Stream seen(one.client, {.key = "a", .end = "b", .from = Revision(2)});
  world.run(200ms);
  EXPECT_THAT(seen.all(), SizeIs(3000));
}

// Covers: S-21 S-25
TEST(RemoteWatchTest, AStartInTheFutureIsSilentUntilItExists) {
  WatchWorld world;
  Stream seen(world.add_caller(0).client, {.key = "a", .from = Revision(4), .progress_every = 100ms});
  Stream quiet(world.add_caller(1).client, {.key = "a", .from = Revision(4)});
  world.run(20ms);
  seen.ask_progress();
  world.run(1s);
  EXPECT_THAT(seen.pending(), ElementsAre(4));
  EXPECT_THAT(seen.progress(), IsEmpty());
  world.put("a", "1");
  world.put("a", "2");
  world.run(20ms);
  EXPECT_THAT(seen.events(), IsEmpty());
  EXPECT_EQ(world.waiting(1).encodings(), 0u) << "nothing is sent before";
  world.put("a", "3");
  world.run(20ms);
  EXPECT_THAT(seen.events(), ElementsAre("+a=3@4"));
  EXPECT_THAT(quiet.events(), ElementsAre("+a=3@4"));
  world.run(1s);
  EXPECT_THAT(seen.progress(), testing::Each(4));
  EXPECT_THAT(seen.progress(), testing::Not(IsEmpty()));
}

// Covers: S-24 S-26
TEST(RemoteWatchTest, PreviousEntriesAndFiltersAreItsOwn) {
  WatchWorld world;
  Caller& one = world.add_caller();
  world.put("a", "0");
  Stream previous(one.client, {.key = "a", .previous = true});
  Stream plain(one.client, {.key = "a"});
  Stream puts(one.client, {.key = "a", .deletes = false});
  Stream deletes(one.client, {.key = "a", .puts = false});
  world.run(20ms);
  world.put("a", "1");
  world.erase("a");
  world.put("a", "2");
  world.run(20ms);
  EXPECT_THAT(previous.events(), ElementsAre("+a=1(was 0)@3", "-a(was 1)@4", "+a=2@5"));
  EXPECT_THAT(plain.events(), ElementsAre("+a=1@3", "-a@4", "+a=2@5"));
  EXPECT_THAT(puts.events(), ElementsAre("+a=1@3", "+a=2@5"));
  EXPECT_THAT(deletes.events(), ElementsAre("-a@4"));
}

// Covers: S-28
TEST(RemoteWatchTest, AMoveLosesAndRepeatsNothing) {
  WatchWorld world;
  Caller& one = world.add_caller();
  Stream seen(one.client, WatchOptions::of("a"));
  world.run(20ms);
  for (int i = 0; i < 20; ++i) {
    world.put("a", "before");
    if (i % 3 == 0) one.cut();
    world.put("a", "without");
    one.link(static_cast<size_t>(i % 2));
    if (i % 2 == 0) one.lose_next = 2;
    world.put("a", "after");
  }
  world.run(1s);
  ASSERT_EQ(seen.all().size(), 60u);
  for (uint64_t i = 0; i < 60; ++i) EXPECT_EQ(seen.all()[i].entry.mod, Revision(2 + i));
}

// ---- the ends

// Covers: S-21
TEST(RemoteWatchTest, BelowTheCompactedRevisionIsCompactedAndAtItIsNot) {
  WatchWorld world;
  Caller& one = world.add_caller();
  for (int i = 0; i < 9; ++i) world.put("a", "v");
  world.compact(Revision(6));
  Stream below(one.client, {.key = "a", .from = Revision(5)});
  Stream at(one.client, {.key = "a", .from = Revision(6)});
  world.run(20ms);
  EXPECT_EQ(below.reason(), Reason::Compacted);
  EXPECT_EQ(below.ended_at(), Revision(6));
  EXPECT_THAT(at.all(), SizeIs(5));
}

// It has seen everything, although nothing was sent to it.
// Covers: S-28
TEST(RemoteWatchTest, ACompactionEndsNoWatchThatOnlyWaits) {
  WatchWorld world;
  Caller& one = world.add_caller();
  Stream seen(one.client, WatchOptions::of("quiet"));
  world.run(20ms);
  for (int i = 0; i < 9; ++i) world.put("a", "v");
  world.compact(Revision(10));
  world.put("quiet", "1");
  world.run(20ms);
  EXPECT_THAT(seen.events(), ElementsAre("+quiet=1@11"));
}

// Covers: S-28
TEST(RemoteWatchTest, ASlowWatchAsksNothingAndResumesWhenItHasRoom) {
  WatchWorld world;
  Caller& one = world.add_caller();
  Stream slow(one.client, {.key = "a", .room = 1000});
  Stream other(one.client, {.key = "a"});
  slow.keep_batches(true);
  world.run(20ms);
  for (int i = 0; i < 40; ++i) world.put("a", std::to_string(i));
  world.run(20ms);
  EXPECT_EQ(other.all().size(), 40u);
  EXPECT_LT(slow.all().size(), 12u);
  other.end();
  world.run(50ms);
  const size_t questions = one.questions;
  world.run(5s);
  EXPECT_EQ(one.questions, questions);
  EXPECT_EQ(world.waiting().groups(), 0u);
  slow.keep_batches(false);
  world.run(100ms);
  EXPECT_THAT(slow.all(), SizeIs(40));
}

// Covers: S-28
TEST(RemoteWatchTest, ASlowWatchWhoseHistoryIsCompactedEnds) {
  WatchWorld world;
  Caller& one = world.add_caller();
  Stream slow(one.client, {.key = "a", .room = 300});
  slow.keep_batches(true);
  world.run(20ms);
  for (int i = 0; i < 10; ++i) world.put("a", "v");
  world.compact(Revision(9));
  slow.keep_batches(false);
  world.run(100ms);
  EXPECT_EQ(slow.reason(), Reason::Compacted);
  EXPECT_EQ(slow.ended_at(), Revision(9));
}

// Covers: S-27
TEST(RemoteWatchTest, AWatchThatIsEndedLeavesNothingAtTheGateway) {
  WatchWorld world;
  Caller& one = world.add_caller();
  Stream seen(one.client, WatchOptions::of("a"));
  world.run(20ms);
  EXPECT_EQ(world.waiting().of(one.id), 1u);
  seen.end();
  world.run(5ms);
  EXPECT_EQ(world.waiting().of(one.id), 0u);
  EXPECT_EQ(world.waiting().groups(), 0u);
  world.put("a", "1");
  world.run(20ms);
  EXPECT_THAT(seen.events(), IsEmpty());
  EXPECT_EQ(one.client.status().tickets, 0u);
}

// ---- progress

// Covers: S-25
TEST(RemoteWatchTest, ProgressThatIsAskedForSpeaksOfThePresent) {
  WatchWorld world;
  Caller& one = world.add_caller();
  Stream seen(one.client, WatchOptions::of("a"));
  world.run(20ms);
  for (int i = 0; i < 3; ++i) world.put("b", "v");
  world.put("a", "v");
  for (int i = 0; i < 3; ++i) world.put("b", "v");
  seen.ask_progress();
  seen.ask_progress();
  world.run(5ms);
  EXPECT_THAT(seen.progress(), ElementsAre(8, 8));
  EXPECT_THAT(seen.events(), ElementsAre("+a=v@5"));
  Answer<PutResult> mine;
  one.client.put("b", "v", mine.callback());
  ASSERT_TRUE(world.await(mine).ok());
  seen.ask_progress();
  world.run(5ms);
  EXPECT_THAT(seen.progress(), ElementsAre(8, 8, 9)) << "not less than this process knows";
}

// Covers: S-25
TEST(RemoteWatchTest, ACallerThatAsksForProgressWithoutPauseIsAnswered) {
  WatchWorld world;
  Caller& one = world.add_caller();
  Stream seen(one.client, WatchOptions::of("a"));
  world.run(20ms);
  for (int i = 0; i < 100; ++i) {
    seen.ask_progress();
    world.run(1ms);
  }
  world.run(10ms);
  EXPECT_THAT(seen.progress(), SizeIs(100));
}

// Covers: S-25
TEST(RemoteWatchTest, ProgressComesByItselfInSilence) {
  WatchWorld world;
  Caller& one = world.add_caller();
  Stream seen(one.client, {.key = "a", .progress_every = 500ms});
  world.run(1100ms);
  EXPECT_THAT(seen.progress(), ElementsAre(1, 1));
  for (int i = 0; i < 3; ++i) world.put("b", "v");
  world.run(500ms);
  EXPECT_THAT(seen.progress(), ElementsAre(1, 1, 4));
  one.cut();
  world.run(5s);
  EXPECT_THAT(seen.progress(), SizeIs(3)) << "it does not know";
  one.link(1);
  world.run(700ms);
  EXPECT_THAT(seen.progress(), SizeIs(4));
}

TEST(RemoteWatchTest, AQuietWatchIsAskedForEveryHalfMinuteAtMost) {
  WatchWorld world;
  Caller& one = world.add_caller();
  Stream seen(one.client, WatchOptions::of("a"));
  world.run(20ms);
  const size_t before = one.questions;
  world.run(100s);
  EXPECT_EQ(one.questions - before, 3u);
  for (int i = 0; i < 9; ++i) world.put("b", "v");
  world.run(31s);
  world.compact(Revision(9));
  one.link(1);
  world.put("a", "1");
  world.run(100ms);
  EXPECT_THAT(seen.events(), SizeIs(1)) << "the place that it continues from is not older than that";
}

// ---- what it costs

// Covers: S-28
TEST(RemoteWatchTest, ManyWatchesOfARangeCostOneEncoding) {
  WatchWorld world(1);
  std::vector<Stream> streams;
  for (int i = 0; i < 20; ++i) {
    Caller& one = world.add_caller();
    for (int k = 0; k < 20; ++k) streams.emplace_back(one.client, WatchOptions::prefix("a"));
  }
  world.run(50ms);
  EXPECT_EQ(world.waiting().groups(), 1u);
  const uint64_t before = world.waiting().encodings();
  for (int i = 0; i < 10; ++i) {
    world.put("a", "v");
    world.put("b", "v");
    world.run(10ms);
  }
  EXPECT_EQ(world.waiting().encodings() - before, 10u);
  for (const Stream& stream : streams) EXPECT_THAT(stream.all(), SizeIs(10));
}

TEST(RemoteWatchTest, WatchesThatResumeAtAPlaceShareItsPiece) {
  WatchWorld world;
  Caller& one = world.add_caller();
  std::vector<Stream> streams;
  for (int k = 0; k < 50; ++k) streams.emplace_back(one.client, WatchOptions::prefix("a"));
  world.run(50ms);
  one.cut();
  for (int i = 0; i < 10; ++i) world.put("a", "v");
  one.link(1);
  world.run(50ms);
  for (const Stream& stream : streams) EXPECT_THAT(stream.all(), SizeIs(10));
  EXPECT_EQ(world.waiting(1).encodings(), 1u);
}

TEST(RemoteWatchTest, TheQuestionsThatWaitAreBounded) {
  WatchWorld world(2, {.waiting_max = 2});
  Caller& one = world.add_caller();
  Caller& two = world.add_caller();
  std::vector<Stream> streams;
  for (int i = 0; i < 3; ++i) streams.emplace_back(one.client, WatchOptions::of("a"));
  Stream other(two.client, WatchOptions::of("a"));
  world.run(1s);
  EXPECT_EQ(world.waiting().of(one.id), 2u);
  EXPECT_EQ(world.waiting().of(two.id), 1u);
  EXPECT_GT(world.gateway(0).counters().waiting, 0u);
  EXPECT_LT(world.gateway(0).counters().waiting, 6u) << "it is asked again at the pace of retries";
  streams[0].end();
  world.put("a", "1");
  world.run(1s);
  EXPECT_THAT(streams[1].all(), SizeIs(1));
  EXPECT_THAT(streams[2].all(), SizeIs(1));
  Answer<GetResult> got;
  one.client.get("a", got.callback());
  EXPECT_TRUE(world.await(got).ok()) << "reads are not refused for it";
}

// A build that does not know this field.
// Covers: S-28
TEST(RemoteWatchTest, AGatewayThatAnswersAtOnceIsAskedAtThePaceOfRetries) {
  WatchWorld world;
  Caller& one = world.add_caller();
  one.may_wait = false;
  Stream seen(one.client, WatchOptions::of("a"));
  world.run(20ms);
  const size_t before = one.questions;
  world.run(10s);
  EXPECT_LE(one.questions - before, 101u);
  for (int i = 0; i < 5; ++i) {
    world.put("a", "v");
    world.run(1s);
    EXPECT_THAT(seen.all(), SizeIs(static_cast<size_t>(i) + 1));
  }
}

// ---- the gateway

Question question(uint64_t id, machine::ChangesAfter place, Duration waits) {
  return {.id = id,
          .machine = kCoordination,
          .consistency = Consistency::Local,
          .at_least = {},
          .time_left = 1s,
          .question = machine::encode(machine::Question(machine::ChangesOf{std::move(place)})),
          .waits = waits};
}

TEST(GatewayTest, QuestionsThatWaitLeaveWithTheirRemote) {
  WatchWorld world;
  Caller& one = world.add_caller();
  const auto say = [&](const FromRemote& message) { world.gateway(0).received(one.id, encode(message), world.now); };
  for (uint64_t id = 1; id <= 5; ++id) {
    for (int twice = 0; twice < 2; ++twice) say(question(id, {.from = Revision(2), .key = "a"}, 10s));
  }
  say(question(6, {.from = Revision(2), .key = "b", .end = "a"}, 10s));
  say(question(7, {.from = Revision(2)}, Duration::max()));
  say(question(8, {.from = Revision(2)}, -1s));
  EXPECT_EQ(world.gateway(0).next_turn(world.now), Duration::zero());
  world.run(5ms);
  EXPECT_EQ(world.waiting().of(one.id), 7u);
  EXPECT_EQ(world.waiting().groups(), 3u);
  say(Withdrawal{3});
  EXPECT_EQ(world.waiting().of(one.id), 6u);
  EXPECT_LE(world.waiting().next_limit(), world.now.lagging + 10s);
  one.cut();
  EXPECT_EQ(world.waiting().of(one.id), 0u);
  EXPECT_EQ(world.waiting().groups(), 0u);
  EXPECT_EQ(world.waiting().next_limit(), LaggingTime::max());
  world.put("a", "1");
}

// ---- groups, by themselves

machine::Changes decoded(const SharedBytes& bytes) { return machine::decode_answer<machine::ChangesOf>(bytes.view()).value(); }

TEST(WaitingReadsTest, NoneIsAnsweredFromAnEarlierStateThanItAsksFor) {
  WatchWorld world;
  const machine::Reads& state = *world.machine->reads();
  world.put("a", "1");
  WaitingReads waiting;
  waiting.add({ReplicaId(7), 1}, {.from = Revision(2), .key = "a"}, Index(50), LaggingTime(1s));
  EXPECT_FALSE(waiting.ready(Index(49)));
  EXPECT_THAT(waiting.serve(state, Index(49), LaggingTime(2s)), IsEmpty());
  EXPECT_TRUE(waiting.ready(Index(50)));
  const auto answers = waiting.serve(state, Index(50), LaggingTime(2s));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(decoded(answers[0].bytes).changes, SizeIs(1));
}

TEST(WaitingReadsTest, AfterItsLimitAnAnswerSaysHowFarHistoryIs) {
  WatchWorld world;
  const machine::Reads& state = *world.machine->reads();
  WaitingReads waiting;
  waiting.add({ReplicaId(7), 1}, {.from = Revision(2), .key = "a"}, Index(), LaggingTime(1s));
  EXPECT_THAT(waiting.serve(state, Index(1), LaggingTime(0s)), IsEmpty());
  EXPECT_EQ(waiting.next_limit(), LaggingTime(1s));
  world.put("b", "1");
  EXPECT_THAT(waiting.serve(state, Index(1), LaggingTime(0s)), IsEmpty());
  const auto answers = waiting.serve(state, Index(1), LaggingTime(1s));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(decoded(answers[0].bytes).changes, IsEmpty());
  EXPECT_EQ(decoded(answers[0].bytes).next, Revision(3));
  EXPECT_EQ(waiting.of(ReplicaId(7)), 0u);
}

// A state that a peer sent may be much later, and may have forgotten a part.
TEST(WaitingReadsTest, AfterAnotherStateEachGroupIsLookedAt) {
  for (const bool forgotten : {false, true}) {
    WatchWorld world;
    const machine::Reads& state = *world.machine->reads();
    WaitingReads waiting;
    waiting.add({ReplicaId(7), 1}, {.from = Revision(2), .key = "a"}, Index(), LaggingTime(1s));
    waiting.add({ReplicaId(7), 2}, {.from = Revision(2), .key = "b"}, Index(), LaggingTime(1s));
    EXPECT_THAT(waiting.serve(state, Index(1), LaggingTime(0s)), IsEmpty());
    for (int i = 0; i < 5; ++i) world.put("a", "1");
    if (forgotten) world.compact(Revision(5));
    waiting.restored();
    const auto answers = waiting.serve(state, Index(1), LaggingTime(0s));
    ASSERT_THAT(answers, SizeIs(forgotten ? 2 : 1));
    EXPECT_EQ(decoded(answers[0].bytes).gone, forgotten);
    EXPECT_THAT(decoded(answers[0].bytes).changes, SizeIs(forgotten ? 0 : 5));
  }
}

// ---- at random

// A watch at a remote and one at the replica, from the same revision on.
struct Pair {
  Stream remote;
  Stream local;
  bool slow = false;
};

WatchOptions any_range(Random& random) {
  const std::string key(1, static_cast<char>('a' + random.below(4)));
  WatchOptions options = WatchOptions::of(key + "1");
  if (random.chance(0.5)) options = WatchOptions::prefix(key);
  if (random.chance(0.2)) options = {.key = key, .end = std::string(kNoEnd)};
  if (random.chance(0.1)) options = WatchOptions::prefix("");
  options.previous = random.chance(0.5);
  options.puts = random.chance(0.9);
  options.progress_every = random.chance(0.5) ? Duration(200ms) : Duration(10min);
  return options;
}

void change(WatchWorld& world, Random& random) {
  const auto any_key = [&] {
    return std::string{static_cast<char>('a' + random.below(4)), static_cast<char>('0' + random.below(3))};
  };
  const std::string value = std::to_string(random.below(1000));
  Transaction changes;
  absl::btree_set<std::string> keys;
  for (uint64_t left = random.between(1, 4); left != 0; --left) keys.insert(any_key());
  for (const std::string& key : keys) {
    if (random.chance(0.3)) {
      changes.then.emplace_back(DeleteOperation{.key = key});
    } else {
      changes.then.emplace_back(PutOperation{.key = key, .value = value});
    }
  }
  world.local->keys().commit(std::move(changes), [](absl::StatusOr<TransactionResult>) {});
}

// Its previous entry may be compacted at one of the two.
bool same(const WatchEvent& remote, const WatchEvent& local) {
  return remote.entry == local.entry && (!remote.previous || remote.previous == local.previous);
}

// Links move, lose and go quiet, gateways end, history is compacted: a watch at a remote sees the events of a watch at the
// replica, each once and in order. It sees all of them, unless it was told that some are compacted.
// Covers: S-23 S-28
TEST(RemoteWatchTest, WhateverHappensToTheLinksItSeesWhatAReplicaSees) {
  size_t whole = 0;
  size_t compacted = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    WatchWorld world(3);
    Random random(seed);
    std::vector<Caller*> callers;
    for (size_t i = 0; i < 3; ++i) callers.push_back(&world.add_caller(i));
    std::vector<Pair> pairs;
    for (int step = 0; step < 600; ++step) {
      Caller& one = *callers[random.below(callers.size())];
      switch (random.below(40)) {
        case 0: one.link(random.below(3)); break;
        case 1: one.cut(); break;
        case 2: one.deaf = !one.deaf; break;
        case 3: one.silent = !one.silent; break;
        case 4: one.lose_next = random.below(4); break;
        case 5: world.restart_gateway(random.below(3)); break;
        case 6: {
          if (!random.chance(0.05)) break;
          const uint64_t newest = world.revision().value();
          const uint64_t at = newest - std::min(newest, random.below(60));
          world.local->keys().compact(Revision(at), [](absl::StatusOr<CompactResult>) {});
          break;
        }
        case 7: {
          if (pairs.size() == 12) break;
          WatchOptions options = any_range(random);
          const uint64_t newest = world.revision().value();
          options.from = Revision(random.between(std::max<uint64_t>(newest, 10) - 9, newest + 5));
          const bool slow = random.chance(0.3);
          Stream local(*world.local, options);
          if (slow) options.room = 500;
          pairs.push_back({Stream(one.client, options), std::move(local), slow});
          break;
        }
        case 8:
          if (!pairs.empty()) pairs[random.below(pairs.size())].remote.ask_progress();
          break;
        case 9:
          for (Pair& pair : pairs) pair.remote.keep_batches(pair.slow && random.chance(0.5));
          break;
        default: change(world, random);
      }
      world.run(Duration(1ms) * random.below(6));
    }
    for (Caller* one : callers) {
      one->deaf = one->silent = false;
      one->lose_next = 0;
      one->link(random.below(3));
    }
    for (Pair& pair : pairs) pair.remote.keep_batches(false);
    world.run(5s);
    for (const Pair& pair : pairs) {
      const std::vector<WatchEvent>& remote = pair.remote.all();
      const std::vector<WatchEvent>& local = pair.local.all();
      ASSERT_LE(remote.size(), local.size()) << "seed " << seed;
      for (size_t i = 0; i < remote.size(); ++i) {
        ASSERT_TRUE(same(remote[i], local[i])) << "seed " << seed << ": " << shown(remote[i]) << " " << shown(local[i]);
      }
      if (pair.remote.ended()) {
        ASSERT_EQ(pair.remote.reason(), Reason::Compacted);
        const Revision last = remote.empty() ? Revision() : remote.back().entry.mod;
        ASSERT_LT(last, pair.remote.ended_at()) << "seed " << seed << ": " << pair.remote.why();
        ++compacted;
      } else {
        ASSERT_EQ(remote.size(), local.size()) << "seed " << seed;
        ++whole;
      }
    }
  }
  EXPECT_GT(compacted, 20u);
  EXPECT_GT(whole, 200u) << compacted;
}

}  // namespace
}  // namespace coordkit::remote
