// Parts of the host's that throw where their ports say a status: the replica suffers, the process does not.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordkit/coordkit.h"
#include "coordkit/operate/backup.h"
#include "coordkit/storage/data_directory.h"
#include "coordkit/storage/memory_stores.h"
#include "coordkit/storage/posix_files.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Where a part throws. Outlives it.
class Thrower {
 public:
  void arm(std::string where) {
    const std::lock_guard lock(mutex_);
    where_ = std::move(where);
  }
  void operator()(std::string_view where) const {
    const std::lock_guard lock(mutex_);
    if (where == where_) throw std::runtime_error("out of ink");
  }

 private:
  mutable std::mutex mutex_;
  std::string where_;  // empty: nowhere
};

class ThrowingLog final : public LogStore {
 public:
  ThrowingLog(StoreId store, const Thrower& at) : store_(store), at_(at) {}
  void checkpointed(Index applied) override { at_("checkpointed"), store_.checkpointed(applied); }
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override { return at_("open"), store_.open(sink); }
  uint64_t bytes_written() const override { return at_("bytes_written"), 1; }
  uint64_t index_bytes() const override { return at_("index_bytes"), 1; }
  void submit(LogWrite write) override { at_("submit"), store_.submit(std::move(write)); }
  bool defer(LogWrite write) override {
    at_("defer");
    store_.submit(std::move(write));
    return true;
  }
  void perform_deferred() override { at_("perform_deferred"); }
  void read(Index first, Index last, size_t bytes_max) override { at_("read"), store_.read(first, last, bytes_max); }
  void scrub(Index from, std::function<void(LogScrub)> done) override { at_("scrub"), store_.scrub(from, std::move(done)); }
  void compact(Position through) override { at_("compact"), store_.compact(through); }
  void close() override { at_("close"), store_.close(); }

 private:
  MemoryLogStore store_;
  const Thrower& at_;
};

class ThrowingState final : public StateStore {
 public:
  explicit ThrowingState(const Thrower& at) : at_(at) {}
  absl::StatusOr<Position> open(StateSink& sink) override { return at_("open"), store_.open(sink); }
  void commit(CheckpointBatch batch) override { at_("commit"), store_.commit(std::move(batch)); }
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override {
    at_("stage"), store_.stage(ticket, std::move(range), std::move(rows));
  }
  void install(Position applied, uint64_t digest) override { at_("install"), store_.install(applied, digest); }
  void unstage() override { at_("unstage"), store_.unstage(); }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override { return at_("view"), store_.view(); }
  absl::Status scrub(Pace pace) override { return at_("scrub"), store_.scrub(pace); }
  void close() override { at_("close"), store_.close(); }

 private:
  MemoryStateStore store_;
  const Thrower& at_;
};

class ThrowingTransport final : public Transport {
 public:
  ThrowingTransport(LoopbackHub& hub, const Thrower& at) : transport_(hub), at_(at) {}
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    return at_("start"), transport_.start(std::move(self), std::move(peers), sink);
  }
  void set_cluster(ClusterId cluster) override { at_("set_cluster"), transport_.set_cluster(cluster); }
  void set_peers(std::vector<Peer> peers) override { at_("set_peers"), transport_.set_peers(std::move(peers)); }
  void send(ReplicaId to, std::vector<Frame> frames) override { at_("send"), transport_.send(to, std::move(frames)); }
  void close() override { at_("close"), transport_.close(); }

 private:
  LoopbackTransport transport_;
  const Thrower& at_;
};

class ThrowingFiles final : public FileSystem {
 public:
  ThrowingFiles(std::unique_ptr<FileSystem> files, const Thrower& at) : files_(std::move(files)), at_(at) {}
  absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    absl::StatusOr<std::unique_ptr<File>> file = files_->open(name, mode);
    if (!file.ok()) return file;
    return std::make_unique<Throwing>(*std::move(file), at_);
  }
  absl::Status rename(std::string_view from, std::string_view to) override { return files_->rename(from, to); }
  absl::Status remove(std::string_view name) override { return files_->remove(name); }
  absl::Status sync_dir() override { return files_->sync_dir(); }
  absl::StatusOr<std::vector<std::string>> list() override { return at_("list"), files_->list(); }
  absl::StatusOr<uint64_t> free_bytes() override { return files_->free_bytes(); }

 private:
  class Throwing final : public File {
   public:
    Throwing(std::unique_ptr<File> file, const Thrower& at) : file_(std::move(file)), at_(at) {}
    absl::Status pwrite(uint64_t offset, std::string_view bytes) override { return file_->pwrite(offset, bytes); }
    absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override { return file_->pread(offset, length); }
    absl::Status sync() override { return at_("sync"), file_->sync(); }
    absl::StatusOr<uint64_t> size() const override { return file_->size(); }

   private:
    const std::unique_ptr<File> file_;
    const Thrower& at_;
  };
  const std::unique_ptr<FileSystem> files_;
  const Thrower& at_;
};

class ThrowingPartsTest : public ::testing::Test {
 protected:
  ReplicaOptions options() {
    ReplicaOptions made{.id = 1, .cluster = "parts", .members = {{1, ""}}, .checkpoint_entries = 4};
    made.log_retained_bytes = 0;
    made.parts = {.transport = [this](const PartContext&) { return std::make_unique<ThrowingTransport>(hub_, transport_); },
                  .log_store = [this](const PartContext& part) { return std::make_unique<ThrowingLog>(part.store, log_); },
                  .state_store = [this](const PartContext&) { return std::make_unique<ThrowingState>(state_); }};
    return made;
  }
  static std::unique_ptr<Replica> ready(ReplicaOptions made) {
    absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(std::move(made));
    EXPECT_THAT(replica.status(), IsOk());
    EXPECT_THAT((*replica)->wait_ready(kPatience), IsOk());
    return *std::move(replica);
  }
  // Writes until it has halted, and says why.
  static std::string reason_of_halt(Replica& replica) {
    EXPECT_TRUE(eventually([&] {
      replica.put("color", "green", {.timeout = kPatience}).IgnoreError();
      return replica.health().state == ReplicaState::Halted;
    }));
    return replica.health().reason;
  }

