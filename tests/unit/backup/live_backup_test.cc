// Backups of running replicas, and the clusters made from them.
#include <atomic>
#include <future>
#include <thread>

#include "coordkit/error.h"
#include "coordkit/ports/parts.h"
#include "coordkit/storage/lmdb_state_store.h"
#include "tests/proof/conformance/state_wrapper.h"
#include "tests/unit/backup/scene.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

class LiveBackupTest : public ::testing::Test {
 protected:
  Cluster original{3};
  Folder folder;
  const std::string file = folder.path() / "backup";
};

// Writes keys one after the other on one replica until stopped; a key is counted when it is acknowledged.
class Writer {
 public:
  explicit Writer(Replica& replica, int first = 0) : acknowledged_(first), thread_([this, &replica] { run(replica); }) {}
  ~Writer() { stop(); }
  int acknowledged() const { return acknowledged_; }
  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run(Replica& replica) {
    while (!stopping_) {
      put_keys(replica, acknowledged_, 1);
      ++acknowledged_;
    }
  }

  std::atomic<bool> stopping_{false};
  std::atomic<int> acknowledged_{0};
  std::thread thread_;
};

// How many of key-0, key-1, ... exist; the first missing one ends it.
int keys_of(Replica& replica) {
  int count = 0;
  while (true) {
    const auto got = replica.get("key-" + std::to_string(count));
    EXPECT_THAT(got.status(), IsOk());
    if (!got.ok() || !got->entry) return count;
    ++count;
  }
}

TEST_F(LiveBackupTest, ABackupUnderLoadHasAllThatWasAcknowledgedBeforeIt) {
  ASSERT_NO_FATAL_FAILURE(original.open_all());
  int written = 0;
  for (uint64_t id = 1; id <= 3; ++id) {  // leader and followers
    Writer writer(original[id % 3 + 1], written);
    ASSERT_TRUE(eventually([&] { return writer.acknowledged() >= written + 20; }));
    const int before = writer.acknowledged();
    const std::string one = file + std::to_string(id);
    const auto made = original[id].backup(one, {.timeout = kPatience});
    ASSERT_THAT(made.status(), IsOk());
    writer.stop();
    written = writer.acknowledged();
    EXPECT_EQ(made->cluster, "test");
    EXPECT_EQ(made->replica, ReplicaId(id));
    ASSERT_THAT(check_backup(one).status(), IsOk());
    RestoredCluster restored(1);
    ASSERT_THAT(restore_backup(one, restored.restore_options()).status(), IsOk());
    ASSERT_NO_FATAL_FAILURE(restored.open_all());
    const int saved = keys_of(restored[1]);
    EXPECT_GE(saved, before);
    EXPECT_LE(saved, writer.acknowledged());
  }
}

