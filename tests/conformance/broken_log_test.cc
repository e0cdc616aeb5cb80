// Log stores with one defect each, made from the correct built-in ones, and the correct ones in the same wrapping.
#include <algorithm>
#include <map>

#include "coordkit/testing/log_store_suite.h"
#include "tests/conformance/log_wrapper.h"
#include "tests/conformance/planted.h"
#include "tests/storage/log_harnesses.h"
#include "tests/storage/memory_harnesses.h"

namespace coordkit::testing {
namespace {

// ---- reports

// Stores a write together with those that follow, and reports it early.
template <size_t kHeldMax>
class EarlyReport : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    held_.clear();
    return LogWrapper::open(sink);
  }
  void submit(LogWrite write) override {
    const WriteNumber number = write.number;
    held_.push_back(std::move(write));
    if (held_.size() == kHeldMax) store();
    sink().written(number);
  }
  void written(WriteNumber) override {}

 private:
  void store() {
    for (LogWrite& write : std::exchange(held_, {})) inner().submit(std::move(write));
  }
  std::vector<LogWrite> held_;
};

class ReportsOutOfOrder : public LogWrapper {
 public:
  void written(WriteNumber number) override {
    if (number.value() % 4 == 1) return;
    sink().written(number);
    if (number.value() % 4 == 2) sink().written(number.previous());
  }
};

class FailureKeptSecret : public LogWrapper {
 public:
  void log_failed(absl::Status) override {}
};

class FailureSaidTwice : public LogWrapper {
 public:
  void log_failed(absl::Status why) override {
    sink().log_failed(why);
    sink().log_failed(std::move(why));
  }
};

class ReportsAfterAFailure : public LogWrapper {
 public:
  void log_failed(absl::Status why) override {
    failed_ = true;
    sink().log_failed(std::move(why));
  }
  void submit(LogWrite write) override {
    const WriteNumber number = write.number;
    inner().submit(std::move(write));
    if (failed_) sink().written(number);
  }

 private:
  bool failed_ = false;
};

class ReportsAfterClose : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    closed_ = false;
    return LogWrapper::open(sink);
  }
  void written(WriteNumber number) override {
    last_ = number;
    sink().written(number);
  }
  void close() override {
    inner().close();
    if (std::exchange(closed_, true)) sink().written(last_);
  }

 private:
  bool closed_ = true;
  WriteNumber last_;
};

// ---- what is stored

class TailLost : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    auto found = LogWrapper::open(sink);
    if (found.ok() && !found->entries.empty()) found->entries.pop_back();
    return found;
  }
};

class TruncationForgotten : public LogWrapper {
 public:
  void submit(LogWrite write) override {
    if (write.entries.empty()) write.truncate_after.reset();
    inner().submit(std::move(write));
  }
};

class HardStateForgotten : public LogWrapper {
 public:
  void submit(LogWrite write) override {
    if (write.entries.empty()) write.hard_state.reset();
    inner().submit(std::move(write));
  }
};

// The vote is written some writes later than the entries that came with it.
class HalfAWrite : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    held_.reset();
    return LogWrapper::open(sink);
  }
  void submit(LogWrite write) override {
    if (write.hard_state) {
      held_ = std::exchange(write.hard_state, std::nullopt);
      age_ = 0;
    } else if (held_ && ++age_ == 4) {
      write.hard_state = std::exchange(held_, std::nullopt);
    }
    inner().submit(std::move(write));
  }

 private:
  std::optional<raft::HardState> held_;
  int age_ = 0;
};

class MarksMerged : public LogWrapper {
 public:
  void submit(LogWrite write) override {
    if (write.peers) {
      for (const PeerMark& mark : *write.peers) marks_.try_emplace(mark.store, mark);
      write.peers->clear();
      for (const auto& [store, mark] : marks_) write.peers->push_back(mark);
    }
    inner().submit(std::move(write));
  }

 private:
  std::map<StoreId, PeerMark> marks_;
};

class RepairForgotten : public LogWrapper {
 public:
  void submit(LogWrite write) override {
    write.repairs.clear();
    inner().submit(std::move(write));
  }
};

class ResetKeepsEntries : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    auto found = LogWrapper::open(sink);
    if (found.ok()) found->entries.insert(found->entries.begin(), kept_.begin(), kept_.end());
    return found;
  }
  void submit(LogWrite write) override {
    if (write.reset_to) kept_ = written_;
    written_.insert(written_.end(), write.entries.begin(), write.entries.end());
    inner().submit(std::move(write));
  }

 private:
  std::vector<raft::Entry> written_, kept_;
};

class CompactsTooMuch : public LogWrapper {
 public:
  void compact(Position through) override { inner().compact({through.index.next(), through.term}); }
};

// ---- identity

