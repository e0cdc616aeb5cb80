// A replica whose files are damaged while it runs, and one restarted in the process in which it had stopped: real files.
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

struct SpoiledDiskTest : ::testing::Test {
  Cluster cluster{1};
  const std::filesystem::path data = cluster.options(1).data_dir;

  ReplicaOptions small() const {
    ReplicaOptions options = cluster.options(1);
    options.checkpoint_entries = 8;
    options.log_retained_bytes = 0;
    options.segment_bytes = 64 << 10;
    options.scrub_bytes_per_second = uint64_t{1} << 30;
    return options;
  }
  void open() {
    ASSERT_NO_FATAL_FAILURE(cluster.open(small()));
    ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());
  }
  void put(int from, int count) {
    for (int i = from; i < from + count; ++i) {
      ASSERT_THAT(cluster[1].put("key-" + std::to_string(i), std::string(500, 'v')).status(), IsOk());
    }
  }
  void expect_keys(int count) {
    for (int i = 0; i < count; ++i) {
      const auto got = cluster[1].get("key-" + std::to_string(i));
      ASSERT_THAT(got.status(), IsOk());
      EXPECT_TRUE(got->entry) << i;
    }
  }
  bool warned(std::string_view word) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      for (const std::string& warning : cluster[1].health().warnings) {
        if (warning.find(word) != std::string::npos) return true;
      }
      std::this_thread::yield();
    }
    return false;
  }
  // Overwrites pages with zeros, in place.
  static void zero(const std::filesystem::path& file, uint64_t from, uint64_t bytes) {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(from));
    out << std::string(bytes, '\0');
  }
};

// Covers: FLT_D08
TEST_F(SpoiledDiskTest, AScrubFindsARottenCheckpointAndItIsWrittenAnew) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(put(0, 50));
  EXPECT_THAT(cluster[1].scrub_now(), IsOk());
  const auto file = data / "state/data.mdb";
  zero(file, 8192, std::filesystem::file_size(file) - 8192);
  EXPECT_THAT(cluster[1].scrub_now(), HasCode(absl::StatusCode::kDataLoss));
  ASSERT_TRUE(warned("was written again from memory"));
  EXPECT_THAT(cluster[1].scrub_now(), IsOk());
  ASSERT_NO_FATAL_FAILURE(put(50, 20));
  cluster.close(1);
  ASSERT_NO_FATAL_FAILURE(open());
  expect_keys(70);
}

// Covers: FLT_D15
TEST_F(SpoiledDiskTest, AStateThatIsRemovedIsWrittenAnewBeforeAnyLogGoes) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(put(0, 20));
  std::filesystem::remove_all(data / "state");
  ASSERT_NO_FATAL_FAILURE(put(20, 40));
  ASSERT_TRUE(warned("was written again from memory"));
  cluster.close(1);
  ASSERT_NO_FATAL_FAILURE(open());
  expect_keys(60);
}

// Covers: FLT_D06
TEST_F(SpoiledDiskTest, AScrubFindsRottenEntriesAndACheckpointTakesTheirPlace) {
  ReplicaOptions options = small();
  options.checkpoint_entries = 1000;  // what rots is only in the log
  ASSERT_NO_FATAL_FAILURE(cluster.open(options));
  ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());
  ASSERT_NO_FATAL_FAILURE(put(0, 5));
  for (const auto& file : std::filesystem::directory_iterator(data / "log")) {
    if (file.path().extension() == ".spare") continue;
    std::fstream segment(file.path(), std::ios::binary | std::ios::in | std::ios::out);
    const std::string bytes{std::istreambuf_iterator<char>(segment), std::istreambuf_iterator<char>()};
    const size_t at = bytes.rfind(std::string(100, 'v'));
    if (at == std::string::npos) continue;
    segment.clear();
    segment.seekp(static_cast<std::streamoff>(at));
    segment << "rot";
  }
  EXPECT_THAT(cluster[1].scrub_now(), HasCode(absl::StatusCode::kDataLoss));
  ASSERT_TRUE(warned("were replaced by the checkpoint"));
  EXPECT_THAT(cluster[1].scrub_now(), IsOk());
  EXPECT_EQ(cluster[1].health().state, ReplicaState::Ready);
}

