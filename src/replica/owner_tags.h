// The owners of Mutex and its like: each draws one of its own, whatever else its session holds.
#pragma once

#include <atomic>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace coordkit {

class OwnerTags {
 public:
  std::string fresh() { return std::string(kPrefix) + std::to_string(next_.fetch_add(1)); }

  // A session that was taken over came with a hold of this owner, which its previous process drew.
  void taken(std::string_view tag) {
    uint64_t number = 0;
    if (!tag.starts_with(kPrefix)) return;
    const auto [last, failed] = std::from_chars(tag.data() + kPrefix.size(), tag.data() + tag.size(), number);
    if (failed != std::errc() || number >= kDrawnMax) return;
    uint64_t next = next_.load();
    while (next <= number && !next_.compare_exchange_weak(next, number + 1)) {
    }
  }

 private:
  static constexpr std::string_view kPrefix = "mutex-";
  static constexpr uint64_t kDrawnMax = uint64_t{1} << 62;  // above it are names that somebody made up
  std::atomic<uint64_t> next_{1};
};

}  // namespace coordkit
