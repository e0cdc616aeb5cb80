#include "transport/secure/unverified.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace coordkit::tcp {

void Unverified::make_room(const asio::ip::address& address) {
  const auto evict_first = [&](auto matches, size_t max) {
    if (static_cast<size_t>(std::count_if(connections_.begin(), connections_.end(), matches)) < max) return;
    const std::shared_ptr<Connection> oldest = *std::find_if(connections_.begin(), connections_.end(), matches);
    oldest->close(CloseReason::Crowded);
  };
  evict_first([&](const auto& one) { return one->address() == address; }, options_.unverified_per_address_max);
  evict_first([](const auto&) { return true; }, options_.unverified_max);
}

void Unverified::erase(const Connection& connection) {
  std::erase_if(connections_, [&](const auto& one) { return one.get() == &connection; });
}

void Unverified::tick(TimePoint now, Duration pause) {
  for (const auto& one : std::vector(connections_)) one->tick(now, pause);
}

void Unverified::close() {
  for (const auto& one : std::exchange(connections_, {})) one->close(CloseReason::Local);
}

bool Unverified::take_bytes(size_t bytes, TimePoint now) {
  if (now - bytes_since_ >= std::chrono::seconds(1)) {
    bytes_since_ = now;
    bytes_ = 0;
  }
  bytes_ += bytes;
  return bytes_ <= options_.unproven_bytes_per_second;
}

}  // namespace coordkit::tcp
