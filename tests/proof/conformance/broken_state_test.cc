// State stores with one defect each, made from the correct built-in ones, and the correct one in the same wrapping.
#include <algorithm>
#include <deque>
#include <mutex>

#include "coordkit/storage/lmdb_state_store.h"
#include "coordkit/testing/state_store_suite.h"
#include "tests/proof/conformance/planted.h"
#include "tests/proof/conformance/state_wrapper.h"
#include "tests/unit/storage/memory_harnesses.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

class LmdbOnRealFiles : public StateStoreHarness {
 public:
  StateStore& restart() override {
    store_.reset();
    auto directory = DataDirectory::open({.path = directory_ / "data", .cluster = "orders"});
    EXPECT_TRUE(directory.ok()) << directory.status().ToString();
    store_ = std::make_unique<LmdbStateStore>(*std::move(directory), LmdbStateOptions{.map_bytes_max = 1 << 30});
    return *store_;
  }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<LmdbStateStore> store_;
};

// ---- reports

// Stores a batch when two more have arrived, and reports it early.
class EarlyReport : public StateWrapper {
 public:
  absl::StatusOr<Position> open(StateSink& sink) override {
    held_.clear();
    return StateWrapper::open(sink);
  }
  void commit(CheckpointBatch batch) override {
    const Position applied = batch.applied;
    held_.push_back(std::move(batch));
    pass_on();
    sink().checkpointed(applied);
  }
  void stage(Ticket, KeyRange, std::vector<CheckpointBatch::Row> rows) override {
    staged_.insert(staged_.end(), rows.begin(), rows.end());
  }
  void install(Position applied, uint64_t) override {
    held_.push_back({applied, std::exchange(staged_, {}), true});
    pass_on();
    sink().installed(applied);
  }
  void checkpointed(Position) override {
    under_way_ = false;
    pass_on();
  }

 private:
  void pass_on() {
    if (held_.size() < 3 || std::exchange(under_way_, true)) return;
    CheckpointBatch oldest = std::move(held_.front());
    held_.pop_front();
    inner().commit(std::move(oldest));
  }
  std::deque<CheckpointBatch> held_;
  std::vector<CheckpointBatch::Row> staged_;
  bool under_way_ = false;
};

// The same over a store with its own thread: its reports come while the caller commits.
class EarlyReportOfAKilledProcess : public EarlyReport {
 public:
  void commit(CheckpointBatch batch) override {
    const std::scoped_lock lock(mutex_);
    EarlyReport::commit(std::move(batch));
  }
  void install(Position applied, uint64_t digest) override {
    const std::scoped_lock lock(mutex_);
    EarlyReport::install(applied, digest);
  }
  void checkpointed(Position applied) override {
    const std::scoped_lock lock(mutex_);
    EarlyReport::checkpointed(applied);
  }

 private:
  std::recursive_mutex mutex_;
};

// The position is stored at once, the rows with the next commit.
class HalfACheckpoint : public StateWrapper {
 public:
  absl::StatusOr<Position> open(StateSink& sink) override {
    held_.clear();
    return StateWrapper::open(sink);
  }
  void commit(CheckpointBatch batch) override { inner().commit({batch.applied, std::exchange(held_, std::move(batch.rows))}); }

 private:
  std::vector<CheckpointBatch::Row> held_;
};

class ReportsOutOfOrder : public StateWrapper {
 public:
  void staged(Ticket ticket) override {
    if (!std::exchange(held_one_, true)) {
      held_ = ticket;
    } else {
      sink().staged(ticket);
    }
  }
  void checkpointed(Position applied) override {
    sink().checkpointed(applied);
    if (const Ticket late = std::exchange(held_, Ticket())) sink().staged(late);
  }

 private:
  bool held_one_ = false;
  Ticket held_;
};

class FailureKeptSecret : public StateWrapper {
 public:
  void checkpoint_failed(absl::Status) override {}
};

class ReportsAfterClose : public StateWrapper {
 public:
  absl::StatusOr<Position> open(StateSink& sink) override {
    closed_ = false;
    return StateWrapper::open(sink);
  }
  void close() override {
    inner().close();
    if (std::exchange(closed_, true)) sink().checkpointed({Index(2), Term(1)});
  }

 private:
  bool closed_ = true;
};

// ---- what is stored

