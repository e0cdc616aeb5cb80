// The rows of a checkpoint on a disk where they may rot (FLT_D08). They outlive every incarnation of the node.
//
// Each row is stored with its sum, so a damaged one is detected whenever it is read: by a view, by an open, which reads
// everything, and in staged rows by the install. A row that is rewritten is whole again, and so is everything once a whole
// batch was committed. Rot may pass with the process: then it was in what was read, not on the disk.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/row_map.h"

namespace coordkit::sim {

class RowsOnDisk {
 public:
  explicit RowsOnDisk(Random& random) : random_(random) {}

  // A process begins: everything is read, and what an earlier one staged is forgotten. Not OK: a row is rotten.
  absl::Status open();
  StateReport perform(StateOperation operation);
  // Shows what was committed when it was made, and no row that is damaged by now.
  std::unique_ptr<CheckpointView> view();
  void end_process();

  Position applied() const { return rows_.applied(); }
  bool installed() const { return rows_.installed(); }

  // Faults.
  bool rot();          // a row, or what is staged; false: nothing stored
  bool rot_passing();  // a row, until it is written again or the process ends
  bool rots() const { return !rotten_.empty() || !passing_.empty(); }
  bool intact() const { return rotten_.empty() && !gone_; }
  // Its files are gone. Only between two processes; false: there are none.
  bool lose_files();
  void stands_again() { gone_ = false; }  // the log had everything needed to rebuild it
  void lose() { restore(RowMap()); }      // everything; only between two processes
  const RowMap& image() const { return rows_; }
  void restore(const RowMap& image);

 private:
  class View;
  StateReport perform_one(CheckpointBatch& batch);
  StateReport perform_one(StageRows& stage);
  StateReport perform_one(InstallStaged& install);
  StateReport perform_one(Unstage& unstage);
  absl::Status verify(std::string_view key) const;
  const std::string& any_row();  // there is one
  void whole_again();

  Random& random_;  // shared with the store
  RowMap rows_;
  std::set<std::string, std::less<>> rotten_;   // keys
  std::set<std::string, std::less<>> passing_;  // keys
  bool gone_ = false;                           // rows that were committed
  bool staged_ = false;                         // something is staged
  bool staged_rotten_ = false;
};

}  // namespace coordkit::sim
