#include "storage/log/spare_preparer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "log/segment.h"
#include "storage/posix_file_system.h"

namespace coordkit::storage {
namespace {

constexpr uint64_t kFillStepBytes = 512 << 10;  // between two syncs
constexpr auto kTryAgain = std::chrono::milliseconds(100);
constexpr auto kPauseMax = std::chrono::milliseconds(60'000);

}  // namespace

void SparePreparer::start(std::unique_ptr<FileSystem> files, Reports reports) {
  files_ = std::move(files);
  reports_ = std::move(reports);
  thread_ = Thread("coordkit/spare", [this] { run(); });
}

void SparePreparer::order(Spare spare) {
  ordered_ = true;
  {
    const std::lock_guard lock(mutex_);
    order_ = spare;
  }
  wakes_.notify_one();
}

void SparePreparer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wakes_.notify_one();
}

void SparePreparer::close() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void SparePreparer::run() {
  for (;;) {
    Spare spare;
    {
      std::unique_lock lock(mutex_);
      wakes_.wait(lock, [this] { return stop_ || order_; });
      if (stop_) return;
      spare = *order_;
    }
    if (carry_out(spare)) continue;
    std::unique_lock lock(mutex_);
    wakes_.wait_for(lock, pause_, [this] { return stop_; });
  }
}

// False: it is to be tried again after the pause. The one place of the thread where what was not expected ends: a spare that
// was not made in whole is made once more.
bool SparePreparer::carry_out(const Spare& spare) noexcept {
  try {
    absl::Status why;
    const Made made = make(spare, why);
    if (made == Made::Failed) {
      const bool passes = absl::IsResourceExhausted(why);
      pause_ = passes ? kTryAgain : std::clamp<std::chrono::milliseconds>(2 * pause_, kTryAgain, kPauseMax);
      const std::lock_guard lock(mutex_);
      if (stop_) return true;
      if (!passes) {
        reports_.fails(why);
      } else if (lacks_room(why)) {
        reports_.waits();
      }
      return false;
    }
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return true;
      order_.reset();  // the next one may come as soon as it is reported
      stop_ = made == Made::DirectoryFailed;
    }
    pause_ = {};
    made == Made::Whole ? reports_.made(spare) : reports_.made(why);
    return true;
  } catch (...) {
    pause_ = kTryAgain;
    const std::lock_guard lock(mutex_);
    order_ = spare;
    return false;
  }
}

// A file that an earlier attempt left, and could not remove then, is in the way.
SparePreparer::Made SparePreparer::make(const Spare& spare, absl::Status& why) {
  log::SpareMaker maker(*files_, spare.number, spare.capacity);
  if (pause_.count() != 0) maker.discard().IgnoreError();
  for (;;) {
    const absl::StatusOr<bool> ready = maker.step(kFillStepBytes);
    if (!ready.ok()) {
      why = ready.status();
      if (maker.directory_failed()) return Made::DirectoryFailed;
      maker.discard().IgnoreError();
      return Made::Failed;
    }
    if (*ready) return Made::Whole;
    const std::lock_guard lock(mutex_);
    if (stop_) return Made::Stopped;
  }
}

}  // namespace coordkit::storage
