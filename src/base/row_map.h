// The rows of a checkpoint in a map, with the staged rows beside them. State stores without a disk share it, and it is the
// naive twin of the store with a disk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "coordkit/ports/state_store.h"

namespace coordkit {

// A request to a state store, as a value that can be queued.
struct StageRows {
  Ticket ticket;
  KeyRange range;
  std::vector<CheckpointBatch::Row> rows;
};
struct InstallStaged {
  Position applied;
  uint64_t digest = 0;
};
struct Unstage {};
using StateOperation = std::variant<CheckpointBatch, StageRows, InstallStaged, Unstage>;
// Whether it changes the state: at most one such operation may be in progress.
inline bool changes_state(const StateOperation& operation) {
  return std::holds_alternative<CheckpointBatch>(operation) || std::holds_alternative<InstallStaged>(operation);
}
// Whether it is a commit of the whole state.
inline bool is_whole(const StateOperation& operation) {
  const auto* batch = std::get_if<CheckpointBatch>(&operation);
  return batch != nullptr && batch->whole;
}
using StateReport = std::function<void(StateSink&)>;  // the report to the sink; empty: no report

using RowsByKey = std::map<std::string, std::string>;

// The answer of a view over these rows.
absl::Status scan_prefix(const RowsByKey& rows, std::string_view prefix, CheckpointView::Visitor visit);
absl::Status scan_range(const RowsByKey& rows, const KeyRange& range, CheckpointView::Visitor visit);
uint64_t digest_of(const RowsByKey& rows);  // RowDigest::value()

class RowMap {
 public:
  StateReport perform(StateOperation operation);
  void unstage() { staged_.clear(); }

  Position applied() const { return applied_; }
  bool installed() const { return installed_; }  // and nothing was committed since
  const RowsByKey& rows() const { return rows_; }
  std::unique_ptr<CheckpointView> view() const;  // of a copy

 private:
  StateReport perform_one(CheckpointBatch batch);
  StateReport perform_one(StageRows stage);
  StateReport perform_one(InstallStaged install);
  StateReport perform_one(Unstage unstage);

  Position applied_;
  bool installed_ = false;
  RowsByKey rows_;
  RowsByKey staged_;
};

}  // namespace coordkit
