#include "service/remotes/remote_host.h"

#include <utility>

#include "base/problems.h"
#include "base/random_id.h"
#include "base/remote_name.h"
#include "client/calls/option_checks.h"
#include "coordkit/error.h"
#include "transport/tcp/address.h"

namespace coordkit {
namespace {

constexpr Duration kSilenceLeast = std::chrono::milliseconds(50);
constexpr Duration kSilenceMost = std::chrono::minutes(1);

Origin random_origin() { return {ReplicaId(random_id() | kRemoteBit), StoreId(random_id()), BootCounter(1)}; }

// The text of a state for health(): where it dials, and why in vain.
std::string words_of(const LinkState& state) {
  std::string words = state.kind == LinkState::Kind::Waiting ? "its gateway at " + state.gateway + " knows no leader"
                                                             : "it dials a gateway at " + state.gateway;
  if (!state.why.empty()) words += ": " + state.why;
  return words;
}

}  // namespace

absl::Status RemoteOptions::validate() const {
  Problems problems;
  if (cluster.empty()) problems.add("cluster is empty: name it as the replicas do");
  if (cluster.size() > 255) problems.add("cluster is longer than 255 bytes: give it the name that the replicas have");
  if (gateways.empty()) problems.add("gateways is empty: list the addresses at which replicas listen for remotes");
  for (const std::string& gateway : gateways) {
    if (const auto address = tcp::split_dialled(gateway); !address.ok()) {
      problems.add("gateway '" + gateway + "': " + std::string(sentence_of(address.status())));
    }
  }
  if (!name.empty() && !is_remote_name(name)) {
    problems.add("name is not valid: give up to 64 letters, digits and \". _ - / @ :\", or none");
  }
  problems.add(check(security, "security"));
  if (silence < kSilenceLeast || silence > kSilenceMost) problems.add("silence is not between 50 ms and 1 min");
  client::check_rate_error(rate_error_ppm, problems);
  if (drain < Duration::zero()) problems.add("drain is negative: give it zero or more");
  if (busy_poll < Duration::zero() || busy_poll > std::chrono::milliseconds(10))
    problems.add("busy_poll is not between 0 and 10 ms");
  return problems.status();
}

RemoteHost::RemoteHost(RemoteOptions options, std::shared_ptr<OwnThread> own_thread)
    : LoopHost({.clock = options.clock != nullptr ? *options.clock : system_clock(),
                .own_thread = std::move(own_thread),
                .executor = options.executor,
                .election_timeout = options.silence / 2,
                .drain = options.drain}),
      options_(std::move(options)) {}

RemoteHost::~RemoteHost() { close().IgnoreError(); }

absl::StatusOr<std::shared_ptr<RemoteHost>> RemoteHost::open(RemoteOptions options) {
  if (absl::Status status = options.validate(); !status.ok()) return status;
  auto own_thread = options.executor ? nullptr : std::make_shared<OwnThread>(options.busy_poll);
  // A forked child never destroys it: RunningHost says why.
  const auto unless_forked = [](RemoteHost* doomed) {
    if (!doomed->forked()) delete doomed;
  };
  std::shared_ptr<RemoteHost> host(new RemoteHost(std::move(options), std::move(own_thread)), unless_forked);
  if (absl::Status status = host->start(); !status.ok()) return status;
  return host;
}

absl::Status RemoteHost::start() {
  auto engine = std::make_unique<remote::RemoteEngine>(
      remote::RemoteEngineOptions{.origin = random_origin(), .name = options_.name, .rate_error_ppm = options_.rate_error_ppm});
  announce_to({.on_error = options_.on_error});
  on_link_ = announcements_->guarded("on_link", options_.on_link);
  boost::asio::io_context* const network = loop_options_.own_thread ? &loop_options_.own_thread->io() : nullptr;
  link_.emplace(
      options_, *engine, [this](const LinkState& state) { changed(state); }, network);
  ClientOptions client = client_options();
  client.rate_error_ppm = options_.rate_error_ppm;
  turns_.emplace(std::move(engine), std::move(client), true, &*link_);
  if (absl::Status status = link_->start(options_.cluster, arrivals_, lagging()); !status.ok()) return status;
  state_ = link_->state();
  begin();
  return absl::OkStatus();
}

LinkState RemoteHost::link() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void RemoteHost::changed(const LinkState& state) {
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  if (on_link_) announce([this, state] { on_link_(state); });
}

void RemoteHost::carry_out(EngineEffects& effects, Now, bool) {
  if (effects.halted && reason_of(*effects.halted) == Reason::OutOfMemory) arrivals_.fail(*effects.halted);  // ends the calls
  announcements_->tell(effects);
}

HostHealth::Report RemoteHost::report() {
  Health health = health_of(turns_->engine(), lagging());
  for (std::string& threw : announcements_->warnings()) health.warnings.push_back(std::move(threw));
  const LinkState& state = link_->state();
  if (health.state == ReplicaState::Starting && state.kind != LinkState::Kind::Serving) health.reason = words_of(state);
  Metrics metrics = metrics_of(*turns_, arrivals_);
  metrics.peers.tcp = link_->counters();
  return {std::move(health), std::move(metrics)};
}

}  // namespace coordkit
