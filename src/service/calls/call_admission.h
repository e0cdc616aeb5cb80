// Admission of the calls that may be refused: how many are admitted, waiting or in progress, and whether one more can be
// answered in time. A refused call has cost a single check.
//
// In time: with the current number ahead of it, at the best recent pace, half of the time left until the deadline would do, and
// half a second as well. The best pace, because a time without a leader says nothing about the time after it; half, because the
// best may not last.
//
// Overload: calls were refused for the half second in each tenth of the last half second. From then on 10 ms must do in its
// place, until a tenth of a second passes without a refusal. A burst may queue, but a lasting queue only delays what is
// answered (the idea of CoDel, Nichols and Jacobson 2012).
//
// Threads: any, but turned(), which is the engine's.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "coordkit/ports/clock.h"

namespace coordkit {

class CallAdmission {
 public:
  static constexpr size_t kInsideMax = 65'536;
  static constexpr size_t kNeverLong = 1024;  // with so few ahead nothing is refused: they go into the log together

  // False: refused. Else until left().
  bool enter(LaggingTime deadline, const Clock& clock);
  // The queue in front of the engine's thread.
  void lined_up() { line_.fetch_add(1, std::memory_order_relaxed); }
  void begun(size_t calls) { line_.fetch_sub(calls, std::memory_order_relaxed); }
  // `served`: with an answer, and not because its deadline passed.
  void left(bool served);

  // After each turn: this many commands wait for their first answer.
  void turned(LaggingTime now, size_t unanswered);

  size_t in_line() const { return line_.load(std::memory_order_relaxed); }
  size_t inside() const { return inside_.load(std::memory_order_relaxed); }
  size_t ahead() const { return line_.load(std::memory_order_relaxed) + unanswered_.load(std::memory_order_relaxed); }
  bool overloaded() const { return overloaded_.load(std::memory_order_relaxed); }
  Duration per_call() const { return Duration(per_call_.load(std::memory_order_relaxed)); }  // zero: not known

 private:
  static constexpr Duration kLook = std::chrono::milliseconds(100);
  static constexpr size_t kLooks = 10;
  static constexpr size_t kOverloadedAfter = 5;

  bool in_time(LaggingTime deadline, const Clock& clock);

  std::atomic<size_t> inside_{0};  // I: at most kInsideMax, plus those just being refused
  std::atomic<size_t> line_{0};
  std::atomic<size_t> unanswered_{0};
  std::atomic<uint64_t> served_{0};
  std::atomic<Duration::rep> per_call_{0};
  std::atomic<bool> queue_full_{false};  // a call was refused for the length of the queue, since the last look
  std::atomic<bool> overloaded_{false};

  // Used by the engine's thread: the pace of periods in which calls were waiting throughout, and some were answered.
  std::array<Duration, kLooks> paces_{};  // zero: none yet
  size_t newest_ = 0;
  size_t full_looks_ = 0;  // the latest ones, without a gap
  LaggingTime looked_ = LaggingTime::min();
  uint64_t served_before_ = 0;
  bool crowded_before_ = false;
};

}  // namespace coordkit
