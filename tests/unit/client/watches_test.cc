// Watches over a real store: what each receives, in which order, and what happens to those that start late or do not keep up.
#include "client/watches/watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "base/random.h"
#include "coordkit/client/keys.h"
#include "coordkit/error.h"
#include "machine/keys/changes.h"
#include "mvcc/store.h"

namespace coordkit::client {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using What = WatchBatch::What;

// "+a=1" a put, "*a=1" one that creates the key, "-a" a delete; "(was 0)" the previous value.
std::string shown(const WatchEvent& event) {
  std::string out = event.deleted()   ? "-" + event.entry.key
                    : event.created() ? "*" + event.entry.key + "=" + event.entry.value
                                      : "+" + event.entry.key + "=" + event.entry.value;
  return event.previous ? out + "(was " + event.previous->value + ")" : out;
}

std::string shown(const WatchBatch& batch) {
  const std::string at = "@" + std::to_string(batch.revision.value());
  switch (batch.what) {
    case What::Created: return "created" + at;
    case What::Progress: return "progress" + at;
    case What::Pending: return "pending" + at;
    case What::Ended:
      EXPECT_EQ(revision_of(batch.why),
                reason_of(batch.why) == Reason::Compacted ? std::optional(batch.revision) : std::nullopt);
      return "ended " + std::string(name_of(*reason_of(batch.why))) + at;
    case What::Events: break;
  }
  std::string out;
  for (const WatchEvent& event : batch.events) out += (out.empty() ? "" : " ") + shown(event);
  return out + at;
}

class WatchesTest : public testing::Test {
 protected:
  WatchId watch(WatchOptions options) {
    EXPECT_TRUE(check_watch(options).ok());
    const WatchId id(++last_);
    const WatchId made = watches.add(std::move(options), [this, id](WatchBatch batch) {
      delivered[id].push_back(shown(batch));
      if (!batch.events.empty() && keeps) kept.push_back(std::move(batch));
    });
    EXPECT_EQ(made, id);
    make();
    return id;
  }
  void make() {
    for (const WatchId id : watches.to_make()) watches.made(id, state(), now);
  }
  machine::KeySpace state() const { return {.revision = store.revision(), .compacted = store.compacted()}; }
  Revision put(std::string_view key, std::string_view value) {
    mvcc::Store::Change change;
    store.put(change, key, value);
    return store.revision();
  }
  void erase(std::string_view key) {
    mvcc::Store::Change change;
    store.erase(change, key);
  }
  void compact(uint64_t at, size_t budget = SIZE_MAX) {
    EXPECT_EQ(store.compact(Revision(at)), mvcc::Refusal::None);
    store.sweep(budget);
  }
  std::vector<std::string> take(WatchId id) {
    while (watches.advance(now)) {
    }
    flush();
    return std::exchange(delivered[id], {});
  }
  void flush() {
    deliveries.flush();
    for (auto& task : std::exchange(queue, {})) task();
  }

