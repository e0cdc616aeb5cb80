// The claim of these tests: among n others an operation costs at most log n times what it costs among ten, in basic blocks of
// the machine (steps.h). The factors below hold it closer than that: half as much again as was measured among ten million.
// They rise when an operation loses some of what it costs among any number; then they are measured again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/proof/growth/crowd.h"

namespace coordkit::growth {

// `cost` among `count` others, against that among ten.
inline void expect_no_faster_than_log(const char* what, uint64_t count, uint64_t cost, uint64_t among_ten, double factor) {
  std::printf("%-18s among %8lu: %6lu steps, %.2f times what it takes among ten\n", what, count, cost,
              static_cast<double>(cost) / static_cast<double>(among_ten));
  const double logarithm = std::log(static_cast<double>(count)) / std::log(10.0);
  EXPECT_GT(among_ten, 0u) << "nothing was counted";
  EXPECT_LE(static_cast<double>(cost), static_cast<double>(among_ten) * std::min(factor, logarithm)) << what;
}

struct OfLocks {
  uint64_t acquire_and_release, store_what_is_new, look_at_newest;
};
inline OfLocks of_locks(uint64_t count) {
  Crowd crowd;
  crowd.hold_locks(count);
  crowd.checkpoint();
  const OfLocks costs{usual_cost([&] { return crowd.acquire_and_release(); }),
                      usual_cost([&] { return crowd.store_what_is_new(); }),
                      usual_cost([&] { return crowd.look_at_newest(); })};
  EXPECT_LE(crowd.rows(), 3u) << "rows of what has not changed are stored again";
  return costs;
}
inline void locks_grow_no_faster(uint64_t count) {
  const OfLocks ten = of_locks(10), many = of_locks(count);
  expect_no_faster_than_log("acquire, release", count, many.acquire_and_release, ten.acquire_and_release, 2);
  expect_no_faster_than_log("checkpoint", count, many.store_what_is_new, ten.store_what_is_new, 2);
  expect_no_faster_than_log("page of locks", count, many.look_at_newest, ten.look_at_newest, 2);
}

// All of many, since what is put off until it pays is paid by few of them.
inline uint64_t after_locks(uint64_t count) {
  Crowd crowd;
  crowd.hold_locks(10);
  crowd.lose_locks(count);
  uint64_t cost = 0;
  for (int i = 0; i < 1000; ++i) cost += crowd.acquire_and_release();
  return cost;
}
inline void locks_that_are_gone_cost_nothing(uint64_t count) {
  expect_no_faster_than_log("after they are gone", count, after_locks(count), after_locks(10), 1.5);
}

inline uint64_t of_line(uint64_t count, Crowd::Holding holding = Crowd::Holding::Nothing) {
  Crowd crowd;
  crowd.wait_for_lock(count, holding);
  return usual_cost([&] { return crowd.pass_on(); });
}
inline void lines_grow_no_faster(uint64_t count) {
  expect_no_faster_than_log("hand-over", count, of_line(count), of_line(10), 3.5);
}
inline void lines_of_holders_grow_no_faster(uint64_t count) {
  const auto cost = [](uint64_t among) { return of_line(among, Crowd::Holding::Shared); };
  expect_no_faster_than_log("hand-over, holding", count, cost(count), cost(10), 3.5);
}

struct OfSessions {
  uint64_t open_and_close, expire, acquire_and_release;
};
inline OfSessions of_sessions(uint64_t count) {
  Crowd crowd;
  crowd.open_sessions(count);
  return {usual_cost([&] { return crowd.open_and_close(); }), usual_cost([&] { return crowd.expire(); }),
          usual_cost([&] { return crowd.acquire_and_release(); })};
}
inline void sessions_grow_no_faster(uint64_t count) {
  const OfSessions ten = of_sessions(10), many = of_sessions(count);
  expect_no_faster_than_log("open, close", count, many.open_and_close, ten.open_and_close, 2);
  expect_no_faster_than_log("expiry", count, many.expire, ten.expire, 2.5);
  expect_no_faster_than_log("acquire, release", count, many.acquire_and_release, ten.acquire_and_release, 2);
}

struct OfKeys {
  uint64_t put_again, put_and_erase, look, watch_the_end;
};
inline OfKeys of_keys(uint64_t count) {
  Crowd crowd;
  crowd.put_keys(count);
  OfKeys costs{usual_cost([&] { return crowd.put_again(); }), usual_cost([&] { return crowd.put_and_erase(); }),
               usual_cost([&] { return crowd.look(); }), 0};
  crowd.erase_keys();
  costs.watch_the_end = usual_cost([&] { return crowd.watch_the_end(); });
  return costs;
}
inline void keys_grow_no_faster(uint64_t count) {
  const OfKeys ten = of_keys(10), many = of_keys(count);
  expect_no_faster_than_log("put", count, many.put_again, ten.put_again, 2.5);
  expect_no_faster_than_log("put, delete", count, many.put_and_erase, ten.put_and_erase, 6);
  expect_no_faster_than_log("look", count, many.look, ten.look, 2.5);
  expect_no_faster_than_log("watch", count, many.watch_the_end, ten.watch_the_end, 2.5);
}

}  // namespace coordkit::growth
