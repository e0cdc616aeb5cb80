// The C interface: locks, keys, elections and completions of a caller in C, and its bad input.
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "c/c_errors.h"
#include "coordkit/c/coordkit_remote.h"
#include "tests/unit/c/c_caller.h"

namespace coordkit::testkit {
namespace {

using ::testing::HasSubstr;

size_t descriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(open), end(open)));
}

// Covers: S-67
TEST_F(CRemoteTest, ALockIsTakenTriedFencedAndReleased) {
  EXPECT_EQ(coordkit_remote_health(remote_, &error_), COORDKIT_OK);
  EXPECT_EQ(coordkit_session_phase(session_), COORDKIT_SESSION_VALID);
  EXPECT_GT(coordkit_session_remaining_ms(session_), 0);
  EXPECT_NE(coordkit_session_id(session_), 0u);
  coordkit_grant* grant = acquire("m");
  ASSERT_NE(grant, nullptr);
  EXPECT_EQ(coordkit_grant_valid(grant), 1);
  EXPECT_GT(coordkit_grant_remaining_ms(grant), 0);
  const uint64_t token = coordkit_grant_token(grant);
  EXPECT_EQ(cluster_[1].holders("m")->holders.front().token.value(), token);
  EXPECT_EQ(coordkit_grant_set_value(grant, "v", 1, &error_), COORDKIT_OK);

  coordkit_grant* none = nullptr;
  coordkit_lock_options other{};
  other.struct_size = sizeof other;
  other.owner = bytes("another thread of control");
  EXPECT_EQ(checked(coordkit_acquire(session_, "m", 1, &other, 0, &none, &error_), error_), COORDKIT_FAILED_PRECONDITION);
  EXPECT_STREQ(error_.reason_name, "Held");
  EXPECT_EQ(error_.outcome, COORDKIT_NO_EFFECT);
  EXPECT_EQ(none, nullptr);

  coordkit_write_options fenced{};
  fenced.struct_size = sizeof fenced;
  fenced.fence = grant;
  EXPECT_EQ(put("k", "1", &fenced), COORDKIT_OK);
  EXPECT_EQ(checked(coordkit_grant_release(grant, &error_), error_), COORDKIT_OK);
  EXPECT_EQ(coordkit_grant_valid(grant), 0);
  EXPECT_EQ(put("k", "2", &fenced), COORDKIT_FAILED_PRECONDITION);
  EXPECT_STREQ(error_.reason_name, "Fenced");
  EXPECT_EQ(checked(coordkit_grant_release(grant, &error_), error_), COORDKIT_FAILED_PRECONDITION);
  coordkit_grant_free(grant);
  grant = acquire("m");
  EXPECT_GT(coordkit_grant_token(grant), token);
  coordkit_grant_free(grant);
}

TEST_F(CRemoteTest, AKeyIsComparedReadListedAndErased) {
  coordkit_write_options missing{};
  missing.struct_size = sizeof missing;
  missing.compare = 1;
  uint64_t revision = 0;
  EXPECT_EQ(put("c/1", "a", &missing, &revision), COORDKIT_OK);
  EXPECT_EQ(put("c/1", "b", &missing), COORDKIT_ABORTED);
  EXPECT_STREQ(error_.reason_name, "Conflict");
  coordkit_write_options same = missing;
  same.expected_revision = revision;
  EXPECT_EQ(put("c/1", std::string_view("b\0c", 3), &same), COORDKIT_OK);
  EXPECT_EQ(put("c/2", ""), COORDKIT_OK);

  coordkit_entries* entries = nullptr;
  ASSERT_EQ(coordkit_list(remote_, "c/", 2, kPatienceMs, &entries, &error_), COORDKIT_OK) << error_.sentence;
  EXPECT_EQ(coordkit_entries_count(entries), 2u);
  EXPECT_GT(coordkit_entries_revision(entries), revision);
  coordkit_entry entry;
  ASSERT_EQ(coordkit_entries_at(entries, 0, &entry, &error_), COORDKIT_OK);
  EXPECT_EQ(view(entry.key), "c/1");
  EXPECT_EQ(view(entry.value), std::string_view("b\0c", 3));
  EXPECT_EQ(entry.created, revision);
  EXPECT_EQ(entry.version, 2u);
  EXPECT_EQ(checked(coordkit_entries_at(entries, 2, &entry, &error_), error_), COORDKIT_OUT_OF_RANGE);
  coordkit_entries_free(entries);

  uint64_t deleted = 0;
  EXPECT_EQ(coordkit_erase(remote_, "c/1", 3, nullptr, kPatienceMs, &deleted, &error_), COORDKIT_OK);
  EXPECT_EQ(deleted, 1u);
  ASSERT_EQ(coordkit_get(remote_, "c/1", 3, kPatienceMs, &entries, &error_), COORDKIT_OK);
  EXPECT_EQ(coordkit_entries_count(entries), 0u);
  coordkit_entries_free(entries);
}

