// Sessions at door 1: taken over after a restart, ended by an administrator, cancelled calls, forked children, programs.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <map>
#include <thread>

#include "coordkit/coordkit.h"
#include "coordkit/session.h"
#include "service/shell/fork_guard.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::SizeIs;

const absl::Status& status_of(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& status_of(const absl::StatusOr<T>& answer) {
  return answer.status();
}

class ReplicaSessionTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }

  void await_queue(const std::string& name, size_t waiters) {
    absl::StatusOr<QueueInfo> queue = cluster_[1].queue(name);
    while (queue.ok() && queue->waiters.size() != waiters) queue = cluster_[1].queue(name);
    ASSERT_THAT(queue.status(), IsOk());
  }

  Cluster cluster_{1};
};

// Covers: S-45
TEST_F(ReplicaSessionTest, ASessionTellsItsDeadlineMetadataAndSecret) {
  absl::StatusOr<Session> me = cluster_[1].open_session({.ttl = 30s, .metadata = "host-7"});
  ASSERT_THAT(me.status(), IsOk());
  EXPECT_EQ(me->metadata(), "host-7");
  EXPECT_THAT(me->secret(), SizeIs(32));
  EXPECT_NE(me->secret(), cluster_.session(1).secret());
  EXPECT_GT(me->remaining(), 0s);
  EXPECT_LT(me->remaining(), me->ttl());
  EXPECT_GT(me->validity_deadline(), LeadingTime::min());
  EXPECT_THAT(me->close(), IsOk());
  EXPECT_EQ(me->remaining(), 0s);
}

