// A segment: one file of the log. It has two blocks with one copy of the header each, then batches, then zeros (or bytes from
// before recycling, which never verify). A file is visible as a segment only once its header was synced and its name after
// that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/ports/file_system.h"
#include "log/batch.h"
#include "log/record.h"

namespace coordkit::log {

inline constexpr uint32_t kFirstBatchOffset = 2 * kBlockBytes;
inline constexpr uint64_t kSegmentBytesMax = uint64_t{1} << 31;
inline constexpr uint32_t kSegmentNumberMax = 0xffff0000;  // of a file that is found; no log lives long enough to reach it
inline constexpr uint64_t kSecondFormatLevel = 3;  // of the cluster: from this level on segments of version 2 may be made

// Links a segment to its predecessor. Only this link permits ignoring older bytes: those of the predecessor from
// `predecessor_end` on, and every segment that is not on the chain of predecessors.
struct SegmentHeader {
  uint32_t segment = 0;
  uint32_t format = 1;  // 1 or 2: decides which records may be in it
  StoreId store;
  uint64_t capacity = 0;
  uint32_t predecessor = 0;                 // 0: none is needed
  uint32_t predecessor_end = 0;             // its valid bytes
  uint32_t synced_end = kFirstBatchOffset;  // batches below were synced before the segment became visible
  LogState state;                           // at that point
};

// Both copies, kFirstBatchOffset bytes.
std::string encode(const SegmentHeader& header, GroupId group);

enum class HeaderFault : uint8_t { None, Unreadable, NewerFormat };
struct FoundHeader {
  std::optional<SegmentHeader> header;
  HeaderFault fault = HeaderFault::None;
};
FoundHeader find_header(std::string_view segment, const RecordKey& key);
// The offsets of the copies of this header that do not verify.
std::vector<uint32_t> spoiled_copies(std::string_view segment, const SegmentHeader& header);

// Names of files in the log's directory.
enum class FileUse : uint8_t { Segment, Spare, Filling };
std::string file_name(FileUse use, uint32_t number);
struct ParsedName {
  FileUse use = FileUse::Segment;
  uint32_t number = 0;
};
std::optional<ParsedName> parse_name(std::string_view name);  // nullopt: not a file of a log

// Makes a file of zeros over which a segment can be written. It works in small steps, so that a caller is never blocked for
// long. The file is preallocated, written, synced, and only then called a spare.
class SpareMaker {
 public:
  SpareMaker(FileSystem& files, uint32_t number, uint64_t capacity) : files_(files), number_(number), capacity_(capacity) {}

  // Writes at most `bytes` more and syncs them; true when the spare is ready. After an error: discard(), which may be followed
  // by another attempt.
  absl::StatusOr<bool> step(uint64_t bytes);
  absl::Status discard();
  // The error was one of the directory, which names the segments too: more is lost than a spare.
  bool directory_failed() const { return directory_failed_; }
  uint32_t number() const { return number_; }
  uint64_t capacity() const { return capacity_; }

 private:
  FileSystem& files_;
  const uint32_t number_;
  const uint64_t capacity_;
  std::unique_ptr<File> file_;
  uint64_t written_ = 0;
  bool directory_failed_ = false;
};

// Zero-fills [0, bytes) of a new file in moderate pieces; not synced.
absl::Status fill_with_zeros(File& file, uint64_t first, uint64_t end);

}  // namespace coordkit::log
