#include "bench/cluster/measure.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <fstream>
#include <system_error>
#include <thread>

#include "bench/report/percentiles.h"
#include "tools/support/child.h"

namespace coordkit::bench {
namespace {

constexpr Seconds kProbe(0.3);
constexpr Seconds kProbeWarmup(0.1);
constexpr size_t kProbeBytes = 256;

long magic_of(const std::string& directory) {
  struct statfs about {};
  if (statfs(directory.c_str(), &about) != 0) throw std::system_error(errno, std::generic_category(), directory);
  return static_cast<long>(about.f_type);
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown";
}

}  // namespace

double one_digit(double value) { return std::round(value * 10) / 10; }
double two_digits(double value) { return std::round(value * 100) / 100; }

double Latencies::quantile(double q) {
  if (us_.empty()) return -1;
  if (!std::is_sorted(us_.begin(), us_.end())) std::sort(us_.begin(), us_.end());
  const auto at = static_cast<size_t>(q * static_cast<double>(us_.size()));
  return one_digit(us_[std::min(at, us_.size() - 1)]);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

nlohmann::ordered_json summary(Latencies& cycles, size_t ended, Seconds length) {
  nlohmann::ordered_json line = {{"cycles_per_s", std::round(static_cast<double>(ended) / length.count())}};
  for (const Percentile& each : kPercentiles) line[std::string(each.name)] = cycles.quantile(1 - 1 / each.one_in);
  return line;
}

namespace {

constexpr size_t kInPlaceBytes = 4 << 20;

// Appending makes the file system write its own records too; in place only the data is written, as in a segment of the
// log, whose space is allocated before it is used.
Latencies probe_syncs(const std::string& path, bool in_place) {
  const support::Descriptor file(open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644));
  const auto failed = [&] { return std::system_error(errno, std::generic_category(), path); };
  const std::vector<char> space(kInPlaceBytes);
  if (in_place && (write(file.get(), space.data(), space.size()) != static_cast<ssize_t>(space.size()) ||
                   fsync(file.get()) != 0 || lseek(file.get(), 0, SEEK_SET) != 0)) {
    throw failed();
  }
  const std::array<char, kProbeBytes> record{};
  Latencies latencies;
  size_t written = 0;
  const Window window = Window::after(kProbeWarmup, kProbe);
  for (TimePoint from = Clock::now(); from < window.end;) {
    const bool wrap = in_place && (written += record.size()) > kInPlaceBytes;
    if (wrap) written = record.size();
    if (wrap && lseek(file.get(), 0, SEEK_SET) != 0) throw failed();
    if (write(file.get(), record.data(), record.size()) != static_cast<ssize_t>(record.size()) || fdatasync(file.get()) != 0) {
      throw failed();
    }
    const TimePoint to = Clock::now();
    if (window.contains(from, to)) latencies.add(from, to);
    from = to;
  }
  unlink(path.c_str());
  return latencies;
}

double per_second(const Latencies& latencies) { return std::round(static_cast<double>(latencies.count()) / kProbe.count()); }

}  // namespace

nlohmann::ordered_json probe_disk(const std::string& directory) {
  Latencies appended = probe_syncs(directory + "/probe", false);
  Latencies in_place = probe_syncs(directory + "/probe", true);
  return {{"fdatasync_per_s", per_second(appended)},   {"p50_us", appended.quantile(0.5)},
          {"p99_us", appended.quantile(0.99)},         {"in_place_per_s", per_second(in_place)},
          {"in_place_p50_us", in_place.quantile(0.5)}, {"in_place_p99_us", in_place.quantile(0.99)}};
}

std::string file_system_of(const std::string& directory) {
  switch (const long magic = magic_of(directory)) {
    case EXT4_SUPER_MAGIC: return "ext4";
    case XFS_SUPER_MAGIC: return "xfs";
    case BTRFS_SUPER_MAGIC: return "btrfs";
    case OVERLAYFS_SUPER_MAGIC: return "overlay";
    case TMPFS_MAGIC: return "tmpfs";
    case RAMFS_MAGIC: return "ramfs";
    default: return "number " + std::to_string(magic);
  }
}

bool in_memory(const std::string& directory) {
  const long magic = magic_of(directory);
  return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC;
}

size_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

nlohmann::ordered_json describe_machine(const std::string& directory) {
  utsname kernel{};
  uname(&kernel);
  std::array<char, 32> started{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::strftime(started.data(), started.size(), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  return {{"name", "machine"},        {"cpus", std::thread::hardware_concurrency()}, {"cpu", cpu_model()},
          {"kernel", kernel.release}, {"file_system", file_system_of(directory)},    {"started", started.data()}};
}

}  // namespace coordkit::bench
