// What a measurement is made of: a clock, a window, latencies, and the disk below it.
//
// Latencies are microseconds. Only cycles that begin and end inside the window count; percentiles are taken from all of
// them, not from buckets. In a closed loop cycles per second = callers / mean latency, and nothing corrects for coordinated
// omission; an open one has its rate from outside (load_loop.h).
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace coordkit::bench {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Seconds = std::chrono::duration<double>;

struct Window {
  TimePoint start;
  TimePoint end;

  static Window after(Seconds warmup, Seconds length) {
    const TimePoint start = Clock::now() + std::chrono::ceil<Clock::duration>(warmup);
    return {start, start + std::chrono::ceil<Clock::duration>(length)};
  }
  bool contains(TimePoint from, TimePoint to) const { return from >= start && to < end; }
};

class Latencies {
 public:
  explicit Latencies(size_t expected = 0) { us_.reserve(expected); }
  void add(TimePoint from, TimePoint to) { us_.push_back(std::chrono::duration<float, std::micro>(to - from).count()); }
  void add(const Latencies& other) { us_.insert(us_.end(), other.us_.begin(), other.us_.end()); }
  size_t count() const { return us_.size(); }
  // The q-quantile with one digit behind the point; -1 when there is nothing. Sorts.
  double quantile(double q);

 private:
  std::vector<float> us_;
};

double one_digit(double value);  // behind the point
double two_digits(double value);
double median(std::vector<double> values);  // of at least one

// cycles_per_s, of `ended` cycles, and the percentiles (report/percentiles.h)
nlohmann::ordered_json summary(Latencies& cycles, size_t ended, Seconds length);

// How many records of 256 bytes a second this directory's disk makes durable, measured for 0.3 s each: appended to a file
// (fdatasync_per_s, p50_us, p99_us) and where space had been written before (in_place_...), as the log does it. The files
// are removed. Throws std::system_error.
nlohmann::ordered_json probe_disk(const std::string& directory);

std::string file_system_of(const std::string& directory);  // "ext4", "tmpfs", ..., or its number
bool in_memory(const std::string& directory);              // a sync costs nothing there and keeps nothing

size_t allocated_bytes();  // by this process, from all of malloc's arenas

nlohmann::ordered_json describe_machine(const std::string& directory);

}  // namespace coordkit::bench
