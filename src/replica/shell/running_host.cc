#include "replica/shell/running_host.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "replica/shell/opening.h"
#include "service/calls/waiting.h"

namespace coordkit {
namespace {

bool has_stopped(ReplicaState state) { return state == ReplicaState::Halted || state == ReplicaState::Quarantine; }

}  // namespace

RunningHost::RunningHost(ReplicaOptions options, std::shared_ptr<OwnThread> own_thread,
                         std::shared_ptr<DataDirectory> directory, MadeParts parts)
    : LoopHost({.clock = options.parts.clock != nullptr ? *options.parts.clock : system_clock(),
                .own_thread = own_thread,
                .executor = options.parts.executor,
                .election_timeout = options.election_timeout,
                .drain = options.drain}),
      options_(std::move(options)),
      stores_(std::move(directory), std::move(parts.log), std::move(parts.state), own_thread.get()),
      peers_(std::move(parts.transport), parts.tcp, std::move(parts.channels)),
      remotes_(std::move(parts.remotes)) {}

RunningHost::~RunningHost() { close().IgnoreError(); }

void RunningHost::start(std::unique_ptr<Engine> engine) {
  announce_to({.on_event = options_.on_event,
               .on_leadership = options_.on_leadership,
               .on_divergence = options_.on_divergence,
               .on_halt = options_.on_halt,
               .on_error = options_.on_error,
               .machines = options_.machines});
  stores_.start([this] { return make_machines(options_.machines); },
                {.every = options_.scrub_every, .bytes_per_second = options_.scrub_bytes_per_second},
                [this](EngineInput input) { arrivals_.post(std::move(input)); }, [this] { fail(); },
                [this] { send_released(); });
  ClientOptions client = client_options();
  client.rate_error_ppm = options_.rate_error_ppm;
  client.sticky = options_.sticky;
  client.compaction = options_.compaction;
  turns_.emplace(std::move(engine), std::move(client), !options_.parts.transport, remotes_.get());
  if (options_.on_event) {  // from here on the host's code runs
    turns_->report_events(
        options_.election_timeout, agreement_of(options_), [this](const ReplicaEvent& event) { announcements_->tell(event); },
        lagging());
  }
  begin();
}

absl::Status RunningHost::open_admin() {
  if (options_.admin_socket.empty()) return absl::OkStatus();
  auto admin = AdminSocket::open(self(), *this, {options_.id, options_.cluster}, options_.admin_socket);
  if (!admin.ok()) return admin.status();
  admin_ = *std::move(admin);
  return absl::OkStatus();
}

HostHealth::Report RunningHost::report() {
  Health health = health_of(turns_->engine(), lagging());
  for (std::string& threw : announcements_->warnings()) health.warnings.push_back(std::move(threw));
  for (std::string& warning : peers_.warnings()) health.warnings.push_back(std::move(warning));
  if (!stores_.no_reserve().empty()) health.warnings.push_back(stores_.no_reserve());
  Metrics metrics = metrics_of(*turns_, arrivals_);
  metrics.log.written_bytes = stores_.log_bytes_written();
  metrics.memory.log_bytes += stores_.log_index_bytes();
  metrics.peers.tcp = peers_.counters();
  if (remotes_) metrics.remotes = remotes_->metrics();
  return {std::move(health), std::move(metrics)};
}

// Messages that may leave go first: they travel while this replica's own disk is at work.
void RunningHost::carry_out(EngineEffects& effects, Now, bool due) {
  if (effects.cluster) peers_.set_cluster(*effects.cluster);  // before what only a replica of it may say
  peers_.send(effects.sends, turns_->meter());
  stores_.carry_out(effects, !effects.writes.empty() && (due || arrivals_.any()));
  if (effects.peers) peers_.set_peers(*std::move(effects.peers));
  if (effects.halted && reason_of(*effects.halted) == Reason::OutOfMemory) arrivals_.fail(*effects.halted);  // ends the calls
  announcements_->tell(effects);
}

// Messages that waited for a write that this thread did itself leave at once, before the turn that learns of it.
void RunningHost::send_released() {
  if (!arrivals_.failed()) peers_.send(turns_->released(arrivals_.durable()), turns_->meter());
}

void RunningHost::close_network() {
  peers_.close();
  if (remotes_) remotes_->close();
}

void RunningHost::release() {
  peers_.release();
  if (remotes_) remotes_->release();
  stores_.release();
}

// ---- members

Ticket RunningHost::change_members(const MembershipChange& change, MembershipOptions options, Callback<Index> done) {
  return turns_->change_members(lagging(), change, options, std::move(done));
}

Ticket RunningHost::transfer_leadership(std::optional<uint64_t> target, Duration timeout, DoneCallback done) {
  if (target == 0) {
    std::move(done)(make_error(Reason::InvalidArgument,
                               "the id of the target is 0: give the id of a voter, or none for the one that is best prepared"));
    return {};
  }
  return turns_->transfer_leadership(lagging(), ReplicaId(target.value_or(0)), timeout, std::move(done));
}

// ---- what calls ask for

absl::Status RunningHost::scrub_now(absl::FunctionRef<bool()> awaited) {
  if (absl::Status refused = refusal_to_wait(*this); !refused.ok()) return refused;
  if (on_callback_thread()) return would_wait_for_itself();
  return stores_.scrub_now(awaited);
}

absl::StatusOr<std::unique_ptr<CheckpointView>> RunningHost::checkpoint_at(Index at_least, LaggingTime deadline) {
  if (absl::Status refused = refusal_to_wait(*this); !refused.ok()) return refused;
  if (on_callback_thread()) return would_wait_for_itself();
  arrivals_.post(EngineInput(CheckpointWanted{at_least}));
  const auto health = health_.wait(deadline - lagging(),
                                   [&](const Health& now) { return has_stopped(now.state) || now.checkpointed >= at_least; });
  if (!health) return closed_already();
  if (has_stopped(health->state)) return make_error(Reason::NotReady, health->reason);
  if (health->checkpointed < at_least) {
    const std::string warnings = health->warnings.empty() ? std::string() : ": " + absl::StrJoin(health->warnings, "; ");
    return make_error(Reason::CallTimeout, Outcome::NoEffect,
                      "the state after entry " + std::to_string(at_least.value()) + " was not durable here in time" + warnings);
  }
  return stores_.view();
}

absl::Status RunningHost::reload_tls() { return forked() ? forked_away() : peers_.reload_tls(); }

}  // namespace coordkit
