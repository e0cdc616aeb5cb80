#include "coordkit/client/options.h"

#include <limits>

#include "coordkit/error.h"
#include "machine/lock_commands.h"

namespace coordkit {
namespace {

__extension__ typedef __int128 Wide;

}  // namespace

absl::Status ClientOptions::validate() const {
  std::string problems;
  const auto demand = [&problems](bool fine, std::string_view sentence) {
    if (!fine) problems.append(problems.empty() ? "" : " ").append(sentence);
  };
  demand(election_timeout > Duration::zero(), "election_timeout must be above zero: give the engine's.");
  demand(rate_error_ppm <= 500'000, "rate_error_ppm must be at most 500000 (50 %): 10000 suits ordinary hardware.");
  demand(slack >= Duration::zero(), "slack must not be negative.");
  demand(call_timeout > Duration::zero(), "call_timeout must be above zero.");
  static_assert(machine::kTokenBlockMax == uint64_t{1} << 20);
  demand(sticky.legal(), "sticky.block must be between 1 and 1048576, and sticky.time_max not negative.");
  demand(compaction.legal(), "compaction.age must be zero or at least 100 ms.");
  demand(calls_max >= 1, "calls_max must be at least 1.");
  return problems.empty() ? absl::OkStatus() : make_error(Reason::InvalidArgument, problems);
}

// T(1-rho)/(1+rho) - g in integers: the product needs more than 64 bits, the quotient does not.
Duration validity(Duration ttl, uint32_t rate_error_ppm, Duration slack) {
  constexpr int64_t kMillion = 1'000'000;
  const Wide scaled = static_cast<Wide>(ttl.count()) * (kMillion - rate_error_ppm);
  return Duration(static_cast<int64_t>(scaled / (kMillion + rate_error_ppm))) - slack;
}

}  // namespace coordkit