TEST_F(CRemoteTest, AKeyEndsWithItsSession) {
  coordkit_session* other = open_session();
  coordkit_write_options bound{};
  bound.struct_size = sizeof bound;
  bound.session = other;
  EXPECT_EQ(put("here", "yes", &bound), COORDKIT_OK);
  EXPECT_EQ(coordkit_session_close(other, &error_), COORDKIT_OK);
  EXPECT_TRUE(eventually([&] { return !cluster_[1].get("here")->entry; }));
  coordkit_session_free(other);
}

TEST_F(CRemoteTest, AWatchSeesEveryChange) {
  coordkit_watch* watch = nullptr;
  coordkit_entries* batch = nullptr;
  ASSERT_EQ(coordkit_watch_open(remote_, "w/", 2, 1, 0, 0, &watch, &error_), COORDKIT_OK);
  ASSERT_EQ(coordkit_watch_next(watch, kPatienceMs, &batch, &error_), COORDKIT_OK) << error_.sentence;
  EXPECT_EQ(coordkit_entries_count(batch), 0u);  // it has begun
  coordkit_entries_free(batch);
  EXPECT_EQ(checked(coordkit_watch_next(watch, 1, &batch, &error_), error_), COORDKIT_DEADLINE_EXCEEDED);
  EXPECT_THAT(cluster_[2].put("w/1", "x").status(), IsOk());
  EXPECT_THAT(cluster_[2].erase("w/1").status(), IsOk());
  for (const bool deleted : {false, true}) {
    coordkit_entry entry;
    ASSERT_EQ(coordkit_watch_next(watch, kPatienceMs, &batch, &error_), COORDKIT_OK) << error_.sentence;
    ASSERT_EQ(coordkit_entries_at(batch, 0, &entry, &error_), COORDKIT_OK);
    EXPECT_EQ(view(entry.key), "w/1");
    EXPECT_EQ(entry.deleted, deleted ? 1 : 0);
    coordkit_entries_free(batch);
  }
  coordkit_watch_free(watch);
}

TEST_F(CRemoteTest, AnElectionHasALeader) {
  coordkit_leader* leader = nullptr;
  coordkit_grant* leads = nullptr;
  ASSERT_EQ(coordkit_election_leader(session_, "e", 1, &leader, &error_), COORDKIT_OK);
  EXPECT_EQ(leader->present, 0);
  EXPECT_EQ(leader->value.size, 0u);
  coordkit_leader_free(leader);
  ASSERT_EQ(coordkit_campaign(session_, "e", 1, "it is me", 8, kPatienceMs, &leads, &error_), COORDKIT_OK) << error_.sentence;
  ASSERT_EQ(coordkit_election_leader(session_, "e", 1, &leader, &error_), COORDKIT_OK);
  EXPECT_EQ(leader->present, 1);
  EXPECT_EQ(leader->token, coordkit_grant_token(leads));
  EXPECT_EQ(leader->session, coordkit_session_id(session_));
  EXPECT_EQ(view(leader->value), "it is me");
  coordkit_leader_free(leader);
  coordkit_grant* second = nullptr;
  EXPECT_EQ(checked(coordkit_campaign(session_, "e", 1, "", 0, 0, &second, &error_), error_), COORDKIT_FAILED_PRECONDITION);
  EXPECT_EQ(coordkit_grant_release(leads, &error_), COORDKIT_OK);
  coordkit_grant_free(leads);
}