// Covers: S-45
TEST_F(ReplicaSessionTest, AProcessThatWasRestartedTakesItsSessionAndLocksOver) {
  SessionId id;
  std::string secret;
  Token token;
  {
    absl::StatusOr<Session> me = cluster_[1].open_session({.ttl = 60s});
    ASSERT_THAT(me.status(), IsOk());
    absl::StatusOr<Grant> grant = me->acquire("jobs", {.owner = "worker"});
    ASSERT_THAT(grant.status(), IsOk());
    id = me->id();
    secret = me->secret();
    token = grant->token();
    // As in a crash: the replica is gone before the handles are, so that nothing is closed or released.
    cluster_.close(1);
  }
  ASSERT_NO_FATAL_FAILURE(cluster_.open(1));
  ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  EXPECT_THAT(cluster_[1].resume_session(id, "guessed").status(), Is(Reason::PermissionDenied));

  std::promise<void> valid;
  ResumeSessionOptions options{.timeout = kPatience, .on_phase = [&, notified = false](SessionPhase phase) mutable {
                                 if (phase == SessionPhase::Valid && !std::exchange(notified, true)) valid.set_value();
                               }};
  absl::StatusOr<Resumed> resumed = cluster_[1].resume_session(id, secret, std::move(options));
  ASSERT_THAT(resumed.status(), IsOk());
  EXPECT_EQ(resumed->session.id(), id);
  EXPECT_EQ(resumed->session.secret(), secret);
  ASSERT_THAT(resumed->grants, SizeIs(1));
  Grant& grant = resumed->grants[0];
  EXPECT_EQ(grant.name(), "jobs");
  EXPECT_GT(grant.token(), token) << "what the process that was killed may still have sent is fenced off";
  // The same directory at a later boot: the directory lock vouches, and the first renewal makes it valid, not a whole TTL.
  ASSERT_EQ(valid.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(grant.valid());
  EXPECT_THAT(cluster_[1].resume_session(id, secret).status(), Is(Reason::AlreadyExists));
  EXPECT_THAT(grant.release(), IsOk());
}

// Covers: S-45 S-38
TEST_F(ReplicaSessionTest, AMutexIsAnotherOwnerThanThoseThatATakenOverSessionCameWith) {
  SessionId id;
  std::string secret;
  {
    Session me = cluster_[1].open_session({.ttl = 60s}).value();
    Mutex jobs(me, "jobs");
    jobs.lock();
    id = me.id();
    secret = me.secret();
    cluster_.close(1);
  }
  ASSERT_NO_FATAL_FAILURE(cluster_.open(1));
  ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  absl::StatusOr<Resumed> resumed = cluster_[1].resume_session(id, secret, {.timeout = kPatience});
  ASSERT_THAT(resumed.status(), IsOk());
  ASSERT_THAT(resumed->grants, SizeIs(1));
  Mutex jobs(resumed->session, "jobs");
  EXPECT_FALSE(jobs.try_lock()) << "as with any two mutexes of one session";
  resumed->grants.clear();
  EXPECT_TRUE(jobs.try_lock_for(kPatience));
}

// Covers: S-45
TEST_F(ReplicaSessionTest, PermitsItemsPlacesAndMembershipsComeBackAfterARestart) {
  SessionId id;
  std::string secret;
  Token claimed;
  {
    Session me = cluster_[1].open_session({.ttl = 60s}).value();
    Grant permits = Semaphore(me, "s").acquire({.permits = 2, .initial_limit = 3}).value();
    Grant place = DoubleBarrier(me, "d", 1).enter().value();
    ClaimQueue queue(me, "q");
    ASSERT_THAT(queue.enqueue("work").status(), IsOk());
    WorkItem item = queue.claim().value();
    ASSERT_THAT(Group(me, "g", "worker").join("here").status(), IsOk());
    id = me.id();
    secret = me.secret();
    claimed = item.grant.token();
    cluster_.close(1);
  }
  ASSERT_NO_FATAL_FAILURE(cluster_.open(1));
  ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  absl::StatusOr<Resumed> resumed = cluster_[1].resume_session(id, secret, {.timeout = kPatience});
  ASSERT_THAT(resumed.status(), IsOk());
  ASSERT_THAT(resumed->permits, SizeIs(1));
  EXPECT_EQ(resumed->permits[0].permits, 2u);
  EXPECT_EQ(resumed->permits[0].grant.name(), "s");
  ASSERT_THAT(resumed->places, SizeIs(1));
  EXPECT_THAT(DoubleBarrier(resumed->session, "d", 1).leave(resumed->places[0]), IsOk());
  ASSERT_THAT(resumed->items, SizeIs(1));
  EXPECT_GT(resumed->items[0].grant.token(), claimed);
  EXPECT_EQ(resumed->items[0].value, "work");
  EXPECT_THAT(ClaimQueue(resumed->session, "q").acknowledge(resumed->items[0]), IsOk());
  ASSERT_THAT(resumed->memberships, SizeIs(1));
  EXPECT_THAT(Group(resumed->session, "g", resumed->memberships[0].owner).update("back"), IsOk());
  Semaphore semaphore(resumed->session, "s");
  EXPECT_EQ(semaphore.info()->held, 2u);
  resumed->permits.clear();
  EXPECT_THAT(semaphore.acquire({.permits = 3, .timeout = kPatience}).status(), IsOk()) << "what is dropped is given back";
}

// Covers: S-40 S-54 S-56
TEST_F(ReplicaSessionTest, AnAdministratorSeesLocksEndsADelayAndFencesByAFreeLock) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> grant = me.acquire("jobs");
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_THAT(cluster_[1].put("k", "v", {.fence = while_free("jobs")}).status(), Is(Reason::Fenced));
  const absl::StatusOr<SessionLocks> locks = cluster_[1].locks_of(me.id());
  ASSERT_THAT(locks.status(), IsOk());
  ASSERT_THAT(locks->locks, SizeIs(1));
  EXPECT_EQ(locks->locks[0].name, "jobs");
  EXPECT_EQ(locks->locks[0].token, grant->token());
  EXPECT_THAT(grant->release(), IsOk());
  EXPECT_THAT(cluster_[1].put("k", "v", {.fence = while_free("jobs")}).status(), IsOk());
  EXPECT_THAT(cluster_[1].clear_delay("jobs"), Is(Reason::NotFound));
  const absl::StatusOr<LockStatistics> seen = cluster_[1].lock_statistics();
  ASSERT_THAT(seen.status(), IsOk());
  EXPECT_EQ(seen->grants, 1u);
}

// Covers: S-57
TEST_F(ReplicaSessionTest, AKilledSessionIsLostAndItsLockPassesOn) {
  Session holder = cluster_.session(1), next = cluster_.session(1);
  absl::StatusOr<Grant> grant = holder.acquire("jobs");
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_THAT(cluster_[1].force_release("jobs", Token(grant->token().value() + 1)).status(), Is(Reason::NotOwner));
  absl::StatusOr<SessionId> ended = cluster_[1].force_release("jobs", grant->token());
  ASSERT_THAT(ended.status(), IsOk());
  EXPECT_EQ(*ended, holder.id());
  absl::StatusOr<Grant> theirs = next.acquire("jobs", {.timeout = kPatience});
  ASSERT_THAT(theirs.status(), IsOk());
  EXPECT_FALSE(grant->valid());
  EXPECT_TRUE(grant->lost().stop_requested() || holder.phase() == SessionPhase::Lost);
  EXPECT_THAT(cluster_[1].kill_session(next.id()), IsOk());
  EXPECT_THAT(cluster_[1].kill_session(SessionId(1)), Is(Reason::SessionNotFound));
}

