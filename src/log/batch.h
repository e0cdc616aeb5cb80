// A batch is the unit that one sync makes durable. It starts on a block with a mark record. The mark states the length of the
// batch and the state of the log before it. It also has the identities of the entries of the previous batch, so that they
// survive rot there. Then follow hard state, truncations and entries, then the second copy of the hard state in another
// block.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/ports/log_store.h"
#include "coordkit/raft/entry.h"
#include "log/identities.h"
#include "log/record.h"

namespace coordkit::log {

// Every mark and every segment header states this about the log before it.
struct LogState {
  raft::HardState hard_state;
  Position base;               // entries up to here are no longer needed
  Position last;               // the newest entry, or base
  uint64_t truncations = 0;    // truncations and resets, since the store was made
  Index truncated_to{~0ULL};   // the lowest truncation since the previous segment was opened; no lost truncation went lower
  uint32_t first_segment = 1;  // older segments are to be ignored
  friend bool operator==(const LogState&, const LogState&) = default;
};
inline constexpr size_t kLogStateBytes = 72;

// The payload of a mark record.
struct Mark {
  uint32_t batch_bytes = 0;  // up to the next batch; a multiple of a block
  uint32_t records = 0;      // of the batch, this one included
  LogState state;
  std::vector<Identity> previous;
};

std::string encode(const Mark& mark, uint32_t format = 1);
std::optional<Mark> decode_mark(std::string_view payload);
void append_state(std::string& out, const LogState& state);
LogState load_state(const char* at);

// The place of an entry of a batch: for each step its entries, then its repairs.
struct Placed {
  Index index;
  Term term;
  uint32_t offset = 0;  // of its record; then the bytes of that record
  uint32_t bytes = 0;
};

struct BatchPlace {
  RecordKey key;
  GroupId group;
  uint32_t offset = 0;   // of the batch in its segment
  DiskPosition durable;  // the durable position
  uint32_t format = 1;   // of the segment
};

// An upper bound of the bytes that encode_batch() makes.
size_t batch_bytes_bound(std::span<const LogWrite> steps, size_t previous);
// The exact bytes of a batch that is a mark alone.
size_t mark_batch_bytes(std::span<const Identity> previous, uint32_t format);
// The bytes of one batch; `placed` gets one element per entry. No steps: a mark-only batch.
std::string encode_batch(const BatchPlace& place, const LogState& state, std::span<const Identity> previous,
                         std::span<const LogWrite> steps, std::vector<Placed>& placed);

// The batch at `offset`, if its mark verifies and the batch ends within the segment.
struct FoundBatch {
  uint32_t offset = 0;
  DiskPosition durable;
  Mark mark;
  uint32_t end() const { return offset + mark.batch_bytes; }
};
std::optional<FoundBatch> find_batch(std::string_view segment, size_t offset, const RecordKey& key);

// Every record whose header verifies in [first, end), in order; runs as their entries. The bytes between the records are
// padding or lost.
std::vector<Record> find_records(std::string_view segment, size_t first, size_t end, const RecordKey& key);

}  // namespace coordkit::log