TEST_F(CRemoteTest, ACounterCounts) {
  int64_t value = 0;
  EXPECT_EQ(coordkit_counter_add(remote_, "n", 1, 5, nullptr, &error_), COORDKIT_OK);
  EXPECT_EQ(coordkit_counter_add(remote_, "n", 1, -2, &value, &error_), COORDKIT_OK);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(coordkit_counter_get(remote_, "n", 1, &value, &error_), COORDKIT_OK);
  EXPECT_EQ(value, 3);
}

// ---- completions

TEST_F(CRemoteTest, ADescriptorSaysThatACompletionWaits) {
  coordkit_completion completion{};
  completion.struct_size = sizeof completion;
  EXPECT_EQ(checked(coordkit_poll(remote_, &completion, &error_), error_), COORDKIT_NOT_FOUND);
  ASSERT_EQ(coordkit_session_open_async(remote_, nullptr, kPatienceMs, 1, &error_), COORDKIT_OK);
  completion = next();
  EXPECT_EQ(completion.tag, 1u);
  ASSERT_EQ(completion.error.status, COORDKIT_OK) << completion.error.sentence;
  coordkit_session* session = completion.session;
  ASSERT_EQ(coordkit_acquire_async(session, "m", 1, nullptr, -1, 2, &error_), COORDKIT_OK);
  completion = next();
  EXPECT_EQ(completion.tag, 2u);
  coordkit_grant* grant = completion.grant;
  EXPECT_EQ(coordkit_grant_valid(grant), 1);

  ASSERT_EQ(coordkit_acquire_async(session_, "m", 1, nullptr, -1, 3, &error_), COORDKIT_OK);
  ASSERT_EQ(coordkit_cancel(remote_, 3, &error_), COORDKIT_OK);
  completion = next();
  EXPECT_EQ(completion.tag, 3u);
  EXPECT_EQ(completion.error.status, COORDKIT_CANCELLED);
  EXPECT_EQ(completion.grant, nullptr);

  ASSERT_EQ(coordkit_grant_release_async(grant, 4, &error_), COORDKIT_OK);
  EXPECT_EQ(next().tag, 4u);
  ASSERT_EQ(coordkit_campaign_async(session, "e", 1, "v", 1, -1, 5, &error_), COORDKIT_OK);
  completion = next();
  EXPECT_EQ(coordkit_grant_valid(completion.grant), 1);
  coordkit_grant_free(completion.grant);
  coordkit_grant_free(grant);
  coordkit_session_free(session);
}

TEST_F(CRemoteTest, KeysAndWatchesHaveCompletions) {
  coordkit_watch* watch = nullptr;
  ASSERT_EQ(coordkit_watch_open(remote_, "k", 1, 0, 0, 7, &watch, &error_), COORDKIT_OK);
  coordkit_completion completion = next();
  EXPECT_EQ(completion.tag, 7u);
  EXPECT_EQ(coordkit_entries_count(completion.entries), 0u);
  coordkit_entries_free(completion.entries);
  coordkit_write_options missing{};
  missing.struct_size = sizeof missing;
  missing.compare = 1;
  uint64_t written = 0;
  uint64_t seen = 0;
  ASSERT_EQ(coordkit_put_async(remote_, "k", 1, "v", 1, &missing, kPatienceMs, 8, &error_), COORDKIT_OK);
  for (int i = 0; i < 2; ++i) {
    completion = next();
    (completion.tag == 8 ? written : seen) = completion.revision;
    coordkit_entries_free(completion.entries);
  }
  EXPECT_NE(written, 0u);
  EXPECT_EQ(written, seen);
  coordkit_watch_free(watch);
  ASSERT_EQ(coordkit_put_async(remote_, "k", 1, "v", 1, &missing, kPatienceMs, 9, &error_), COORDKIT_OK);
  EXPECT_EQ(next().error.status, COORDKIT_ABORTED);
  ASSERT_EQ(coordkit_get_async(remote_, "k", 1, kPatienceMs, 10, &error_), COORDKIT_OK);
  completion = next();
  EXPECT_EQ(coordkit_entries_count(completion.entries), 1u);
  coordkit_entries_free(completion.entries);
  ASSERT_EQ(coordkit_erase_async(remote_, "k", 1, nullptr, kPatienceMs, 11, &error_), COORDKIT_OK);
  completion = next();
  EXPECT_GT(completion.revision, written);
  EXPECT_EQ(completion.deleted, 1u);
}

