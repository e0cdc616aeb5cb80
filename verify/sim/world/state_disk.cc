#include "sim/world/state_disk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace coordkit::sim {

absl::StatusOr<Position> SimStateStore::open(StateSink& sink) {
  if (absl::Status opened = disk_.open(); !opened.ok()) return opened;
  sink_ = &sink;
  ++epoch_;
  return disk_.applied();
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
    const StateReport report = disk_.perform(std::move(pending_.front().operation));
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
    disk_.perform(std::move(pending.operation));
  }
  pending_.clear();
  disk_.end_process();
  failed_ = waits_ = false;
  last_sync_ = TrueTime{};
}

}  // namespace coordkit::sim
