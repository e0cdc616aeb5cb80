#include "sim/nodes/node_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/faults/defects.h"

namespace coordkit::sim {

EngineOptions engine_options(const NodeParts& parts, uint32_t node, uint64_t level) {
  const Plan& plan = parts.plan;
  EngineOptions options;
  options.raft.self = ReplicaId(node + 1);
  options.feature_level = level;
  options.raft.election_timeout = plan.election_timeout;
  options.raft.heartbeat_interval = plan.heartbeat_interval;
  options.raft.commit_news_delay = std::chrono::milliseconds(1);
  options.raft.append_delay = plan.append_delay;
  if (plan.leases) options.raft.lease = raft::lease_of(plan.election_timeout, kRateErrorPpm);
  options.raft.append_bytes_max = plan.append_bytes_max;
  options.raft.cache_bytes_max = plan.cache_bytes_max;
  options.raft.append_messages_in_flight = plan.append_messages_in_flight;
  options.raft.promotion_lag_max = plan.promotion_lag_max;
  options.window = plan.window;
  options.token_base = uint64_t{1} << 58;
  options.apply_bytes_per_turn = plan.apply_bytes_per_turn;
  options.checkpoint_entries = plan.checkpoint_entries;
  options.timers_per_entry = plan.timers_per_entry;
  options.digest_entries = kDigestEntries;
  options.raft.log_retained_bytes = plan.states.log_retained_bytes;
  if (parts.options.sizes.log_retained_bytes) {  // this choice wants states to be sent, to short absences as well
    options.raft.log_pinned_bytes = std::max<uint64_t>(plan.states.log_retained_bytes, 2 << 10);
  }
  options.state_chunk_bytes = plan.states.chunk_bytes;
  options.state_bytes_per_second = plan.states.bytes_per_second;
  options.state_view_idle = plan.states.view_idle;
  options.state_view_max = plan.states.view_max;
  return options;
}

ClientOptions client_options(const NodeParts& parts, uint32_t node, BootCounter boot) {
  ClientOptions options;
  options.election_timeout = parts.plan.election_timeout;
  if (parts.plan.work.session_change_share > 0 || parts.options.program) {
    options.draw_secret = [process = fmt::format("secret of {} boot {}", node, boot.value()), drawn = 0]() mutable {
      return fmt::format("{}, the {}.", process, ++drawn);
    };
  }
  options.sticky.block = parts.plan.work.sticky_block;
  options.sticky.idle_max = parts.plan.work.sticky_idle_max;
  options.compaction.revisions = parts.plan.work.revisions_kept;
  return options;
}

std::vector<HostedMachine> machines_of(const NodeParts& parts, uint32_t node) {
  std::vector<HostedMachine> machines;
  if (parts.options.machines) machines = parts.options.machines(ReplicaId(node + 1));
  machines.push_back({kCoordination, make_machine(parts.defects, node)});
  return machines;
}

}  // namespace coordkit::sim