TEST_F(CRemoteTest, ARemoteIsFreedWhileCallsRunAndCompletionsWait) {
  coordkit_remote* other = open(kSecretOfRemotes);
  coordkit_session* session = nullptr;
  ASSERT_EQ(coordkit_session_open(other, nullptr, kPatienceMs, &session, &error_), COORDKIT_OK) << error_.sentence;
  coordkit_watch* watch = nullptr;
  ASSERT_EQ(coordkit_watch_open(other, "", 0, 1, 0, 1, &watch, &error_), COORDKIT_OK);
  for (uint64_t tag = 2; tag < 20; ++tag) {
    ASSERT_EQ(coordkit_acquire_async(session, "m", 1, nullptr, -1, tag, &error_), COORDKIT_OK);
    ASSERT_EQ(coordkit_session_open_async(other, nullptr, -1, tag, &error_), COORDKIT_OK);
  }
  coordkit_remote_free(other);
  EXPECT_EQ(checked(coordkit_acquire_async(session, "m", 1, nullptr, -1, 2, &error_), error_), COORDKIT_FAILED_PRECONDITION);
  coordkit_watch_free(watch);
  coordkit_session_free(session);
}

// ---- bad input

TEST_F(CRemoteTest, AClosedHandleIsRefused) {
  coordkit_session* other = open_session();
  EXPECT_EQ(coordkit_session_close(other, &error_), COORDKIT_OK);
  EXPECT_EQ(coordkit_session_phase(other), COORDKIT_SESSION_LOST);
  EXPECT_EQ(coordkit_session_remaining_ms(other), 0);
  coordkit_grant* grant = nullptr;
  EXPECT_NE(checked(coordkit_acquire(other, "m", 1, nullptr, 0, &grant, &error_), error_), COORDKIT_OK);
  coordkit_session_free(other);

  grant = acquire("m");
  coordkit_watch* watch = nullptr;
  coordkit_entries* batch = nullptr;
  ASSERT_EQ(coordkit_watch_open(remote_, "k", 1, 0, 0, 0, &watch, &error_), COORDKIT_OK);
  EXPECT_EQ(checked(coordkit_remote_close(remote_, &error_), error_), COORDKIT_OK);
  coordkit_remote_close(remote_, &error_);
  EXPECT_EQ(put("k", "v"), COORDKIT_FAILED_PRECONDITION);
  EXPECT_EQ(coordkit_grant_valid(grant), 0);
  EXPECT_NE(checked(coordkit_grant_release(grant, &error_), error_), COORDKIT_OK);
  EXPECT_EQ(checked(coordkit_remote_wait_ready(remote_, 0, &error_), error_), COORDKIT_FAILED_PRECONDITION);
  EXPECT_EQ(checked(coordkit_remote_health(remote_, &error_), error_), COORDKIT_FAILED_PRECONDITION);
  coordkit_status ended = COORDKIT_OK;
  while (ended == COORDKIT_OK) {  // until all that came before is read
    batch = nullptr;
    ended = coordkit_watch_next(watch, kPatienceMs, &batch, &error_);
    coordkit_entries_free(batch);
  }
  EXPECT_NE(ended, COORDKIT_DEADLINE_EXCEEDED);
  coordkit_watch_free(watch);
  coordkit_grant_free(grant);
}

TEST_F(CRemoteTest, AWrongSecretIsASentenceAndNoLink) {
  coordkit_remote* stranger = open("a secret that nobody has");
  EXPECT_EQ(checked(coordkit_remote_wait_ready(stranger, 500, &error_), error_), COORDKIT_DEADLINE_EXCEEDED);
  EXPECT_GT(error_.sentence_size, 20u) << error_.sentence;
  EXPECT_EQ(checked(coordkit_remote_health(stranger, &error_), error_), COORDKIT_UNAVAILABLE);
  EXPECT_EQ(checked(coordkit_put(stranger, "k", 1, "v", 1, nullptr, 300, nullptr, &error_), error_), COORDKIT_UNAVAILABLE);
  coordkit_remote_free(stranger);
}

