// Log stores with one defect each, made from the correct built-in ones, and the correct ones in the same wrapping.
#include <algorithm>
#include <map>
#include <mutex>

#include "coordkit/testing/log_store_suite.h"
#include "tests/proof/conformance/log_wrapper.h"
#include "tests/proof/conformance/planted.h"
#include "tests/unit/storage/log_harnesses.h"
#include "tests/unit/storage/memory_harnesses.h"

namespace coordkit::testkit {
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

// Rewrites its medium with what it is asked to keep, and forgets what it is not asked about.
template <typename Loss>
class LosesAtCompaction : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    auto found = LogWrapper::open(sink);
    if (found.ok() && lost_) Loss()(*found);
    return found;
  }
  void compact(Position through) override {
    inner().compact(through);
    lost_ = true;
  }

 private:
  bool lost_ = false;
};
struct LoseVote {
  void operator()(RecoveredLog& found) const { found.hard_state = {}; }
};
struct LoseMarks {
  void operator()(RecoveredLog& found) const { found.peers.clear(); }
};

// Knows where its entries lie by counting from the first.
class ReadsShiftOnceCompacted : public LogWrapper {
 public:
  void compact(Position through) override {
    shift_ = 1;
    inner().compact(through);
  }
  void read(Index first, Index last, size_t bytes_max) override {
    asked_ = first;
    inner().read(first + shift_, last + shift_, bytes_max);
  }
  void log_read(Index, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    sink().log_read(asked_, std::move(entries));
  }

 private:
  uint64_t shift_ = 0;
  Index asked_;
};

class TruncatesNotToTheBase : public LogWrapper {
 public:
  void submit(LogWrite write) override {
    if (write.reset_to) base_ = write.reset_to->index;
    if (write.truncate_after == base_) write.truncate_after.reset();
    inner().submit(std::move(write));
  }
  void compact(Position through) override {
    base_ = through.index;
    inner().compact(through);
  }

 private:
  Index base_;
};

// ---- scrubs

