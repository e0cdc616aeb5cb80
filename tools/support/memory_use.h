// The memory that a process uses, as counted by the kernel.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace coordkit::support {

// In MiB. All zero: there is no such process.
struct MemoryUse {
  uint64_t peak = 0;       // VmHWM: of everything resident, including pages of mapped files
  uint64_t anonymous = 0;  // RssAnon: what the process itself has allocated
};
MemoryUse memory_of(pid_t process);

}  // namespace coordkit::support