  LoopbackHub hub_;
  Thrower log_, state_, transport_;
};

// Covers: FLT_A13
TEST_F(ThrowingPartsTest, AStoreThatThrowsHaltsItsReplicaAndTheProcessLives) {
  for (const auto& [thrower, where] : std::vector<std::pair<Thrower*, std::string>>{
           {&log_, "defer"}, {&log_, "perform_deferred"}, {&log_, "compact"}, {&state_, "commit"}}) {
    SCOPED_TRACE(where);
    const std::unique_ptr<Replica> replica = ready(options());
    thrower->arm(where);
    EXPECT_THAT(reason_of_halt(*replica), AllOf(HasSubstr("store threw in " + where + "()"), HasSubstr("out of ink")));
    EXPECT_THAT(replica->put("color", "red").status(), Is(Reason::ReplicaFailed));
    thrower->arm("close");
    EXPECT_THAT(replica->close(), IsOk());
    thrower->arm("");
  }
}

// Covers: FLT_A13
TEST_F(ThrowingPartsTest, AScrubOrABackupThatMeetsAThrowingStoreIsAnsweredWithIt) {
  const std::unique_ptr<Replica> replica = ready(options());
  ASSERT_THAT(replica->put("color", "green").status(), IsOk());
  state_.arm("scrub");
  EXPECT_THAT(replica->scrub_now(), Is(Reason::HostThrew));
  state_.arm("view");
  EXPECT_THAT(replica->backup(::testing::TempDir() + "/never-made").status(), Is(Reason::HostThrew));
  log_.arm("bytes_written");
  EXPECT_THAT(replica->metrics().status(), IsOk());
  EXPECT_EQ(replica->health().state, ReplicaState::Ready);
  log_.arm("scrub");
  state_.arm("");
  EXPECT_THAT(replica->scrub_now(), IsOk()) << "it ends";
  EXPECT_THAT(reason_of_halt(*replica), HasSubstr("log store threw in scrub(): out of ink"));
}

// Covers: FLT_A13
TEST_F(ThrowingPartsTest, APartThatThrowsWhenItIsOpenedIsTheErrorOfTheOpen) {
  for (const auto& [thrower, where] : std::vector<std::pair<Thrower*, std::string>>{
           {&log_, "checkpointed"}, {&log_, "open"}, {&state_, "open"}, {&state_, "view"}, {&transport_, "start"}}) {
    SCOPED_TRACE(where);
    thrower->arm(where);
    const absl::Status refused = Replica::open(options()).status();
    EXPECT_THAT(refused, Is(Reason::HostThrew));
    EXPECT_THAT(std::string(refused.message()), AllOf(HasSubstr(where + "()"), HasSubstr("out of ink")));
    thrower->arm("");
    ready(options());
  }
}

// Covers: FLT_A13
TEST_F(ThrowingPartsTest, ATransportThatThrowsLosesFramesAndTheReplicaGoesOn) {
  std::atomic<bool> told{false};
  std::vector<std::unique_ptr<Replica>> replicas;
  for (uint64_t id = 1; id <= 3; ++id) {
    ReplicaOptions made = options();
    made.id = id;
    made.members = {{1, ""}, {2, ""}, {3, ""}};
    if (id != 1) made.parts.transport = loopback(hub_);
    made.on_event = [&told](const ReplicaEvent& event) {
      if (event.kind == ReplicaEventKind::PeerUnreachable && event.sentence.find("out of ink") != std::string::npos)
        told = true;
    };
    absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(std::move(made));
    ASSERT_THAT(replica.status(), IsOk());
    replicas.push_back(*std::move(replica));
  }
  for (const auto& replica : replicas) ASSERT_THAT(replica->wait_ready(kPatience), IsOk());
  transport_.arm("send");
  ASSERT_THAT(replicas[1]->put("color", "green", {.timeout = kPatience}).status(), IsOk());
  EXPECT_TRUE(eventually([&] { return told.load(); }));
  transport_.arm("");
  EXPECT_THAT(replicas[0]->put("color", "red", {.timeout = kPatience}).status(), IsOk());
  transport_.arm("close");
  EXPECT_THAT(replicas[0]->close(), IsOk());
}

// Covers: FLT_A13
TEST_F(ThrowingPartsTest, FilesThatThrowAreADiskThatAnswersWithErrors) {
  Cluster cluster(1);
  Thrower files;
  const auto with_files = [&] {
    ReplicaOptions made = cluster.options(1);
    made.parts.log_files = [&files](const PartContext& part) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
      absl::StatusOr<std::unique_ptr<FileSystem>> real = posix_files(part.directory()->log_path());
      if (!real.ok()) return real;
      return std::make_unique<ThrowingFiles>(*std::move(real), files);
    };
    return made;
  };
  {
    const std::unique_ptr<Replica> replica = ready(with_files());
    files.arm("sync");
    EXPECT_THAT(reason_of_halt(*replica), HasSubstr("out of ink"));
  }
  files.arm("list");
  const absl::Status refused = Replica::open(with_files()).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("out of ink"));
  files.arm("");
  ready(with_files());
}

}  // namespace
}  // namespace coordkit::testkit