  mvcc::Store store;
  bool readable = true;
  uint64_t reads = 0;
  bool keeps = false;  // batches, like a consumer that has not got round to them
  std::vector<WatchBatch> kept;
  std::vector<absl::AnyInvocable<void()>> queue;
  Deliveries deliveries{[this](absl::AnyInvocable<void()> task) { queue.push_back(std::move(task)); }};
  Watches watches{deliveries, [this](const machine::ChangesAfter& place) -> std::optional<machine::Changes> {
                    ++reads;
                    if (!readable) return std::nullopt;
                    return machine::changes_of(store, place);
                  }};
  std::map<WatchId, std::vector<std::string>> delivered;
  LaggingTime now{1h};
  uint64_t last_ = 0;
};

// As handles do that an observer owns: each odd one ends the next odd one.
// Covers: S-27
TEST_F(WatchesTest, AnObserverThatGoesMayEndOtherWatches) {
  struct Ender {
    Ender(Watches& watches, WatchId id) : of(watches), other(id) {}
    Watches& of;
    WatchId other;
    ~Ender() { of.remove(other); }
  };
  constexpr uint64_t kMost = 200;
  uint64_t ends = 0;
  for (uint64_t id = 1; id <= kMost; ++id) {
    auto kept = id % 2 != 0 ? std::make_unique<Ender>(watches, WatchId(id + 2)) : nullptr;
    watches.add(WatchOptions::of("a"), [&ends, kept = std::move(kept)](const WatchBatch& batch) {
      if (batch.what == What::Ended) ++ends;
    });
  }
  make();
  flush();
  EXPECT_TRUE(watches.remove(WatchId(1)));
  EXPECT_EQ(watches.size(), kMost / 2);
  EXPECT_FALSE(watches.remove(WatchId(3)));
  watches.stop(make_error(Reason::Stopped, "the replica stopped"));
  flush();
  EXPECT_EQ(ends, kMost / 2);
}

// Covers: S-21
TEST_F(WatchesTest, WithoutARevisionItStartsAfterTheOneOfItsCreation) {
  put("a", "1");
  const WatchId a = watch(WatchOptions::of("a"));
  EXPECT_THAT(take(a), ElementsAre("created@2"));
  put("a", "2");
  put("b", "1");
  erase("a");
  put("a", "3");
  EXPECT_THAT(take(a), ElementsAre("+a=2@3", "-a@5", "*a=3@6"));
}

// Covers: S-21
TEST_F(WatchesTest, FromARevisionOnIsInclusiveAndWholeRevisionsComeTogether) {
  for (const char* value : {"1", "2", "3"}) put("a", value);
  const WatchId a = watch({.key = "a", .from = Revision(3)});
  EXPECT_THAT(take(a), ElementsAre("created@4", "+a=2 +a=3@4"));
  put("a", "4");
  EXPECT_THAT(take(a), ElementsAre("+a=4@5"));
}

// Covers: S-21
TEST_F(WatchesTest, AStartInTheFutureIsSilentUntilItExists) {
  const WatchId a = watch({.key = "a", .from = Revision(4), .progress_every = 100ms});
  EXPECT_TRUE(watches.ask_progress(a));
  EXPECT_THAT(take(a), ElementsAre("created@1", "pending@4"));
  put("a", "1");
  put("a", "2");
  now += 1s;
  EXPECT_THAT(take(a), IsEmpty()) << "neither events nor progress before revision 4";
  put("a", "3");
  put("b", "1");
  EXPECT_THAT(take(a), ElementsAre("+a=3@4"));
  watches.ask_progress(a);
  EXPECT_THAT(take(a), ElementsAre("progress@5"));
}

// Found by simulation (profile keys, seed 50070).
// Covers: S-21 S-25
TEST_F(WatchesTest, AWatchOfTheFutureIsNotPendingAnyMoreOnceItHasBegun) {
  keeps = true;
  const WatchId a = watch({.key = "a", .from = Revision(3), .room = 1});
  for (const char* value : {"1", "2", "3"}) put("a", value);
  EXPECT_THAT(take(a), ElementsAre("created@1", "+a=2@3")) << "then it had no room";
  kept.clear();
  watches.look_for_room();
  EXPECT_THAT(take(a), ElementsAre("+a=3@4"));
  EXPECT_TRUE(watches.ask_progress(a));
  EXPECT_THAT(take(a), ElementsAre("progress@4"));
}

// The front may be anywhere while all wait for the future; that does not matter to a new watch.
// Covers: S-21
TEST_F(WatchesTest, AWatchOfTheFutureKeepsNobodyElseWaiting) {
  const WatchId late = watch({.key = "a", .from = Revision(5)});
  const WatchId early = watch(WatchOptions::of("a"));
  EXPECT_THAT(take(early), ElementsAre("created@1"));
  for (const char* value : {"1", "2", "3", "4"}) put("a", value);
  EXPECT_THAT(take(early), ElementsAre("*a=1@2", "+a=2@3", "+a=3@4", "+a=4@5"));
  EXPECT_THAT(take(late), ElementsAre("created@1", "+a=4@5"));
}

// Covers: S-21 INV_W05 REG_F41
TEST_F(WatchesTest, BelowTheCompactedRevisionIsCompactedAndAtItIsNot) {
  for (const char* value : {"1", "2"}) put("a", value);
  erase("a");
  put("a", "3");
  compact(4);
  const WatchId below = watch({.key = "a", .from = Revision(3)});
  EXPECT_THAT(take(below), ElementsAre("ended Compacted@4"));
  const WatchId at = watch({.key = "a", .from = Revision(4)});
  EXPECT_THAT(take(at), ElementsAre("created@5", "-a *a=3@5"));
  EXPECT_EQ(watches.size(), 1u);
}

// Found by simulation (profile keys, seed 50006).
// Covers: S-21 INV_W05
TEST_F(WatchesTest, WhatIsCompactedEndsNobodyWhoStartsAfterIt) {
  const WatchId early = watch(WatchOptions::of("a"));
  const WatchId late = watch({.key = "a", .from = Revision(6)});
  EXPECT_THAT(take(early), ElementsAre("created@1"));
  for (const char* value : {"1", "2", "3"}) put("a", value);
  compact(4);
  EXPECT_THAT(take(early), ElementsAre("ended Compacted@4"));
  for (const char* value : {"4", "5", "6"}) put("a", value);
  EXPECT_THAT(take(late), ElementsAre("created@1", "+a=5@6", "+a=6@7"));
}

// Covers: S-22
TEST_F(WatchesTest, IntervalsAreThoseOfRanges) {
  EXPECT_EQ(reason_of(check_watch({.key = "b", .end = "a"})), Reason::EmptyRange);
  EXPECT_EQ(reason_of(check_watch({.key = "b", .end = "b"})), Reason::EmptyRange);
  const WatchId all = watch({.key = "", .end = std::string(kNoEnd)});
  const WatchId from_b = watch({.key = "b", .end = std::string(kNoEnd)});
  const WatchId prefix = watch(WatchOptions::prefix("b/"));
  const WatchId between = watch({.key = "a", .end = "b0"});
  const WatchId lowest = watch({.key = ""});
  for (const char* key : {"a", "b/1", "b0", "c"}) put(key, "1");
  put(std::string_view("\0", 1), "1");
  EXPECT_THAT(take(all), SizeIs(6));
  EXPECT_THAT(take(from_b), ElementsAre("created@1", "*b/1=1@3", "*b0=1@4", "*c=1@5"));
  EXPECT_THAT(take(prefix), ElementsAre("created@1", "*b/1=1@3"));
  EXPECT_THAT(take(between), ElementsAre("created@1", "*a=1@2", "*b/1=1@3"));
  EXPECT_THAT(take(lowest), SizeIs(2));
}

// Covers: S-23 INV_W01 INV_W03
TEST_F(WatchesTest, ARevisionIsToldAtOnceHoweverManyReadsItTakes) {
  const WatchId live = watch(WatchOptions::prefix("k"));
  const WatchId one = watch(WatchOptions::of("k2999"));
  mvcc::Store::Change change;
  for (int i = 0; i < 3000; ++i) store.put(change, "k" + std::to_string(i), "v");
  watches.advance(now);
  flush();
  for (const WatchId id : {live, one}) {
    ASSERT_THAT(delivered[id], SizeIs(2));
    EXPECT_TRUE(delivered[id][1].ends_with("@2"));
  }
  EXPECT_EQ(std::ranges::count(delivered[live][1], '*'), 3000);
  const WatchId later = watch({.key = "k", .end = "l", .from = Revision(2)});
  const auto caught_up = take(later);
  ASSERT_THAT(caught_up, SizeIs(2));
  EXPECT_EQ(std::ranges::count(caught_up[1], '*'), 3000);
}

// Covers: S-24 INV_W06
TEST_F(WatchesTest, PreviousEntriesComeToThoseThatAskedAndOnlyWhereTheyAreKnown) {
  const WatchId with = watch({.key = "a", .previous = true});
  const WatchId without = watch(WatchOptions::of("a"));
  put("a", "1");
  put("a", "2");
  erase("a");
  EXPECT_THAT(take(with), ElementsAre("created@1", "*a=1@2", "+a=2(was 1)@3", "-a(was 2)@4"));
  EXPECT_THAT(take(without), ElementsAre("created@1", "*a=1@2", "+a=2@3", "-a@4"));
  compact(3);
  const WatchId later = watch({.key = "a", .from = Revision(3), .previous = true});
  EXPECT_THAT(take(later), ElementsAre("created@4", "+a=2 -a(was 2)@4")) << "what was at revision 2 is compacted";
}

// Found by simulation (profile keys, seed 50005).
// Covers: S-24 INV_W06
TEST_F(WatchesTest, WhoDidNotAskIsToldNoPreviousEntryEvenIfWhoAskedHasLeftMeanwhile) {
  keeps = true;
  const WatchId with = watch({.key = "a", .previous = true, .room = 1});
  const WatchId without = watch(WatchOptions::of("a"));
  take(without);
  for (const char* value : {"1", "2", "3"}) put("a", value);
  EXPECT_THAT(take(without), ElementsAre("*a=1@2", "+a=2@3", "+a=3@4"));
  EXPECT_THAT(take(with), ElementsAre("created@1", "*a=1@2")) << "then it had no room";
}

// Covers: S-25 INV_W04 REG_F37
TEST_F(WatchesTest, AProgressReportComesAfterAllThatItSpeaksOf) {
  const WatchId a = watch(WatchOptions::of("a"));
  put("a", "1");
  put("b", "1");
  watches.ask_progress(a);
  watches.ask_progress(a);
  EXPECT_THAT(take(a), ElementsAre("created@1", "*a=1@2", "progress@3", "progress@3")) << "one for each request";
}

// Covers: S-25 REG_F38
TEST_F(WatchesTest, AProgressReportThatIsAskedForWhileItCatchesUpWaitsUntilItHas) {
  for (int i = 0; i < 20'000; ++i) put("a", "v");
  const WatchId a = watch({.key = "a", .from = Revision(2)});
  watches.ask_progress(a);
  EXPECT_TRUE(watches.advance(now)) << "more than one turn reads";
  flush();
  EXPECT_FALSE(delivered[a].back().starts_with("progress"));
  EXPECT_EQ(take(a).back(), "progress@20001");
}

// Covers: S-25
TEST_F(WatchesTest, ProgressReportsComeByThemselvesWhenNothingElseDoes) {
  const WatchId a = watch({.key = "a", .progress_every = 1s});
  EXPECT_EQ(watches.next_progress(), now + 1s);
  now += 500ms;
  put("a", "1");
  EXPECT_THAT(take(a), ElementsAre("created@1", "*a=1@2"));
  now += 600ms;
  EXPECT_THAT(take(a), IsEmpty()) << "it was not quiet for that long";
  now += 400ms;
  EXPECT_THAT(take(a), ElementsAre("progress@2"));
  put("b", "1");
  now += 1s;
  EXPECT_THAT(take(a), ElementsAre("progress@3"));
  EXPECT_EQ(reason_of(check_watch({.key = "a", .progress_every = 99ms})), Reason::InvalidArgument);
}

// Covers: S-26
TEST_F(WatchesTest, WhatIsFilteredOutIsNotTold) {
  const WatchId deletes = watch({.key = "a", .puts = false});
  const WatchId puts = watch({.key = "a", .deletes = false});
  put("a", "1");
  erase("a");
  EXPECT_THAT(take(deletes), ElementsAre("created@1", "-a@3"));
  EXPECT_THAT(take(puts), ElementsAre("created@1", "*a=1@2"));
  EXPECT_EQ(reason_of(check_watch({.key = "a", .puts = false, .deletes = false})), Reason::InvalidArgument);
}

// Covers: S-27 INV_W07
TEST_F(WatchesTest, NothingIsToldAfterTheEnd) {
  const WatchId a = watch(WatchOptions::of("a"));
  take(a);
  put("a", "1");
  watches.advance(now);
  deliveries.flush();  // on its way to the consumer
  EXPECT_TRUE(watches.remove(a));
  EXPECT_THAT(take(a), IsEmpty());
  EXPECT_FALSE(watches.remove(a));
  EXPECT_FALSE(watches.ask_progress(a));
  EXPECT_EQ(watches.next_progress(), LaggingTime::max());
}

// Covers: S-28 REG_F44
TEST_F(WatchesTest, AWatchWithoutRoomReadsWhatItMissedOutOfTheHistory) {
  keeps = true;
  const WatchId slow = watch({.key = "a", .room = 1000});
  const WatchId other = watch({.key = "a", .room = 1 << 20});
  for (int i = 0; i < 50; ++i) put("a", std::to_string(i));
  EXPECT_THAT(take(other), SizeIs(51)) << "another does not wait for it";
  auto seen = take(slow);
  EXPECT_LT(seen.size(), 12u);
  EXPECT_TRUE(watches.any_without_room());
  watches.look_for_room();
  EXPECT_THAT(take(slow), IsEmpty()) << "it has taken nothing yet";
  std::string all;
  for (int round = 0; round < 100 && watches.any_without_room(); ++round) {
    kept.clear();
    watches.look_for_room();
    for (std::string& each : take(slow)) seen.push_back(std::move(each));
  }
  EXPECT_FALSE(watches.any_without_room());
  for (const std::string& each : seen) all += each + " ";
  for (int i = 0; i < 50; ++i) EXPECT_THAT(all, testing::HasSubstr("a=" + std::to_string(i)));
  kept.clear();
  put("a", "end");
  EXPECT_THAT(take(slow), ElementsAre("+a=end@52")) << "it keeps up again";
}

// The engine's thread has renewals to send between two of these.
// Covers: S-28 REG_F27
TEST_F(WatchesTest, HoweverFarWatchesAreBehindATurnOfReadingIsBounded) {
  constexpr uint64_t kChanges = 60'000;
  for (uint64_t i = 0; i < kChanges; ++i) put("k", "v");
  const WatchId keeps_up = watch(WatchOptions::of("now"));
  std::vector<WatchId> behind;
  for (int i = 0; i < 3; ++i) behind.push_back(watch({.key = "k", .from = Revision(1)}));
  put("now", "1");
  uint64_t turns = 0;
  for (bool more = true; more; ++turns) {
    reads = 0;
    more = watches.advance(now);
    EXPECT_LE(reads, 32u);
    flush();
    if (turns == 0) {
      EXPECT_THAT(delivered[keeps_up], SizeIs(2)) << "no one waits for those that are behind";
    }
  }
  EXPECT_GT(turns, 3u) << "or it was too little to show anything";
  for (const WatchId id : behind)
    EXPECT_THAT(delivered[id], testing::Contains(testing::HasSubstr("@" + std::to_string(kChanges + 1))));
}

// Covers: S-28 REG_F27
TEST_F(WatchesTest, HoweverManyWatchAPrefixATurnOfTellingIsBoundedByRevisions) {
  constexpr size_t kMany = 5000;
  for (size_t i = 0; i < kMany; ++i) watch(WatchOptions::prefix("a"));
  while (watches.advance(now)) {
  }
  flush();
  delivered.clear();
  for (const char* value : {"1", "2", "3"}) put("a", value);
  for (size_t turn = 1; turn <= 3; ++turn) {
    EXPECT_EQ(watches.advance(now), turn != 3) << "whether there is more";
    flush();
    for (const auto& [id, batches] : delivered) ASSERT_THAT(batches, SizeIs(turn)) << id.value();
  }
  EXPECT_THAT(delivered.begin()->second, ElementsAre("*a=1@2", "+a=2@3", "+a=3@4"));
  EXPECT_EQ(delivered.size(), kMany);
}

// Covers: S-28
TEST_F(WatchesTest, ASlowWatchWhoseHistoryIsCompactedEndsAndSaysWhereToBeginAnew) {
  keeps = true;
  const WatchId slow = watch({.key = "a", .room = 300});
  for (int i = 0; i < 10; ++i) put("a", "v");
  take(slow);
  compact(9);
  kept.clear();
  watches.look_for_room();
  EXPECT_THAT(take(slow), ElementsAre("ended Compacted@9"));
  EXPECT_EQ(watches.size(), 0u);
}

// Revisions that were compacted and not swept yet are still there for those that need them.
// Covers: S-28
TEST_F(WatchesTest, ACompactionInTheSameTurnTakesNothingFromWhoKeepsUp) {
  const WatchId a = watch(WatchOptions::of("a"));
  take(a);
  for (const char* value : {"1", "2", "3"}) put("a", value);
  compact(4, 0);
  EXPECT_THAT(take(a), ElementsAre("*a=1@2", "+a=2@3", "+a=3@4"));
}

// Covers: S-28
TEST_F(WatchesTest, AStateTakenOverFromAPeerChangesNothingForAWatch) {
  const WatchId a = watch(WatchOptions::of("a"));
  put("a", "1");
  EXPECT_THAT(take(a), ElementsAre("created@1", "*a=1@2"));
  put("a", "2");  // as applied by the peer
  watches.restored();
  EXPECT_THAT(take(a), ElementsAre("+a=2@3"));
}

// Covers: S-28
TEST_F(WatchesTest, AStateOfAPeerThatHasForgottenTooMuchEndsIt) {
  const WatchId a = watch(WatchOptions::of("a"));
  take(a);
  for (int i = 0; i < 5; ++i) put("a", "v");
  compact(5);
  watches.restored();
  EXPECT_THAT(take(a), ElementsAre("ended Compacted@5"));
}

TEST_F(WatchesTest, AWatchThatCouldNotBeMadeIsTriedAgain) {
  const WatchId id =
      watches.add(WatchOptions::of("a"), [this](WatchBatch batch) { delivered[WatchId(1)].push_back(shown(batch)); });
  EXPECT_THAT(watches.to_make(), ElementsAre(id));
  watches.not_made(id);
  EXPECT_FALSE(watches.any_to_make());
  watches.retry();
  make();
  EXPECT_THAT(take(id), ElementsAre("created@1"));
}

TEST_F(WatchesTest, AllEndWithTheReplica) {
  const WatchId a = watch(WatchOptions::of("a"));
  take(a);
  watches.stop(make_error(Reason::Stopped, "the replica stopped"));
  EXPECT_THAT(take(a), ElementsAre("ended Stopped@0"));
}

// ---- history that is elsewhere

class DistantWatchesTest : public WatchesTest {
 protected:
  DistantWatchesTest() { far.emplace(deliveries, Watches::Read()); }
  WatchId open(WatchOptions options) {
    const WatchId id = far->add(std::move(options), [this](WatchBatch batch) {
      told.push_back(shown(batch));
      if (keeps) kept.push_back(std::move(batch));
    });
    for (const WatchId made : far->to_make()) far->made(made, state(), now);
    return id;
  }
  // The questions of this turn.
  std::vector<WantedPiece> asked() {
    std::vector<WantedPiece> all = far->to_ask(now);
    far->advance(now);
    return all;
  }
  void answer(const WantedPiece& question) {
    far->answered(question.id, machine::changes_of(store, question.place), now);
    far->advance(now);
  }
  std::vector<std::string> take_told() {
    flush();
    return std::exchange(told, {});
  }

  std::optional<Watches> far;
  std::vector<std::string> told;
};

// Covers: S-28
TEST_F(DistantWatchesTest, EachAsksForItsNextPieceAndWaitsAtTheEndOfHistory) {
  put("a", "1");
  open({.key = "a", .from = Revision(2), .progress_every = 10s});
  const auto first = asked();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].place.from, Revision(2));
  EXPECT_EQ(first[0].waits, 10s);
  EXPECT_THAT(asked(), IsEmpty()) << "one at a time";
  answer(first[0]);
  EXPECT_THAT(take_told(), ElementsAre("created@2", "*a=1@2"));
  const auto second = asked();
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].place.from, Revision(3));
  answer(second[0]);
  EXPECT_TRUE(far->any_to_retry()) << "an answer without a change that did not wait";
  EXPECT_THAT(asked(), IsEmpty());
  far->retry();
  EXPECT_THAT(asked(), SizeIs(1));
  EXPECT_EQ(reads, 0u);
}