class ScrubUnanswered : public LogWrapper {
 public:
  void scrub(Index, std::function<void(LogScrub)>) override {}
};
class ScrubGoesInCircles : public LogWrapper {
 public:
  void scrub(Index, std::function<void(LogScrub)> done) override { done({.next = Index(1), .bytes = 100'000}); }
};
class ScrubMissesWhatIsGone : public LogWrapper {
 public:
  void scrub(Index from, std::function<void(LogScrub)> done) override {
    done({.bytes = 100'000, .first_bad = from, .last_bad = from, .why = absl::DataLossError("there is no entry")});
  }
};

// The base of a reset is stored some writes earlier than the entries that came with it, or were to follow.
class HalfAReset : public LogWrapper {
 public:
  void cut_power() { cut_ = true; }
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    held_.reset();
    cut_ = false;
    return LogWrapper::open(sink);
  }
  void submit(LogWrite write) override {
    if (write.reset_to && !held_) {
      held_ = std::exchange(write.entries, {});
      age_ = 0;
    } else if (held_) {
      held_->insert(held_->end(), write.entries.begin(), write.entries.end());
      write.entries.clear();
      if (++age_ == 4 || write.truncate_after || write.reset_to) write.entries = *std::exchange(held_, std::nullopt);
    }
    last_ = write.number;
    inner().submit(std::move(write));
  }
  void close() override {
    if (held_ && !cut_) inner().submit({.number = last_.next(), .entries = *std::exchange(held_, std::nullopt)});
    inner().close();
  }

 private:
  std::optional<std::vector<raft::Entry>> held_;
  int age_ = 0;
  WriteNumber last_;
  bool cut_ = false;
};
class HalfAResetHarness : public WrappedLogHarness<HalfAReset, MemoryLogHarness> {
 public:
  bool cut_power() override {
    wrapper_.cut_power();
    return true;
  }
};

// ---- what an entry is

template <typename Change>
class ChangesWhatItStores : public LogWrapper {
 public:
  void submit(LogWrite write) override {
    for (raft::Entry& entry : write.entries) Change()(entry);
    inner().submit(std::move(write));
  }
};
struct DropKind {
  void operator()(raft::Entry& entry) const { entry.kind = raft::EntryKind::Command; }
};
struct EndAtAZero {
  void operator()(raft::Entry& entry) const {
    entry.payload = SharedBytes(entry.payload.view().substr(0, entry.payload.view().find('\0')));
  }
};
struct CutTerm {
  void operator()(raft::Entry& entry) const { entry.term = Term(static_cast<uint32_t>(entry.term.value())); }
};

class VoteCut : public LogWrapper {
 public:
  void submit(LogWrite write) override {
    if (write.hard_state) write.hard_state->vote = ReplicaId(static_cast<uint32_t>(write.hard_state->vote.value()));
    inner().submit(std::move(write));
  }
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

class SameIdentityEverywhere : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    auto found = LogWrapper::open(sink);
    if (found.ok()) found->store = StoreId(1);
    return found;
  }
};

// Counts its opens when it is closed.
class BootCountedAtClose : public LogWrapper {
 public:
  void cut_power() { cut_ = true; }
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    cut_ = false;
    auto found = LogWrapper::open(sink);
    if (found.ok()) found->boot = boot_;
    return found;
  }
  void close() override {
    if (!std::exchange(cut_, true)) boot_ = boot_.next();
    inner().close();
  }

 private:
  BootCounter boot_{1};
  bool cut_ = true;
};
class BootCountedAtCloseHarness : public WrappedLogHarness<BootCountedAtClose, MemoryLogHarness> {
 public:
  bool cut_power() override {
    wrapper_.cut_power();
    return true;
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

// Reads a range that is not whole entry by entry: up to the first that is rotten, which the port allows, or past it.
template <bool kPastTheRot>
class ReadsEntryByEntry : public LogWrapper {
 public:
  void read(Index first, Index last, size_t bytes_max) override {
    {
      const std::lock_guard lock(mutex_);
      ranges_[first] = {.first = first, .last = last};
    }
    inner().read(first, last, bytes_max);
  }
  void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    std::unique_lock lock(mutex_);
    auto range = ranges_.extract(first);
    Range asked = range.empty() ? Range{.first = first, .last = first} : range.mapped();
    if (!asked.one_by_one && (entries.ok() || asked.first == asked.last)) {
      lock.unlock();
      return sink().log_read(asked.first, std::move(entries));
    }
    const Index next = asked.one_by_one ? first.next() : first;
    if (asked.one_by_one && entries.ok()) asked.found.push_back(entries->front());
    const bool goes_on = !asked.one_by_one || (next <= asked.last && (entries.ok() || kPastTheRot));
    asked.one_by_one = true;
    if (goes_on) {
      ranges_[next] = std::move(asked);
      lock.unlock();
      return inner().read(next, next, 1);
    }
    lock.unlock();
    if (asked.found.empty()) return sink().log_read(asked.first, std::move(entries));
    sink().log_read(asked.first, std::move(asked.found));
  }

 private:
  struct Range {
    Index first, last;
    bool one_by_one = false;
    std::vector<raft::Entry> found = {};
  };
  std::mutex mutex_;
  std::map<Index, Range> ranges_;  // by the entry that is read next
};

// Keeps what was written for its reads, and lets nothing go.
class StaleReads : public LogWrapper {
 public:
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    cache_.clear();
    return LogWrapper::open(sink);
  }
  void submit(LogWrite write) override {
    for (const raft::Entry& entry : write.entries) cache_.try_emplace(entry.index, entry);
    inner().submit(std::move(write));
  }
  void read(Index first, Index last, size_t bytes_max) override {
    std::vector<raft::Entry> found;
    size_t bytes = 0;
    for (auto at = cache_.find(first); at != cache_.end() && at->first <= last; ++at) {
      bytes += at->second.bytes();
      if (!found.empty() && bytes > bytes_max) break;
      found.push_back(at->second);
    }
    if (found.empty()) return inner().read(first, last, bytes_max);
    sink().log_read(first, std::move(found));
  }
  void compact(Position through) override {
    cache_.erase(cache_.begin(), cache_.upper_bound(through.index));
    inner().compact(through);
  }

 private:
  std::map<Index, raft::Entry> cache_;
};

class CoveredGone : public LogWrapper {
 public:
  void checkpointed(Index applied) override { covered_ = applied; }
  void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    if (entries.ok()) {
      for (raft::Entry& entry : *entries) {
        if (entry.index <= covered_) entry.payload = {};
      }
    }
    sink().log_read(first, std::move(entries));
  }

 private:
  Index covered_;
};
class OthersGoneToo : public LogWrapper {
 public:
  void checkpointed(Index applied) override { covered_ = applied; }
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    auto found = LogWrapper::open(sink);
    if (found.ok() && covered_) {
      for (raft::Entry& entry : found->entries) entry.payload = {};
    }
    return found;
  }