// Covers: S-51
TEST_F(ReplicaSessionTest, AHoldEndsByItselfAfterItsLongestTime) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> grant = me.acquire("jobs", {.max_hold = 20ms});
  ASSERT_THAT(grant.status(), IsOk());
  absl::StatusOr<Grant> next = me.acquire("jobs", {.timeout = kPatience, .owner = "next"});
  ASSERT_THAT(next.status(), IsOk());
  EXPECT_FALSE(grant->valid());
  EXPECT_TRUE(me.valid());
}

// ---- cancelling

// Covers: S-59
TEST_F(ReplicaSessionTest, ACancelledAcquireEndsCancelledAndHoldsNothing) {
  Session me = cluster_.session(1), other = cluster_.session(1);
  absl::StatusOr<Grant> held = other.acquire("jobs");
  ASSERT_THAT(held.status(), IsOk());
  std::promise<absl::Status> answered;
  AsyncCall call = me.acquire_async("jobs", {}, [&](absl::StatusOr<Grant> grant) { answered.set_value(grant.status()); });
  await_queue("jobs", 1);
  call.cancel();
  EXPECT_THAT(answered.get_future().get(), Is(Reason::Cancelled));
  await_queue("jobs", 0);
  call.cancel();  // ended: no effect
  EXPECT_THAT(held->release(), IsOk());
  EXPECT_TRUE(cluster_[1].holders("jobs")->holders.empty());
}

// Covers: S-59
TEST_F(ReplicaSessionTest, ACallCancelledBeforeItsThreadSawItNeverLeaves) {
  Session me = cluster_.session(1);
  std::promise<absl::Status> answered;
  me.acquire_async("jobs", {}, [&](absl::StatusOr<Grant> grant) { answered.set_value(grant.status()); }).cancel();
  const absl::Status status = answered.get_future().get();
  EXPECT_TRUE(status.ok() || reason_of(status) == Reason::Cancelled) << status;
  EXPECT_THAT(me.acquire("jobs", {.timeout = kPatience}).status(), IsOk()) << "whatever it was, nothing is held unknown";
}

// ---- calls inside callbacks

// Covers: S-43
TEST_F(ReplicaSessionTest, WhatACallbackCallsTakesEffectInThatOrder) {
  Session me = cluster_.session(1);
  std::promise<std::vector<absl::Status>> answered;
  std::vector<absl::Status> seen;
  const auto note = [&](const absl::Status& status) {
    seen.push_back(status);
    if (seen.size() == 4) answered.set_value(seen);
  };
  Grant first;
  me.acquire_async("jobs", {}, [&](absl::StatusOr<Grant> grant) {
    ASSERT_THAT(grant.status(), IsOk());
    first = *std::move(grant);
    first.release_later();
    me.acquire_async("jobs", {.timeout = 0s}, [&](absl::StatusOr<Grant> again) {
      note(again.status());
      if (!again.ok()) return answered.set_value(seen);
      me.acquire_async("jobs", {.timeout = 0s}, [&](absl::StatusOr<Grant> twice) { note(twice.status()); });
      first = *std::move(again);
      first.release_async(note);
      me.acquire_async("jobs", {.timeout = 0s}, [&](absl::StatusOr<Grant> last) { note(last.status()); }).cancel();
    });
  });
  const std::vector<absl::Status> all = answered.get_future().get();
  EXPECT_THAT(all[0], IsOk()) << "the release came first";
  EXPECT_THAT(me.acquire("jobs", {.timeout = kPatience}).status(), IsOk());
}

// Covers: S-59
TEST_F(ReplicaSessionTest, ACallbackThatAlwaysBeginsTheNextCallStopsNoOther) {
  Session me = cluster_.session(1);
  std::atomic<bool> over{false};
  std::promise<void> ended;
  std::function<void()> again = [&] {
    if (over) return ended.set_value();
    cluster_[1].put_async("chained", "v", {}, [&](auto) { again(); });
  };
  again();
  for (int i = 0; i < 100; ++i) EXPECT_THAT(cluster_[1].put("k", std::to_string(i)).status(), IsOk());
  over = true;
  ended.get_future().get();
}

