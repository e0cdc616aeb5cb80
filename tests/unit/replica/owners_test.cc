// Whose waits are taken for one (docs/semantics.md S-49): threads, elections and asynchronous calls of one session are owners
// of their own, and circles of owners of several sessions are still found.
#include <future>
#include <thread>

#include "coordkit/coordkit.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OwnersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Replica>> opened =
        Replica::open({.id = 1, .cluster = "owners", .members = {{1, "a"}}, .parts = in_memory(hub_)});
    ASSERT_THAT(opened.status(), IsOk());
    replica_ = *std::move(opened);
    ASSERT_THAT(replica_->wait_ready(kPatience), IsOk());
    for (Session* const session : {&one_, &other_}) {
      *session = replica_->open_session({.ttl = 10s, .timeout = kPatience}).value();
    }
  }

  using Answer = std::future<absl::StatusOr<Grant>>;
  // Waits until this acquire, and so many in all, are in line for the lock. False: it was answered instead.
  bool waits(const Answer& acquire, const std::string& lock, size_t waiters = 1) {
    const auto answered = [&] { return acquire.wait_for(0s) == std::future_status::ready; };
    const auto in_line = [&] { return replica_->queue(lock)->waiters.size() == waiters; };
    return eventually([&] { return answered() || in_line(); }) && !answered();
  }
  // `acquire()` in a thread of its own, which then ends: the process that gets the grant has it.
  static Answer in_a_thread(std::function<absl::StatusOr<Grant>()> acquire) {
    return std::async(std::launch::async, std::move(acquire));
  }
  static Answer asynchronously(Session& session, const std::string& lock) {
    auto answer = std::make_shared<std::promise<absl::StatusOr<Grant>>>();
    session.acquire_async(lock, {}, [answer](absl::StatusOr<Grant> grant) { answer->set_value(std::move(grant)); });
    return answer->get_future();
  }
  // It was no deadlock: the wait ends with the lock, once it is given back.
  static void expect_granted(Answer& waiting) {
    const absl::StatusOr<Grant> grant = waiting.get();
    EXPECT_THAT(grant.status(), IsOk());
  }

  LoopbackHub hub_;
  std::unique_ptr<Replica> replica_;
  Session one_, other_;
};

// Covers: S-37 S-49
TEST_F(OwnersTest, LeadersOfTwoShardsAreCandidatesForEachOthers) {
  Election a_here(one_, "shard A"), b_here(one_, "shard B"), a_there(other_, "shard A"), b_there(other_, "shard B");
  Grant leads_a = a_here.campaign("one").value(), leads_b = b_there.campaign("other").value();
  Answer standby_b = in_a_thread([&] { return b_here.campaign("one"); });
  EXPECT_TRUE(waits(standby_b, "shard B"));
  Answer standby_a = in_a_thread([&] { return a_there.campaign("other"); });
  EXPECT_TRUE(waits(standby_a, "shard A"));
  leads_a.release_later();
  leads_b.release_later();
  expect_granted(standby_a);
  expect_granted(standby_b);
}

// Covers: S-37 S-49
TEST_F(OwnersTest, ALeadersThreadIsNoPartOfWhatAWorkerOfItsSessionWaitsFor) {
  Election here(one_, "scheduler"), there(other_, "scheduler");
  Grant leads = here.campaign("one").value();
  Grant works = other_.acquire("jobs").value();
  Answer standby = in_a_thread([&] { return there.campaign("other"); });
  EXPECT_TRUE(waits(standby, "scheduler"));
  Answer worker = in_a_thread([&] { return one_.acquire("jobs"); });
  EXPECT_TRUE(waits(worker, "jobs"));
  works.release_later();
  leads.release_later();
  expect_granted(worker);
  expect_granted(standby);
}

// Covers: S-49
TEST_F(OwnersTest, TwoThreadsOfASessionAreTwoOwners) {
  Grant x = in_a_thread([&] { return one_.acquire("x"); }).get().value();
  Grant y = in_a_thread([&] { return other_.acquire("y"); }).get().value();
  Answer for_y = in_a_thread([&] { return one_.acquire("y"); });
  EXPECT_TRUE(waits(for_y, "y"));
  Answer for_x = in_a_thread([&] { return other_.acquire("x"); });
  EXPECT_TRUE(waits(for_x, "x"));
  x.release_later();
  y.release_later();
  expect_granted(for_x);
  expect_granted(for_y);
}

