#include "bench/cluster/renewals_load.h"

#include <cmath>
#include <thread>

#include "bench/cluster/measure.h"
#include "bench/cluster/process.h"
#include "bench/cluster/sessions.h"

namespace coordkit::bench {
namespace {

constexpr Duration kShortTtl = std::chrono::milliseconds(250);

}  // namespace

nlohmann::ordered_json run_renewals_load(Service& service, const LoadOptions& options) {
  const auto sessions = std::make_shared<Sessions>(service, options.callers, kShortTtl);
  if (const absl::Status opened = sessions->open(); !opened.ok()) return {{"errors", 1}, {"first_error", opened.ToString()}};
  std::this_thread::sleep_for(Seconds(options.warmup_s));
  const uint64_t before = metrics_of(service).renewals.answered.count();
  std::this_thread::sleep_for(Seconds(options.seconds));
  const WaitTimes answered = metrics_of(service).renewals.answered;
  const auto confirmed = static_cast<double>((answered.count() - before) * options.callers);
  const auto micros = [&](unsigned percent) {
    return std::chrono::duration<double, std::micro>(answered.percentile(percent)).count();
  };
  nlohmann::ordered_json result = {{"cycles_per_s", std::round(confirmed / options.seconds)},
                                   {"p50_us", micros(50)},
                                   {"p99_us", micros(99)},
                                   {"errors", options.callers - sessions->valid()}};
  return result;
}

}  // namespace coordkit::bench
