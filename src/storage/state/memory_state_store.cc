#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/row_map.h"
#include "coordkit/error.h"
#include "coordkit/storage/memory_stores.h"

namespace coordkit {

struct MemoryStateStore::Content {
  RowMap rows;
  std::deque<StateOperation> pending;
};

MemoryStateStore::MemoryStateStore(StoreCompletion completion)
    : completion_(completion), content_(std::make_unique<Content>()) {}
MemoryStateStore::~MemoryStateStore() = default;

absl::StatusOr<Position> MemoryStateStore::open(StateSink& sink) {
  std::scoped_lock lock(mutex_);
  if (sink_ != nullptr) return make_error(Reason::InUse, "this memory store is already open; close it first");
  sink_ = &sink;
  failed_ = false;
  content_->pending.clear();
  content_->rows.unstage();
  return content_->rows.applied();
}

template <typename Operation>
void MemoryStateStore::start(Operation made) {
  StateOperation operation = std::move(made);
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_) return;
    const bool busy = std::ranges::any_of(content_->pending, changes_state);
    COORDKIT_CHECK_MSG(!changes_state(operation) || !busy, "at most one commit or install is under way");
    content_->pending.push_back(std::move(operation));
  }
  if (completion_ == StoreCompletion::Immediate) complete_all();
}

void MemoryStateStore::commit(CheckpointBatch batch) { start(std::move(batch)); }
void MemoryStateStore::stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) {
  start(StageRows{ticket, std::move(range), std::move(rows)});
}
void MemoryStateStore::install(Position applied, uint64_t digest) { start(InstallStaged{applied, digest}); }
void MemoryStateStore::unstage() { start(Unstage{}); }

bool MemoryStateStore::complete_one() {
  StateSink* sink = nullptr;
  StateReport report;
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_ || content_->pending.empty()) return false;
    report = content_->rows.perform(std::move(content_->pending.front()));
    content_->pending.pop_front();
    sink = sink_;
  }
  if (report) report(*sink);
  return true;
}

void MemoryStateStore::complete_all() {
  while (complete_one()) {
  }
}

absl::StatusOr<std::unique_ptr<CheckpointView>> MemoryStateStore::view() {
  std::scoped_lock lock(mutex_);
  return content_->rows.view();
}

void MemoryStateStore::fail(absl::Status why) {
  StateSink* sink = nullptr;
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_) return;
    failed_ = true;
    content_->pending.clear();
    sink = sink_;
  }
  sink->checkpoint_failed(std::move(why));
}

size_t MemoryStateStore::pending() const {
  std::scoped_lock lock(mutex_);
  return content_->pending.size();
}

void MemoryStateStore::close() {
  std::scoped_lock lock(mutex_);
  sink_ = nullptr;
}

}  // namespace coordkit
