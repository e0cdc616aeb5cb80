// The report on directories that real replicas left behind, intact and damaged in every way that a disk or a hand can.
#include "coordkit/operate/inspect.h"

#include <sys/stat.h>

#include <atomic>
#include <random>
#include <thread>

#include "tests/unit/backup/scene.h"

namespace coordkit::testkit {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class InspectTest : public ::testing::Test {
 protected:
  void fill(int keys) {
    ASSERT_NO_FATAL_FAILURE(cluster.open(busy(cluster.options(1))));
    ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());
    ASSERT_NO_FATAL_FAILURE(put_keys(cluster[1], 0, keys));
  }
  std::string directory() const { return cluster.options(1).data_dir; }
  DirectoryReport look(bool verify = true) {
    auto report = inspect_directory(directory(), {.verify = verify});
    EXPECT_THAT(report.status(), IsOk());
    return report.ok() ? *std::move(report) : DirectoryReport{};
  }

  Cluster cluster{1};
};

TEST_F(InspectTest, AnIntactDirectoryIsToldAsItsReplicaHadIt) {
  ASSERT_NO_FATAL_FAILURE(fill(40));
  Session session = cluster.session(1);
  const auto a = session.acquire("a", {.timeout = kPatience});
  const auto b = session.acquire("b", {.timeout = kPatience});
  ASSERT_THAT(b.status(), IsOk());
  const Revision revision = cluster[1].put("last", "one")->revision;
  const Health health = cluster[1].health();
  cluster.close(1);

  const DirectoryReport report = look();
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_EQ(report.cluster, "test");
  EXPECT_EQ(report.replica, ReplicaId(1));
  EXPECT_EQ(report.boot, BootCounter(1));
  ASSERT_TRUE(report.log && report.checkpoint && report.state);
  EXPECT_TRUE(report.checkpoint->applied.index);
  EXPECT_EQ(report.log->hard_state.term, health.term);
  EXPECT_GE(report.log->last.index, health.applied);
  EXPECT_FALSE(report.log->segments.empty());
  EXPECT_EQ(report.log->terms.back().last, report.log->last.index);
  const ClusterReport& state = *report.state;
  EXPECT_EQ(state.at, report.log->last);
  EXPECT_EQ(state.cluster, health.cluster);
  EXPECT_EQ(state.keys, 41u);
  EXPECT_EQ(state.revision, revision);
  EXPECT_EQ(state.sessions, 1u);
  EXPECT_EQ(state.locks, 2u);
  EXPECT_EQ(state.claims, 2u);
  EXPECT_GE(state.last_token, b->token());
  EXPECT_GT(state.last_token.value(), state.token_base);
  ASSERT_EQ(state.members.voters.size(), 1u);
  EXPECT_EQ(state.members.voters[0].store, report.store);
  EXPECT_THAT(state.machines, ElementsAre(kCoordination));
}

TEST_F(InspectTest, NotAByteChangesAndTheReplicaStartsAgain) {
  ASSERT_NO_FATAL_FAILURE(fill(40));
  cluster.close(1);
  const auto before = tree(directory());
  look(true);
  look(false);
  EXPECT_EQ(tree(directory()), before);
  ASSERT_NO_FATAL_FAILURE(cluster.open(1));
  ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());
  expect_keys(cluster[1], 40);
}

// Covers: FLT_D13
TEST_F(InspectTest, ADirectoryInUseIsRefusedAndItsReplicaGoesOn) {
  ASSERT_NO_FATAL_FAILURE(fill(5));
  const absl::Status refused = inspect_directory(directory()).status();
  EXPECT_THAT(refused, Is(Reason::InUse));
  EXPECT_THAT(std::string(sentence_of(refused)), HasSubstr("stop it first"));
  ASSERT_NO_FATAL_FAILURE(put_keys(cluster[1], 5, 5));
}

TEST_F(InspectTest, OneInUseIsLookedAtInACopyThatIsGoneAfterwards) {
  ASSERT_NO_FATAL_FAILURE(fill(100));
  const Folder temporary;
  const auto report = inspect_directory(directory(), {.copy_in = temporary.path()});
  ASSERT_THAT(report.status(), IsOk());
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_THAT(report->notes, ElementsAre(HasSubstr("from a copy")));
  EXPECT_EQ(report->path, directory());
  ASSERT_TRUE(report->state);
  EXPECT_EQ(report->state->keys, 100u);
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  EXPECT_THAT(cluster[1].put("after", "all").status(), IsOk());
}

// It was advised to choose an empty one.
TEST_F(InspectTest, AFolderOfSomethingElseIsSaidToBeNoDataDirectory) {
  const fs::path other = fs::path(directory()).parent_path() / "other";
  fs::create_directories(other);
  for (const char* file : {"", "notes.txt"}) {
    if (*file != 0) write_file(other / file, "mine");
    const absl::Status refused = inspect_directory(other).status();
    EXPECT_THAT(refused, Is(Reason::ForeignData));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("is not the data directory of a replica"));
  }
}

