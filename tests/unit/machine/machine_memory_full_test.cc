// The cost of a million sessions, each with a lock, in the machine: counted as the heap sees it, its own overhead included.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>

#include "machine/machine.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kSessions = 1'000'000;

class Filled {
 public:
  Filled() { machine_.bootstrap(ClusterId(5), uint64_t{150'000'000} << 31); }

  Result apply(Request::Body body) {
    index_ = index_.next();
    const std::string payload = encode(Request{std::move(body), {}});
    const Command command{index_, {{ReplicaId(1), StoreId(7), BootCounter(1)}, Sequence(index_.value())}, payload};
    ApplyOutput output;
    machine_.apply({&command, 1}, output);
    return decode_result(output.results.front().bytes).value();
  }
  // As after a checkpoint: what is listed for the next one is not part of the state.
  size_t bytes_after_checkpoint() {
    {
      CheckpointBatch batch;
      machine_.checkpoint(batch);
    }
    malloc_trim(0);
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  Machine machine_{"m1"};
  Index index_;
};

TEST(MemoryTest, AMillionSessionsEachWithALockTakeAtMost128BytesEach) {
  Filled filled;
  const size_t before = filled.bytes_after_checkpoint();
  std::vector<SessionId> sessions;
  sessions.reserve(kSessions);
  for (uint64_t i = 0; i < kSessions; ++i) {
    sessions.push_back(filled.apply(OpenSession{Duration(1s * (1 + i % 5)), "", ReplicaId(1), BootCounter(1), 7}).session);
  }
  const size_t with_sessions = filled.bytes_after_checkpoint() - sessions.capacity() * sizeof(SessionId);
  char name[17];
  for (uint64_t i = 0; i < kSessions; ++i) {
    std::snprintf(name, sizeof name, "lock/%011llu", static_cast<unsigned long long>(i));
    const Result granted = filled.apply(Acquire{sessions[i], "", name, Wait::none(), {}, 0});
    ASSERT_EQ(granted.code, ResultCode::Granted);
  }
  const size_t with_locks = filled.bytes_after_checkpoint() - sessions.capacity() * sizeof(SessionId);
  const double session = static_cast<double>(with_sessions - before) / kSessions;
  const double lock = static_cast<double>(with_locks - with_sessions) / kSessions;
  std::printf("bytes for each of %llu: session %.1f, lock %.1f, together %.1f\n", static_cast<unsigned long long>(kSessions),
              session, lock, session + lock);
  EXPECT_LE(lock, 72) << "a lock at rest";
  EXPECT_LE(session + lock, 128);
  for (const SessionId id : sessions) filled.apply(CloseSession{id});
  EXPECT_EQ(filled.machine_.lock_names(), 0u);
  EXPECT_EQ(filled.machine_.sessions(), 0u);
  const size_t after = filled.bytes_after_checkpoint() - sessions.capacity() * sizeof(SessionId);
  EXPECT_LE(after, before + (size_t{1} << 20)) << "all of it is given back";
}

}  // namespace
}  // namespace coordkit::machine