 private:
  Index covered_;
};

class DeferredReportedLate : public LogWrapper {
 public:
  bool defer(LogWrite write) override {
    deferred_.push_back(write.number);
    inner().submit(std::move(write));
    return deferred_.size() == 1;
  }
  void perform_deferred() override {
    for (const WriteNumber number : std::exchange(deferred_, {})) sink().written(number);
  }
  void written(WriteNumber number) override {
    if (deferred_.empty() || deferred_.back() != number) sink().written(number);
  }

 private:
  std::vector<WriteNumber> deferred_;
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
  all.add("VoteLostInCompaction", in_memory<LosesAtCompaction<LoseVote>>());
  all.add("MarksLostInCompaction", in_memory<LosesAtCompaction<LoseMarks>>());
  all.add("HalfAReset", harness<HalfAResetHarness>());
  all.add("KindForgotten", in_memory<ChangesWhatItStores<DropKind>>());
  all.add("PayloadsEndAtAZero", in_memory<ChangesWhatItStores<EndAtAZero>>());
  all.add("TermsCut", in_memory<ChangesWhatItStores<CutTerm>>());
  all.add("VoteCut", in_memory<VoteCut>());
  all.add("StaleReads", in_memory<StaleReads>());
  all.add("CoveredGone", in_memory<CoveredGone>());
  all.add("OthersGoneToo", in_memory<OthersGoneToo>());
  all.add("DeferredReportedLate", in_memory<DeferredReportedLate>());
  all.add("BootCounterStays", in_memory<BootCounterStays>());
  all.add("NewIdentityAtEachOpen", in_memory<NewIdentityAtEachOpen>());
  all.add("ReadsNeighbours", in_memory<ReadsNeighbours>());
  all.add("NothingWithoutAnError", in_memory<NothingWithoutAnError>());
  all.add("ByteLimitIgnored", in_memory<ByteLimitIgnored>());
  all.add("ReadFailureHidden", harness<ReadFailureHiddenHarness>());
  all.add("RottenServed", harness<TrustingHarness>());
  all.add("MisplacedServed", harness<TrustingHarness>());
  all.add("SecondOpenAllowed", harness<SecondOpenAllowed>());
  all.add("SameIdentityEverywhere", in_memory<SameIdentityEverywhere>());
  all.add("BootCountedAtClose", harness<BootCountedAtCloseHarness>());
  all.add("ReadsShiftOnceCompacted", in_memory<ReadsShiftOnceCompacted>());
  all.add("TruncatesNotToTheBase", in_memory<TruncatesNotToTheBase>());
  all.add("ScrubUnanswered", in_memory<ScrubUnanswered>());
  all.add("ScrubGoesInCircles", in_memory<ScrubGoesInCircles>());
  all.add("ScrubMissesWhatIsGone", in_memory<ScrubMissesWhatIsGone>());
  all.add("ReadsPastTheRot", in_memory<ReadsEntryByEntry<true>>());
  all.add("FullDiskReported", harness<FullDiskHarness<WithoutRoom::Reports>>());
  all.add("FullDiskWaitedForInSilence", harness<FullDiskHarness<WithoutRoom::Waits>>());
  return all;
}
const Broken<LogStoreHarnessFactory> kBrokenLogs = all_broken_logs();

std::string name_of_broken(const ::testing::TestParamInfo<LogStoreHarnessFactory>& info) {
  return kBrokenLogs.names[info.index];
}

INSTANTIATE_TEST_SUITE_P(Working, LogStoreSuite,
                         ::testing::Values(in_memory<LogWrapper>(), in_memory<ReadsEntryByEntry<false>>(),
                                           harness<RecordedLogHarness>(),
                                           harness<WrappedLogHarness<LogWrapper, SegmentedLogHarness>>(SegmentedLogOptions{
                                               .segment_bytes = 4 << 20})));
INSTANTIATE_TEST_SUITE_P(Broken, LogStoreSuite, ::testing::ValuesIn(kBrokenLogs.here()), name_of_broken);

TEST(BrokenLogTest, EachIsInTheList) {
  std::vector<std::string> names = kBrokenLogs.names;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, planted_in("LogStoreSuite"));
}

}  // namespace
}  // namespace coordkit::testkit
