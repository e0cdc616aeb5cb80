#include "engine/reads.h"

#include <gtest/gtest.h>

namespace coordkit::engine {
namespace {

constexpr Duration kRetry = std::chrono::milliseconds(300);
constexpr LaggingTime kStart{std::chrono::seconds(1)};

Ask ask(uint64_t ticket, Consistency consistency = Consistency::Linearizable) {
  return {.ticket = Ticket(ticket), .request = "r", .consistency = consistency, .deadline = kStart + std::chrono::seconds(10)};
}

size_t ready(Reads& reads, Index applied) {
  std::vector<Ask> out;
  reads.collect(applied, out);
  return out.size();
}

TEST(ReadsTest, LinearizableReadWaitsForItsConfirmationAndForApply) {
  Reads reads(kRetry, BootCounter(1));
  reads.ask(ask(1));
  EXPECT_EQ(ready(reads, Index(5)), 0u);
  reads.confirmed(reads.question(kStart), Index(7));
  EXPECT_EQ(ready(reads, Index(6)), 0u);
  EXPECT_EQ(ready(reads, Index(7)), 1u);
}

TEST(ReadsTest, LocalReadNeedsNobody) {
  Reads reads(kRetry, BootCounter(1));
  reads.ask(ask(1, Consistency::Local));
  EXPECT_EQ(reads.question(kStart), 0u);
  EXPECT_EQ(ready(reads, Index(5)), 1u);
  EXPECT_EQ(reads.size(), 0u);
}

TEST(ReadsTest, AnswerToAnEarlierBootConfirmsNothing) {
  Reads before(kRetry, BootCounter(1));
  before.ask(ask(1));
  const uint64_t old_id = before.question(kStart);
  Reads after(kRetry, BootCounter(2));
  after.ask(ask(1));
  after.confirmed(old_id, Index(1));
  EXPECT_EQ(ready(after, Index(5)), 0u);
  after.confirmed(after.question(kStart), Index(5));
  EXPECT_EQ(ready(after, Index(5)), 1u);
}

}  // namespace
}  // namespace coordkit::engine
