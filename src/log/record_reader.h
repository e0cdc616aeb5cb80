// Reads entries back. A record with the entries of a run is read and verified once for all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/ports/file_system.h"
#include "log/entry_index.h"

namespace coordkit::log {

class RecordReader {
 public:
  RecordReader() = default;
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // Reads the record there, unless it is loaded already. Not ok: the file could not be read.
  absl::Status load(const File& file, const RecordKey& key, const EntryIndex::Location& location);
  // An entry of the loaded record; nullopt: it is not there, or not intact.
  std::optional<raft::Entry> entry(Index index) const;
  // The bytes that only this entry needs: its record's header, or in a run its own part of the payload, which may be empty.
  std::optional<DiskRange> own_bytes(Index index) const;
  size_t bytes_read() const { return bytes_read_; }

 private:
  const Record* find(Index index) const;

  DiskPosition at_;
  std::string bytes_;
  std::vector<Record> entries_;  // consecutive, views of `bytes_`
  size_t bytes_read_ = 0;
};

}  // namespace coordkit::log
