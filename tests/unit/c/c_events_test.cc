// The C interface: what comes as completions without a call, and what a forked child may do.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c/c_completions.h"
#include "coordkit/c/coordkit_remote.h"
#include "tests/unit/c/c_caller.h"

namespace coordkit::testkit {
namespace {

TEST_F(CRemoteTest, AChangeOfTheLinkIsACompletion) {
  coordkit_remote* const first = std::exchange(remote_, open(kSecretOfRemotes, 3));
  EXPECT_EQ(next().tag, 3u);
  ASSERT_EQ(coordkit_remote_wait_ready(remote_, kPatienceMs, &error_), COORDKIT_OK) << error_.sentence;
  coordkit_link* link = nullptr;
  ASSERT_EQ(coordkit_remote_link(remote_, &link, &error_), COORDKIT_OK) << error_.sentence;
  EXPECT_EQ(link->state, COORDKIT_LINK_SERVING);
  EXPECT_EQ(std::ranges::count(gateways_, view(link->gateway)), 1);
  EXPECT_EQ(view(link->why), "");
  coordkit_link_free(link);
  coordkit_remote_free(std::exchange(remote_, first));
}

TEST_F(CRemoteTest, ALostSessionIsACompletion) {
  coordkit_session* killed = open_session(4);
  EXPECT_THAT(cluster_[1].kill_session(SessionId(coordkit_session_id(killed))), IsOk());
  do {
    EXPECT_EQ(next().tag, 4u);
  } while (coordkit_session_phase(killed) != COORDKIT_SESSION_LOST && !HasFailure());
  EXPECT_EQ(coordkit_session_remaining_ms(killed), 0);
  coordkit_session_free(killed);
  coordkit_session_free(open_session(5));  // an end that the program asked for
  coordkit_completion none{};
  none.struct_size = sizeof none;
  EXPECT_EQ(coordkit_poll(remote_, &none, &error_), COORDKIT_NOT_FOUND) << none.tag;
}

TEST_F(CRemoteTest, LeadersAreObservedInOrder) {
  coordkit_observation* observation = nullptr;
  ASSERT_EQ(coordkit_election_observe(session_, "e", 1, 6, &observation, &error_), COORDKIT_OK) << error_.sentence;
  const auto next_leader = [&] {
    const coordkit_completion completion = next();
    EXPECT_EQ(completion.tag, 6u);
    EXPECT_EQ(completion.error.status, COORDKIT_OK) << completion.error.sentence;
    std::string seen = completion.leader->present == 0 ? "vacant" : std::string(view(completion.leader->value));
    coordkit_leader_free(completion.leader);
    return seen;
  };
  EXPECT_EQ(next_leader(), "vacant");
  coordkit_grant* leads = nullptr;
  ASSERT_EQ(coordkit_campaign(session_, "e", 1, "first", 5, kPatienceMs, &leads, &error_), COORDKIT_OK) << error_.sentence;
  EXPECT_EQ(next_leader(), "first");
  EXPECT_EQ(coordkit_grant_set_value(leads, "second", 6, &error_), COORDKIT_OK);
  EXPECT_EQ(next_leader(), "second");
  coordkit_grant_free(leads);
  EXPECT_EQ(next_leader(), "vacant");
  coordkit_observation_free(observation);
  coordkit_remote_close(remote_, &error_);
  EXPECT_EQ(checked(coordkit_election_observe(session_, "e", 1, 6, &observation, &error_), error_),
            COORDKIT_FAILED_PRECONDITION);
}

TEST_F(CRemoteTest, AWatchIsResumedByItsRevision) {
  std::vector<uint64_t> revisions;
  for (const char* value : {"1", "2", "3"}) {
    uint64_t revision = 0;
    EXPECT_EQ(put("w", value, nullptr, &revision), COORDKIT_OK);
    revisions.push_back(revision);
  }
  uint64_t from = revisions[0] + 1;
  std::string seen;
  while (seen.size() < 2) {  // a new watch for each batch
    coordkit_watch* watch = nullptr;
    coordkit_entries* begin = nullptr;
    coordkit_entries* batch = nullptr;
    ASSERT_EQ(coordkit_watch_open(remote_, "w", 1, 0, from, 0, &watch, &error_), COORDKIT_OK);
    ASSERT_EQ(coordkit_watch_next(watch, kPatienceMs, &begin, &error_), COORDKIT_OK) << error_.sentence;
    EXPECT_EQ(coordkit_entries_revision(begin), from - 1) << "it has delivered nothing yet";
    ASSERT_EQ(coordkit_watch_next(watch, kPatienceMs, &batch, &error_), COORDKIT_OK) << error_.sentence;
    for (size_t at = 0; at < coordkit_entries_count(batch); ++at) {
      coordkit_entry entry;
      ASSERT_EQ(coordkit_entries_at(batch, at, &entry, &error_), COORDKIT_OK);
      seen += view(entry.value);
    }
    from = coordkit_entries_revision(batch) + 1;
    coordkit_entries_free(begin);
    coordkit_entries_free(batch);
    coordkit_watch_free(watch);
  }
  EXPECT_EQ(seen, "23");
  EXPECT_EQ(from, revisions[2] + 1);
}

TEST_F(CRemoteTest, AWatchOfCompletionsSaysItsEnd) {
  coordkit_watch* watch = nullptr;
  ASSERT_EQ(coordkit_watch_open(remote_, "w", 1, 0, 0, 7, &watch, &error_), COORDKIT_OK);
  coordkit_completion completion = next();
  EXPECT_NE(completion.entries, nullptr);
  coordkit_entries_free(completion.entries);
  EXPECT_EQ(coordkit_remote_close(remote_, &error_), COORDKIT_OK);
  completion = next();
  EXPECT_EQ(completion.tag, 7u);
  EXPECT_NE(completion.error.status, COORDKIT_OK);
  EXPECT_EQ(completion.entries, nullptr);
  coordkit_watch_free(watch);
}

// A task that moves between threads must not be taken for the one that ran there before.
// Covers: S-49
TEST_F(CRemoteTest, AnAcquireWithoutAnOwnerIsNotItsThreads) {
  coordkit_grant* grant = acquire("m");
  coordkit_grant* none = nullptr;
  EXPECT_EQ(checked(coordkit_acquire(session_, "m", 1, nullptr, 0, &none, &error_), error_), COORDKIT_FAILED_PRECONDITION);
  EXPECT_STREQ(error_.reason_name, "Held");
  coordkit_lock_options named{};
  named.struct_size = sizeof named;
  named.owner = bytes("me");
  coordkit_grant* own = nullptr;
  ASSERT_EQ(coordkit_acquire(session_, "n", 1, &named, kPatienceMs, &own, &error_), COORDKIT_OK) << error_.sentence;
  EXPECT_EQ(checked(coordkit_acquire(session_, "n", 1, &named, 0, &none, &error_), error_), COORDKIT_ALREADY_EXISTS);
  coordkit_grant_free(own);
  coordkit_grant_free(grant);
}

// Covers: FLT_P19
TEST_F(CRemoteTest, AForkedChildIsRefusedAndDoesNoHarm) {
  coordkit_grant* grant = acquire("m");
  coordkit_watch* watch = nullptr;
  coordkit_completion completion{};
  completion.struct_size = sizeof completion;
  const pid_t child = ::fork();
  if (child == 0) {
    int descriptor = 0;
    coordkit_entries* entries = nullptr;
    const std::vector<coordkit_status> answers = {
        coordkit_put(remote_, "k", 1, "v", 1, nullptr, -1, nullptr, nullptr),
        coordkit_get(remote_, "k", 1, -1, &entries, nullptr),
        coordkit_get_async(remote_, "k", 1, -1, 9, nullptr),
        coordkit_acquire_async(session_, "n", 1, nullptr, -1, 9, nullptr),
        coordkit_grant_release(grant, nullptr),
        coordkit_grant_release_async(grant, 9, nullptr),
        coordkit_watch_open(remote_, "k", 1, 0, 0, 9, &watch, nullptr),
        coordkit_cancel(remote_, 9, nullptr),
        coordkit_descriptor(remote_, &descriptor, nullptr),
        coordkit_poll(remote_, &completion, nullptr),
        coordkit_remote_close(remote_, nullptr),
    };
    const auto refused = std::ranges::count(answers, coordkit_status{COORDKIT_FAILED_PRECONDITION});
    const bool valid = coordkit_grant_valid(grant) != 0 || coordkit_session_phase(session_) == COORDKIT_SESSION_VALID;
    coordkit_grant_free(grant);
    coordkit_session_free(session_);
    coordkit_remote_free(remote_);
    ::_exit(valid ? 100 : static_cast<int>(answers.size()) - static_cast<int>(refused));
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0) << "calls that were not refused; 100: something was valid";
  EXPECT_FALSE(readable(0)) << "the child's completions woke its parent";
  EXPECT_EQ(coordkit_grant_valid(grant), 1);
  EXPECT_EQ(coordkit_grant_release(grant, &error_), COORDKIT_OK) << error_.sentence;
  coordkit_grant_free(grant);
}

// ---- without a cluster

TEST(CCompletionsTest, ANoticeWaitsOnceAndGoesWithItsSource) {
  const std::shared_ptr<c::Completions> completions = *c::Completions::make();
  auto notice = std::make_unique<c::Notice>(completions, 5);
  for (int round = 0; round < 2; ++round) {
    notice->raise();
    notice->raise();
    EXPECT_EQ(completions->take()->tag, 5u);
    EXPECT_FALSE(completions->take());
  }
  notice->raise();
  completions->put(c::slot_for(6));
  notice.reset();
  EXPECT_EQ(completions->take()->tag, 6u);
  EXPECT_FALSE(completions->take());
  notice = std::make_unique<c::Notice>(completions, 7);
  notice->raise();
  completions->end();
  notice->raise();
  EXPECT_FALSE(completions->take());
}

TEST(CCompletionsTest, AStreamIsFullUntilItsEventsAreFetched) {
  const std::shared_ptr<c::Completions> completions = *c::Completions::make();
  c::Stream stream(completions, 5);
  const auto add = [&] { stream.add([](c::CallEnd&) { return true; }); };
  for (long i = 0; i < c::Stream::kWaitingMax; ++i) {
    EXPECT_FALSE(stream.full());
    add();
  }
  EXPECT_TRUE(stream.full());
  EXPECT_TRUE(completions->take());
  EXPECT_FALSE(stream.full());
  stream.end(absl::CancelledError());
  stream.end(absl::UnknownError("a second end"));
  EXPECT_TRUE(stream.ended());
  for (long i = 1; i < c::Stream::kWaitingMax; ++i) EXPECT_EQ(completions->take()->status, absl::OkStatus());
  EXPECT_EQ(completions->take()->status, absl::CancelledError());
  EXPECT_FALSE(completions->take());
}

}  // namespace
}  // namespace coordkit::testkit