TEST_F(InspectTest, ACopyWithoutRoomOrPlaceIsRefusedWithTheReason) {
  ASSERT_NO_FATAL_FAILURE(fill(1));
  const auto report = inspect_directory(directory(), {.copy_in = directory() + "/nowhere"});
  EXPECT_EQ(reason_of(report.status()), Reason::StorageFailed);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("No such file"));
}

// A write that was acknowledged before the copy was begun is in it. Problems of a copy are called doubtful, and a last one,
// with no writer left, has none.
TEST_F(InspectTest, ACopyUnderLoadHoldsWhatWasAcknowledgedBefore) {
  ASSERT_NO_FATAL_FAILURE(fill(10));
  const Folder temporary;
  std::atomic<uint64_t> acknowledged{10};
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (int number = 10; !over; ++number) {
      if (cluster[1].put("key-" + std::to_string(number), std::string(500, 'v')).ok()) ++acknowledged;
    }
  });
  for (int look = 0; look < 8; ++look) {
    const uint64_t before = acknowledged;
    const auto report = inspect_directory(directory(), {.copy_in = temporary.path()});
    EXPECT_THAT(report.status(), IsOk());
    if (!report.ok()) continue;
    if (report->problems.empty()) {
      EXPECT_GE(report->state->keys, before);
    } else {
      EXPECT_THAT(report->notes, Contains(HasSubstr("each of 5 copies")));
    }
  }
  over = true;
  writer.join();
  const auto last = inspect_directory(directory(), {.copy_in = temporary.path()});
  ASSERT_THAT(last.status(), IsOk());
  EXPECT_THAT(last->problems, IsEmpty());
  EXPECT_EQ(last->state->keys, acknowledged);
}

// Covers: FLT_D13
TEST_F(InspectTest, WhatIsNoDataDirectoryIsToldApart) {
  Folder folder;
  EXPECT_THAT(inspect_directory(folder.path() / "missing").status(), Is(Reason::NotFound));
  EXPECT_THAT(inspect_directory(folder.path()).status(), Is(Reason::ForeignData)) << "an empty one";
  write_file(folder.path() / "letter", "hello");
  EXPECT_THAT(inspect_directory(folder.path()).status(), Is(Reason::ForeignData));
  EXPECT_THAT(inspect_directory(folder.path() / "letter").status(), Is(Reason::ForeignData)) << "a file";
}

TEST_F(InspectTest, ABlankReplicaIsNoProblem) {
  Cluster pair(2);
  ASSERT_NO_FATAL_FAILURE(pair.open(1));
  const std::string blank = pair.options(1).data_dir;
  pair.close(1);
  const auto report = inspect_directory(blank);
  ASSERT_THAT(report.status(), IsOk());
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_THAT(report->notes, ElementsAre(HasSubstr("blank")));
  EXPECT_FALSE(report->state);
}

// Covers: FLT_D06
TEST_F(InspectTest, ASpoiledCopyOfAHeaderOfASegmentIsAProblem) {
  ASSERT_NO_FATAL_FAILURE(fill(40));
  cluster.close(1);
  size_t segments = 0;
  for (const auto& [path, intact] : tree(fs::path(directory()) / "log")) {
    if (!path.ends_with(".seg")) continue;
    ++segments;
    const fs::path file = fs::path(directory()) / "log" / path;
    for (const size_t at : {40, 4096 + 40}) {
      std::string spoiled = intact;
      spoiled[at] ^= 1;
      write_file(file, spoiled);
      const std::string problem = "one of the two copies of the header of " + path +
                                  " does not verify; a scrub of the running replica writes it again: check the disk";
      EXPECT_THAT(look().problems, ElementsAre(problem));
      EXPECT_THAT(look(false).problems, ElementsAre(problem));
    }
    write_file(file, intact);
  }
  EXPECT_GE(segments, 1U);
  EXPECT_THAT(look().problems, IsEmpty());
}

TEST_F(InspectTest, MissingFilesAreNamed) {
  ASSERT_NO_FATAL_FAILURE(fill(40));
  cluster.close(1);
  const fs::path data = directory();
  const fs::path aside = data.parent_path() / "aside";
  fs::rename(data / "state/data.mdb", aside);
  EXPECT_THAT(look().problems, Contains(HasSubstr("the log starts after entry")));
  ASSERT_EQ(::mkfifo((data / "state/data.mdb").c_str(), 0600), 0);
  EXPECT_THAT(look().problems, Not(IsEmpty())) << "a pipe is no checkpoint, and its contents are not awaited";
  fs::remove(data / "state/data.mdb");
  fs::rename(aside, data / "state/data.mdb");
  fs::rename(data / "identity", aside);
  EXPECT_THAT(inspect_directory(directory()).status(), HasCode(absl::StatusCode::kDataLoss));
  fs::rename(aside, data / "identity");
  write_file(data / "log/notes.txt", "mine");
  EXPECT_THAT(look().problems, Contains(HasSubstr("notes.txt")));
  fs::remove(data / "log/notes.txt");
  fs::rename(data / "log", aside);
  EXPECT_THAT(look().problems, Not(IsEmpty()));
  fs::rename(aside, data / "log");
  EXPECT_THAT(look().problems, IsEmpty());
}

