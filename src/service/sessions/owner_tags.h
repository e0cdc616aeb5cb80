// The owners that a session draws for acquires whose caller named none (docs/semantics.md S-49). Each Mutex, each Election and
// each asynchronous acquire gets one of its own; the blocking acquires of a thread share one.
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
  // Short, because the log, every replica and the hold itself keep it: with a name of a dozen bytes it costs no allocation.
  std::string fresh() { return kPrefix + std::to_string(next_.fetch_add(1)); }

  // The session was taken over and came with a hold of this owner, which its previous process drew.
  void taken(std::string_view tag) {
    uint64_t number = 0;
    if (!tag.starts_with(kPrefix)) return;
    const auto [last, failed] = std::from_chars(tag.data() + 1, tag.data() + tag.size(), number);
    if (failed != std::errc() || number >= kDrawnMax) return;
    uint64_t next = next_.load();
    while (next <= number && !next_.compare_exchange_weak(next, number + 1)) {
    }
  }

  // The same for all sessions of this process, and of no thread after this one.
  static std::string of_this_thread() {
    static std::atomic<uint64_t> threads{0};
    thread_local const uint64_t mine = ++threads;
    return std::string("~t") + std::to_string(mine);
  }

 private:
  static constexpr char kPrefix = '~';
  static constexpr uint64_t kDrawnMax = uint64_t{1} << 62;  // above it are names that somebody made up
  std::atomic<uint64_t> next_{1};
};

}  // namespace coordkit
