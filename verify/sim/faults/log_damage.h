// Damage done to the bytes of a log behind its back, and bytes that may be missing since. Recovery can only detect it, not undo
// it: the disk is not intact until it is found to be whole again.
#pragma once

#include "base/random.h"
#include "sim/world/log_on_disk.h"

namespace coordkit::sim {

class LogDamage {
 public:
  LogDamage(LogOnDisk& bytes, Random& random) : bytes_(bytes), random_(random) {}

  void set_faults(const FileFaults& faults);
  bool rot();                            // somewhere below the durable mark; false: nothing to rot yet
  void rot(StoreId store, Index index);  // what the disk holds of this entry
  bool misdirect();                      // the next write overwrites something else
  // Some of its files are gone. Between two processes; false: there are none.
  enum class Files : uint8_t { All, Newest, Any };
  bool lose_files(Files which);

  bool intact() const { return !rotten_ && !lost_; }
  bool rotten_only() const { return rotten_ && !lost_; }
  bool lost() const { return lost_; }
  // Whether an error of the disk has a cause: this, or a fault that is in force.
  bool explains_errors() const { return !intact() || bytes_.files().faults() != FileFaults{}; }

  // The findings about the bytes since.
  void found_whole();                        // everything that was acknowledged is there
  void loss_accepted() { rotten_ = false; }  // what is missing is gone for good, and what is left is whole
  void nothing_missing();                    // that matters
  void replaced();                           // by other bytes, whose own rot goes unnoticed

 private:
  bool lies() const { return bytes_.files().faults().lying_syncs; }

  LogOnDisk& bytes_;
  Random& random_;       // shared with the store
  bool rotten_ = false;  // durable bytes were changed since it was last found to be whole
  bool lost_ = false;    // acknowledged ones were never written
};

}  // namespace coordkit::sim