class BootCounterStays : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    auto found = LogWrapper::open(sink);
    if (found.ok()) found->boot = BootCounter(1);
    return found;
  }
};

class NewIdentityAtEachOpen : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    auto found = LogWrapper::open(sink);
    if (found.ok()) found->store = StoreId(100 + found->boot.value());
    return found;
  }
};

// ---- reading

class ReadsNeighbours : public LogWrapper {
 public:
  void read(Index first, Index last, size_t bytes_max) override { inner().read(first.previous(), last.previous(), bytes_max); }
  void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    sink().log_read(first.next(), std::move(entries));
  }
};

class NothingWithoutAnError : public LogWrapper {
 public:
  void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    sink().log_read(first, entries.ok() ? std::move(entries) : std::vector<raft::Entry>());
  }
};

class ByteLimitIgnored : public LogWrapper {
 public:
  void read(Index first, Index last, size_t) override { inner().read(first, last, 1 << 30); }
};

raft::Entry with_payload(raft::Entry entry, std::string payload) {
  entry.payload = SharedBytes(std::move(payload));
  return entry;
}

class ReadFailureHidden : public LogWrapper {
 public:
  void fail_reads() { fail_ = true; }
  void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    if (fail_ && entries.ok()) {
      for (raft::Entry& entry : *entries) entry = with_payload(entry, std::string(entry.payload.size(), '\0'));
    }
    sink().log_read(first, std::move(entries));
  }

 private:
  bool fail_ = false;
};
class ReadFailureHiddenHarness : public WrappedLogHarness<ReadFailureHidden, MemoryLogHarness> {
 public:
  bool fail_reads() override {
    wrapper_.fail_reads();
    return true;
  }
};

// ---- what the medium does

// Entries are whatever lies at their place.
class TrustsItsMedium : public LogWrapper {
 public:
  void exchange(Index one, Index other) { places_ = {one, other}; }
  void rot(Index index) { rotten_ = index; }
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    auto found = LogWrapper::open(sink);
    if (!found.ok()) return found;
    const auto [one, other] = places_;
    if (one) std::swap(found->entries[one.value() - 1].payload, found->entries[other.value() - 1].payload);
    if (rotten_) {
      raft::Entry& entry = found->entries[rotten_.value() - 1];
      entry = with_payload(entry, "rotten");
    }
    return found;
  }

 private:
  std::pair<Index, Index> places_;
  Index rotten_;
};
class TrustingHarness : public WrappedLogHarness<TrustsItsMedium, MemoryLogHarness> {
 public:
  bool rot(const raft::Entry& entry) override {
    wrapper_.rot(entry.index);
    return true;
  }
  bool exchange(const raft::Entry& one, const raft::Entry& other) override {
    wrapper_.exchange(one.index, other.index);
    return true;
  }
};

class SecondOpenAllowed : public WrappedLogHarness<LogWrapper, MemoryLogHarness> {
 public:
  std::optional<absl::Status> open_twice() override { return absl::OkStatus(); }
};

enum class WithoutRoom : uint8_t { Reports, Waits };
template <WithoutRoom kDoes>
class FullDiskKeptSecret : public LogWrapper {
 public:
  void set_full(bool full) { full_ = full; }
  void submit(LogWrite write) override {
    if (!full_) return inner().submit(std::move(write));
    if (kDoes == WithoutRoom::Reports) sink().written(write.number);
  }

 private:
  bool full_ = false;
};
template <WithoutRoom kDoes>
class FullDiskHarness : public WrappedLogHarness<FullDiskKeptSecret<kDoes>, MemoryLogHarness> {
 public:
  bool set_full(bool full) override {
    this->wrapper_.set_full(full);
    return true;
  }
};

// A file system between the real log and its disk.
enum class Skipped : uint8_t { Sync, SyncOfNames };
template <Skipped kWhat>
class CarelessFs : public FileSystem {
 public:
  explicit CarelessFs(std::unique_ptr<FileSystem> inner) : inner_(std::move(inner)) {}
  absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    auto file = inner_->open(name, mode);
    if (!file.ok()) return file.status();
    return std::make_unique<CarelessFile>(*std::move(file));
  }
  absl::Status rename(std::string_view from, std::string_view to) override { return inner_->rename(from, to); }
  absl::Status remove(std::string_view name) override { return inner_->remove(name); }
  absl::Status sync_dir() override { return kWhat == Skipped::SyncOfNames ? absl::OkStatus() : inner_->sync_dir(); }
  absl::StatusOr<std::vector<std::string>> list() override { return inner_->list(); }
  absl::StatusOr<uint64_t> free_bytes() override { return inner_->free_bytes(); }

 private:
  class CarelessFile final : public File {
   public:
    explicit CarelessFile(std::unique_ptr<File> inner) : inner_(std::move(inner)) {}
    absl::Status pwrite(uint64_t offset, std::string_view bytes) override { return inner_->pwrite(offset, bytes); }
    absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override { return inner_->pread(offset, length); }
    absl::Status sync() override { return kWhat == Skipped::Sync ? absl::OkStatus() : inner_->sync(); }
    absl::StatusOr<uint64_t> size() const override { return inner_->size(); }

   private:
    const std::unique_ptr<File> inner_;
  };
  const std::unique_ptr<FileSystem> inner_;
};

