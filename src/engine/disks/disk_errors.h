// The sentences for an operator when a disk returns an error for a file that can be made again (FLT_D22).
#pragma once

#include <string>

#include "absl/status/status.h"
#include "coordkit/error.h"

namespace coordkit::engine {

// Unlike rot, it says nothing of what the disk has stored.
inline bool is_disk_error(const absl::Status& why) { return reason_of(why) == Reason::StorageFailed; }

inline std::string sentence_of_failed_spare(const absl::Status& why) {
  return "the file that the log keeps ready for its next entries has an error (" + std::string(sentence_of(why)) +
         "): nothing is lost, another one is made; check this disk, or replace this member if it does not end";
}

inline std::string sentence_of_failed_checkpoint(const absl::Status& why) {
  return "the checkpoint on this disk has an error (" + std::string(sentence_of(why)) +
         "): nothing is lost, the state is in memory and is written again as a whole; check this disk, or replace this "
         "member if it does not end";
}

}  // namespace coordkit::engine
