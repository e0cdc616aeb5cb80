// Code of the host that throws where coordkit calls it: only that call suffers, and the host is notified, once.
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr MachineId kOwn{16};

// The errors that on_error received.
class Errors {
 public:
  void add(const absl::Status& error) {
    const std::lock_guard lock(mutex_);
    EXPECT_THAT(error, Is(Reason::HostThrew));
    sentences_.emplace_back(sentence_of(error));
    added_.notify_all();
  }
  std::vector<std::string> first(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(added_.wait_for(lock, kPatience, [&] { return sentences_.size() >= count; }));
    return sentences_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::string> sentences_;
};

// Announces every command; throws on request.
class Asked final : public StateMachine {
 public:
  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    for (const Command& command : commands) {
      output.answer(command, "done");
      output.events.push_back({command.index, std::string(command.payload)});
    }
  }
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view question) const override {
    if (question == "throw") throw std::runtime_error("no such page");
    if (question == "throw a number") throw 42;
    return "answer";
  }
  void checkpoint(CheckpointBatch&) override {}
  absl::Status restore(const CheckpointView&) override { return absl::OkStatus(); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { return 0; }
};

class ThrowingTest : public ::testing::Test {
 protected:
  ReplicaOptions options() {
    ReplicaOptions made = cluster_.options(1);
    made.on_error = [this](const absl::Status& error) { errors_.add(error); };
    made.machines.push_back({.id = kOwn, .make = [] { return std::make_unique<Asked>(); }});
    return made;
  }
  void open(ReplicaOptions made) {
    ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(made)));
    ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  }
  void expect_it_lives() {
    EXPECT_THAT(cluster_[1].put("color", "green", {.timeout = kPatience}).status(), IsOk());
    EXPECT_EQ(cluster_[1].health().state, ReplicaState::Ready);
  }
  std::vector<std::string> warnings() { return cluster_[1].health().warnings; }

  Errors errors_;  // outlives the replica
  Cluster cluster_{1};
};

// Covers: FLT_A13
TEST_F(ThrowingTest, OnLeadershipThatThrowsIsToldOnceEachTimeAndCountedInHealth) {
  std::atomic<size_t> calls = 0;
  ReplicaOptions made = options();
  made.on_leadership = [&](const raft::Leadership&) {
    ++calls;
    throw std::runtime_error("disk of the host is full");
  };
  open(std::move(made));
  EXPECT_THAT(errors_.first(1).front(), AllOf(StartsWith("on_leadership threw: "), HasSubstr("disk of the host is full")));
  EXPECT_THAT(warnings(), Contains(HasSubstr("on_leadership threw: disk of the host is full")));
  expect_it_lives();
  ASSERT_THAT(cluster_[1].close(), IsOk());
  EXPECT_EQ(errors_.first(calls).size(), calls);
}

// Covers: FLT_A13
TEST_F(ThrowingTest, AnAsyncCallbackThatThrowsLeavesTheEngineRunning) {
  open(options());
  cluster_[1].put_async("k", "v", {}, [](absl::StatusOr<PutResult>) { throw std::runtime_error("no"); });
  errors_.first(1);
  cluster_[1].get_async("", {}, [](absl::StatusOr<GetResult>) { throw 7; });  // refused at the entrance
  EXPECT_THAT(errors_.first(2), ElementsAre("the callback of an asynchronous call threw: no",
                                            "the callback of an asynchronous call threw: something that is no std::exception"));
  EXPECT_THAT(warnings(), Contains(HasSubstr("(2 times so far)")));
  Session me = cluster_.session(1);
  me.acquire_async("billing", {}, [](absl::StatusOr<Grant>) { throw std::runtime_error("after a grant"); });
  me.acquire_async("", {}, [](absl::StatusOr<Grant>) { throw std::runtime_error("after a refusal"); });
  EXPECT_EQ(errors_.first(4).size(), 4u);
  expect_it_lives();
  EXPECT_THAT(me.acquire("billing", {.timeout = kPatience}).status(), IsOk()) << "the grant without a taker was released";
}

