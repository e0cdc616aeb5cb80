#include "storage/spare_preparer.h"

#include <chrono>
#include <utility>

#include "log/segment.h"
#include "storage/posix_file_system.h"

namespace coordkit::storage {
namespace {

constexpr uint64_t kFillStepBytes = 512 << 10;  // between two syncs
constexpr auto kTryAgain = std::chrono::milliseconds(100);

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
    wakes_.wait_for(lock, kTryAgain, [this] { return stop_; });
  }
}

// False: it is to be tried again. The one place of the thread where what was not expected ends: a spare that was not made in
// whole is made once more.
bool SparePreparer::carry_out(const Spare& spare) noexcept {
  try {
    const absl::StatusOr<bool> made = make(spare);
    if (absl::IsResourceExhausted(made.status())) {
      const std::lock_guard lock(mutex_);
      if (!stop_ && lacks_room(made.status())) reports_.waits();
      return false;
    }
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return true;
      order_.reset();      // the next one may come as soon as it is reported
      stop_ = !made.ok();  // no more will come
    }
    made.ok() ? reports_.made(spare) : reports_.made(made.status());
    return true;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    order_ = spare;
    return false;
  }
}

absl::StatusOr<bool> SparePreparer::make(const Spare& spare) {
  log::SpareMaker maker(*files_, spare.number, spare.capacity);
  for (;;) {
    absl::StatusOr<bool> ready = maker.step(kFillStepBytes);
    if (!ready.ok()) {
      maker.discard().IgnoreError();
      return ready;
    }
    if (*ready) return true;
    const std::lock_guard lock(mutex_);
    if (stop_) return false;
  }
}

}  // namespace coordkit::storage
