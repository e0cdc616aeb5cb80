// Observation streams as a table of their own: what is delivered from which index on, and when a snapshot is requested again.
#include "client/watches/observers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/unit/client/fake_engine.h"

namespace coordkit::client {
namespace {

using coordination::Change;
using coordination::Kind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class ObserversTest : public testing::Test {
 protected:
  ObserverId observe(std::string name, size_t waiting_max = 100) {
    return observers.add(
        {.kind = Kind::Counter,
         .name = name,
         .waiting_max = waiting_max,
         .question = {},
         .snapshot =
             [this](const SnapshotAnswer&, Seen how, Index index) {
               return say((how == Seen::Resync ? "resync " : "snapshot ") + state + "@" + std::to_string(index.value()));
             },
         .change = [this](const Change& change,
                          Index index) { return say(std::to_string(change.number) + "@" + std::to_string(index.value())); }});
  }
  absl::AnyInvocable<void()> say(std::string text) {
    return [this, text = std::move(text)] {
      if (throwing) throw std::runtime_error(text);
      delivered.push_back(text);
    };
  }
  WantedSnapshot ask() {
    auto questions = observers.to_ask();
    EXPECT_THAT(questions, SizeIs(1));
    return questions.empty() ? WantedSnapshot{} : questions.front();
  }
  void answered(const WantedSnapshot& question, std::string now, Index index) {
    state = std::move(now);
    observers.answered(question, SnapshotAnswer(), index);
  }
  void change(int64_t number, uint64_t index, std::string name = "n", Kind kind = Kind::Counter) {
    observers.changed({.kind = kind, .name = std::move(name), .number = number}, Index(index));
  }

  // A consumer that takes announcements only when the test says so.
  std::vector<absl::AnyInvocable<void()>> queue;
  Deliveries deliveries{[this](absl::AnyInvocable<void()> task) { queue.push_back(std::move(task)); }};
  std::vector<std::string> interest;
  Observers observers{deliveries,
                      [this](Kind, const std::string& name, bool wanted) { interest.push_back((wanted ? "+" : "-") + name); }};
  std::vector<std::string> delivered;
  std::string state;      // what the machine below the observers says
  bool throwing = false;  // the observers' own code does
  std::vector<std::string> take() {
    deliveries.flush();
    for (auto& task : std::exchange(queue, {})) task();
    return std::exchange(delivered, {});
  }
};

// Covers: S-37
TEST_F(ObserversTest, TheFirstOfANameIsAskedForAndTheLastIsTakenBack) {
  const ObserverId first = observe("n");
  const ObserverId second = observe("n");
  observe("m");
  EXPECT_THAT(std::exchange(interest, {}), ElementsAre("+n", "+m"));
  observers.remove(first);
  EXPECT_THAT(interest, IsEmpty());
  observers.remove(second);
  EXPECT_THAT(std::exchange(interest, {}), ElementsAre("-n"));
  observers.clear();
  EXPECT_THAT(interest, ElementsAre("-m"));
}

// As handles do that an observer owns: each odd one ends the next odd one.
// Covers: S-37
TEST_F(ObserversTest, AnObserverThatGoesMayEndOthers) {
  struct Ender {
    Ender(Observers& observers, ObserverId id) : of(observers), other(id) {}  // clang 14 makes no aggregate in place
    Observers& of;
    ObserverId other;
    ~Ender() { of.remove(other); }
  };
  constexpr uint64_t kMost = 200;
  for (uint64_t id = 1; id <= kMost; ++id) {
    auto kept = id % 2 != 0 ? std::make_shared<Ender>(observers, ObserverId(id + 2)) : nullptr;
    observers.add({.kind = Kind::Counter,
                   .name = "n",
                   .question = {},
                   .snapshot = [kept](const SnapshotAnswer&, Seen, Index) { return [] {}; },
                   .change = nullptr});
  }
  observers.remove(ObserverId(1));
  EXPECT_EQ(observers.size(), kMost / 2);
  EXPECT_THAT(observers.to_ask(), SizeIs(kMost / 2));
  observers.skipped(Index(1));
  EXPECT_THAT(observers.to_ask(), SizeIs(kMost / 2)) << "of those that are left, each once";
  observers.add({.kind = Kind::Counter,
                 .name = "n",
                 .question = {},
                 .snapshot = [kept = std::make_shared<Ender>(observers, ObserverId(2))](const SnapshotAnswer&, Seen,
                                                                                        Index) { return [] {}; },
                 .change = nullptr});
  observers.clear();
  EXPECT_EQ(observers.size(), 0U);
  EXPECT_THAT(interest, ElementsAre("+n", "-n"));
}

// Covers: S-37
TEST_F(ObserversTest, OnlyWhatHappensAboveTheSnapshotIsTold) {
  observe("n");
  change(1, 3);
  const WantedSnapshot question = ask();
  change(2, 4);
  answered(question, "2", Index(4));
  change(2, 4);  // the event of an entry that the snapshot covers
  change(3, 5);
  change(4, 5);
  EXPECT_THAT(take(), ElementsAre("snapshot 2@4", "3@5", "4@5"));
}

// Covers: S-37
TEST_F(ObserversTest, EachSeesItsOwnNameAndKind) {
  observe("n");
  answered(ask(), "", Index(1));
  change(1, 2, "other");
  change(1, 3, "n", Kind::Latch);
  EXPECT_THAT(take(), ElementsAre("snapshot @1"));
}

// Covers: S-37
TEST_F(ObserversTest, SkippedEntriesAreFollowedByAResync) {
  observe("n");
  answered(ask(), "1", Index(1));
  observers.skipped(Index(59));
  change(9, 50);  // after the gap: it is in the next snapshot
  EXPECT_TRUE(observers.any_to_ask());
  answered(ask(), "9", Index(60));
  change(10, 61);
  EXPECT_THAT(take(), ElementsAre("snapshot 1@1", "resync 9@60", "10@61"));
}

// Covers: S-37 INV_W01
TEST_F(ObserversTest, WhoeverWasToldOfTheNewStateIsNotToldAgain) {
  observe("n");
  answered(ask(), "1", Index(60));
  observers.skipped(Index(60));
  EXPECT_FALSE(observers.any_to_ask());
  change(2, 61);
  EXPECT_THAT(take(), ElementsAre("snapshot 1@60", "2@61"));
}

// Covers: S-37
TEST_F(ObserversTest, AnAnswerFromBeforeAGapIsOfNoAccount) {
  observe("n");
  const WantedSnapshot before = ask();
  observers.skipped(Index(59));
  const WantedSnapshot after = ask();
  answered(before, "old", Index(5));
  EXPECT_THAT(take(), IsEmpty());
  answered(after, "new", Index(70));
  EXPECT_THAT(take(), ElementsAre("snapshot new@70"));
}

// Covers: REG_F44
TEST_F(ObserversTest, ASlowObserverIsBoundedAndGetsAResyncOnceItHasCaughtUp) {
  observe("n", 3);
  answered(ask(), "0", Index(1));
  for (int64_t i = 2; i <= 100; ++i) change(i, static_cast<uint64_t>(i));
  deliveries.flush();
  EXPECT_THAT(queue, SizeIs(3)) << "the snapshot and two changes wait, and no more";
  observers.retry();
  EXPECT_FALSE(observers.any_to_ask()) << "it has not caught up";
  EXPECT_THAT(take(), ElementsAre("snapshot 0@1", "2@2", "3@3"));
  observers.retry();
  answered(ask(), "100", Index(100));
  change(101, 101);
  EXPECT_THAT(take(), ElementsAre("resync 100@100", "101@101"));
}

// Covers: FLT_A13
TEST_F(ObserversTest, ASlowObserverThatThrewIsToldAgainOnceItHasCaughtUp) {
  observe("n", 3);
  answered(ask(), "0", Index(1));
  throwing = true;
  EXPECT_THROW(take(), std::runtime_error);
  throwing = false;
  for (int64_t i = 2; i <= 100; ++i) change(i, static_cast<uint64_t>(i));
  EXPECT_THAT(take(), ElementsAre("2@2", "3@3", "4@4"));
  observers.retry();
  answered(ask(), "100", Index(100));
  EXPECT_THAT(take(), ElementsAre("resync 100@100"));
}

// Covers: S-37 INV_W01
TEST_F(ObserversTest, OfOneEntryEverythingIsToldOrNothing) {
  observe("n", 3);
  answered(ask(), "0", Index(1));
  change(1, 2);
  for (int64_t i = 2; i <= 5; ++i) change(i, 3);
  change(6, 4);
  EXPECT_THAT(take(), ElementsAre("snapshot 0@1", "1@2", "2@3", "3@3", "4@3", "5@3")) << "the third entry as a whole";
  observers.retry();
  answered(ask(), "6", Index(4));
  EXPECT_THAT(take(), ElementsAre("resync 6@4")) << "at a greater index";
}

// Covers: S-37
TEST_F(ObserversTest, AnUnansweredQuestionIsAskedAgain) {
  observe("n");
  const WantedSnapshot first = ask();
  observers.failed(first);
  EXPECT_FALSE(observers.any_to_ask());
  EXPECT_TRUE(observers.any_to_retry());
  observers.retry();
  answered(ask(), "1", Index(2));
  EXPECT_THAT(take(), ElementsAre("snapshot 1@2"));
}

// Covers: REG_F16
TEST_F(ObserversTest, EndingOneObservationEndsNoOther) {
  const ObserverId first = observe("n");
  const ObserverId second = observe("n");
  for (const WantedSnapshot& question : observers.to_ask()) answered(question, "0", Index(1));
  observers.remove(first);
  observers.remove(first);
  change(1, 2);
  EXPECT_THAT(take(), ElementsAre("snapshot 0@1", "snapshot 0@1", "1@2"));
  observers.remove(second);
  change(2, 3);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(observers.size(), 0u);
}

}  // namespace
}  // namespace coordkit::client
