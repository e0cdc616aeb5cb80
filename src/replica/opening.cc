#include "replica/opening.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "coordkit/storage/data_directory.h"
#include "coordkit/storage/lmdb_state_store.h"
#include "coordkit/storage/segmented_log_store.h"
#include "machine/machine.h"
#include "transport/address.h"
#include "transport/proof.h"
#include "transport/tcp_transport_asio.h"

namespace coordkit {
namespace {

uint64_t random_id() {
  std::random_device source;
  uint64_t id = 0;
  while (id == 0) id = (uint64_t{source()} << 32) | source();
  return id;
}

// Seconds since 2020-01-01 UTC, shifted so that 2^31 grants fit into each: tokens of a rebuilt cluster are above those of
// the lost one. The only place where coordkit reads wall time, and only the founder's reading counts.
uint64_t token_base() {
  constexpr int64_t kYear2020 = 1'577'836'800;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count() - kYear2020;
  return static_cast<uint64_t>(std::max<int64_t>(seconds, 0)) << 31;
}

constexpr size_t kStateChunkBytes = 2 << 20;  // each is staged with a sync or two

EngineOptions engine_options(const ReplicaOptions& options) {
  EngineOptions engine;
  engine.raft.self = ReplicaId(options.id);
  engine.raft.election_timeout = options.election_timeout;
  engine.raft.heartbeat_interval = options.heartbeat_interval;
  if (options.leader_leases) engine.raft.lease = raft::lease_of(options.election_timeout, options.rate_error_ppm);
  engine.raft.seed = random_id();
  engine.new_cluster = ClusterId(random_id());
  engine.token_base = token_base();
  engine.start = random_id();
  engine.checkpoint_entries = options.checkpoint_entries;
  engine.raft.log_retained_bytes = options.log_retained_bytes;
  engine.raft.log_pinned_bytes = std::max(options.log_pinned_bytes, options.log_retained_bytes);
  engine.raft.follower_lag_bytes_max = options.follower_lag_bytes_max;
  engine.digest_entries = options.digest_entries;
  engine.state_chunk_bytes = kStateChunkBytes;
  for (const MemberAddress& member : options.members) engine.members.push_back({ReplicaId(member.id), member.address});
  return engine;
}

SegmentedLogOptions log_options(const ReplicaOptions& options) {
  SegmentedLogOptions log{.segment_bytes = options.segment_bytes};
  log.small_segment_bytes = std::min(log.small_segment_bytes, log.segment_bytes);
  return log;
}

constexpr size_t kOwnMachinesMax = 64;

// An exception of a factory is the host's way to say that there is no machine.
absl::StatusOr<std::vector<HostedMachine>> make_machines(const std::vector<OwnMachine>& own) {
  std::vector<HostedMachine> machines;
  machines.push_back({kCoordination, std::make_unique<machine::Machine>(row_prefix(kCoordination))});
  for (const OwnMachine& one : own) {
    std::string why = "it gave none";
    std::unique_ptr<StateMachine> made;
    try {
      made = one.make();
    } catch (const std::exception& error) {
      why = error.what();
    } catch (...) {
      why = "it threw something that is no std::exception";
    }
    if (made == nullptr) {
      return make_error(Reason::InvalidArgument,
                        "the factory of machine " + std::to_string(one.id.value()) + " failed: " + why);
    }
    machines.push_back({one.id, std::move(made)});
  }
  return machines;
}

std::string own_address(const ReplicaOptions& options) {
  if (!options.listen.empty()) return options.listen;
  for (const MemberAddress& member : options.members) {
    if (member.id == options.id) return member.address;
  }
  return {};
}

}  // namespace

absl::Status ReplicaOptions::validate() const {
  std::string problems;
  const auto problem = [&](std::string sentence) { problems += (problems.empty() ? "" : "; ") + std::move(sentence); };
  if (id == 0) problem("id is 0: give this replica the id that the member list has for it, 1 or above");
  if (cluster.empty()) problem("cluster is empty: name the cluster, the same on every replica");
  if (cluster.size() > 255) problem("cluster is longer than 255 bytes");
  if (data_dir.empty()) problem("data_dir is empty: name a directory that belongs to this replica alone");
  if (std::holds_alternative<std::monostate>(security))
    problem("security is not chosen: say SharedSecret{...}, or PlainText{} if nobody else can reach the network");
  if (const auto* shared = std::get_if<SharedSecret>(&security)) {
    if (shared->secret.size() < kSecretBytesMin || shared->secret.size() > kSecretBytesMax) {
      problem("security: a SharedSecret has 16 to 1024 bytes; draw one at random, for example with openssl rand -hex 32");
    }
  }
  for (const MemberAddress& member : members) {
    if (const auto address = tcp::split_address(member.address); !address.ok()) {
      problem("the address of member " + std::to_string(member.id) + ": " + std::string(sentence_of(address.status())));
    }
  }
  if (const auto address = tcp::split_address(own_address(*this)); !listen.empty() && !address.ok()) {
    problem("listen: " + std::string(sentence_of(address.status())));
  }
  if (const absl::Status status = log_options(*this).validate(); !status.ok()) problem(std::string(sentence_of(status)));
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
  if (!compaction.legal()) problem("compaction.age is neither zero nor at least 100 ms");
  EngineOptions engine = engine_options(*this);
  if (id == 0 && !members.empty()) engine.raft.self = ReplicaId(members.front().id);  // zero was told above
  if (const absl::Status status = engine.validate(); !status.ok()) {
    problem(std::string(sentence_of(status)));
  }
  return problems.empty() ? absl::OkStatus() : make_error(Reason::InvalidArgument, problems);
}

absl::StatusOr<std::shared_ptr<Host>> open_host(ReplicaOptions options, const Clock& clock) {
  if (absl::Status status = options.validate(); !status.ok()) return status;
  auto directory =
      DataDirectory::open({.path = options.data_dir, .cluster = options.cluster, .replica = ReplicaId(options.id)});
  if (!directory.ok()) return directory.status();

  // A forked child never takes it apart: there is no thread to join, and what it would undo (sockets in a shared epoll set,
  // locks) is still its parent's. Exit or exec frees it.
  const auto unless_forked = [](Host* doomed) {
    if (!doomed->forked()) delete doomed;
  };
  const std::shared_ptr<Host> host(new Host(options, clock), unless_forked);
  TcpOptions tcp{.listen = own_address(options)};
  if (const auto* shared = std::get_if<SharedSecret>(&options.security)) tcp.secret = shared->secret;
  tcp.guests_max = options.guests_max;
  std::unique_ptr<TcpTransport> transport = make_tcp_transport(tcp, host->io());
  if (absl::Status status = transport->bind(); !status.ok()) return status;  // before the stores are touched

  host->adopt(std::make_unique<SegmentedLogStore>(*directory, log_options(options)),
              std::make_unique<LmdbStateStore>(*directory), std::move(transport));
  return host->open(*std::move(directory));
}

absl::StatusOr<std::vector<HostedMachine>> Host::machines() const { return make_machines(options_.machines); }

absl::StatusOr<std::shared_ptr<Host>> Host::open(std::shared_ptr<DataDirectory> directory) {
  directory_ = std::move(directory);
  absl::StatusOr<Position> checkpoint = state_->open(*this);
  if (!checkpoint.ok()) return checkpoint.status();
  log_->checkpointed(checkpoint->index);
  absl::StatusOr<RecoveredLog> log = log_->open(*this);
  if (!log.ok()) return log.status();
  absl::StatusOr<std::unique_ptr<CheckpointView>> view = state_->view();
  if (!view.ok()) return view.status();

  absl::StatusOr<std::vector<HostedMachine>> fresh = machines();
  if (!fresh.ok()) return fresh.status();
  EngineOptions engine_opts = engine_options(options_);
  const std::vector<Peer> peers = engine_opts.members;
  auto engine = Engine::recover(std::move(engine_opts), *std::move(fresh), *std::move(log), **view, clock_.now());
  if (!engine.ok()) return engine.status();

  const Hello hello{.cluster_name = options_.cluster,
                    .from = ReplicaId(options_.id),
                    .store = directory_->store(),
                    .boot = directory_->boot(),
                    .cluster = (*engine)->status().cluster};
  if (absl::Status status = transport_->start(hello, peers, *this); !status.ok()) return status;
  if (const absl::Status kept = directory_->keep_reserve(); !kept.ok()) {
    no_reserve_ = "a start on a full disk may be refused until this replica was closed or started with room: " +
                  std::string(sentence_of(kept));
  }
  start(*std::move(engine));
  return shared_from_this();
}

}  // namespace coordkit
