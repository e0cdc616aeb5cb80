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

namespace coordkit::engine {

class StateRepair {
 public:
  // Reported by the store, or by a view.
  void damaged(const absl::Status& why) {
    owed_ = true;
    writing_ = false;
    damage_ = std::string(why.message());
  }
  void log_damaged(Index last, const absl::Status& why) {
    log_until_ = std::max(log_until_, last);
    log_damage_ = std::string(why.message());
  }
  // For room, or for errors to pass.
  void waits(const absl::Status& why) {
    waits_ = why.ok()                ? ""
             : absl::IsDataLoss(why) ? sentence_of_failed_write(why)
                                     : "checkpoints wait for room: " + std::string(why.message());
  }
  static std::string sentence_of_failed_write(const absl::Status& why) {
    return "the checkpoint on this disk cannot be written (" + std::string(sentence_of(why)) +
           "): nothing is lost, the state is in memory and is written again as a whole; look after this disk, or replace this "
           "member if it goes on";
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
      mended_.push_back("the checkpoint on this disk was damaged (" + damage_ +
                        ") and was written anew from memory, at entry " + std::to_string(at.value()) +
                        ": look after this disk");
    }
    return log_covered(at);
  }
  // The same for the log alone: a checkpoint at `at` is durable, a new one or an older.
  Index log_covered(Index at) {
    if (mended_.size() > kRemembered) mended_.erase(mended_.begin());
    if (!log_until_ || at < log_until_) return {};
    mended_.push_back("entries of the log on this disk were rotten (" + log_damage_ +
                      ") and were replaced by the checkpoint at " + std::to_string(at.value()) + ": look after this disk");
    return std::exchange(log_until_, Index());
  }

  void warnings(std::vector<std::string>& out) const {
    out.insert(out.end(), mended_.begin(), mended_.end());
    if (owed_) out.push_back("the checkpoint on this disk is damaged (" + damage_ + "); it is being written anew from memory");
    if (log_until_)
      out.push_back("entries of the log on this disk are rotten (" + log_damage_ + "); a checkpoint takes their place");
    if (!waits_.empty()) out.push_back(waits_);
  }

 private:
  static constexpr size_t kRemembered = 8;

  bool owed_ = false;
  bool writing_ = false;  // a whole one is in progress
  std::string damage_;
  Index log_until_;  // entries up to here are damaged on this disk; zero: none
  std::string log_damage_;
  std::string waits_;
  std::vector<std::string> mended_;  // until the next start, to inform an operator
};

}  // namespace coordkit::engine
