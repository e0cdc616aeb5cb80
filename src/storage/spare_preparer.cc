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
    const absl::StatusOr<bool> made = make(spare);
    if (!made.ok() && !absl::IsResourceExhausted(made.status())) return reports_.made(made.status());
    std::unique_lock lock(mutex_);
    if (stop_) return;
    if (made.ok()) {
      order_.reset();
      lock.unlock();
      reports_.made(spare);
      continue;
    }
    if (lacks_room(made.status())) reports_.waits();
    wakes_.wait_for(lock, kTryAgain, [this] { return stop_; });
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