TEST_F(CRemoteTest, NothingIsLeftAfterManyRounds) {
  size_t before = 0;
  for (int round = 0; round < 20; ++round) {
    coordkit_remote* remote = open(kSecretOfRemotes);
    coordkit_session* session = nullptr;
    coordkit_grant* grant = nullptr;
    coordkit_entries* entries = nullptr;
    ASSERT_EQ(coordkit_session_open(remote, nullptr, kPatienceMs, &session, &error_), COORDKIT_OK) << error_.sentence;
    ASSERT_EQ(coordkit_acquire(session, "m", 1, nullptr, kPatienceMs, &grant, &error_), COORDKIT_OK) << error_.sentence;
    ASSERT_EQ(coordkit_get(remote, "k", 1, kPatienceMs, &entries, &error_), COORDKIT_OK);
    ASSERT_EQ(coordkit_acquire_async(session, "n", 1, nullptr, -1, 1, &error_), COORDKIT_OK);  // never fetched
    coordkit_entries_free(entries);
    coordkit_grant_free(grant);
    coordkit_session_free(session);
    coordkit_remote_free(remote);
    EXPECT_TRUE(eventually([&] {  // the replicas' ends of the link follow
      size_t linked = 0;
      for (uint64_t id = 1; id <= 3; ++id) linked += cluster_[id].metrics()->remotes->linked;
      return linked == 1;
    }));
    if (round == 1) before = descriptors();
  }
  EXPECT_TRUE(eventually([&] { return descriptors() <= before; })) << descriptors() << " descriptors, not " << before;
  EXPECT_TRUE(eventually([&] { return cluster_[1].sessions()->sessions.size() == 1; }));
}

// ---- without a cluster

class CArgumentsTest : public ::testing::Test {
 protected:
  void is_refused(coordkit_status status, const char* word) {
    EXPECT_EQ(checked(status, error_), COORDKIT_INVALID_ARGUMENT);
    EXPECT_THAT(error_.sentence, HasSubstr(word));
    EXPECT_EQ(error_.outcome, COORDKIT_NO_EFFECT);
    error_ = {};
  }
  coordkit_error error_{};
};

