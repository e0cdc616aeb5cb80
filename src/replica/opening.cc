#include "replica/opening.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coordkit/coordination_machine.h"
#include "coordkit/storage/data_directory.h"
#include "engine/made_machine.h"
#include "replica/parts.h"
#include "replica/token_base.h"

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
  std::string problems;
  const auto problem = [&](std::string sentence) { problems += (problems.empty() ? "" : "; ") + std::move(sentence); };
  if (id == 0) problem("id is 0: give this replica the id that the member list has for it, 1 or above");
  if (cluster.empty()) problem("cluster is empty: name the cluster, the same on every replica");
  if (cluster.size() > 255) problem("cluster is longer than 255 bytes");
  check_parts(*this, problem);
  if (machines.size() > kOwnMachinesMax) problem("more than 64 machines");
  for (size_t i = 0; i < machines.size(); ++i) {
    const std::string name = "machine " + std::to_string(machines[i].id.value());
    if (machines[i].id < kFirstHostMachine) problem(name + " has an id of coordkit's own: choose one from 16 up");
    if (!machines[i].make) problem(name + " has no factory");
    for (size_t j = 0; j < i; ++j) {
      if (machines[i].id == machines[j].id) problem(name + " is listed twice: every machine needs an id of its own");
    }
  }
  if (rate_error_ppm > 500'000) problem("rate_error_ppm is above 500'000");
  if (scrub_every != Duration::zero() && scrub_every < std::chrono::seconds(1)) problem("scrub_every is below a second");
  if (scrub_bytes_per_second == 0) problem("scrub_bytes_per_second is 0");
  if (drain < Duration::zero()) problem("drain is negative");
  if (busy_poll < Duration::zero() || busy_poll > std::chrono::milliseconds(10))
    problem("busy_poll is not between 0 and 10 ms");
  if (admin_socket.size() > kLocalPathBytesMax) problem("admin_socket is longer than 107 bytes");
  if (!sticky.legal()) problem("sticky.block is not between 1 and 1'048'576, or sticky.time_max is negative");
  if (!compaction.legal()) problem("compaction.age is neither zero nor at least 100 ms");
  EngineOptions engine = engine_options(*this);
  if (id == 0 && !members.empty()) engine.raft.self = ReplicaId(members.front().id);  // zero was reported above
  if (const absl::Status status = engine.validate(); !status.ok()) {
    problem(std::string(sentence_of(status)));
  }
  return problems.empty() ? absl::OkStatus() : make_error(Reason::InvalidArgument, problems);
}

absl::StatusOr<std::shared_ptr<Host>> open_host(ReplicaOptions options) {
  if (absl::Status status = options.validate(); !status.ok()) return status;
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
  const auto unless_forked = [](Host* doomed) {
    if (!doomed->forked()) delete doomed;
  };
  const std::shared_ptr<Host> host(new Host(std::move(options), own_thread, std::move(directory), *std::move(parts)),
                                   unless_forked);
  return host->open();
}

absl::StatusOr<std::shared_ptr<Host>> Host::open() {
  absl::StatusOr<Stores::Recovered> recovered = stores_.open(arrivals_);
  if (!recovered.ok()) return recovered.status();
  const Origin self{ReplicaId(options_.id), recovered->log.store, recovered->log.boot};

  absl::StatusOr<std::vector<HostedMachine>> fresh = make_machines(options_.machines);
  if (!fresh.ok()) return fresh.status();
  EngineOptions engine_opts = engine_options(options_);
  const std::vector<Peer> peers = engine_opts.members;
  auto engine =
      Engine::recover(std::move(engine_opts), *std::move(fresh), std::move(recovered->log), *recovered->view, clock_.now());
  if (!engine.ok()) return engine.status();

  const Hello hello{.cluster_name = options_.cluster,
                    .from = self.replica,
                    .store = self.store,
                    .boot = self.boot,
                    .cluster = (*engine)->status().cluster,
                    .feature_level = kFeatureLevel,
                    .agreement = agreement_of(options_)};
  if (absl::Status status = peers_.start(hello, peers, arrivals_); !status.ok()) return status;
  stores_.keep_reserve();
  start(*std::move(engine));
  return shared_from_this();
}

}  // namespace coordkit
