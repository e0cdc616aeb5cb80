// The losses of this replica's disk, and their repair. The state in memory is the truth of a running replica, so it is
// rewritten. A log with damaged entries is left behind by a checkpoint.
//
// Invariant: a whole checkpoint is owed from the report of damage until one that began afterwards is durable.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/error.h"
#include "coordkit/types.h"
#include "engine/disks/disk_errors.h"

namespace coordkit::engine {

class StateRepair {
 public:
  // Reported by the store, or by a view.
  void damaged(const absl::Status& why) {
    owed_ = true;
    writing_ = false;
    if (is_disk_error(why)) {
      error_ = sentence_of_failed_checkpoint(why);
    } else {
      damage_ = why.message().empty() ? "its store does not say how" : std::string(why.message());
    }
  }
  void log_damaged(Index last, const absl::Status& why) {
    log_until_ = std::max(log_until_, last);
    log_damage_ = std::string(why.message());
  }
  // For room, or a whole one, which is owed until it is durable, for errors to pass.
  void waits(const absl::Status& why) {
    if (absl::IsDataLoss(why)) {
      error_ = sentence_of_failed_checkpoint(why);
    } else {
      waits_ = why.ok() ? "" : "checkpoints wait for room: " + std::string(why.message());
    }
  }

  // Whether the next checkpoint must be whole, or taken at once because the log up to there is no longer needed. Entries that
  // were not applied yet are in memory until they are.
  bool whole_owed() const { return owed_; }
  bool checkpoint_wanted(Index checkpointed, Index applied) const {
    if (owed_) return true;
    return checkpointed < log_until_ && applied >= log_until_;
  }
  void writing_whole() { writing_ = true; }
  // Returns up to where the log is damaged and no longer needed; zero: nowhere.
  Index checkpointed(Index at) {
    if (owed_ && writing_) {
      owed_ = writing_ = false;
      if (!damage_.empty())
        mended_.push_back("the checkpoint on this disk was damaged (" + damage_ +
                          ") and was written again from memory, at entry " + std::to_string(at.value()) + ": check this disk");
      damage_.clear();
      error_.clear();
    }
    return log_covered(at);
  }
  // The same for the log alone: a checkpoint at `at` is durable, a new one or an older.
  Index log_covered(Index at) {
    if (mended_.size() > kRemembered) mended_.erase(mended_.begin());
    if (!log_until_ || at < log_until_) return {};
    mended_.push_back("entries of the log on this disk were rotten (" + log_damage_ +
                      ") and were replaced by the checkpoint at " + std::to_string(at.value()) + ": check this disk");
    return std::exchange(log_until_, Index());
  }

  void warnings(std::vector<std::string>& out) const {
    out.insert(out.end(), mended_.begin(), mended_.end());
    if (!damage_.empty())
      out.push_back("the checkpoint on this disk is damaged (" + damage_ + "); it is being written again from memory");
    if (!error_.empty()) out.push_back(error_);
    if (log_until_)
      out.push_back("entries of the log on this disk are rotten (" + log_damage_ + "); a checkpoint takes their place");
    if (!waits_.empty()) out.push_back(waits_);
  }

 private:
  static constexpr size_t kRemembered = 8;

  bool owed_ = false;
  bool writing_ = false;  // a whole one is in progress
  std::string damage_;    // of what is stored, while a whole one is owed; empty: none
  std::string error_;     // the same: a write, a sync or a read failed
  Index log_until_;       // entries up to here are damaged on this disk; zero: none
  std::string log_damage_;
  std::string waits_;
  std::vector<std::string> mended_;  // until the next start, to inform an operator
};

}  // namespace coordkit::engine