class DeletedRowsComeBack : public StateWrapper {
 public:
  void commit(CheckpointBatch batch) override {
    std::erase_if(batch.rows, [](const CheckpointBatch::Row& row) { return !row.value; });
    inner().commit(std::move(batch));
  }
};

class WholeBatchAdds : public StateWrapper {
 public:
  void commit(CheckpointBatch batch) override {
    batch.whole = false;
    inner().commit(std::move(batch));
  }
};

// Takes values for text.
class ValuesEndAtAZero : public StateWrapper {
 public:
  void commit(CheckpointBatch batch) override {
    for (CheckpointBatch::Row& row : batch.rows) {
      if (row.value) row.value->resize(std::min(row.value->find('\0'), row.value->size()));
    }
    inner().commit(std::move(batch));
  }
};

// Keeps what is staged, to do something else with it.
class StagedBeside : public StateWrapper {
 public:
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override {
    std::erase_if(staged_, [&](const auto& row) { return range.contains(row.first); });
    for (const CheckpointBatch::Row& row : rows) staged_[row.key] = *row.value;
    inner().stage(ticket, std::move(range), std::move(rows));
  }
  void checkpointed(Position applied) override {
    if (!std::exchange(secret_, false)) sink().checkpointed(applied);
  }

 protected:
  void commit_in_secret(Position applied, const Rows& rows) {
    secret_ = true;
    inner().commit({applied, as_batch(rows)});
  }
  Rows staged_;

 private:
  bool secret_ = false;
};

class StagedRowsAreSeen : public StagedBeside {
 public:
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override {
    StagedBeside::stage(ticket, std::move(range), std::move(rows));
    commit_in_secret((*inner().view())->applied(), staged_);
  }
};

class DigestUnchecked : public StagedBeside {
 public:
  void install(Position applied, uint64_t) override { inner().install(applied, digest_of(std::exchange(staged_, {}))); }
};

class InstallAddsRows : public StagedBeside {
 public:
  void install(Position applied, uint64_t digest) override {
    Rows before = rows_of(**inner().view());
    for (const auto& [key, value] : std::exchange(staged_, {})) before[key] = value;
    inner().install(applied, digest);
    commit_in_secret(applied, before);
  }
};

class StagedRowsSurviveARestart : public StagedBeside {
 public:
  absl::StatusOr<Position> open(StateSink& sink) override {
    auto opened = StateWrapper::open(sink);
    quiet_ = true;
    inner().stage(Ticket(1'000'000), {}, as_batch(staged_));
    quiet_ = false;
    return opened;
  }
  void staged(Ticket ticket) override {
    if (!quiet_) sink().staged(ticket);
  }

 private:
  bool quiet_ = false;
};

class UnstageForgotten : public StateWrapper {
 public:
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override {
    if (std::exchange(unstaged_, false)) {  // what was to be removed is still in the way
      rows.insert(rows.begin(), {"b", "2"});
    }
    inner().stage(ticket, std::move(range), std::move(rows));
  }
  void unstage() override {
    unstaged_ = true;
    inner().unstage();
  }

 private:
  bool unstaged_ = false;
};

// ---- views

class PrefixTooFar : public ViewWrapper {
 public:
  using ViewWrapper::ViewWrapper;
  absl::Status scan(std::string_view prefix, Visitor visit) const override {
    return inner().scan(
        "", [&](std::string_view key, std::string_view value) { return key < prefix ? absl::OkStatus() : visit(key, value); });
  }
};

class RangeTakesItsBegin : public ViewWrapper {
 public:
  using ViewWrapper::ViewWrapper;
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    return inner().scan("", [&](std::string_view key, std::string_view value) {
      const bool wanted = range.contains(key) || (key == range.after && !key.empty());
      return wanted ? visit(key, value) : absl::OkStatus();
    });
  }
};

class VisitorIgnored : public ViewWrapper {
 public:
  using ViewWrapper::ViewWrapper;
  absl::Status scan(std::string_view prefix, Visitor visit) const override {
    absl::Status first;
    const absl::Status status = inner().scan(prefix, [&](std::string_view key, std::string_view value) {
      first.Update(visit(key, value));
      return absl::OkStatus();
    });
    return first.ok() ? status : first;
  }
};

