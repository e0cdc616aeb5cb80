#include "tests/unit/storage/directory_syncs.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <system_error>

namespace coordkit::testkit {
namespace {

std::mutex syncs_mutex;
bool syncs_wanted = false;
std::vector<std::string> synced_directories;

}  // namespace

DirectorySyncs::DirectorySyncs() {
  const std::scoped_lock lock(syncs_mutex);
  syncs_wanted = true;
  synced_directories.clear();
}

DirectorySyncs::~DirectorySyncs() {
  const std::scoped_lock lock(syncs_mutex);
  syncs_wanted = false;
}

bool DirectorySyncs::has(const std::string& path) const {
  const std::scoped_lock lock(syncs_mutex);
  return std::ranges::count(synced_directories, std::filesystem::canonical(path).string()) > 0;
}

}  // namespace coordkit::testkit

extern "C" int fsync(int fd) {
  using namespace coordkit::testkit;
  const auto done = static_cast<int>(::syscall(SYS_fsync, fd));
  const int error = errno;
  if (const std::scoped_lock lock(syncs_mutex); done == 0 && syncs_wanted) {
    std::error_code unknown;
    synced_directories.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), unknown).string());
  }
  errno = error;
  return done;
}