// Covers: S-25
TEST_F(DistantWatchesTest, AProgressReportIsOfAnAnswerToAQuestionAfterTheRequest) {
  const WatchId a = open(WatchOptions::of("a"));
  const auto waiting = asked();
  EXPECT_TRUE(far->ask_progress(a));
  EXPECT_TRUE(far->interrupt(a));
  const auto first = asked();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].waits, Duration::zero());
  EXPECT_TRUE(far->ask_progress(a));
  EXPECT_FALSE(far->interrupt(a)) << "its answer is on the way";
  take_told();
  answer(first[0]);
  EXPECT_THAT(take_told(), ElementsAre("progress@1")) << "the first request";
  put("b", "1");
  answer(asked().at(0));
  EXPECT_THAT(take_told(), ElementsAre("progress@2"));
  EXPECT_GT(asked().at(0).waits, Duration::zero());
}

// Covers: S-25
TEST_F(DistantWatchesTest, AReportThatIsDueWaitsForTheAnswer) {
  open({.key = "a", .progress_every = 1s});
  const auto waiting = asked();
  ASSERT_EQ(waiting.at(0).waits, 1s);
  take_told();
  now += 1s;
  far->advance(now);
  EXPECT_THAT(take_told(), IsEmpty());
  EXPECT_EQ(far->next_progress(), LaggingTime::max());
  put("b", "1");
  answer(waiting[0]);
  EXPECT_THAT(take_told(), ElementsAre("progress@2"));
  EXPECT_EQ(far->next_progress(), now + 1s);
}

