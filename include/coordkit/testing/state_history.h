// A history of checkpoints in which each state follows from its number. So every state that a
// killed process or a power cut leaves can be distinguished from a mixture of two.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/testing/state_store_fixture.h"

namespace coordkit::testkit {

// The rows of the state with this number: some in every state, one in every other only.
inline Rows numbered_state(uint64_t number) {
  Rows rows;
  for (uint64_t row = 0; row < 20; ++row) {
    rows["row " + std::to_string(10 + row)] = std::to_string(number) + std::string(number * row % 900, '.');
  }
  if (number % 2 == 1) rows["odd"] = "";
  return rows;
}

// The rows of a batch that stores all of these.
inline std::vector<CheckpointBatch::Row> as_batch(const Rows& rows) {
  std::vector<CheckpointBatch::Row> batch;
  for (const auto& [key, value] : rows) batch.push_back({key, value});
  return batch;
}

// Starts it from the previous state, or as a peer's state: every fifth one is staged in two ranges
// and installed.
inline void start_numbered_state(StateStore& store, uint64_t number) {
  const Position applied = position_of(number);
  const Rows rows = numbered_state(number);
  if (number % 5 != 0) {
    CheckpointBatch batch{applied, as_batch(rows)};
    if (number % 2 == 0) batch.erase("odd");
    return store.commit(std::move(batch));
  }
  const auto middle = rows.upper_bound("row 20");
  store.stage(Ticket(2 * number), {"", "row 20"}, as_batch(Rows(rows.begin(), middle)));
  store.stage(Ticket(2 * number + 1), {"row 20", ""}, as_batch(Rows(middle, rows.end())));
  store.install(applied, digest_of(rows));
}

// Expects at least the last reported state, at most one more, and nothing of any other.
inline void expect_one_state(uint64_t reported, Position opened, const CheckpointView& found) {
  const uint64_t number = found.applied().index.value();
  EXPECT_EQ(opened, found.applied()) << "open() and view() disagree about what was applied last";
  ASSERT_GE(number, reported) << "a checkpoint was reported before it was durable: it is not there afterwards";
  ASSERT_LE(number, reported + 1) << "a checkpoint is there that was never started";
  const Rows expected = number == 0 ? Rows() : numbered_state(number);
  ASSERT_EQ(rows_of(found), expected) << "the rows are not those of the position beside them: half a checkpoint was stored";
  EXPECT_EQ(found.digest(), digest_of(expected)) << "the digest is not that of the rows";
}

}  // namespace coordkit::testkit