// ---- all of them

template <typename Harness, typename... Options>
LogStoreHarnessFactory harness(Options... options) {
  return [=]() -> std::unique_ptr<LogStoreHarness> { return std::make_unique<Harness>(options...); };
}
template <typename Defect>
LogStoreHarnessFactory in_memory() {
  return harness<WrappedLogHarness<Defect, MemoryLogHarness>>();
}
template <Skipped kWhat>
LogStoreHarnessFactory careless() {
  const RecordedLogHarness::FilesWrapper wrap = [](std::unique_ptr<FileSystem> disk) {
    return std::make_unique<CarelessFs<kWhat>>(std::move(disk));
  };
  return harness<RecordedLogHarness>(wrap);
}

Broken<LogStoreHarnessFactory> all_broken_logs() {
  Broken<LogStoreHarnessFactory> all;
  all.add("EarlyReport", in_memory<EarlyReport<4>>());
  all.add("EarlyReportOfAKilledProcess",
          harness<WrappedLogHarness<EarlyReport<50>, SegmentedLogHarness>>(SegmentedLogOptions{.segment_bytes = 4 << 20}));
  all.add("SyncSkipped", careless<Skipped::Sync>());
  all.add("SyncOfNamesSkipped", careless<Skipped::SyncOfNames>());
  all.add("HalfAWrite", in_memory<HalfAWrite>());
  all.add("TailLost", in_memory<TailLost>());
  all.add("ReportsOutOfOrder", in_memory<ReportsOutOfOrder>());
  all.add("FailureKeptSecret", in_memory<FailureKeptSecret>());
  all.add("FailureSaidTwice", in_memory<FailureSaidTwice>());
  all.add("ReportsAfterAFailure", in_memory<ReportsAfterAFailure>());
  all.add("ReportsAfterClose", in_memory<ReportsAfterClose>());
  all.add("TruncationForgotten", in_memory<TruncationForgotten>());
  all.add("HardStateForgotten", in_memory<HardStateForgotten>());
  all.add("MarksMerged", in_memory<MarksMerged>());
  all.add("RepairForgotten", in_memory<RepairForgotten>());
  all.add("ResetKeepsEntries", in_memory<ResetKeepsEntries>());
  all.add("CompactsTooMuch", in_memory<CompactsTooMuch>());
  all.add("BootCounterStays", in_memory<BootCounterStays>());
  all.add("NewIdentityAtEachOpen", in_memory<NewIdentityAtEachOpen>());
  all.add("ReadsNeighbours", in_memory<ReadsNeighbours>());
  all.add("NothingWithoutAnError", in_memory<NothingWithoutAnError>());
  all.add("ByteLimitIgnored", in_memory<ByteLimitIgnored>());
  all.add("ReadFailureHidden", harness<ReadFailureHiddenHarness>());
  all.add("RottenServed", harness<TrustingHarness>());
  all.add("MisplacedServed", harness<TrustingHarness>());
  all.add("SecondOpenAllowed", harness<SecondOpenAllowed>());
  all.add("FullDiskReported", harness<FullDiskHarness<WithoutRoom::Reports>>());
  all.add("FullDiskWaitedForInSilence", harness<FullDiskHarness<WithoutRoom::Waits>>());
  return all;
}
const Broken<LogStoreHarnessFactory> kBrokenLogs = all_broken_logs();

std::string name_of_broken(const ::testing::TestParamInfo<LogStoreHarnessFactory>& info) {
  return kBrokenLogs.names[info.index];
}

INSTANTIATE_TEST_SUITE_P(Working, LogStoreSuite,
                         ::testing::Values(in_memory<LogWrapper>(), harness<RecordedLogHarness>(),
                                           harness<WrappedLogHarness<LogWrapper, SegmentedLogHarness>>(SegmentedLogOptions{
                                               .segment_bytes = 4 << 20})));
INSTANTIATE_TEST_SUITE_P(Broken, LogStoreSuite, ::testing::ValuesIn(kBrokenLogs.here()), name_of_broken);

TEST(BrokenLogTest, EachIsInTheList) {
  std::vector<std::string> names = kBrokenLogs.names;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, planted_in("LogStoreSuite"));
}

}  // namespace
}  // namespace coordkit::testing
