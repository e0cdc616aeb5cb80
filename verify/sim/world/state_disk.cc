#include "sim/world/state_disk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "coordkit/error.h"

namespace coordkit::sim {
namespace {

constexpr uint64_t kPauseOver = 0;  // in place of the number of an operation
constexpr Duration kWholePauseMin = std::chrono::milliseconds(100);
constexpr Duration kWholePauseMax = std::chrono::minutes(1);

absl::Status input_output_error() { return make_error(Reason::StorageFailed, "the state's file: input/output error"); }

}  // namespace

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
  if (sink_ == nullptr || (doubt_.any && changes_state(operation) && !is_whole(operation))) return;
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
  if (sink_ == nullptr || event.epoch != epoch_) return;
  if (event.item == kPauseOver) return doubt();
  if (doubt_.pauses) return;
  bool fails = errors_.per_million != 0 && random_.below(1'000'000) < errors_.per_million;
  if (full_ && !fails && !pending_.empty()) return tell_waiting(true);
  for (auto due = next(); due != pending_.end() && due->number <= event.item; due = next()) {
    StateOperation operation = std::move(due->operation);
    pending_.erase(due);
    const bool writes = !std::holds_alternative<Unstage>(operation);
    if (!fails && writes && errors_.left != 0) fails = errors_.left-- != 0;
    if (fails && writes) return fail(std::move(operation));
    perform(std::move(operation));
  }
}

// A whole batch is the first to come once what is stored is in doubt, and what is staged waits for it.
std::deque<SimStateStore::Pending>::iterator SimStateStore::next() {
  if (!doubt_.any) return pending_.begin();
  return std::ranges::find_if(pending_, [](const Pending& one) { return is_whole(one.operation); });
}

void SimStateStore::perform(StateOperation operation) {
  if (is_whole(operation)) {
    doubt_.any = false;
    doubt_.pause = {};
    if (!full_) tell_waiting(false);
  }
  const StateReport report = disk_.perform(std::move(operation));
  if (report) report(*sink_);
}

// A whole batch goes to a file of its own, which is dropped. Another one may have been stored or not.
void SimStateStore::fail(StateOperation operation) {
  if (!is_whole(operation)) {
    if (std::holds_alternative<CheckpointBatch>(operation) && random_.chance(0.5)) disk_.perform(std::move(operation));
    return doubt();
  }
  doubt_.pauses = true;
  doubt_.pause = std::clamp(2 * doubt_.pause, kWholePauseMin, kWholePauseMax);
  waits_ = true;
  sink_->checkpoint_waits(input_output_error());
  world_.schedule(world_.now() + doubt_.pause, EventKind::StateSynced, node_, epoch_, kPauseOver);
}

void SimStateStore::doubt() {
  doubt_.any = true;
  doubt_.pauses = false;
  pending_.clear();
  sink_->checkpoint_damaged(input_output_error());
}

void SimStateStore::set_full(bool full) {
  const bool goes_on = full_ && !full;
  full_ = full;
  if (!goes_on || sink_ == nullptr) return;
  if (!doubt_.any) tell_waiting(false);
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
  doubt_ = {};
  waits_ = false;
  errors_.left = 0;
  last_sync_ = TrueTime{};
}

}  // namespace coordkit::sim