// Covers: S-38 S-49
TEST_F(OwnersTest, AnotherThreadOfTheSessionWaitsInLineAndTheSameOneIsTold) {
  Grant x = one_.acquire("x").value();
  EXPECT_THAT(one_.acquire("x").status(), Is(Reason::AlreadyHeld));
  EXPECT_THAT(one_.acquire_all({{"x"}, {"y"}}).status(), Is(Reason::AlreadyHeld));
  Answer next = in_a_thread([&] { return one_.acquire("x"); });
  EXPECT_TRUE(waits(next, "x"));
  Answer all = in_a_thread([&] { return one_.acquire_all({{"x"}, {"y"}}); });
  EXPECT_TRUE(waits(all, "x", 2));
  x.release_later();
  expect_granted(next);
  expect_granted(all);
}

// Covers: S-49
TEST_F(OwnersTest, AsynchronousAcquiresAreOwnersOfTheirOwn) {
  Grant x = asynchronously(one_, "x").get().value(), y = asynchronously(other_, "y").get().value();
  Answer for_y = asynchronously(one_, "y");
  EXPECT_TRUE(waits(for_y, "y"));
  Answer for_x = asynchronously(other_, "x");
  EXPECT_TRUE(waits(for_x, "x"));
  Answer again = asynchronously(one_, "x");
  EXPECT_TRUE(waits(again, "x", 2));
  x.release_later();
  y.release_later();
  expect_granted(for_x);
  expect_granted(for_y);
  expect_granted(again);
}

// Covers: S-49
TEST_F(OwnersTest, ThreadsOfTwoSessionsThatWaitForEachOtherAreADeadlockAndTheSentenceNamesTheCure) {
  Grant x = one_.acquire("x").value();
  Answer for_x = in_a_thread([&]() -> absl::StatusOr<Grant> {
    const absl::StatusOr<Grant> y = other_.acquire("y");
    if (!y.ok()) return y.status();
    return other_.acquire("x");
  });
  ASSERT_TRUE(waits(for_x, "x"));
  const absl::Status refused = one_.acquire("y").status();
  EXPECT_THAT(refused, Is(Reason::Deadlock));
  EXPECT_THAT(std::string(sentence_of(refused)), AllOf(HasSubstr("owner"), HasSubstr("session")));
  x.release_later();
  expect_granted(for_x);
}

// A caller that names an owner says that it is one thread of control, in elections too.
// Covers: S-37 S-49
TEST_F(OwnersTest, AnElectionOfANamedOwnerIsPartOfItsCircles) {
  Election here(one_, "shard", {.owner = "main"}), unchecked(one_, "shard", {.owner = "main", .no_deadlock_check = true});
  Grant jobs = one_.acquire("jobs", {.owner = "main"}).value();
  Grant leads = other_.acquire("shard", {.owner = "main"}).value();
  Answer for_jobs = in_a_thread([&] { return other_.acquire("jobs", {.owner = "main"}); });
  ASSERT_TRUE(waits(for_jobs, "jobs"));
  EXPECT_THAT(here.campaign("one").status(), Is(Reason::Deadlock));
  EXPECT_THAT(unchecked.campaign("one", 1ms).status(), Is(Reason::WaitTimeout));
  jobs.release_later();
  expect_granted(for_jobs);
}

// Covers: S-37
TEST_F(OwnersTest, ACandidateWithdrawsWhenItsStopTokenStops) {
  Election here(one_, "shard"), there(other_, "shard");
  const Grant leads = here.campaign("one").value();
  std::stop_source stop;
  Answer standby = in_a_thread([&] { return there.campaign("other", kForever, stop.get_token()); });
  ASSERT_TRUE(waits(standby, "shard"));
  stop.request_stop();
  EXPECT_THAT(standby.get().status(), Is(Reason::Cancelled));
  EXPECT_TRUE(replica_->queue("shard")->waiters.empty());
  Grant mine;
  EXPECT_THAT(there.campaign_or_proclaim(mine, "other", kForever, stop.get_token()).status(), Is(Reason::Cancelled));
  EXPECT_THAT(here.campaign("again").status(), Is(Reason::AlreadyHeld)) << "by the very object that leads";
  EXPECT_THAT(Election(here).campaign("again").status(), Is(Reason::AlreadyHeld)) << "a copy is the same candidate";
}

}  // namespace
}  // namespace coordkit::testkit