// Covers: INV_L04
TEST_F(LiveBackupTest, ARestoredClusterEndsTheSessionsAndGrantsAboveAllTokens) {
  ASSERT_NO_FATAL_FAILURE(original.open_all());
  Session session = original.session(2, 8s);
  auto grant = session.acquire("billing", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  Writer writer(original[1]);
  const auto made = original[1].backup(file, {.timeout = kPatience});
  ASSERT_THAT(made.status(), IsOk());
  EXPECT_GE(made->last_token, grant->token());
  Token highest = grant->token();
  for (int i = 0; i < 10; ++i) {  // granted after the backup, which cannot know of them
    auto later = session.acquire("later-" + std::to_string(i), {.timeout = kPatience});
    ASSERT_THAT(later.status(), IsOk());
    highest = std::max(highest, later->token());
  }
  writer.stop();
  RestoredCluster restored(3);
  ASSERT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(restored.open_all());
  auto next = restored[3].open_session({.ttl = 10s, .timeout = kPatience});
  ASSERT_THAT(next.status(), IsOk());
  auto again = next->acquire("billing", {.timeout = kPatience});  // once the old session's TTL has passed
  ASSERT_THAT(again.status(), IsOk());
  EXPECT_GT(again->token(), highest);
}

TEST_F(LiveBackupTest, WithoutAMajorityOnlyALocalOneIsMade) {
  ASSERT_NO_FATAL_FAILURE(original.open_all());
  ASSERT_NO_FATAL_FAILURE(put_keys(original[1], 0, 30));
  ASSERT_TRUE(eventually([&] { return original[3].health().applied >= original[1].health().commit; }));
  original.close(1);
  original.close(2);
  EXPECT_FALSE(original[3].backup(file, {.timeout = 500ms}).ok());
  EXPECT_FALSE(fs::exists(file));
  const auto made = original[3].backup(file, {.consistency = Consistency::Local, .timeout = kPatience});
  ASSERT_THAT(made.status(), IsOk());
  RestoredCluster restored(1);
  ASSERT_THAT(restore_backup(file, restored.restore_options()).status(), IsOk());
  ASSERT_NO_FATAL_FAILURE(restored.open_all());
  expect_keys(restored[1], 30);
}

TEST_F(LiveBackupTest, WhatStandsInTheWayIsSaidAndNothingIsLeft) {
  Cluster one(1);
  ASSERT_NO_FATAL_FAILURE(one.open_all());
  write_file(file, "precious");
  EXPECT_THAT(one[1].backup(file).status(), Is(Reason::AlreadyExists));
  EXPECT_EQ(read_file(file), "precious");
  const std::string nowhere = folder.path() / "missing" / "backup";
  EXPECT_EQ(one[1].backup(nowhere).status().code(), absl::StatusCode::kNotFound);
  ASSERT_THAT(one[1].close(), IsOk());
  EXPECT_THAT(one[1].backup(file + "2").status(), Is(Reason::Closed));
  EXPECT_FALSE(fs::exists(file + "2"));
}

TEST_F(LiveBackupTest, AFileThatCannotBeWrittenSaysNothingAboutTheCheckpoint) {
  Cluster one(1);
  ASSERT_NO_FATAL_FAILURE(one.open_all());
  ASSERT_NO_FATAL_FAILURE(put_keys(one[1], 0, 10));
  fs::create_directory(file + ".coordkit-part");
  EXPECT_THAT(one[1].backup(file).status(), Is(Reason::StorageFailed));
  ASSERT_NO_FATAL_FAILURE(put_keys(one[1], 10, 1));  // what the backup told the engine is done by then
  EXPECT_THAT(one[1].health().warnings, ::testing::IsEmpty());
  fs::remove(file + ".coordkit-part");
  EXPECT_THAT(one[1].backup(file).status(), IsOk());
}

TEST_F(LiveBackupTest, ABackupThatNobodyAwaitsIsGivenUpWhileItsStateIsWaitedFor) {
  class NeverDone final : public StateWrapper {  // every checkpoint waits, as on a full disk
   public:
    explicit NeverDone(std::shared_ptr<DataDirectory> directory) : store_(std::move(directory)) { set_inner(store_); }
    void commit(CheckpointBatch) override {}

   private:
    LmdbStateStore store_;
  };
  Cluster one(1);
  ReplicaOptions options = one.options(1);
  options.parts.state_store = [](const PartContext& part) -> absl::StatusOr<std::unique_ptr<StateStore>> {
    return std::make_unique<NeverDone>(part.directory());
  };
  ASSERT_NO_FATAL_FAILURE(one.open(options));
  ASSERT_NO_FATAL_FAILURE(put_keys(one[1], 0, 10));
  int asked = 0;
  EXPECT_THAT(one[1].backup(file, {.timeout = kPatience, .awaited = [&] { return ++asked < 3; }}).status(),
              Is(Reason::Cancelled));
  EXPECT_FALSE(fs::exists(file));
}

// The second time nothing has to be written: the checkpoint exists.
TEST_F(LiveBackupTest, AQuietReplicaIsSavedFromTheCheckpointThatItHas) {
  Cluster one(1);
  ASSERT_NO_FATAL_FAILURE(one.open_all());
  ASSERT_NO_FATAL_FAILURE(put_keys(one[1], 0, 10));
  const auto first = one[1].backup(file);
  ASSERT_THAT(first.status(), IsOk());
  const Index checkpointed = one[1].health().checkpointed;
  EXPECT_GE(checkpointed, first->applied.index);
  const auto second = one[1].backup(file + "2");
  ASSERT_THAT(second.status(), IsOk());
  EXPECT_EQ(second->applied, first->applied);
  EXPECT_EQ(read_file(file), read_file(file + "2"));
  EXPECT_EQ(one[1].health().checkpointed, checkpointed);
}

// The host changes its directory right before the checkpoint is read.
TEST_F(LiveBackupTest, ARelativeNameMeansWhatItMeansAtTheCall) {
  class MovesBeforeItIsRead final : public StateWrapper {
   public:
    MovesBeforeItIsRead(std::shared_ptr<DataDirectory> directory, std::string to)
        : store_(std::move(directory)), to_(std::move(to)) {
      set_inner(store_);
    }
    absl::StatusOr<std::unique_ptr<CheckpointView>> view() override {
      fs::current_path(to_);
      return inner().view();
    }

   private:
    LmdbStateStore store_;
    const std::string to_;
  };
  const fs::path elsewhere = folder.path() / "elsewhere";
  fs::create_directory(elsewhere);
  Cluster one(1);
  ReplicaOptions options = one.options(1);
  options.parts.state_store = [&](const PartContext& part) -> absl::StatusOr<std::unique_ptr<StateStore>> {
    return std::make_unique<MovesBeforeItIsRead>(part.directory(), elsewhere);
  };
  ASSERT_NO_FATAL_FAILURE(one.open(options));
  ASSERT_THAT(one[1].wait_ready(kPatience), IsOk());
  const WorkingDirectory here(folder.path());
  EXPECT_THAT(one[1].backup("backup").status(), IsOk());
  EXPECT_TRUE(fs::exists(file));
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

// A store in which a scan, once that is wanted, stops at its first row until the store is closed.
class StandsUntilClosed final : public StateWrapper {
 public:
  struct Moments {
    std::atomic<bool> wanted{false};
    std::promise<void> stands, closed;
  };
  StandsUntilClosed(std::shared_ptr<DataDirectory> directory, Moments& moments)
      : store_(std::move(directory)), moments_(moments) {
    set_inner(store_);
  }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override {
    absl::StatusOr<std::unique_ptr<CheckpointView>> inner_view = inner().view();
    if (!inner_view.ok()) return inner_view;
    return std::make_unique<View>(*std::move(inner_view), moments_);
  }
  void close() override {
    if (moments_.wanted) moments_.closed.set_value();
    inner().close();
  }

 private:
  class View final : public CheckpointView {
   public:
    View(std::unique_ptr<CheckpointView> inner, Moments& moments) : inner_(std::move(inner)), moments_(moments) {}
    Position applied() const override { return inner_->applied(); }
    bool installed() const override { return inner_->installed(); }
    uint64_t digest() const override { return inner_->digest(); }
    absl::Status scan(std::string_view prefix, Visitor visit) const override {
      bool stands = moments_.wanted && prefix.empty();
      return inner_->scan(prefix, [&](std::string_view key, std::string_view value) {
        if (std::exchange(stands, false)) {
          moments_.stands.set_value();
          moments_.closed.get_future().wait();
        }
        return visit(key, value);
      });
    }
    absl::Status scan_range(const KeyRange& range, Visitor visit) const override { return inner_->scan_range(range, visit); }

   private:
    const std::unique_ptr<CheckpointView> inner_;
    Moments& moments_;
  };
  LmdbStateStore store_;
  Moments& moments_;
};

// It ran to its end, and close() waited for that where the admin socket had been asked for it.
TEST_F(LiveBackupTest, ABackupUnderWayEndsWhenItsReplicaIsClosed) {
  StandsUntilClosed::Moments moments;
  Cluster one(1);
  ReplicaOptions options = one.options(1);
  options.parts.state_store = [&](const PartContext& part) -> absl::StatusOr<std::unique_ptr<StateStore>> {
    return std::make_unique<StandsUntilClosed>(part.directory(), moments);
  };
  ASSERT_NO_FATAL_FAILURE(one.open(options));
  ASSERT_NO_FATAL_FAILURE(put_keys(one[1], 0, 50));
  moments.wanted = true;
  std::thread saving([&] { EXPECT_THAT(one[1].backup(file).status(), Is(Reason::Closed)); });
  moments.stands.get_future().wait();
  EXPECT_THAT(one[1].close(), IsOk());
  saving.join();
  EXPECT_THAT(tree(folder.path()), ::testing::IsEmpty());
}

TEST_F(LiveBackupTest, AReplicaThatClosesMeanwhileAnswers) {
  for (int round = 0; round < 5; ++round) {
    Cluster one(1);
    ASSERT_NO_FATAL_FAILURE(one.open_all());
    ASSERT_NO_FATAL_FAILURE(put_keys(one[1], 0, 50));
    const std::string target = file + std::to_string(round);
    std::thread saving([&] {
      const auto made = one[1].backup(target);
      EXPECT_TRUE(made.ok() || reason_of(made.status()) == Reason::Closed || reason_of(made.status()) == Reason::Stopped)
          << made.status();
      EXPECT_EQ(made.ok(), fs::exists(target));
    });
    one[1].close().IgnoreError();
    saving.join();
  }
}

}  // namespace
}  // namespace coordkit::testkit