// A restart reads this first, and nothing else before.
// Covers: FLT_D06
TEST_F(SpoiledDiskTest, AScrubWritesASpoiledHeaderOfASegmentAgainAndReportsIt) {
  std::mutex mutex;
  std::condition_variable changed;
  std::string reported;
  ReplicaOptions options = small();
  options.checkpoint_entries = 1000;
  options.on_event = [&](const ReplicaEvent& event) {
    if (event.kind != ReplicaEventKind::DiskDamaged) return;
    const std::scoped_lock lock(mutex);
    reported = event.sentence;
    changed.notify_all();
  };
  ASSERT_NO_FATAL_FAILURE(cluster.open(options));
  ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());
  ASSERT_NO_FATAL_FAILURE(put(0, 300));
  const auto header_of = [](const std::filesystem::path& file) {
    std::string bytes(8192, '\0');
    std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  };
  std::map<std::filesystem::path, std::string> headers;
  for (const auto& file : std::filesystem::directory_iterator(data / "log")) {
    if (file.path().extension() == ".seg") headers[file.path()] = header_of(file.path());
  }
  ASSERT_GE(headers.size(), 2U);
  for (const auto& [file, header] : headers) {
    for (const auto& [from, bytes, copies] :
         {std::tuple(0U, 64U, "one of the two copies"), std::tuple(4096U, 64U, "one of the two copies"),
          std::tuple(0U, 8192U, "both copies")}) {
      zero(file, from, bytes);
      const absl::Status found = cluster[1].scrub_now();
      EXPECT_THAT(found, HasCode(absl::StatusCode::kDataLoss));
      const std::string sentence =
          copies + std::string(" of the header of ") + file.filename().string() + " did not verify; it is written again";
      EXPECT_EQ(sentence_of(found), sentence);
      EXPECT_EQ(header_of(file), header) << sentence;
      EXPECT_THAT(cluster[1].scrub_now(), IsOk());
      std::unique_lock lock(mutex);
      EXPECT_TRUE(changed.wait_for(lock, kPatience, [&] {
        return reported == "the log on this disk was damaged: " + sentence;
      })) << reported;
    }
  }
  cluster.close(1);
  ASSERT_NO_FATAL_FAILURE(open());
  expect_keys(300);
}

// Without a restart of the process: everything the halted replica had open is closed.
// Covers: FLT_D15
TEST_F(SpoiledDiskTest, AReplicaThatHaltedIsOpenedAgainInTheSameProcess) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(put(0, 20));
  const auto kept = data.parent_path() / "kept";
  std::filesystem::create_directory(kept);
  const auto exchange = [](const std::filesystem::path& from, const std::filesystem::path& to) {
    for (const auto& file : std::filesystem::directory_iterator(from)) {
      std::filesystem::rename(file.path(), to / file.path().filename());
    }
  };
  exchange(data / "log", kept);
  std::filesystem::remove(data / "log");
  int acknowledged = 20;
  while (cluster[1].health().state != ReplicaState::Halted && acknowledged < 10'000) {
    if (!cluster[1].put("key-" + std::to_string(acknowledged), std::string(500, 'v'), {.timeout = 5s}).ok()) break;
    ++acknowledged;
  }
  ASSERT_EQ(cluster[1].health().state, ReplicaState::Halted) << acknowledged;
  EXPECT_FALSE(cluster[1].health().reason.empty());
  cluster.close(1);
  std::filesystem::create_directory(data / "log");
  exchange(kept, data / "log");
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(expect_keys(acknowledged));
  ASSERT_NO_FATAL_FAILURE(put(acknowledged, 20));
}

TEST_F(SpoiledDiskTest, BadScrubOptionsAreRefused) {
  ReplicaOptions options = small();
  options.scrub_every = 1ms;
  EXPECT_THAT(options.validate(), Is(Reason::InvalidArgument));
  options = small();
  options.scrub_bytes_per_second = 0;
  EXPECT_THAT(options.validate(), Is(Reason::InvalidArgument));
}

}  // namespace
}  // namespace coordkit::testkit