class InstalledForgotten : public ViewWrapper {
 public:
  using ViewWrapper::ViewWrapper;
  bool installed() const override { return false; }
};

// Keeps the index alone.
class TermForgotten : public StateWrapper {
 public:
  absl::StatusOr<Position> open(StateSink& sink) override {
    auto at = StateWrapper::open(sink);
    if (at.ok() && at->index) at->term = Term(1);
    return at;
  }
};

class DigestOfThePosition : public ViewWrapper {
 public:
  using ViewWrapper::ViewWrapper;
  uint64_t digest() const override { return inner().digest() + inner().applied().index.value(); }
};

// Reads the store again each time.
class ViewMoves : public StateWrapper {
 public:
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override { return std::make_unique<Moving>(inner()); }

 private:
  class Moving final : public CheckpointView {
   public:
    explicit Moving(StateStore& store) : store_(store) {}
    Position applied() const override { return now()->applied(); }
    bool installed() const override { return now()->installed(); }
    absl::Status scan(std::string_view prefix, Visitor visit) const override { return now()->scan(prefix, visit); }
    absl::Status scan_range(const KeyRange& range, Visitor visit) const override { return now()->scan_range(range, visit); }
    uint64_t digest() const override { return now()->digest(); }

   private:
    std::unique_ptr<CheckpointView> now() const { return *store_.view(); }
    StateStore& store_;
  };
};

// Its views look into what close() gives back.
class ViewEndsWithItsStore : public StateWrapper {
 public:
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override {
    auto intact = inner().view();
    if (!intact.ok()) return intact.status();
    return std::make_unique<Ending>(*std::move(intact), lives_);
  }
  void close() override {
    inner().close();
    *lives_ = false;
    lives_ = std::make_shared<bool>(true);
  }

 private:
  class Ending final : public ViewWrapper {
   public:
    Ending(std::unique_ptr<CheckpointView> inner, std::shared_ptr<const bool> lives)
        : ViewWrapper(std::move(inner)), lives_(std::move(lives)) {}
    absl::Status scan(std::string_view prefix, Visitor visit) const override {
      return *lives_ ? inner().scan(prefix, visit) : absl::InternalError("closed");
    }

   private:
    const std::shared_ptr<const bool> lives_;
  };
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
};

class ScrubReadsNothing : public StateWrapper {
 public:
  absl::Status scrub(Pace) override { return absl::OkStatus(); }
};

// ---- what the medium does

// Values are whatever lies at their place.
class TrustsItsMedium : public StateWrapper {
 public:
  void rot(std::string value) { rotten_ = std::move(value); }
  void exchange(std::string one, std::string other) { one_ = std::move(one), other_ = std::move(other); }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override {
    auto intact = inner().view();
    if (!intact.ok()) return intact.status();
    return std::make_unique<Shown>(*std::move(intact), *this);
  }

 private:
  class Shown final : public ViewWrapper {
   public:
    Shown(std::unique_ptr<CheckpointView> inner, const TrustsItsMedium& medium)
        : ViewWrapper(std::move(inner)), medium_(medium) {}
    absl::Status scan(std::string_view prefix, Visitor visit) const override {
      return inner().scan(prefix, [&](std::string_view key, std::string_view value) { return visit(key, medium_.at(value)); });
    }

   private:
    const TrustsItsMedium& medium_;
  };
  std::string at(std::string_view value) const {
    if (value == rotten_) return "rotten";
    return value == one_ ? other_ : value == other_ ? one_ : std::string(value);
  }
  std::string rotten_ = "none", one_ = "none", other_ = "none";
};
class TrustingHarness : public WrappedStateHarness<TrustsItsMedium, MemoryStateHarness> {
 public:
  bool rot(const std::string&, const std::string& value) override {
    wrapper_.rot(value);
    return true;
  }
  bool exchange(const std::string& one, const std::string& other) override {
    wrapper_.exchange(one, other);
    return true;
  }
};

class SecondOpenAllowed : public WrappedStateHarness<StateWrapper, MemoryStateHarness> {
 public:
  std::optional<absl::Status> open_twice() override { return absl::OkStatus(); }
};

enum class WithoutRoom : uint8_t { Reports, Waits };
template <WithoutRoom kDoes>
class FullDiskKeptSecret : public StateWrapper {
 public:
  void set_full(bool full) { full_ = full; }
  void commit(CheckpointBatch batch) override {
    if (!full_) return inner().commit(std::move(batch));
    if (kDoes == WithoutRoom::Reports) sink().checkpointed(batch.applied);
  }

