// The door of the calls that may be refused: how many are inside, waiting or under way, and whether one more can be answered
// in time. Who is refused has cost one look at it.
//
// In time: with as many ahead as there are, at the best pace of late, half of what is left until the deadline would do, and
// half a second as well. The best pace, because a time without a leader says nothing of what comes after it; half, because the
// best may not last.
//
// Threads: any, but turned(), which is the engine's.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "coordkit/clock.h"

namespace coordkit {

class CallDoor {
 public:
  static constexpr size_t kInsideMax = 65'536;
  static constexpr size_t kNeverLong = 1024;  // so few ahead are no reason to refuse: they go into the log together

  // False: refused. Else until left().
  bool enter(LaggingTime deadline, const Clock& clock);
  // The line before the engine's thread.
  void lined_up() { line_.fetch_add(1, std::memory_order_relaxed); }
  void begun(size_t calls) { line_.fetch_sub(calls, std::memory_order_relaxed); }
  // `served`: with an answer, and not because its time was over.
  void left(bool served);

  // After each turn: so many commands wait for their first answer.
  void turned(LaggingTime now, size_t unanswered);

  size_t inside() const { return inside_.load(std::memory_order_relaxed); }
  size_t ahead() const { return line_.load(std::memory_order_relaxed) + unanswered_.load(std::memory_order_relaxed); }
  Duration per_call() const { return Duration(per_call_.load(std::memory_order_relaxed)); }  // zero: not known

 private:
  static constexpr Duration kLook = std::chrono::milliseconds(100);
  static constexpr size_t kLooks = 10;

  bool in_time(LaggingTime deadline, const Clock& clock) const;

  std::atomic<size_t> inside_{0};  // I: at most kInsideMax, and those that are just turned away
  std::atomic<size_t> line_{0};
  std::atomic<size_t> unanswered_{0};
  std::atomic<uint64_t> served_{0};
  std::atomic<Duration::rep> per_call_{0};

  // The engine's thread: the pace of times in which calls waited from beginning to end, and some were answered.
  std::array<Duration, kLooks> paces_{};  // zero: none yet
  size_t newest_ = 0;
  LaggingTime looked_ = LaggingTime::min();
  uint64_t served_before_ = 0;
  bool crowded_before_ = false;
};

}  // namespace coordkit
