#include "bench/cluster/sessions.h"

#include <algorithm>
#include <utility>

namespace coordkit::bench {

namespace {

constexpr uint64_t kUnderWay = 256;

}  // namespace

std::string lock_name_of(uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(16 - digits.size(), '0') + digits;
}

absl::Status Sessions::open() {
  for (uint64_t chain = 0; chain < std::min(kUnderWay, count_); ++chain) open_next();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_ == count_ || !failure_.ok(); });
  return failure_;
}

uint64_t Sessions::valid() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint64_t>(std::ranges::count_if(all_, [](const auto& one) { return one.grant.valid(); }));
}

void Sessions::open_next() {
  One* one = nullptr;
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (all_.size() == count_ || !failure_.ok()) return;
    one = &all_.emplace_back();
    number = all_.size();
  }
  service_.open_session_async({.ttl = ttl_}, [self = shared_from_this(), number, one](absl::StatusOr<Session> session) {
    self->opened(number, one, std::move(session));
  });
}

void Sessions::opened(uint64_t number, One* one, absl::StatusOr<Session> session) {
  if (!session.ok()) return failed(session.status());
  one->session = *std::move(session);
  one->session.acquire_async(lock_name_of(number), {}, [self = shared_from_this(), one](absl::StatusOr<Grant> grant) {
    self->granted(one, std::move(grant));
  });
}

void Sessions::granted(One* one, absl::StatusOr<Grant> grant) {
  if (!grant.ok()) return failed(grant.status());
  one->grant = *std::move(grant);
  {
    const std::lock_guard lock(mutex_);
    ++done_;
  }
  changed_.notify_all();
  open_next();
}

void Sessions::failed(const absl::Status& why) {
  {
    const std::lock_guard lock(mutex_);
    failure_.Update(why);
  }
  changed_.notify_all();
}

}  // namespace coordkit::bench
