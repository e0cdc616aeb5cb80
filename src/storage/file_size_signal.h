// Holds SIGXFSZ back on its thread. The kernel sends it with a write beyond the process's limit of a file's size (ulimit -f),
// and it ends the process; held back, the write only fails, with EFBIG. A signal that came meanwhile is taken away at the end,
// unless the thread had held the signal back before: then it is not this object's to take.
#pragma once

#include <csignal>

namespace coordkit::storage {

class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld();
  ~FileSizeSignalHeld();
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

 private:
  sigset_t before_ = {};
};

}  // namespace coordkit::storage
