// Recovery: from the files in the log's directory to the contents of the log. It is a function of the bytes. It changes
// nothing, so repeating it is harmless. First it reads every batch boundary of every live segment; only then it decides.
// Bytes below the highest durable mark that do not verify are rot and become a hole. Bytes above it are a torn tail and are
// cut.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/ports/file_system.h"
#include "coordkit/ports/log_store.h"
#include "log/replay.h"
#include "log/segment.h"

namespace coordkit::log {

struct SegmentFile {
  uint32_t segment = 0;
  uint64_t bytes = 0;
  std::optional<SegmentHeader> header;  // nullopt: no copy of it verifies
  size_t spoiled_copies = 0;            // of the header, if one verifies
};

struct Recovery {
  LogState state;                              // at the end of the valid log
  std::deque<Slot> slots;                      // from state.base + 1 to state.last
  std::optional<std::vector<PeerMark>> peers;  // as last written; nullopt: never written
  DiskPosition durable;                        // the highest mark; nothing from it on may be relied on before it is rewritten
  std::vector<SegmentFile> chain;              // the live segments, oldest first; empty for a new log
  std::vector<ParsedName> unused;              // every other file of the log
  uint32_t number_max = 0;                     // the highest number that any file carries
  uint32_t format = 1;                         // the newest version of a segment; a build that reads these files reads it

  // ---- the newest segment of the chain, so that it can be replaced as a whole
  std::optional<SegmentHeader> newest;
  uint32_t newest_end = 0;               // end of its last valid batch
  bool newest_whole = true;              // no part of it was lost
  std::vector<Identity> older_previous;  // entries of the last batch before it
  std::vector<Identity> sure_previous;   // entries of its last batch below `durable`
};

// Commands up to `checkpointed` in segments older than the newest come without payloads.
absl::StatusOr<Recovery> recover(FileSystem& files, StoreId store, Index checkpointed = {});

}  // namespace coordkit::log
