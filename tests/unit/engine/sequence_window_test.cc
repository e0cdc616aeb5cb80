#include "engine/calls/sequence_window.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace coordkit::engine {
namespace {

struct SequenceWindowTest : ::testing::Test {
  EngineOptions options{.window = 8};
  SequenceWindow window{options};

  std::map<Sequence, Ticket> unanswered() const {
    std::map<Sequence, Ticket> found;
    window.for_each_unanswered([&](Sequence sequence, Ticket call) { found[sequence] = call; });
    return found;
  }
};

TEST_F(SequenceWindowTest, ReservedCallsHaveRoomWhenOthersHaveNone) {
  for (uint64_t i = 1; i <= 8; ++i) {
    EXPECT_TRUE(window.room(Urgency::Normal));
    EXPECT_EQ(window.open(Ticket(i), 0), Sequence(i));
  }
  EXPECT_FALSE(window.room(Urgency::Normal));
  for (uint64_t i = 9; window.room(Urgency::Reserved); ++i) window.open(Ticket(i), 0);
  EXPECT_EQ(unanswered().size(), 11u);
}

TEST_F(SequenceWindowTest, AnswersThatAreKeptAboveAnUnansweredOneDelayOthers) {
  window.open(Ticket(1), 0);
  window.open(Ticket(2), 0);
  window.keep(Sequence(2), SequenceWindow::kAnswerBytesMax + 1);
  window.keep(Sequence(2), 0);
  window.close(Sequence(2));
  EXPECT_FALSE(window.room(Urgency::Normal)) << "the first answer counts";
  EXPECT_TRUE(window.room(Urgency::Reserved));
  window.close(Sequence(1));
  EXPECT_TRUE(window.room(Urgency::Normal));
  window.keep(Sequence(2), SequenceWindow::kAnswerBytesMax + 1);
  EXPECT_TRUE(window.room(Urgency::Normal)) << "it is below the window";
}

TEST_F(SequenceWindowTest, CommandsWithoutAnAnswerHaveARoomOfTheirOwn) {
  options.request_bytes_max = 1;
  const size_t large = 1 + kGuardBytesMax + kRequestOverhead;
  SequenceWindow bounded(options, 1'000);
  EXPECT_TRUE(bounded.room(Urgency::Normal, large)) << "alone";
  bounded.open(Ticket(1), 0, 600);
  EXPECT_TRUE(bounded.room(Urgency::Normal, 400));
  EXPECT_FALSE(bounded.room(Urgency::Normal, 401));
  EXPECT_TRUE(bounded.room(Urgency::Reserved, large + 250 - 600));
  EXPECT_FALSE(bounded.room(Urgency::Reserved, large + 251 - 600));
  bounded.open(Ticket(2), 0, 400);
  bounded.keep(Sequence(2), 0);
  bounded.keep(Sequence(2), 0);
  EXPECT_TRUE(bounded.room(Urgency::Normal, 400)) << "it is answered";
  bounded.close(Sequence(2));
  bounded.close(Sequence(1));
  EXPECT_TRUE(bounded.room(Urgency::Normal, large)) << "given up";
}

TEST_F(SequenceWindowTest, AnswersThatMayStillComeDelayOthersUntilTheirSizeIsKnown) {
  options.window = 1024;
  uint64_t opened = 0;
  while (window.room(Urgency::Normal)) window.open(Ticket(++opened), kResultBytesMax);
  EXPECT_EQ(opened * kResultBytesMax, SequenceWindow::kAnswerBytesEver);
  window.close(Sequence(2));  // given up; it may still be executed
  EXPECT_FALSE(window.room(Urgency::Normal));
  EXPECT_TRUE(window.room(Urgency::Reserved));
  window.keep(Sequence(2), 10);
  EXPECT_FALSE(window.room(Urgency::Normal)) << "not for an answer as large as any";
  window.keep(Sequence(3), 10);
  EXPECT_TRUE(window.room(Urgency::Normal));
  window.open(Ticket(++opened), kResultBytesMax - 19);
  EXPECT_FALSE(window.room(Urgency::Normal));
  for (uint64_t i = 1; i <= opened; ++i) {
    if (window.unanswered(Sequence(i))) window.close(Sequence(i));
  }
  opened = 0;
  for (; window.room(Urgency::Normal); ++opened) window.open(Ticket(1), 128 << 10);
  EXPECT_EQ(opened, options.window) << "nothing is left of what was under way";
}

TEST_F(SequenceWindowTest, ItKnowsWhichAreUnansweredAndTheLowestNeverFalls) {
  Random random(1);
  std::map<Sequence, Ticket> model;
  Sequence next(1);
  Sequence lowest(1);
  for (uint64_t step = 1; step <= 2000; ++step) {
    if (window.room(Urgency::Normal) && random.below(2) == 0) {
      const Sequence opened = window.open(Ticket(step), random.below(kResultBytesMax));
      EXPECT_EQ(opened, next);
      next = next.next();
      model[opened] = Ticket(step);
    } else if (!model.empty()) {
      const auto one = std::next(model.begin(), static_cast<std::ptrdiff_t>(random.below(model.size())));
      window.close(one->first);
      EXPECT_EQ(window.unanswered(one->first), Ticket());
      model.erase(one);
    }
    ASSERT_EQ(unanswered(), model);
    for (const auto& [sequence, call] : model) EXPECT_EQ(window.unanswered(sequence), call);
    EXPECT_EQ(window.unanswered(next), Ticket());
    EXPECT_EQ(window.lowest_unanswered(), model.empty() ? next : model.begin()->first);
    EXPECT_GE(window.lowest_unanswered(), lowest);
    lowest = window.lowest_unanswered();
  }
}

}  // namespace
}  // namespace coordkit::engine
