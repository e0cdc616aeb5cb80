#include "bench/cluster/grow_load.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coordkit/error.h"

namespace coordkit::bench {

// Keeps itself and the load alive until its last callback.
class GrowLoad::Caller : public std::enable_shared_from_this<Caller> {
 public:
  Caller(std::shared_ptr<GrowLoad> load, size_t number)
      : load_(std::move(load)), lock_("lock-" + std::to_string(number)), owner_(std::to_string(number)) {}

  void acquire() {
    if (load_->over()) return load_->ended();
    load_->session_.acquire_async(lock_, {.owner = owner_}, [self = shared_from_this()](absl::StatusOr<Grant> grant) {
      if (!grant.ok()) {
        self->load_->refused(grant.status());
        return self->acquire();
      }
      self->load_->granted();
      self->grant_ = *std::move(grant);
      self->grant_.release_async([self](const absl::Status& released) {
        released.ok() ? self->load_->cycled() : self->load_->refused(released);
        self->acquire();
      });
    });
  }

 private:
  const std::shared_ptr<GrowLoad> load_;
  const std::string lock_;
  const std::string owner_;
  Grant grant_;
};

void GrowLoad::start() {
  for (size_t number = 0; number < running_; ++number) std::make_shared<Caller>(shared_from_this(), number)->acquire();
}

void GrowLoad::granted() {
  const std::lock_guard lock(mutex_);
  const TimePoint now = Clock::now();
  longest_gap_ = std::max(longest_gap_, now - std::exchange(last_grant_, now));
}

void GrowLoad::cycled() {
  const std::lock_guard lock(mutex_);
  ++cycles_;
}

void GrowLoad::refused(const absl::Status& status) {
  const std::optional<Reason> reason = reason_of(status);
  const std::lock_guard lock(mutex_);
  ++refused_[reason ? std::string(name_of(*reason)) : status.ToString()];
  if (++refusals_ >= 1000) stopping_ = true;  // a broken cluster must not be hammered
}

bool GrowLoad::over() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void GrowLoad::ended() {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) all_ended_.notify_all();
}

nlohmann::ordered_json GrowLoad::lap() {
  const std::lock_guard lock(mutex_);
  const TimePoint now = Clock::now();
  const double seconds = Seconds(now - since_).count();
  const auto gap = std::max(longest_gap_, now - last_grant_);
  nlohmann::ordered_json lap = {{"seconds", std::round(seconds * 1000) / 1000},
                                {"cycles_per_s", std::round(static_cast<double>(std::exchange(cycles_, 0)) / seconds)},
                                {"longest_gap_ms", one_digit(Seconds(gap).count() * 1000)},
                                {"refused", std::exchange(refused_, {})}};
  since_ = now;
  longest_gap_ = {};
  return lap;
}

uint64_t GrowLoad::refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

void GrowLoad::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  if (all_ended_.wait_for(lock, std::chrono::minutes(1), [this] { return running_ == 0; })) return;
  refusals_ += running_;
  refused_["stuck"] += running_;
}

}  // namespace coordkit::bench
