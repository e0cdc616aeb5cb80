#include "coordkit/ports/row_table.h"

#include <utility>

#include "base/check.h"
#include "coordkit/engine/engine.h"

namespace coordkit {
RowTable::RowTable(MachineId machine) : prefix_(row_prefix(machine)) {}

std::optional<std::string_view> RowTable::find(std::string_view id) const {
  const auto row = rows_.find(id);
  if (row == rows_.end()) return std::nullopt;
  return row->second;
}

void RowTable::note_change(std::string_view id) {
  if (!changed_.contains(id)) changed_.emplace(id, rows_.contains(id));
}

void RowTable::put(std::string_view id, std::string value) {
  COORDKIT_CHECK_MSG(id.size() <= kRowIdBytesMax, "the id of a row is longer than kRowIdBytesMax");
  const auto row = rows_.find(id);
  if (row != rows_.end() && row->second == value) return;
  note_change(id);
  digest_.add(id, value_sum(id, value));
  if (row == rows_.end()) {
    rows_.emplace(id, std::move(value));
  } else {
    digest_.remove(id, value_sum(id, row->second));
    row->second = std::move(value);
  }
}

bool RowTable::erase(std::string_view id) {
  const auto row = rows_.find(id);
  if (row == rows_.end()) return false;
  note_change(id);
  digest_.remove(id, value_sum(id, row->second));
  rows_.erase(row);
  return true;
}

void RowTable::each(std::string_view prefix, absl::FunctionRef<void(std::string_view id, std::string_view value)> visit) const {
  for (auto row = rows_.lower_bound(prefix); row != rows_.end() && row->first.starts_with(prefix); ++row) {
    visit(row->first, row->second);
  }
}

// A row that came and went between two checkpoints leaves no trace in either.
void RowTable::checkpoint(CheckpointBatch& batch) {
  for (const auto& [id, stored] : changed_) {
    if (const auto value = find(id)) {
      batch.put(prefix_ + id, std::string(*value));
    } else if (stored) {
      batch.erase(prefix_ + id);
    }
  }
  changed_.clear();
}

bool RowTable::forget_stored() {
  changed_.clear();
  for (const auto& [id, value] : rows_) changed_.emplace(id, false);
  return true;
}

absl::Status RowTable::restore(const CheckpointView& view) {
  rows_.clear();
  changed_.clear();
  digest_ = {};
  return view.scan(prefix_, [this](std::string_view key, std::string_view value) {
    const std::string_view id = key.substr(prefix_.size());
    digest_.add(id, value_sum(id, value));
    rows_.emplace(id, value);
    return absl::OkStatus();
  });
}

}  // namespace coordkit