TEST_F(CArgumentsTest, ANullHandleIsASentence) {
  coordkit_entry entry;
  is_refused(coordkit_remote_open(nullptr, nullptr, &error_), "options");
  is_refused(coordkit_remote_wait_ready(nullptr, 0, &error_), "remote");
  is_refused(coordkit_remote_health(nullptr, &error_), "remote");
  is_refused(coordkit_remote_close(nullptr, &error_), "remote");
  is_refused(coordkit_session_open(nullptr, nullptr, 0, nullptr, &error_), "remote");
  is_refused(coordkit_session_open_async(nullptr, nullptr, 0, 0, &error_), "remote");
  is_refused(coordkit_session_close(nullptr, &error_), "session");
  is_refused(coordkit_acquire(nullptr, "m", 1, nullptr, 0, nullptr, &error_), "session");
  is_refused(coordkit_acquire_async(nullptr, "m", 1, nullptr, 0, 0, &error_), "session");
  is_refused(coordkit_campaign(nullptr, "m", 1, nullptr, 0, 0, nullptr, &error_), "session");
  is_refused(coordkit_campaign_async(nullptr, "m", 1, nullptr, 0, 0, 0, &error_), "session");
  is_refused(coordkit_election_leader(nullptr, "m", 1, nullptr, &error_), "session");
  is_refused(coordkit_election_observe(nullptr, "m", 1, 0, nullptr, &error_), "session");
  is_refused(coordkit_remote_link(nullptr, nullptr, &error_), "remote");
  is_refused(coordkit_grant_set_value(nullptr, nullptr, 0, &error_), "grant");
  is_refused(coordkit_grant_release(nullptr, &error_), "grant");
  is_refused(coordkit_grant_release_async(nullptr, 0, &error_), "grant");
  is_refused(coordkit_put(nullptr, "k", 1, "v", 1, nullptr, 0, nullptr, &error_), "remote");
  is_refused(coordkit_put_async(nullptr, "k", 1, "v", 1, nullptr, 0, 0, &error_), "remote");
  is_refused(coordkit_erase(nullptr, "k", 1, nullptr, 0, nullptr, &error_), "remote");
  is_refused(coordkit_erase_async(nullptr, "k", 1, nullptr, 0, 0, &error_), "remote");
  is_refused(coordkit_get(nullptr, "k", 1, 0, nullptr, &error_), "remote");
  is_refused(coordkit_get_async(nullptr, "k", 1, 0, 0, &error_), "remote");
  is_refused(coordkit_list(nullptr, "k", 1, 0, nullptr, &error_), "remote");
  is_refused(coordkit_entries_at(nullptr, 0, &entry, &error_), "entries");
  is_refused(coordkit_watch_open(nullptr, "k", 1, 0, 0, 0, nullptr, &error_), "remote");
  is_refused(coordkit_watch_next(nullptr, 0, nullptr, &error_), "watch");
  is_refused(coordkit_counter_add(nullptr, "n", 1, 1, nullptr, &error_), "remote");
  is_refused(coordkit_counter_get(nullptr, "n", 1, nullptr, &error_), "remote");
  is_refused(coordkit_cancel(nullptr, 0, &error_), "remote");
  is_refused(coordkit_descriptor(nullptr, nullptr, &error_), "remote");
  is_refused(coordkit_poll(nullptr, nullptr, &error_), "remote");
  EXPECT_EQ(coordkit_poll(nullptr, nullptr, nullptr), COORDKIT_INVALID_ARGUMENT);  // nobody asks why
}

TEST_F(CArgumentsTest, NullIsFreedAndSaysNothing) {
  coordkit_remote_free(nullptr);
  coordkit_session_free(nullptr);
  coordkit_grant_free(nullptr);
  coordkit_entries_free(nullptr);
  coordkit_watch_free(nullptr);
  coordkit_link_free(nullptr);
  coordkit_leader_free(nullptr);
  coordkit_observation_free(nullptr);
  EXPECT_EQ(coordkit_session_phase(nullptr), COORDKIT_SESSION_LOST);
  EXPECT_EQ(coordkit_session_remaining_ms(nullptr), 0);
  EXPECT_EQ(coordkit_session_id(nullptr), 0u);
  EXPECT_EQ(coordkit_grant_valid(nullptr), 0);
  EXPECT_EQ(coordkit_grant_remaining_ms(nullptr), 0);
  EXPECT_EQ(coordkit_grant_token(nullptr), 0u);
  EXPECT_EQ(coordkit_entries_count(nullptr), 0u);
  EXPECT_EQ(coordkit_entries_revision(nullptr), 0u);
}