// Covers: FLT_A13
TEST_F(ThrowingTest, AChangeOfMembersWhoseCallbackThrowsIsDone) {
  open(options());
  cluster_[1].change_membership_async({}, {}, [](absl::StatusOr<Index>) { throw std::runtime_error("no"); });
  errors_.first(1);
  expect_it_lives();
}

// Covers: FLT_A13
TEST_F(ThrowingTest, AnObserverThatThrowsIsToldOfWhatComesNext) {
  open(options());
  std::promise<void> second;
  std::atomic<int> events = 0;
  Watch watch(cluster_[1], WatchOptions::prefix("w/"), [&](WatchBatch batch) {
    if (batch.what != WatchBatch::What::Events) return;
    if (++events == 1) throw std::runtime_error("cannot parse that");
    second.set_value();
  });
  std::atomic<int> seen = 0;
  Mirror mirror(cluster_[1], {.key = "w/", .end = "w0"}, [&](const MirrorSeen&, const MirrorEntries&) {
    ++seen;
    throw std::runtime_error("the mirror's observer");
  });
  ASSERT_THAT(mirror.wait_ready(kPatience), IsOk());
  ASSERT_THAT(cluster_[1].put("w/1", "x").status(), IsOk());
  ASSERT_THAT(cluster_[1].put("w/2", "x").status(), IsOk());
  second.get_future().get();
  EXPECT_THAT(errors_.first(2), Contains(HasSubstr("cannot parse that")));
  while (mirror.entries().size() < 2) errors_.first(static_cast<size_t>(seen.load()));
  expect_it_lives();
}

// Covers: FLT_A13
TEST_F(ThrowingTest, SettingsWhoseDecoderThrowsAreAProblemUntilItDoesNot) {
  open(options());
  const auto decode = [](const MirrorEntries& all) -> absl::StatusOr<size_t> {
    if (all.empty()) throw std::runtime_error("nothing is set");
    return all.size();
  };
  const Config<size_t> config(cluster_[1], MirrorOptions::prefix("c/"), decode);
  EXPECT_THAT(config.wait_ready(kForever), Is(Reason::HostThrew));
  EXPECT_THAT(config.problem(), Is(Reason::HostThrew));
  EXPECT_EQ(*config.current(), 0u) << "what was there before";
  EXPECT_THAT(errors_.first(1), Contains(HasSubstr("nothing is set")));
  ASSERT_THAT(cluster_[1].put("c/1", "x").status(), IsOk());
  while (!config.problem().ok()) std::this_thread::yield();
  EXPECT_THAT(config.wait_ready(), IsOk());
  EXPECT_EQ(*config.current(), 1u);
}

// Covers: FLT_A13
TEST_F(ThrowingTest, ASessionsPhaseCallbackAndAMachinesEventsMayThrow) {
  ReplicaOptions made = options();
  made.machines[0].on_event = [](const OwnEvent& event) { throw std::runtime_error(event.bytes); };
  open(std::move(made));
  absl::StatusOr<Session> me = cluster_[1].open_session({.on_phase = [](SessionPhase) { throw std::runtime_error("phase"); }});
  ASSERT_THAT(me.status(), IsOk());
  ASSERT_THAT(cluster_[1].propose(kOwn, "first").status(), IsOk());
  ASSERT_THAT(cluster_[1].propose(kOwn, "second").status(), IsOk());
  ASSERT_THAT(cluster_[1].kill_session(me->id()), IsOk());  // a close() would end the callbacks (S-66)
  const std::vector<std::string> sentences = errors_.first(3);
  EXPECT_THAT(sentences, Contains("on_event of machine 16 threw: first"));
  EXPECT_THAT(sentences, Contains("on_event of machine 16 threw: second"));
  EXPECT_THAT(sentences, Contains(HasSubstr("threw: phase")));
  expect_it_lives();
}

