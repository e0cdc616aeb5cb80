// Many lock names in turn through one engine: acquired in each possible way, released, never seen again.
#pragma once

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>

#include "tests/unit/machine/solo_engine.h"

namespace coordkit::machine {

inline void touch_distinct_names(uint64_t names) {
  constexpr uint64_t kBatch = 512;
  SoloEngine solo;
  const SessionId a = solo.run({OpenSession{std::chrono::hours(24 * 365), "", ReplicaId(1), BootCounter(1), 1}}).at(0).session;
  const auto acquire = [a](uint64_t number) -> Request::Body {
    const std::string name = "name/" + std::to_string(number);
    Acquire body{.session = a, .owner_tag = "", .name = name, .wait = {}, .texts = {}};
    switch (number % 5) {
      case 1: body.texts.value = "a value of some length, not at rest"; break;
      case 2: body.mode = LockMode::Shared; break;
      case 3: body.flags = kReentrant; break;
      case 4: return AcquireAll{.session = a, .owner_tag = "t", .locks = {{name}, {name + "/2"}}, .wait = {}, .texts = {}};
      default: break;
    }
    return body;
  };
  size_t early = 0, late = 0, rows = 0;
  for (uint64_t next = 0; next < names; next += kBatch) {
    std::vector<Request::Body> acquires, releases;
    for (uint64_t i = next; i < std::min(next + kBatch, names); ++i) acquires.push_back(acquire(i));
    const std::vector<Result> grants = solo.run(acquires);
    for (size_t i = 0; i < grants.size(); ++i) {
      ASSERT_EQ(grants[i].code, ResultCode::Granted);
      releases.emplace_back(Release{a, std::nullopt, "name/" + std::to_string(next + i), grants[i].token});
    }
    for (const Result& released : solo.run(releases)) ASSERT_EQ(released.code, ResultCode::Ok);
    ASSERT_EQ(solo.machine().lock_names(), 0u);
    // After a tenth everything has its final size; anything that grows from then on would grow forever.
    const size_t used = mallinfo2().uordblks;
    if (next <= names / 10) {
      early = std::max(early, used);
      rows = std::max(rows, solo.stored_rows());
    } else {
      late = std::max(late, used);
    }
  }
  EXPECT_EQ(solo.machine().lock_claims(), 0u);
  EXPECT_LE(late, early + early / 10 + (size_t{1} << 20)) << "bytes in use";
  EXPECT_LE(solo.stored_rows(), rows + kBatch) << "a checkpoint may have caught a batch";
  std::printf("%llu names: at most %zu bytes in use in the first tenth, %zu afterwards\n",
              static_cast<unsigned long long>(names), early, late);
}

}  // namespace coordkit::machine
