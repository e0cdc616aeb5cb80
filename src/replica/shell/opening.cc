#include "replica/shell/opening.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/problems.h"
#include "base/random_id.h"
#include "client/calls/option_checks.h"
#include "coordkit/engine/coordination_machine.h"
#include "coordkit/storage/data_directory.h"
#include "engine/apply/machine_factory.h"
#include "raft/log/entry_codec.h"
#include "replica/shell/parts.h"
#include "replica/shell/token_base.h"
#include "storage/absolute_path.h"
#include "storage/identity.h"
#include "storage/posix_file_system.h"

namespace coordkit {
namespace {

constexpr size_t kStateChunkBytes = 2 << 20;                   // each is staged with a sync or two
constexpr Duration kNewsDelay = std::chrono::milliseconds(3);  // longer than a commit takes, too short to be noticed

EngineOptions engine_options(const ReplicaOptions& options) {
  EngineOptions engine;
  engine.raft.self = ReplicaId(options.id);
  engine.raft.election_timeout = options.election_timeout;
  engine.raft.heartbeat_interval = options.heartbeat_interval;
  engine.raft.commit_news_delay = kNewsDelay;
  engine.raft.append_delay = kNewsDelay;
  if (options.leader_leases) engine.raft.lease = raft::lease_of(options.election_timeout, options.rate_error_ppm);
  engine.raft.seed = random_id();
  engine.new_cluster = ClusterId(random_id());
  engine.token_base = calendar_token_base();
  engine.start = random_id();
  engine.agreement = agreement_of(options);
  engine.checkpoint_entries = options.checkpoint_entries;
  engine.raft.log_retained_bytes = options.log_retained_bytes;
  engine.raft.log_pinned_bytes = std::max(options.log_pinned_bytes, options.log_retained_bytes);
  engine.raft.follower_lag_bytes_max = options.follower_lag_bytes_max;
  engine.digest_entries = options.digest_entries;
  engine.state_chunk_bytes = kStateChunkBytes;
  for (const MemberAddress& member : options.members) engine.members.push_back({ReplicaId(member.id), member.address});
  return engine;
}

constexpr size_t kOwnMachinesMax = 64;

// An id of zero has a sentence of its own. Here an id that is among the members replaces it, so that it is not reported again
// as one that is not.
EngineOptions engine_options_to_check(const ReplicaOptions& options) {
  EngineOptions engine = engine_options(options);
  if (options.id != 0) return engine;
  constexpr ReplicaId kStandIn{kRemoteBit - 1};  // no operator numbers a member so
  engine.raft.self = kStandIn;
  if (engine.members.size() == kMembersMax) engine.members.pop_back();
  if (!engine.members.empty()) engine.members.push_back({kStandIn, {}});
  return engine;
}

void check_machines(const std::vector<OwnMachine>& machines, Problems& problems) {
  if (machines.size() > kOwnMachinesMax) return problems.add("machines lists more than 64 machines: list 64 at most");
  for (size_t i = 0; i < machines.size(); ++i) {
    const std::string name = "machine " + std::to_string(machines[i].id.value());
    if (machines[i].id < kFirstHostMachine) problems.add(name + " has an id of coordkit's own: choose one from 16 up");
    if (!machines[i].make) problems.add(name + " has no factory: set `make`");
    for (size_t j = 0; j < i; ++j) {
      if (machines[i].id == machines[j].id) problems.add(name + " is listed twice: give every machine an id of its own");
    }
  }
}

// A file of another kind in the data directory would be refused at the next start.
void check_admin_socket(const std::string& socket, const std::string& data_dir, Problems& problems) {
  if (socket.size() > kLocalPathBytesMax) problems.add("admin_socket is longer than 107 bytes: give a shorter path");
  if (socket.empty() || data_dir.empty()) return;
  if (storage::lies_in(socket, data_dir)) problems.add("admin_socket lies in data_dir: choose a path outside of it");
}

}  // namespace

Agreement agreement_of(const ReplicaOptions& options) {
  Agreement agreement{.rate_error_ppm = options.rate_error_ppm,
                      .election_timeout = options.election_timeout,
                      .leader_leases = options.leader_leases,
                      .digest_entries = options.digest_entries,
                      .revisions_kept = options.compaction.revisions,
                      .history_kept = options.compaction.age};
  for (const OwnMachine& machine : options.machines) agreement.machines.push_back({machine.id, machine.version});
  std::ranges::sort(agreement.machines, {}, &Agreement::Machine::id);
  return agreement;
}

absl::StatusOr<std::vector<HostedMachine>> make_machines(const std::vector<OwnMachine>& own) {
  std::vector<HostedMachine> machines;
  machines.push_back(coordination_machine());
  for (const OwnMachine& one : own) {
    absl::StatusOr<std::unique_ptr<StateMachine>> made = engine::made_machine(one);
    if (!made.ok()) return made.status();
    machines.push_back({one.id, *std::move(made)});
  }
  return machines;
}

absl::Status ReplicaOptions::validate() const {
  Problems problems;
  if (id == 0) problems.add("id is 0: give this replica the id that the list of members has for it, 1 or above");
  if (cluster.empty()) problems.add("cluster is empty: name the cluster, the same on every replica");
  if (cluster.size() > storage::kClusterBytesMax) problems.add("cluster is longer than 255 bytes: give a shorter name");
  check_parts(*this, problems);
  check_machines(machines, problems);
  client::check_rate_error(rate_error_ppm, problems);
  if (scrub_every != Duration::zero() && scrub_every < std::chrono::seconds(1))
    problems.add("scrub_every is neither zero, which means never, nor a second or more");
  if (scrub_bytes_per_second == 0)
    problems.add("scrub_bytes_per_second is 0: give it 1 at least, and scrub_every zero for no scrub");
  if (drain < Duration::zero()) problems.add("drain is negative: give it zero or more");
  if (busy_poll < Duration::zero() || busy_poll > std::chrono::milliseconds(10))
    problems.add("busy_poll is not between 0 and 10 ms");
  check_admin_socket(admin_socket, data_dir, problems);
  client::check(sticky, problems);
  client::check(compaction, problems);
  problems.add(engine_options_to_check(*this).validate());
  return problems.status();
}

absl::StatusOr<std::shared_ptr<RunningHost>> open_host(ReplicaOptions options) {
  if (absl::Status status = options.validate(); !status.ok()) return status;
  // Secrets of sessions are drawn later, where no status can say that there are none.
  char bits = 0;
  if (::getentropy(&bits, sizeof bits) != 0) return errno_status(errno, "cannot get random bits of the kernel");
  std::shared_ptr<DataDirectory> directory;  // none: the host's stores know their own places
  if (!options.data_dir.empty()) {
    auto opened = DataDirectory::open({.path = options.data_dir, .cluster = options.cluster, .replica = ReplicaId(options.id)});
    if (!opened.ok()) return opened.status();
    directory = *std::move(opened);
  }

  const auto own_thread = options.parts.executor ? nullptr : std::make_shared<OwnThread>(options.busy_poll);
  absl::StatusOr<MadeParts> parts = make_parts(options, directory, own_thread ? &own_thread->io() : nullptr);
  if (!parts.ok()) return parts.status();

  // A forked child never destroys it: there is no thread to join, and what it would undo (sockets in a shared epoll set,
  // locks) still belongs to its parent. Exit or exec frees it.
  const auto unless_forked = [](RunningHost* doomed) {
    if (!doomed->forked()) delete doomed;
  };
  const std::shared_ptr<RunningHost> host(
      new RunningHost(std::move(options), own_thread, std::move(directory), *std::move(parts)), unless_forked);
  return host->open();
}

absl::StatusOr<std::shared_ptr<RunningHost>> RunningHost::open() {
  absl::StatusOr<Stores::Recovered> recovered = stores_.open(arrivals_);
  if (!recovered.ok()) return recovered.status();
  const Origin origin{ReplicaId(options_.id), recovered->log.store, recovered->log.boot};

  absl::StatusOr<std::vector<HostedMachine>> fresh = make_machines(options_.machines);
  if (!fresh.ok()) return fresh.status();
  EngineOptions engine_opts = engine_options(options_);
  const std::vector<Peer> peers = engine_opts.members;
  auto engine =
      Engine::recover(std::move(engine_opts), *std::move(fresh), std::move(recovered->log), *recovered->view, clock().now());
  if (!engine.ok()) return engine.status();

  const Hello hello{.cluster_name = options_.cluster,
                    .from = origin.replica,
                    .store = origin.store,
                    .boot = origin.boot,
                    .cluster = (*engine)->status().cluster,
                    .feature_level = kFeatureLevel,
                    .agreement = agreement_of(options_),
                    .members = list_for_hello(peers)};
  if (absl::Status status = peers_.start(hello, peers, arrivals_); !status.ok()) return status;
  if (remotes_) {
    if (absl::Status status = remotes_->start(**engine, options_, arrivals_); !status.ok()) return status;
  }
  stores_.keep_reserve();
  start(*std::move(engine));
  return self();
}

}  // namespace coordkit
