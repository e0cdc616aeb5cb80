#include "sim/oracle/hand_over_observer.h"

#include <fmt/format.h>

#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

constexpr int kRestShare = 4;  // a rest lasts as many times as long as the hand-over before it

double in_milliseconds(Duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

void HandOverObserver::turned(uint32_t node) {
  seen_.resize(nodes_.size());
  Seen& seen = seen_[node];
  const LaggingTime now = nodes_[node]->clock_now().lagging;
  const raft::Core* core = nodes_[node]->engine()->core();
  const bool under_way = core != nullptr && core->leadership().role == raft::Role::Leader && core->status().successor;
  if (!under_way) return ended(seen, now);
  if (!seen.since && now + slack_ < seen.rest_until) {
    throw Violation("INV_R24", fmt::format("n{} hands leadership over again, {:.3f} ms before its rest is over", node + 1,
                                           in_milliseconds(seen.rest_until - now)));
  }
  if (!seen.since) seen.since = now;
  if (now - *seen.since > longest_ + slack_) {
    throw Violation("INV_R24", fmt::format("n{} has refused commands for {:.3f} ms because of one hand-over", node + 1,
                                           in_milliseconds(now - *seen.since)));
  }
}

void HandOverObserver::stopped(uint32_t node) {
  if (node < seen_.size()) seen_[node] = {};
}

void HandOverObserver::ended(Seen& seen, LaggingTime now) const {
  if (!seen.since) return;
  seen.rest_until = now + kRestShare * (now - *seen.since);
  seen.since.reset();
}

}  // namespace coordkit::sim
