#include "coordkit/client/client_options.h"

#include <limits>

#include "client/calls/option_checks.h"
#include "machine/locks/lock_commands.h"

namespace coordkit {
namespace {

__extension__ typedef __int128 Wide;

}  // namespace

absl::Status ClientOptions::validate() const {
  static_assert(machine::kTokenBlockMax == uint64_t{1} << 20);
  Problems problems;
  if (election_timeout <= Duration::zero()) problems.add("election_timeout is not above zero: give the engine's");
  client::check_rate_error(rate_error_ppm, problems);
  if (slack < Duration::zero()) problems.add("slack is negative: give it zero or more");
  if (call_timeout <= Duration::zero()) problems.add("call_timeout is not above zero");
  client::check(sticky, problems);
  client::check(compaction, problems);
  if (calls_max == 0) problems.add("calls_max is 0: give it 1 at least");
  return problems.status();
}

// T(1-rho)/(1+rho) - g in integers: the product needs more than 64 bits, the quotient does not.
Duration validity(Duration ttl, uint32_t rate_error_ppm, Duration slack) {
  constexpr int64_t kMillion = 1'000'000;
  const Wide scaled = static_cast<Wide>(ttl.count()) * (kMillion - rate_error_ppm);
  return Duration(static_cast<int64_t>(scaled / (kMillion + rate_error_ppm))) - slack;
}

}  // namespace coordkit
