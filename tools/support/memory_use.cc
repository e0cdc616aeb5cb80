#include "tools/support/memory_use.h"

#include <fstream>
#include <sstream>
#include <string>

namespace coordkit::support {
namespace {

uint64_t mebibytes(std::istream& words) {
  uint64_t kibibytes = 0;
  words >> kibibytes;
  return kibibytes >> 10;
}

}  // namespace

MemoryUse memory_of(pid_t process) {
  MemoryUse use;
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "VmHWM:") use.peak = mebibytes(words);
    if (name == "RssAnon:") use.anonymous = mebibytes(words);
  }
  return use;
}

}  // namespace coordkit::support
