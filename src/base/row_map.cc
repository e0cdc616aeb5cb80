#include "base/row_map.h"

#include <utility>

#include "base/check.h"
#include "base/row_sums.h"

namespace coordkit {
namespace {

class CopiedView final : public CheckpointView {
 public:
  CopiedView(Position applied, bool installed, RowsByKey rows)
      : applied_(applied), installed_(installed), rows_(std::move(rows)) {}

  Position applied() const override { return applied_; }
  bool installed() const override { return installed_; }
  absl::Status scan(std::string_view prefix, Visitor visit) const override { return scan_prefix(rows_, prefix, visit); }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    return coordkit::scan_range(rows_, range, visit);
  }
  uint64_t digest() const override { return digest_of(rows_); }

 private:
  const Position applied_;
  const bool installed_;
  const RowsByKey rows_;
};

}  // namespace

absl::Status scan_prefix(const RowsByKey& rows, std::string_view prefix, CheckpointView::Visitor visit) {
  for (auto row = rows.lower_bound(std::string(prefix)); row != rows.end() && row->first.starts_with(prefix); ++row) {
    if (absl::Status status = visit(row->first, row->second); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status scan_range(const RowsByKey& rows, const KeyRange& range, CheckpointView::Visitor visit) {
  for (auto row = rows.upper_bound(range.after); row != rows.end() && range.contains(row->first); ++row) {
    if (absl::Status status = visit(row->first, row->second); !status.ok()) return status;
  }
  return absl::OkStatus();
}

uint64_t digest_of(const RowsByKey& rows) {
  RowDigest digest;
  for (const auto& [key, value] : rows) digest.add(key, value_sum(key, value));
  return digest.value();
}

StateReport RowMap::perform(StateOperation operation) {
  return std::visit([this](auto& one) { return perform_one(std::move(one)); }, operation);
}

StateReport RowMap::perform_one(CheckpointBatch batch) {
  if (batch.whole) {
    rows_.clear();
    staged_.clear();
  }
  for (CheckpointBatch::Row& row : batch.rows) {
    if (row.value) {
      rows_.insert_or_assign(std::move(row.key), *std::move(row.value));
    } else {
      rows_.erase(row.key);
    }
  }
  applied_ = batch.applied;
  installed_ = false;
  return [applied = applied_](StateSink& sink) { sink.checkpointed(applied); };
}

StateReport RowMap::perform_one(StageRows stage) {
  const absl::Status fits = check_chunk(stage.range, stage.rows);
  COORDKIT_CHECK_MSG(fits.ok(), fits.ToString());
  const auto end = stage.range.upto.empty() ? staged_.end() : staged_.upper_bound(stage.range.upto);
  staged_.erase(staged_.upper_bound(stage.range.after), end);
  for (CheckpointBatch::Row& row : stage.rows) staged_.emplace(std::move(row.key), *std::move(row.value));
  return [ticket = stage.ticket](StateSink& sink) { sink.staged(ticket); };
}

StateReport RowMap::perform_one(InstallStaged install) {
  RowsByKey staged = std::exchange(staged_, {});
  if (digest_of(staged) != install.digest) {
    return [applied = install.applied](StateSink& sink) {
      sink.install_refused(applied, absl::DataLossError("the staged rows do not match the digest; fetch them again"));
    };
  }
  rows_ = std::move(staged);
  applied_ = install.applied;
  installed_ = true;
  return [applied = applied_](StateSink& sink) { sink.installed(applied); };
}

StateReport RowMap::perform_one(Unstage) {
  staged_.clear();
  return {};
}

std::unique_ptr<CheckpointView> RowMap::view() const { return std::make_unique<CopiedView>(applied_, installed_, rows_); }

// Views verify the rows that they return.
absl::Status StateStore::scrub(Pace pace) {
  const absl::StatusOr<std::unique_ptr<CheckpointView>> all = view();
  if (!all.ok()) return all.status();
  RowDigest digest;
  absl::Status status = (*all)->scan("", [&](std::string_view key, std::string_view value) {
    digest.add(key, value_sum(key, value));
    return pace(key.size() + value.size()) ? absl::OkStatus() : absl::AbortedError("not read to its end");
  });
  if (!status.ok()) return status;
  return digest.value() == (*all)->digest() ? absl::OkStatus() : absl::DataLossError("the rows do not match their digest");
}

}  // namespace coordkit