 private:
  bool full_ = false;
};
template <WithoutRoom kDoes>
class FullDiskHarness : public WrappedStateHarness<FullDiskKeptSecret<kDoes>, MemoryStateHarness> {
 public:
  bool set_full(bool full) override {
    this->wrapper_.set_full(full);
    return true;
  }
};

// ---- all of them

template <typename Harness>
StateStoreHarnessFactory harness() {
  return []() -> std::unique_ptr<StateStoreHarness> { return std::make_unique<Harness>(); };
}
template <typename Defect>
StateStoreHarnessFactory in_memory() {
  return harness<WrappedStateHarness<Defect, MemoryStateHarness>>();
}

Broken<StateStoreHarnessFactory> all_broken() {
  Broken<StateStoreHarnessFactory> all;
  all.add("EarlyReport", in_memory<EarlyReport>());
  all.add("EarlyReportOfAKilledProcess", harness<WrappedStateHarness<EarlyReportOfAKilledProcess, LmdbOnRealFiles>>());
  all.add("HalfACheckpoint", in_memory<HalfACheckpoint>());
  all.add("ReportsOutOfOrder", in_memory<ReportsOutOfOrder>());
  all.add("FailureKeptSecret", in_memory<FailureKeptSecret>());
  all.add("ReportsAfterClose", in_memory<ReportsAfterClose>());
  all.add("DeletedRowsComeBack", in_memory<DeletedRowsComeBack>());
  all.add("WholeBatchAdds", in_memory<WholeBatchAdds>());
  all.add("ValuesEndAtAZero", in_memory<ValuesEndAtAZero>());
  all.add("ViewEndsWithItsStore", in_memory<ViewEndsWithItsStore>());
  all.add("StagedRowsAreSeen", in_memory<StagedRowsAreSeen>());
  all.add("DigestUnchecked", in_memory<DigestUnchecked>());
  all.add("InstallAddsRows", in_memory<InstallAddsRows>());
  all.add("StagedRowsSurviveARestart", in_memory<StagedRowsSurviveARestart>());
  all.add("UnstageForgotten", in_memory<UnstageForgotten>());
  all.add("PrefixTooFar", in_memory<ViewedThrough<PrefixTooFar>>());
  all.add("RangeTakesItsBegin", in_memory<ViewedThrough<RangeTakesItsBegin>>());
  all.add("VisitorIgnored", in_memory<ViewedThrough<VisitorIgnored>>());
  all.add("InstalledForgotten", in_memory<ViewedThrough<InstalledForgotten>>());
  all.add("TermForgotten", in_memory<TermForgotten>());
  all.add("DigestOfThePosition", in_memory<ViewedThrough<DigestOfThePosition>>());
  all.add("ViewMoves", in_memory<ViewMoves>());
  all.add("ScrubReadsNothing", in_memory<ScrubReadsNothing>());
  all.add("RottenRowShown", harness<TrustingHarness>());
  all.add("MisplacedRowShown", harness<TrustingHarness>());
  all.add("SecondOpenAllowed", harness<SecondOpenAllowed>());
  all.add("FullDiskReported", harness<FullDiskHarness<WithoutRoom::Reports>>());
  all.add("FullDiskWaitedForInSilence", harness<FullDiskHarness<WithoutRoom::Waits>>());
  return all;
}
const Broken<StateStoreHarnessFactory> kBroken = all_broken();

std::string name_of_broken(const ::testing::TestParamInfo<StateStoreHarnessFactory>& info) { return kBroken.names[info.index]; }

INSTANTIATE_TEST_SUITE_P(Working, StateStoreSuite,
                         ::testing::Values(in_memory<StateWrapper>(),
                                           harness<WrappedStateHarness<StateWrapper, LmdbOnRealFiles>>()));
INSTANTIATE_TEST_SUITE_P(Broken, StateStoreSuite, ::testing::ValuesIn(kBroken.here()), name_of_broken);

TEST(BrokenStateTest, EachIsInTheList) {
  std::vector<std::string> names = kBroken.names;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, planted_in("StateStoreSuite"));
}

}  // namespace
}  // namespace coordkit::testkit