// Covers: S-28
TEST_F(DistantWatchesTest, AWatchWithoutRoomAsksNothing) {
  keeps = true;
  open({.key = "a", .from = Revision(2), .room = 100});
  put("a", "1");
  answer(asked().at(0));
  put("a", "2");
  put("a", "3");
  answer(asked().at(0));
  EXPECT_THAT(take_told(), ElementsAre("created@1", "*a=1@2"));
  EXPECT_TRUE(far->any_without_room());
  EXPECT_THAT(asked(), IsEmpty());
  kept.clear();
  far->look_for_room();
  const auto question = asked();
  ASSERT_THAT(question, SizeIs(1));
  EXPECT_EQ(question[0].place.from, Revision(3));
  answer(question[0]);
  EXPECT_THAT(take_told(), ElementsAre("+a=2 +a=3@4"));
}

// Covers: S-27
TEST_F(DistantWatchesTest, AnAnswerAfterTheEndIsNoAnswer) {
  const WatchId a = open(WatchOptions::of("a"));
  const auto question = asked();
  EXPECT_TRUE(far->remove(a));
  put("a", "1");
  answer(question.at(0));
  EXPECT_THAT(take_told(), IsEmpty());
  EXPECT_EQ(far->size(), 0u);
}

TEST_F(DistantWatchesTest, AQuestionThatFailsIsAskedAgain) {
  const WatchId a = open(WatchOptions::of("a"));
  asked();
  far->answered(a, make_error(Reason::TooManyRequests, "too many"), now);
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_TRUE(far->any_to_retry());
  put("a", "1");
  far->retry();
  answer(asked().at(0));
  EXPECT_THAT(take_told(), ElementsAre("created@1", "*a=1@2"));
}

