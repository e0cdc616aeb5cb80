#include "tools/coordctl/temporary_folder.h"

#include <pthread.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "coordkit/error.h"

namespace coordkit::coordctl {
namespace {

namespace fs = std::filesystem;

constexpr int kRemovals = 1000;  // of a folder into which files are being written

// The signals that would end this process; an ignored one, as by nohup, stays ignored.
sigset_t interruptions() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_DFL) ::sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make() {
  std::error_code error;
  const fs::path among = fs::temp_directory_path(error);
  if (error) return make_error(Reason::NotFound, "there is no place for temporary files: $TMPDIR names no directory");
  std::string path = among / "coordctl-XXXXXX";
  const sigset_t signals = interruptions();
  sigset_t before = {};
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);  // none is to come between the folder and its remover
  if (::mkdtemp(path.data()) != nullptr) return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path, before));
  const std::string why = std::strerror(errno);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return make_error(Reason::StorageFailed, "cannot make a folder in " + among.string() + ": " + why);
}

TemporaryFolder::TemporaryFolder(std::string path, const sigset_t& before)
    : path_(std::move(path)), before_(before), thread_([this](const std::stop_token& stop) { wait_for_signal(stop); }) {}

TemporaryFolder::~TemporaryFolder() {
  thread_.request_stop();
  thread_.join();
  remove();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void TemporaryFolder::wait_for_signal(const std::stop_token& stop) const {
  const sigset_t signals = interruptions();
  constexpr timespec kLook = {.tv_sec = 0, .tv_nsec = 20'000'000};
  int signal = -1;
  while (signal < 0 && !stop.stop_requested()) signal = ::sigtimedwait(&signals, nullptr, &kLook);
  if (signal < 0) return;
  remove();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::raise(signal);
}

// Once it is gone, nothing more can be written into it.
void TemporaryFolder::remove() const {
  std::error_code ignored;
  for (int i = 0; i < kRemovals && fs::exists(path_, ignored); ++i) fs::remove_all(path_, ignored);
}

}  // namespace coordkit::coordctl
