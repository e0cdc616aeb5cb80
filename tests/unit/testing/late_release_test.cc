// Releases after the loss: a process sleeps past its deadline and releases then. No form of a release may say that a hold ended
// in time that was lost before (REG_F83).
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/coordkit.h"
#include "coordkit/testing/fake_session.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

enum class Form { Blocking, Asynchronous };

// Parameters: how the lock was acquired, and how it is released.
struct LateRelease {
  std::string name;
  LockOptions options;
  Form form;
};

class LateReleaseTest : public ::testing::TestWithParam<LateRelease> {
 protected:
  absl::Status release(Grant& grant) {
    if (GetParam().form == Form::Blocking) return grant.release();
    std::optional<absl::Status> answer;
    grant.release_async([&answer](absl::Status status) { answer = std::move(status); });
    for (int i = 0; i < 100 && !answer; ++i) service_.advance(100ms);
    return answer.value_or(absl::UnknownError("no answer"));
  }
  Grant acquire(Session& session, Duration max_hold = Duration::zero()) {
    LockOptions options = GetParam().options;
    options.max_hold = max_hold;
    return session.acquire("billing", options).value();
  }

  FakeService service_;
};

// Covers: S-38 REG_F83
TEST_P(LateReleaseTest, AReleaseAfterASleepInWhichAnotherHadTheLockSaysLost) {
  Session session = service_.open_session({.ttl = 2s});
  Grant grant = acquire(session);
  service_.take("billing");
  service_.pause(5s);
  ASSERT_TRUE(service_.has("billing"));
  EXPECT_EQ(session.phase(), SessionPhase::Valid) << "not noticed here yet";
  EXPECT_EQ(reason_of(release(grant)), Reason::Lost);
  EXPECT_FALSE(grant.valid());
  EXPECT_EQ(session.phase(), SessionPhase::Lost);
}

// Covers: S-38 REG_F83
TEST_P(LateReleaseTest, AReleaseInJeopardyThatEndsBadlySaysLost) {
  Session session = service_.open_session({.ttl = 2s, .give_up = 1min});
  Grant grant = acquire(session);
  service_.cut_off();
  service_.advance(3s);
  ASSERT_EQ(session.phase(), SessionPhase::Jeopardy);
  service_.at(service_.now() + 2s, [&] { service_.mend(); });
  EXPECT_EQ(reason_of(release(grant)), Reason::Lost);
}

// Covers: T9
TEST_P(LateReleaseTest, AReleaseInJeopardyThatEndsWellIsDone) {
  Session session = service_.open_session({.ttl = 2s});
  Grant grant = acquire(session);
  service_.pause(1500ms);
  EXPECT_TRUE(release(grant).ok());
  EXPECT_EQ(session.phase(), SessionPhase::Valid);
  service_.take("billing");
  service_.advance(100ms);
  EXPECT_TRUE(service_.has("billing"));
  EXPECT_EQ(reason_of(release(grant)), Reason::NotOwner) << "released before";
}

// Covers: S-51
TEST_P(LateReleaseTest, AReleaseAfterTheLongestTimeSaysLost) {
  Session session = service_.open_session({.ttl = 1min});
  Grant slept = acquire(session, 300ms);
  service_.pause(400ms);
  EXPECT_EQ(reason_of(release(slept)), Reason::Lost) << "the client has not noticed it yet";
  EXPECT_EQ(session.phase(), SessionPhase::Valid);
  Grant noticed = acquire(session, 300ms);
  service_.advance(400ms);
  EXPECT_EQ(reason_of(release(noticed)), Reason::Lost);
  Grant in_time = acquire(session, 300ms);
  service_.advance(200ms);
  EXPECT_TRUE(release(in_time).ok());
}

std::vector<LateRelease> late_releases() {
  std::vector<LateRelease> all;
  for (const Form form : {Form::Blocking, Form::Asynchronous}) {
    const std::string how = form == Form::Blocking ? "Blocking" : "Asynchronous";
    all.push_back({"Plain" + how, {}, form});
    all.push_back({"Shared" + how, {.mode = LockMode::Shared}, form});
    all.push_back({"Reentrant" + how, {.reentrant = true}, form});
    all.push_back({"Sticky" + how, {.sticky = true}, form});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, LateReleaseTest, ::testing::ValuesIn(late_releases()),
                         [](const auto& info) { return info.param.name; });

// Covers: S-58 REG_F83
TEST(ReleasedLateTest, AStickyGrantWithMoreThanOneLossIsReleasedAsLost) {
  FakeService service;
  Session session = service.open_session({.ttl = 2s});
  Grant grant = session.acquire("billing", {.sticky = true}).value();
  service.lose(session);
  service.advance(1ms);
  EXPECT_EQ(reason_of(grant.release()), Reason::Lost);
}

// Covers: S-46 REG_F83
TEST(ReleasedLateTest, AChangeOfModeAfterTheSleepSaysLost) {
  for (const LockMode mode : {LockMode::Exclusive, LockMode::Shared}) {
    FakeService service;
    Session session = service.open_session({.ttl = 2s});
    Grant grant = session.acquire("billing", {.mode = mode}).value();
    service.take("billing");
    service.pause(5s);
    const absl::Status changed = mode == LockMode::Exclusive ? grant.downgrade() : grant.upgrade();
    EXPECT_EQ(reason_of(changed), Reason::Lost) << changed;
    EXPECT_FALSE(grant.valid());
  }
}

// Covers: REG_F83
TEST(ReleasedLateTest, APermitAndAnItemReleasedAfterTheSleepSayLost) {
  FakeService service;
  Session session = service.open_session({.ttl = 2s});
  Semaphore semaphore(session, "slots");
  ClaimQueue queue(session, "work");
  ASSERT_TRUE(queue.enqueue("item").ok());
  Grant permit = semaphore.acquire({.initial_limit = 1}).value();
  WorkItem released = queue.claim({.timeout = 1s}).value();
  ASSERT_TRUE(queue.enqueue("item").ok());
  const WorkItem done = queue.claim({.timeout = 1s}).value();
  service.pause(5s);
  EXPECT_EQ(reason_of(permit.release()), Reason::Lost);
  EXPECT_EQ(reason_of(released.grant.release()), Reason::Lost);
  EXPECT_EQ(reason_of(queue.acknowledge(done)), Reason::Lost);
}

}  // namespace
}  // namespace coordkit::testkit