TEST_F(CArgumentsTest, OptionsThatAreWrongAreListed) {
  coordkit_remote* remote = nullptr;
  coordkit_remote_options options{};
  is_refused(coordkit_remote_open(&options, &remote, &error_), "struct_size");
  options.struct_size = sizeof options;
  is_refused(coordkit_remote_open(&options, &remote, &error_), "security");
  options.cluster = {nullptr, 3};
  is_refused(coordkit_remote_open(&options, &remote, &error_), "options->cluster is null");
  options.cluster = bytes("c");
  options.gateways_count = 1;
  is_refused(coordkit_remote_open(&options, &remote, &error_), "options->gateways is null");
  const coordkit_bytes here = bytes("here");
  options.gateways = &here;
  options.plain_text = 1;
  is_refused(coordkit_remote_open(&options, &remote, &error_), "'here'");
  options.secret = bytes("sixteen bytes at least");
  is_refused(coordkit_remote_open(&options, &remote, &error_), "plain_text");
  options.secret = {};
  options.silence_ms = -1;
  is_refused(coordkit_remote_open(&options, &remote, &error_), "silence_ms");
  options.cluster.size = SIZE_MAX;
  EXPECT_EQ(checked(coordkit_remote_open(&options, &remote, &error_), error_), COORDKIT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(remote, nullptr);
}

TEST_F(CArgumentsTest, OptionsOfOlderAndNewerProgramsAreTaken) {
  struct Newer {
    coordkit_lock_options known;
    uint64_t unknown;
  } newer{};
  newer.known.struct_size = sizeof newer;
  newer.known.max_hold_ms = 7;
  c::Arguments taken;
  EXPECT_EQ(taken.options(&newer.known).max_hold_ms, 7);
  EXPECT_THAT(taken.status(), IsOk());
  newer.unknown = 1;
  taken.options(&newer.known);
  EXPECT_EQ(checked(c::answer(taken.status(), &error_), error_), COORDKIT_UNIMPLEMENTED);
  EXPECT_THAT(error_.sentence, HasSubstr("older than the header"));
  for (const size_t size : {size_t{0}, c::first_size(&newer.known) - 1, size_t{SIZE_MAX}}) {
    c::Arguments refused;
    newer.known.struct_size = size;
    refused.options(&newer.known);
    is_refused(c::answer(refused.status(), &error_), "struct_size");
  }
}

#if defined(__LP64__)
// A program that was compiled with the header of 0.1 has these numbers in it.
TEST_F(CArgumentsTest, TheStructsOfVersion01KeepTheirLayout) {
  EXPECT_EQ(sizeof(coordkit_bytes), 16u);
  EXPECT_EQ(sizeof(coordkit_error), 1072u);
  EXPECT_EQ(offsetof(coordkit_error, sentence_size), 40u);
  EXPECT_EQ(sizeof(coordkit_entry), 64u);
  const coordkit_remote_options* remote = nullptr;
  const coordkit_session_options* session = nullptr;
  const coordkit_lock_options* lock = nullptr;
  const coordkit_write_options* write = nullptr;
  const coordkit_completion* completion = nullptr;
  EXPECT_EQ(c::first_size(remote), 80u);
  EXPECT_EQ(c::first_size(session), 48u);
  EXPECT_EQ(c::first_size(lock), 64u);
  EXPECT_EQ(c::first_size(write), 40u);
  EXPECT_EQ(c::first_size(completion), 1136u);
  EXPECT_EQ(offsetof(coordkit_link, why), 24u);
  EXPECT_EQ(offsetof(coordkit_leader, value), 24u);
}
#endif

TEST_F(CArgumentsTest, NoExceptionPasses) {
  EXPECT_EQ(checked(c::guarded(&error_, []() -> absl::Status { throw std::bad_alloc(); }), error_),
            COORDKIT_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(error_.reason_name, "OutOfMemory");
  EXPECT_EQ(checked(c::guarded(&error_, []() -> absl::Status { throw std::runtime_error("why"); }), error_), COORDKIT_UNKNOWN);
  EXPECT_STREQ(error_.sentence, "why");
  EXPECT_EQ(checked(c::guarded(&error_, []() -> absl::Status { throw 1; }), error_), COORDKIT_UNKNOWN);
}

TEST_F(CArgumentsTest, ALongSentenceIsCutBetweenCharacters) {
  std::string sentence = "x";
  while (sentence.size() < 2000) sentence += "\xC3\xA9";
  c::answer(make_error(Reason::InvalidArgument, sentence), &error_);
  EXPECT_EQ(error_.sentence_size, sizeof error_.sentence - 1);
  c::answer(make_error(Reason::InvalidArgument, "x" + sentence), &error_);
  EXPECT_EQ(error_.sentence_size, sizeof error_.sentence - 2);
}

TEST_F(CArgumentsTest, TimesSaturate) {
  EXPECT_EQ(c::timeout_from(0), Duration::zero());
  EXPECT_EQ(c::timeout_from(COORDKIT_FOREVER), kForever);
  EXPECT_EQ(c::timeout_from(INT64_MAX), kForever);
  EXPECT_EQ(c::timeout_from(1500), 1500ms);
  EXPECT_EQ(c::milliseconds_of(1999us), 1);
  EXPECT_EQ(c::milliseconds_of(-5s), 0);
}

}  // namespace
}  // namespace coordkit::testkit
