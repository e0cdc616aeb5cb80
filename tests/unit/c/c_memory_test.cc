// The C interface while allocations of the calling thread fail: each call answers with a status, and an asynchronous one has as
// many completions as it promised.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>

#include "coordkit/c/coordkit_remote.h"
#include "tests/unit/c/c_caller.h"

namespace coordkit::testkit {
namespace {

// Of this thread: how many allocations succeed before one fails. Negative: none fails.
thread_local long until_failure = -1;
thread_local bool also_later = false;
thread_local bool has_failed = false;

bool fails_now() {
  if (until_failure < 0 || until_failure-- > 0) return false;
  until_failure = also_later ? 0 : -1;
  has_failed = true;
  return true;
}

void* allocate(size_t size) {
  void* const place = fails_now() ? nullptr : std::malloc(size > 0 ? size : 1);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

}  // namespace
}  // namespace coordkit::testkit

void* operator new(size_t size) { return coordkit::testkit::allocate(size); }
void* operator new[](size_t size) { return coordkit::testkit::allocate(size); }
void operator delete(void* place) noexcept { std::free(place); }
void operator delete[](void* place) noexcept { std::free(place); }
void operator delete(void* place, size_t) noexcept { std::free(place); }
void operator delete[](void* place, size_t) noexcept { std::free(place); }

namespace coordkit::testkit {
namespace {

class CMemoryTest : public CRemoteTest {
 protected:
  // Makes the call again and again, and each time another of its allocations fails: that one alone, and then all that follow,
  // too. `undo` follows each call that succeeded. Answers how often the call succeeded.
  size_t with_failures(const std::function<coordkit_status()>& call, const std::function<void()>& undo) {
    size_t successes = 0;
    for (const bool later : {false, true}) {
      for (long nth = 0;; ++nth) {
        has_failed = false;
        also_later = later;
        until_failure = nth;
        const coordkit_status status = call();
        until_failure = -1;
        checked(status, error_);
        if (status == COORDKIT_OK) ++successes;
        if (status == COORDKIT_OK) undo();
        EXPECT_TRUE(status == COORDKIT_OK || (has_failed && status == COORDKIT_RESOURCE_EXHAUSTED)) << error_.sentence;
        if (!has_failed || HasFailure()) break;
      }
    }
    return successes;
  }
};

TEST_F(CMemoryTest, HandlesAreMadeOrRefused) {
  coordkit_session* session = nullptr;
  coordkit_grant* grant = nullptr;
  coordkit_watch* watch = nullptr;
  coordkit_observation* observation = nullptr;
  coordkit_link* link = nullptr;
  coordkit_leader* leader = nullptr;
  with_failures([&] { return coordkit_session_open(remote_, nullptr, kPatienceMs, &session, &error_); },
                [&] { coordkit_session_free(session); });
  with_failures([&] { return coordkit_acquire(session_, "m", 1, nullptr, kPatienceMs, &grant, &error_); },
                [&] { coordkit_grant_free(grant); });
  with_failures([&] { return coordkit_campaign(session_, "e", 1, "v", 1, kPatienceMs, &grant, &error_); },
                [&] { coordkit_grant_free(grant); });
  with_failures([&] { return coordkit_watch_open(remote_, "k", 1, 0, 0, 0, &watch, &error_); },
                [&] { coordkit_watch_free(watch); });
  with_failures([&] { return coordkit_election_observe(session_, "e", 1, 3, &observation, &error_); },
                [&] { coordkit_observation_free(observation); });
  with_failures([&] { return coordkit_remote_link(remote_, &link, &error_); }, [&] { coordkit_link_free(link); });
  with_failures([&] { return coordkit_election_leader(session_, "e", 1, &leader, &error_); },
                [&] { coordkit_leader_free(leader); });
}

TEST_F(CMemoryTest, KeysAreWrittenAndReadOrNot) {
  coordkit_entries* entries = nullptr;
  int64_t value = 0;
  const auto nothing = [] {};
  const auto freed = [&] { coordkit_entries_free(entries); };
  with_failures([&] { return coordkit_put(remote_, "k", 1, "v", 1, nullptr, kPatienceMs, nullptr, &error_); }, nothing);
  with_failures([&] { return coordkit_get(remote_, "k", 1, kPatienceMs, &entries, &error_); }, freed);
  with_failures([&] { return coordkit_list(remote_, "k", 1, kPatienceMs, &entries, &error_); }, freed);
  with_failures([&] { return coordkit_erase(remote_, "k", 1, nullptr, kPatienceMs, nullptr, &error_); }, nothing);
  with_failures([&] { return coordkit_counter_add(remote_, "n", 1, 1, &value, &error_); }, nothing);
  with_failures([&] { return coordkit_counter_get(remote_, "n", 1, &value, &error_); }, nothing);
}

TEST_F(CMemoryTest, AWatchLosesNoBatch) {
  coordkit_watch* watch = nullptr;
  coordkit_entries* batch = nullptr;
  ASSERT_EQ(coordkit_watch_open(remote_, "k", 1, 0, 0, 0, &watch, &error_), COORDKIT_OK);
  ASSERT_EQ(coordkit_watch_next(watch, kPatienceMs, &batch, &error_), COORDKIT_OK) << error_.sentence;
  coordkit_entries_free(batch);
  uint64_t written = 0;
  ASSERT_EQ(put("k", "v", nullptr, &written), COORDKIT_OK);
  for (long nth = 0; nth < 8; ++nth) {
    also_later = true;
    until_failure = nth;
    const coordkit_status status = coordkit_watch_next(watch, kPatienceMs, &batch, &error_);
    until_failure = -1;
    if (status == COORDKIT_OK) break;
    EXPECT_EQ(status, COORDKIT_RESOURCE_EXHAUSTED) << error_.sentence;
    batch = nullptr;
  }
  ASSERT_EQ(coordkit_entries_count(batch), 1u);
  EXPECT_EQ(coordkit_entries_revision(batch), written);
  coordkit_entries_free(batch);
  coordkit_watch_free(watch);
}

TEST_F(CMemoryTest, ACompletionComesForEachCallThatBegan) {
  size_t expected = 0;
  const auto nothing = [] {};
  expected += with_failures([&] { return coordkit_session_open_async(remote_, nullptr, kPatienceMs, 1, &error_); }, nothing);
  expected += with_failures([&] { return coordkit_acquire_async(session_, "m", 1, nullptr, -1, 1, &error_); }, nothing);
  expected += with_failures([&] { return coordkit_campaign_async(session_, "e", 1, "v", 1, -1, 1, &error_); }, nothing);
  expected += with_failures([&] { return coordkit_put_async(remote_, "k", 1, "v", 1, nullptr, -1, 1, &error_); }, nothing);
  expected += with_failures([&] { return coordkit_get_async(remote_, "k", 1, -1, 1, &error_); }, nothing);
  expected += with_failures([&] { return coordkit_erase_async(remote_, "k", 1, nullptr, -1, 1, &error_); }, nothing);
  for (size_t i = 0; i < expected && !HasFailure(); ++i) {
    const coordkit_completion completion = next();
    EXPECT_EQ(completion.tag, 1u);
    coordkit_grant_free(completion.grant);
    coordkit_session_free(completion.session);
    coordkit_entries_free(completion.entries);
  }
  EXPECT_EQ(coordkit_remote_close(remote_, &error_), COORDKIT_OK);  // what still ran would end here
  coordkit_completion more{};
  more.struct_size = sizeof more;
  EXPECT_EQ(coordkit_poll(remote_, &more, &error_), COORDKIT_NOT_FOUND) << more.error.sentence;
}

}  // namespace
}  // namespace coordkit::testkit
