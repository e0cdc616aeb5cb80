// Every call through which LMDB changes its data file passes here, because this program's pwrite, writev and fdatasync take
// precedence over the C library's. Calls can be recorded, so that a test can build what a crash would leave, and one can
// fail. One instance at a time; other files are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace coordkit::testkit {

class LmdbCalls {
 public:
  struct Change {
    uint64_t offset = 0;
    std::string bytes;     // empty: a sync
    bool durable = false;  // by itself, before the call returns
  };

  // Watches from here until it is destroyed, and fails the call of this number (from 1; 0: none) with EIO.
  explicit LmdbCalls(uint64_t failing = 0);
  ~LmdbCalls();
  LmdbCalls(const LmdbCalls&) = delete;
  LmdbCalls& operator=(const LmdbCalls&) = delete;

  // From here on the disk is full: writes fail, or fall short first, until there is room again. Quota: they fall short, and the
  // disk says that it has room.
  enum class Room : uint8_t { Enough, None, Short, Quota };
  static void set_room(Room room);

  // From here on every call fails with EIO, until it is reset.
  static void set_failing(bool failing);

  uint64_t made() const;
  std::vector<Change> changes() const;  // those that did not fail
};

}  // namespace coordkit::testkit
