#include "replica/operate/scrubber.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coordkit/error.h"

namespace coordkit {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(200);  // whether a scrub is still awaited

}  // namespace

// A request of the log that is destroyed without an answer, because memory ran out on its way, is answered so.
class Scrubber::Answer {
 public:
  explicit Answer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() {
    if (shared_) give({});
  }
  void give(LogScrub part) {
    const std::shared_ptr<Shared> shared = std::exchange(shared_, nullptr);
    const std::scoped_lock lock(shared->mutex);
    shared->part = std::move(part);
    shared->changed.notify_all();
  }

 private:
  std::shared_ptr<Shared> shared_;
};

Scrubber::Scrubber(StateStore& state, LogStore& log, Options options, Post post)
    : state_(state), log_(log), options_(options), post_(std::move(post)), thread_("coordkit/scrub", [this] { run(); }) {}

absl::Status Scrubber::now(absl::FunctionRef<bool()> awaited) {
  std::unique_lock lock(shared_->mutex);
  const uint64_t mine = ++wanted_;
  shared_->changed.notify_all();
  while (!shared_->changed.wait_for(lock, kLookEvery, [&] { return shared_->stopping || done_ >= mine; })) {
    lock.unlock();
    if (!awaited()) return make_error(Reason::Cancelled, "the caller stopped waiting; the scrub continues");
    lock.lock();
  }
  return done_ >= mine ? result_ : absl::UnavailableError("the replica closes before the scrub is over");
}

void Scrubber::stop() {
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->changed.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Scrubber::run() {
  while (wait()) {
    uint64_t asked = 0;
    {
      const std::scoped_lock lock(shared_->mutex);
      asked = wanted_;
    }
    absl::Status found = scrub_guarded();
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->stopping) return;
    result_ = std::move(found);
    done_ = asked;
    shared_->changed.notify_all();
  }
}

bool Scrubber::wait() {
  std::unique_lock lock(shared_->mutex);
  const auto due = [&] { return shared_->stopping || wanted_ > done_; };
  if (options_.every == Duration::zero()) {
    shared_->changed.wait(lock, due);
  } else {
    shared_->changed.wait_for(lock, std::min<Duration>(options_.every, std::chrono::hours(24 * 365)), due);
  }
  return !shared_->stopping;
}

// The one place of the thread where what was not expected ends. A scrub changes nothing here: what it found is reported.
absl::Status Scrubber::scrub_guarded() noexcept {
  try {
    return scrub();
  } catch (...) {
    return last_words_.caught();
  }
}

absl::Status Scrubber::scrub() {
  absl::Status state = state_.scrub([this](size_t bytes) { return pace(bytes); });
  if (absl::IsDataLoss(state)) post_(StateRotten{state});
  absl::Status log = scrub_log();
  return state.ok() ? log : state;
}

absl::Status Scrubber::scrub_log() {
  absl::Status found;
  Index from(1);
  while (from) {
    log_.scrub(from, [answer = std::make_shared<Answer>(shared_)](LogScrub part) { answer->give(std::move(part)); });
    LogScrub part;
    {
      std::unique_lock lock(shared_->mutex);
      shared_->changed.wait(lock, [&] { return shared_->stopping || shared_->part; });
      if (shared_->stopping) return found;
      part = *std::exchange(shared_->part, std::nullopt);
    }
    if (!part.why.ok()) {
      if (found.ok()) found = part.why;
      post_(LogDamaged{part.first_bad, part.last_bad, part.why});
    }
    from = part.next;
    pace(part.bytes);
  }
  return found;
}

bool Scrubber::pace(size_t bytes) {
  using Steady = std::chrono::steady_clock;
  const std::chrono::duration<double> takes(static_cast<double>(bytes) / static_cast<double>(options_.bytes_per_second));
  earliest_ = std::max(earliest_, Steady::now()) + std::chrono::duration_cast<Steady::duration>(takes);
  std::unique_lock lock(shared_->mutex);
  if (earliest_ - Steady::now() < std::chrono::milliseconds(5)) return !shared_->stopping;
  return !shared_->changed.wait_until(lock, earliest_, [&] { return shared_->stopping; });
}

}  // namespace coordkit