// One damaged file at a time. Whatever was done to it, the answer is a sentence, or the truth.
class SpoiledDirectoryTest : public InspectTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(fill(60));
    cluster.close(1);
    ASSERT_THAT(backup_directory(directory(), truth).status(), IsOk());
    info = *check_backup(truth);
  }

  void expect_truth_or_a_sentence(const fs::path& file, const std::string& how) {
    SCOPED_TRACE(file.filename().string() + ": " + how);
    const auto report = inspect_directory(directory(), {.verify = true});
    const std::string made = folder.path() / "made";
    const auto backup = backup_directory(directory(), made);
    EXPECT_TRUE(report.ok() || fault_of_sentence(report.status()).empty()) << report.status();
    EXPECT_TRUE(backup.ok() || fault_of_sentence(backup.status()).empty()) << backup.status();
    EXPECT_FALSE(fs::exists(made + ".coordkit-part"));
    if (!backup.ok()) {
      EXPECT_FALSE(fs::exists(made));
      EXPECT_TRUE(!report.ok() || !report->problems.empty()) << "refused as " << backup.status() << ", but nothing was said";
      return;
    }
    const auto taken = check_backup(made);
    EXPECT_THAT(taken.status(), IsOk());
    if (taken.ok() && taken->applied == info.applied) {
      EXPECT_EQ(read_file(made), read_file(truth)) << "another state after the same entry";
    } else {  // without a mark behind it, it looks like a write cut short by a crash
      EXPECT_TRUE(file.parent_path().filename() == "log");
      EXPECT_TRUE(taken.ok() && taken->applied.index < info.applied.index);
    }
    fs::remove(made);
  }

  template <typename Spoil>
  void try_one(const fs::path& file, const std::string& how, Spoil spoil) {
    const std::string intact = read_file(file);
    spoil(intact);
    expect_truth_or_a_sentence(file, how);
    write_file(file, intact);
  }

  void try_all(const fs::path& file, int places) {
    std::mt19937_64 draw(std::hash<std::string>()(file.filename()));
    const uint64_t bytes = fs::file_size(file);
    try_one(file, "removed", [&](const std::string&) { fs::remove(file); });
    try_one(file, "emptied", [&](const std::string&) { write_file(file, ""); });
    for (int i = 0; i < places && bytes != 0; ++i) {
      const uint64_t reach = i % 2 == 0 ? bytes : std::min<uint64_t>(bytes, 64 << 10);  // most of what matters is at the front
      const uint64_t at = draw() % reach;
      try_one(file, "a bit at " + std::to_string(at), [&](std::string flipped) {
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
        write_file(file, flipped);
      });
      try_one(file, "a block of zeros at " + std::to_string(at), [&](std::string zeroed) {
        const uint64_t first = at / 4096 * 4096;
        for (uint64_t j = first; j < std::min(bytes, first + 4096); ++j) zeroed[j] = '\0';
        write_file(file, zeroed);
      });
      try_one(file, "cut at " + std::to_string(at), [&](const std::string&) { fs::resize_file(file, at); });
    }
  }

  Folder folder;
  const std::string truth = folder.path() / "truth";
  BackupInfo info;
};

TEST_F(SpoiledDirectoryTest, AnySpoiledFileIsNamedOrStillReadTruly) {
  for (const auto& entry : fs::recursive_directory_iterator(directory())) {
    if (!entry.is_regular_file() || entry.path().filename() == "reserve" || entry.path().extension() == ".spare") continue;
    try_all(entry.path(), 12);
  }
  expect_truth_or_a_sentence(fs::path(directory()) / "log" / "all", "intact again");
  EXPECT_THAT(look().problems, IsEmpty());
}

TEST_F(SpoiledDirectoryTest, FilesOfAnotherReplicaAreRefused) {
  Cluster other(1);
  ASSERT_NO_FATAL_FAILURE(other.open(busy(other.options(1))));
  ASSERT_THAT(other[1].wait_ready(kPatience), IsOk());
  ASSERT_NO_FATAL_FAILURE(put_keys(other[1], 100, 60));
  const fs::path foreign = other.options(1).data_dir;
  other.close(1);
  const fs::path file = fs::path(directory()) / "state/data.mdb";
  try_one(file, "another replica's", [&](const std::string&) { write_file(file, read_file(foreign / "state/data.mdb")); });
  const fs::path identity = fs::path(directory()) / "identity";
  try_one(identity, "another replica's", [&](const std::string&) { write_file(identity, read_file(foreign / "identity")); });
}

}  // namespace
}  // namespace coordkit::testkit
