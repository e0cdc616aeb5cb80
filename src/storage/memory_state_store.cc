#include "coordkit/storage/memory_stores.h"

namespace coordkit {
namespace {

class MemoryView final : public CheckpointView {
 public:
  MemoryView(Position applied, std::map<std::string, std::string> rows) : applied_(applied), rows_(std::move(rows)) {}

  Position applied() const override { return applied_; }

  absl::Status scan(std::string_view prefix, Visitor visit) const override {
    for (auto row = rows_.lower_bound(std::string(prefix)); row != rows_.end(); ++row) {
      if (!std::string_view(row->first).starts_with(prefix)) break;
      if (absl::Status status = visit(row->first, row->second); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  const Position applied_;
  const std::map<std::string, std::string> rows_;
};

}  // namespace

absl::StatusOr<Position> MemoryStateStore::open(StateSink& sink) {
  std::scoped_lock lock(mutex_);
  if (sink_ != nullptr) return absl::FailedPreconditionError("this memory store is already open; close it first");
  sink_ = &sink;
  failed_ = false;
  pending_.clear();
  return applied_;
}

void MemoryStateStore::commit(CheckpointBatch batch) {
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_) return;
    pending_.push_back(std::move(batch));
  }
  if (completion_ == Completion::Immediate) complete_all();
}

bool MemoryStateStore::complete_one() {
  StateSink* sink = nullptr;
  Position applied;
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_ || pending_.empty()) return false;
    for (CheckpointBatch::Row& row : pending_.front().rows) {
      if (row.value) {
        rows_.insert_or_assign(std::move(row.key), std::move(*row.value));
      } else {
        rows_.erase(row.key);
      }
    }
    applied = applied_ = pending_.front().applied;
    sink = sink_;
    pending_.pop_front();
  }
  sink->checkpointed(applied);
  return true;
}

void MemoryStateStore::complete_all() {
  while (complete_one()) {
  }
}

absl::StatusOr<std::unique_ptr<CheckpointView>> MemoryStateStore::view() {
  std::scoped_lock lock(mutex_);
  return std::make_unique<MemoryView>(applied_, rows_);
}

void MemoryStateStore::fail(absl::Status why) {
  StateSink* sink = nullptr;
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_) return;
    failed_ = true;
    pending_.clear();
    sink = sink_;
  }
  sink->checkpoint_failed(std::move(why));
}

size_t MemoryStateStore::pending() const {
  std::scoped_lock lock(mutex_);
  return pending_.size();
}

void MemoryStateStore::close() {
  std::scoped_lock lock(mutex_);
  sink_ = nullptr;
}

}  // namespace coordkit