// Ordered, unique, atomic, reliable (S-28): each watch is compared with the list of all changes. Watches come, are slow, and
// go at random.
class RandomWatchesTest : public WatchesTest {
 protected:
  struct Watcher {
    WatchOptions options;
    Revision next;  // nothing below it is delivered any more
  };
  void change() {
    mvcc::Store::Change change;
    std::vector<std::string> keys;
    for (uint64_t left = random.between(1, 3); left != 0; --left) {
      std::string key = {static_cast<char>('a' + left), static_cast<char>('a' + random.below(3))};
      const bool deletes = random.chance(0.3);
      if (deletes && !store.erase(change, key)) continue;
      if (!deletes) store.put(change, key, "v");
      keys.push_back(std::move(key));
    }
    if (!keys.empty()) history[store.revision()] = std::move(keys);
  }
  void open() {
    WatchOptions options = WatchOptions::prefix(std::string(1, static_cast<char>('b' + random.below(3))));
    if (random.chance(0.5)) options = {.key = "ba", .end = random.chance(0.5) ? "c" : std::string(kNoEnd)};
    options.room = random.between(200, 2000);
    if (random.chance(0.5)) options.from = Revision(random.between(2, store.revision().value() + 5));
    const WatchId id(++last_);
    watchers[id] = {options, options.from ? options.from : Revision(store.revision().value() + 1)};
    watches.add(options, [this, id](WatchBatch batch) { take_in(id, std::move(batch)); });
    make();
  }
  void take_in(WatchId id, WatchBatch batch) {
    const auto found = watchers.find(id);
    if (found == watchers.end() || batch.what == What::Created) return;
    ASSERT_EQ(batch.what, What::Events);
    Watcher& watcher = found->second;
    std::vector<std::string> expected, seen;
    for (auto at = history.lower_bound(watcher.next); at != history.end() && at->first <= batch.revision; ++at) {
      for (const std::string& key : at->second) {
        if (concerns(watcher, key)) expected.push_back(key + "@" + std::to_string(at->first.value()));
      }
    }
    for (const WatchEvent& event : batch.events) {
      seen.push_back(event.entry.key + "@" + std::to_string(event.entry.mod.value()));
    }
    ASSERT_EQ(seen, expected);
    watcher.next = Revision(batch.revision.value() + 1);
    kept.push_back(std::move(batch));
  }
  static bool concerns(const Watcher& watcher, const std::string& key) {
    return key >= watcher.options.key && (watcher.options.end == kNoEnd || key < watcher.options.end);
  }
  void close_one() {
    if (watchers.empty()) return;
    const WatchId id = std::next(watchers.begin(), static_cast<ptrdiff_t>(random.below(watchers.size())))->first;
    EXPECT_TRUE(watches.remove(id));
    watchers.erase(id);
  }
  void go_on() {
    watches.advance(now);
    if (random.chance(0.3)) watches.look_for_room();
    flush();
    std::erase_if(kept, [this](const auto&) { return random.chance(0.5); });
  }
  // Every watch consumes all there is: then nothing may be missing.
  void consume_all() {
    bool more = true;
    while (more || watches.any_without_room()) {
      kept.clear();
      watches.look_for_room();
      more = watches.advance(now);
      flush();
    }
    for (const auto& [id, watcher] : watchers) {
      for (auto at = history.lower_bound(watcher.next); at != history.end(); ++at) {
        for (const std::string& key : at->second) EXPECT_FALSE(concerns(watcher, key)) << key << "@" << at->first.value();
      }
    }
  }

  Random random{7};
  std::map<WatchId, Watcher> watchers;
  std::map<Revision, std::vector<std::string>> history;  // the keys that each revision changed, in order
};

// Covers: S-28 INV_W02 REG_F42
TEST_F(RandomWatchesTest, EachSeesExactlyWhatHappened) {
  for (int step = 0; step < 20'000 && !HasFatalFailure(); ++step) {
    const uint64_t kind = random.below(100);
    if (kind < 60) change();
    if (kind >= 60 && kind < 63 && watchers.size() < 20) open();
    if (kind == 63) close_one();
    if (kind == 64) watches.restored();
    if (kind >= 65) go_on();
    if (step % 500 == 499) consume_all();
  }
}

}  // namespace
}  // namespace coordkit::client