// Covers: FLT_A07
TEST_F(ThrowingTest, AQueryThatThrowsIsItsAskersErrorAndNobodyElses) {
  open(options());
  const absl::Status refused = cluster_[1].query(kOwn, "throw").status();
  EXPECT_THAT(refused, Is(Reason::HostThrew));
  EXPECT_THAT(refused, HasCode(absl::StatusCode::kInternal));
  EXPECT_EQ(outcome_of(refused), Outcome::NoEffect);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("query() of machine 16 threw: no such page"));
  EXPECT_THAT(cluster_[1].query(kOwn, "throw a number").status(), Is(Reason::HostThrew));
  EXPECT_THAT(errors_.first(2), ElementsAre("query() of machine 16 threw: no such page",
                                            "query() of machine 16 threw: something that is no std::exception"));
  EXPECT_THAT(warnings(), Contains(HasSubstr("query() of machine 16 threw")));
  EXPECT_EQ(cluster_[1].query(kOwn, "x")->bytes, "answer");
  expect_it_lives();
}

// Covers: FLT_A13
TEST_F(ThrowingTest, AnErrorHookThatThrowsIsCountedAndNotToldOfItself) {
  ReplicaOptions made = options();
  std::atomic<int> calls = 0;
  made.on_error = [&](const absl::Status&) {
    ++calls;
    throw std::runtime_error("the hook itself");
  };
  open(std::move(made));
  EXPECT_THAT(cluster_[1].query(kOwn, "throw").status(), Is(Reason::HostThrew));
  while (calls == 0) EXPECT_THAT(cluster_[1].get("k").status(), IsOk());
  std::vector<std::string> seen = warnings();
  while (seen.size() < 2) seen = warnings();
  EXPECT_THAT(seen, Contains(HasSubstr("on_error threw: the hook itself")));
  expect_it_lives();
  ASSERT_THAT(cluster_[1].close(), IsOk());
  EXPECT_EQ(calls, 1);
}

// Covers: FLT_A13
TEST_F(ThrowingTest, ACallbackThatThrowsAfterCloseIsOnlyReported) {
  open(options());
  ASSERT_THAT(cluster_[1].close(), IsOk());
  cluster_[1].put_async("k", "v", {}, [](absl::StatusOr<PutResult>) { throw std::runtime_error("late"); });
  EXPECT_THAT(errors_.first(1), ElementsAre("the callback of an asynchronous call threw: late"));
}

// Covers: FLT_A13
TEST_F(ThrowingTest, AFactoryThatThrowsAnythingIsASentenceOfOpen) {
  ReplicaOptions made = options();
  made.machines[0].make = []() -> std::unique_ptr<StateMachine> { throw 42; };
  const absl::Status refused = Replica::open(std::move(made)).status();
  EXPECT_THAT(refused, Is(Reason::InvalidArgument));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("machine 16"));
}

TEST_F(ThrowingTest, ACallThatWouldWaitForItsOwnThreadIsRefusedAsDocumented) {
  open(options());
  std::promise<absl::Status> closed, read, waited;
  cluster_[1].put_async("k", "v", {}, [&](absl::StatusOr<PutResult>) {
    closed.set_value(cluster_[1].close());
    read.set_value(cluster_[1].get("k").status());
    waited.set_value(cluster_[1].wait_ready(0s));
  });
  for (std::promise<absl::Status>* answer : {&closed, &read, &waited}) {
    const absl::Status status = answer->get_future().get();
    EXPECT_THAT(status, Is(Reason::InCallback));
    EXPECT_THAT(status, HasCode(absl::StatusCode::kFailedPrecondition));
    EXPECT_EQ(outcome_of(status), Outcome::NoEffect);
  }
  expect_it_lives();
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("threw"))));
}

}  // namespace
}  // namespace coordkit::testkit
