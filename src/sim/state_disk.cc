#include "sim/state_disk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace coordkit::sim {

// Shows what was committed when it was made, and no row that is damaged by now.
class SimStateStore::View final : public CheckpointView {
 public:
  explicit View(SimStateStore& store) : store_(store), rows_(store.rows_.view()) {}

  Position applied() const override { return rows_->applied(); }
  bool installed() const override { return rows_->installed(); }
  uint64_t digest() const override { return rows_->digest(); }
  absl::Status scan(std::string_view prefix, Visitor visit) const override {
    return rows_->scan(prefix, [&](std::string_view key, std::string_view value) { return show(key, value, visit); });
  }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    return rows_->scan_range(range, [&](std::string_view key, std::string_view value) { return show(key, value, visit); });
  }

 private:
  absl::Status show(std::string_view key, std::string_view value, Visitor visit) const {
    const absl::Status whole = store_.verify(key);
    return whole.ok() ? visit(key, value) : whole;
  }

  SimStateStore& store_;
  const std::unique_ptr<CheckpointView> rows_;
};

absl::StatusOr<Position> SimStateStore::open(StateSink& sink) {
  if (!rotten_.empty()) return absl::DataLossError("a row of the checkpoint is rotten");
  sink_ = &sink;
  ++epoch_;
  perform(Unstage{});
  return rows_.applied();
}

absl::Status SimStateStore::verify(std::string_view key) const {
  if (!rotten_.contains(key) && !passing_.contains(key)) return absl::OkStatus();
  return absl::DataLossError("a row of the checkpoint is rotten");
}

bool SimStateStore::rot() {
  if (staged_ && random_.chance(0.5)) return staged_rotten_ = true;
  if (rows().empty()) return false;
  const auto row = std::next(rows().begin(), static_cast<ptrdiff_t>(random_.below(rows().size())));
  rotten_.insert(row->first);
  return true;
}

bool SimStateStore::rot_passing() {
  if (rows().empty()) return false;
  passing_.insert(std::next(rows().begin(), static_cast<ptrdiff_t>(random_.below(rows().size())))->first);
  return true;
}

bool SimStateStore::lose_files() {
  if (!rows_.applied().index) return false;
  lose();
  return gone_ = true;
}

void SimStateStore::commit(CheckpointBatch batch) { start(std::move(batch)); }
void SimStateStore::stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) {
  start(StageRows{ticket, std::move(range), std::move(rows)});
}
void SimStateStore::install(Position applied, uint64_t digest) { start(InstallStaged{applied, digest}); }
void SimStateStore::unstage() { start(Unstage{}); }

void SimStateStore::start(StateOperation operation) {
  if (sink_ == nullptr || failed_) return;
  const bool busy = std::ranges::any_of(pending_, [](const Pending& one) { return changes_state(one.operation); });
  COORDKIT_CHECK_MSG(!changes_state(operation) || !busy, "at most one commit or install is under way");
  pending_.push_back({++started_, std::move(operation)});
  last_sync_ = std::max(last_sync_, world_.now() + 4 * quality_.draw(random_));
  world_.schedule(last_sync_, EventKind::StateSynced, node_, epoch_, started_);
}

void SimStateStore::hurry() {
  if (sink_ == nullptr || pending_.empty()) return;
  last_sync_ = world_.now() + 4 * quality_.draw(random_);
  world_.schedule(last_sync_, EventKind::StateSynced, node_, epoch_, started_);
}

void SimStateStore::synced(const Event& event) {
  if (sink_ == nullptr || failed_ || event.epoch != epoch_) return;
  if (errors_per_million_ != 0 && random_.below(1'000'000) < errors_per_million_) {
    failed_ = true;
    return sink_->checkpoint_failed(absl::DataLossError("the state's file: input/output error"));
  }
  if (full_ && !pending_.empty()) return tell_waiting(true);
  while (!pending_.empty() && pending_.front().number <= event.item) {
    const StateReport report = perform(std::move(pending_.front().operation));
    pending_.pop_front();
    if (report) report(*sink_);
  }
}

void SimStateStore::set_full(bool full) {
  const bool goes_on = full_ && !full;
  full_ = full;
  if (!goes_on || sink_ == nullptr) return;
  tell_waiting(false);
  hurry();
}

void SimStateStore::tell_waiting(bool waits) {
  if (std::exchange(waits_, waits) == waits) return;
  sink_->checkpoint_waits(waits ? absl::UnavailableError("the state's disk is full") : absl::OkStatus());
}

void SimStateStore::crash() {
  sink_ = nullptr;
  for (Pending& pending : pending_) {
    if (!random_.chance(0.5)) break;
    perform(std::move(pending.operation));
  }
  pending_.clear();
  perform(Unstage{});
  passing_.clear();
  failed_ = waits_ = false;
  last_sync_ = TrueTime{};
}

// ---- effects of operations on rot

StateReport SimStateStore::perform(StateOperation operation) {
  return std::visit([this](auto& one) { return perform_one(one); }, operation);
}

StateReport SimStateStore::perform_one(CheckpointBatch& batch) {
  if (batch.whole) {
    whole_again();
    staged_ = staged_rotten_ = false;
  }
  for (const CheckpointBatch::Row& row : batch.rows) {
    rotten_.erase(row.key);
    passing_.erase(row.key);
  }
  return rows_.perform(std::move(batch));
}

StateReport SimStateStore::perform_one(StageRows& stage) {
  staged_ = true;
  return rows_.perform(std::move(stage));
}

StateReport SimStateStore::perform_one(InstallStaged& install) {
  staged_ = false;
  if (std::exchange(staged_rotten_, false)) install.digest = ~install.digest;  // no longer what is there
  const uint64_t wanted = install.digest;
  StateReport report = rows_.perform(std::move(install));
  if (digest_of(rows()) == wanted) whole_again();
  return report;
}

StateReport SimStateStore::perform_one(Unstage& unstage) {
  staged_ = staged_rotten_ = false;
  return rows_.perform(std::move(unstage));
}

absl::StatusOr<std::unique_ptr<CheckpointView>> SimStateStore::view() { return std::make_unique<View>(*this); }

}  // namespace coordkit::sim
