#include "sim/world/rows_on_disk.h"

#include <iterator>
#include <utility>
#include <variant>

namespace coordkit::sim {

class RowsOnDisk::View final : public CheckpointView {
 public:
  explicit View(const RowsOnDisk& disk) : disk_(disk), rows_(disk.rows_.view()) {}

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
    const absl::Status whole = disk_.verify(key);
    return whole.ok() ? visit(key, value) : whole;
  }

  const RowsOnDisk& disk_;
  const std::unique_ptr<CheckpointView> rows_;
};

absl::Status RowsOnDisk::open() {
  if (!rotten_.empty()) return absl::DataLossError("a row of the checkpoint is rotten");
  perform(Unstage{});
  return absl::OkStatus();
}

std::unique_ptr<CheckpointView> RowsOnDisk::view() { return std::make_unique<View>(*this); }

void RowsOnDisk::end_process() {
  perform(Unstage{});
  passing_.clear();
}

absl::Status RowsOnDisk::verify(std::string_view key) const {
  if (!rotten_.contains(key) && !passing_.contains(key)) return absl::OkStatus();
  return absl::DataLossError("a row of the checkpoint is rotten");
}

bool RowsOnDisk::rot() {
  if (staged_ && random_.chance(0.5)) return staged_rotten_ = true;
  if (rows_.rows().empty()) return false;
  rotten_.insert(any_row());
  return true;
}

bool RowsOnDisk::rot_passing() {
  if (rows_.rows().empty()) return false;
  passing_.insert(any_row());
  return true;
}

const std::string& RowsOnDisk::any_row() {
  const RowsByKey& rows = rows_.rows();
  return std::next(rows.begin(), static_cast<ptrdiff_t>(random_.below(rows.size())))->first;
}

bool RowsOnDisk::lose_files() {
  if (!rows_.applied().index) return false;
  lose();
  return gone_ = true;
}

void RowsOnDisk::restore(const RowMap& image) {
  rows_ = image;
  whole_again();
  gone_ = false;
}

void RowsOnDisk::whole_again() {
  rotten_.clear();
  passing_.clear();
}

// ---- effects of operations on rot

StateReport RowsOnDisk::perform(StateOperation operation) {
  return std::visit([this](auto& one) { return perform_one(one); }, operation);
}

StateReport RowsOnDisk::perform_one(CheckpointBatch& batch) {
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

StateReport RowsOnDisk::perform_one(StageRows& stage) {
  staged_ = true;
  return rows_.perform(std::move(stage));
}

StateReport RowsOnDisk::perform_one(InstallStaged& install) {
  staged_ = false;
  if (std::exchange(staged_rotten_, false)) install.digest = ~install.digest;  // no longer what is there
  const uint64_t wanted = install.digest;
  StateReport report = rows_.perform(install);
  if (digest_of(rows_.rows()) == wanted) whole_again();
  return report;
}

StateReport RowsOnDisk::perform_one(Unstage& unstage) {
  staged_ = staged_rotten_ = false;
  return rows_.perform(unstage);
}

}  // namespace coordkit::sim
