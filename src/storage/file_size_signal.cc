#include "storage/file_size_signal.h"

#include <pthread.h>

#include <cerrno>
#include <ctime>

namespace coordkit::storage {
namespace {

sigset_t file_size_signal() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

FileSizeSignalHeld::FileSizeSignalHeld() {
  const sigset_t held = file_size_signal();
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
}

FileSizeSignalHeld::~FileSizeSignalHeld() {
  if (::sigismember(&before_, SIGXFSZ) == 1) return;
  const int error = errno;  // of the write
  const sigset_t held = file_size_signal();
  const timespec at_once = {};
  while (::sigtimedwait(&held, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace coordkit::storage