// Covers: S-59
TEST_F(ReplicaSessionTest, AStopTokenEndsABlockingAcquire) {
  Session me = cluster_.session(1), other = cluster_.session(1);
  absl::StatusOr<Grant> held = other.acquire("jobs");
  std::stop_source stop;
  std::thread canceller([&] {
    await_queue("jobs", 1);
    stop.request_stop();
  });
  EXPECT_THAT(me.acquire("jobs", {.stop = stop.get_token()}).status(), Is(Reason::Cancelled));
  canceller.join();
  EXPECT_THAT(me.acquire("jobs", {.stop = stop.get_token()}).status(), Is(Reason::Cancelled)) << "stopped before it began";
}

// Covers: S-59
TEST_F(ReplicaSessionTest, EveryOtherCallEndsWhenItIsCancelled) {
  std::vector<std::promise<absl::Status>> ends(6);
  const auto note = [&](size_t i) { return [&ends, i](auto answer) { ends[i].set_value(absl::Status(status_of(answer))); }; };
  Replica& replica = cluster_[1];
  replica.open_session_async({}, note(0)).cancel();
  replica.put_async("k", "v", {}, note(1)).cancel();
  replica.get_async("k", {}, note(2)).cancel();
  replica.kill_session_async(SessionId(1), 10s, note(3)).cancel();
  replica.transfer_leadership_async(2, 10s, note(4)).cancel();
  replica.erase_async("k", {}, note(5)).cancel();
  for (size_t i = 0; i < ends.size(); ++i) {
    const absl::Status status = ends[i].get_future().get();
    const auto reason = reason_of(status);
    const bool cancelled = reason == Reason::Cancelled || reason == Reason::CancelPending;
    const bool too_late = status.ok() || reason == Reason::SessionNotFound || reason == Reason::MemberNotFound;
    EXPECT_TRUE(cancelled || too_late) << i << ": " << status;
  }
  EXPECT_THAT(replica.put("k", "w").status(), IsOk()) << "nothing is left in the way";
}

// ---- forks

// Covers: FLT_P19
TEST(ForkGuardTest, OnlyTheChildIsAFork) {
  const ForkGuard guard;
  EXPECT_FALSE(guard.forked());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(guard.forked() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(guard.forked());
}

// The findings of a forked child; each wrong line sets a bit of its exit status.
int child_of(Replica& replica, Session& session, Grant& grant) {
  int wrong = 0;
  if (session.valid() || grant.valid() || session.remaining() != 0s) wrong |= 1;
  const absl::Status acquired = session.acquire("other").status();
  if (reason_of(acquired) != Reason::Closed || acquired.message().find("fork") == std::string_view::npos) wrong |= 2;
  if (reason_of(replica.put("k", "child").status()) != Reason::Closed) wrong |= 4;
  absl::Status async;
  session.acquire_async("other", {}, [&](absl::StatusOr<Grant> answer) { async = answer.status(); });
  if (reason_of(async) != Reason::Closed) wrong |= 8;
  if (replica.health().reason.find("fork") == std::string::npos) wrong |= 16;
  grant = Grant();      // releases nothing
  session = Session();  // closes nothing
  if (replica.close().ok()) wrong |= 32;
  return wrong;
}

// Covers: LT-9 FLT_P19
TEST_F(ReplicaSessionTest, InAForkedChildNothingIsValidEveryCallFailsAndTheParentGoesOn) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> grant = me.acquire("jobs");
  ASSERT_THAT(grant.status(), IsOk());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(child_of(cluster_[1], me, *grant));
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(grant->valid());
  EXPECT_THAT(grant->check(), ::testing::ResultOf([](const auto& answer) { return answer.ok() && *answer; }, true));
  EXPECT_THAT(cluster_[1].put("k", "parent").status(), IsOk());
}

// The files that a program would have open that is started now, by descriptor.
std::map<int, std::string> inherited() {
  std::map<int, std::string> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    const int flags = ::fcntl(descriptor, F_GETFD);
    std::error_code gone;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) open[descriptor] = std::filesystem::read_symlink(entry.path(), gone);
  }
  return open;
}

// Such a program may outlive the host: it kept the port, and the next start was refused.
// Covers: FLT_P19
TEST(ProgramTest, AProgramThatTheHostStartsInheritsNothingOfAReplica) {
  const std::map<int, std::string> before = inherited();
  Cluster cluster;
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  std::map<int, std::string> now;
  const auto nothing = [&] { return (now = inherited()) == before; };
  EXPECT_TRUE(eventually(nothing)) << ::testing::PrintToString(now);  // a connection that is being made is one for a moment
}

}  // namespace
}  // namespace coordkit::testkit
