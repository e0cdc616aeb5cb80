// The process of a node: what it starts with, crashes, the build that runs, and how it stands still; and what becomes of its
// disk meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "sim/defects.h"
#include "sim/node.h"
#include "sim/recorder.h"
#include "sim/violation.h"

namespace coordkit::sim {
namespace {

// What the operator of this node lists: the founders, and the node itself. Whoever sets up a lost disk again lists everybody:
// the founders alone, all of them blank by now, would found another cluster.
std::vector<Peer> members_of(const Plan& plan, uint32_t node, bool again) {
  const uint32_t founders = plan.founders == 0 || again ? plan.nodes : plan.founders;
  std::vector<Peer> members;
  for (uint32_t i = 0; i < plan.nodes; ++i) {
    if (i < founders || i == node) members.push_back({ReplicaId(i + 1), fmt::format("node-{}", i + 1)});
  }
  return members;
}

}  // namespace

EngineOptions Node::engine_options() const {
  const Plan& plan = parts_.plan;
  EngineOptions options;
  options.raft.self = id();
  options.feature_level = level_;
  options.raft.election_timeout = plan.election_timeout;
  options.raft.heartbeat_interval = plan.heartbeat_interval;
  options.raft.commit_news_delay = std::chrono::milliseconds(1);
  if (plan.leases) options.raft.lease = raft::lease_of(plan.election_timeout, kRateErrorPpm);
  options.raft.append_bytes_max = plan.append_bytes_max;
  options.raft.cache_bytes_max = plan.cache_bytes_max;
  options.raft.append_messages_in_flight = plan.append_messages_in_flight;
  options.raft.promotion_lag_max = plan.promotion_lag_max;
  options.window = plan.window;
  options.members = members_of(plan, number_, disk_lost_);
  options.token_base = uint64_t{1} << 58;
  options.apply_bytes_per_turn = plan.apply_bytes_per_turn;
  options.checkpoint_entries = plan.checkpoint_entries;
  options.timers_per_entry = plan.timers_per_entry;
  options.digest_entries = 128;
  options.raft.log_retained_bytes = plan.states.log_retained_bytes;
  if (parts_.options.sizes.log_retained_bytes) {  // who chose it wants states to be sent, to short absences as well
    options.raft.log_pinned_bytes = std::max<uint64_t>(plan.states.log_retained_bytes, 2 << 10);
  }
  options.state_chunk_bytes = plan.states.chunk_bytes;
  options.state_bytes_per_second = plan.states.bytes_per_second;
  options.state_view_idle = plan.states.view_idle;
  options.state_view_max = plan.states.view_max;
  return options;
}

absl::Status Node::start() {
  ++epoch_;
  frozen_ = slept_ = turn_scheduled_ = crash_in_turn_ = refused_pair_ = too_old_ = false;
  choose_build();
  parts_.network.begin_life(number_);
  rejected_due_.reset();
  timer_at_.reset();
  absl::StatusOr<Position> checkpoint = state_.open(*this);
  if (!checkpoint.ok()) {
    parts_.world.trace(number_, "cannot open its state, code {}", static_cast<uint64_t>(checkpoint.status().code()));
    return checkpoint.status();
  }
  absl::StatusOr<RecoveredLog> recovered = log_.open(*this);
  if (!recovered.ok()) {
    state_.close();
    parts_.world.trace(number_, "cannot open its log, code {}", static_cast<uint64_t>(recovered.status().code()));
    return recovered.status();
  }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view = state_.view();
  if (!view.ok()) throw Violation("INV_S01", "a simulated disk does not open");
  EngineOptions options = engine_options();
  options.raft.seed = random_();
  options.new_cluster = ClusterId(random_() | 1);
  options.start = start_number_ = random_() | 1;
  const Now now = clock_now();
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Engine::recover(std::move(options), machines(), *std::move(recovered), **view, now);
  if (!engine.ok()) return refused(engine.status());
  check_pair();
  state_.disk().stands_again();
  engine_ = *std::move(engine);
  views_.emplace(state_);
  events_.emplace(parts_.plan.election_timeout, std::nullopt, [this](const ReplicaEvent& event) { told(event); });
  events_->opened(*engine_, now.lagging);
  cluster_ = engine_->status().cluster;
  ClientOptions client_options;
  client_options.election_timeout = parts_.plan.election_timeout;
  if (parts_.plan.work.session_change_share > 0 || parts_.options.program) {
    client_options.draw_secret = [boot = fmt::format("secret of {} boot {}", number_, log_.boot().value()),
                                  drawn = 0]() mutable { return fmt::format("{}, the {}.", boot, ++drawn); };
  }
  client_options.sticky.block = parts_.plan.work.sticky_block;
  client_options.compaction.revisions = parts_.plan.work.revisions_kept;
  proxy_ = make_proxy(parts_.defects, *engine_);
  client_ = std::make_unique<Client>(proxy_ ? *proxy_ : *engine_, std::move(client_options));
  parts_.world.trace(number_, "starts, boot {}, log ({}, {}], applied {}", log_.boot().value(),
                     log_.durable().base.index.value(), log_.durable().last().value(), engine_->applied().value());
  if (Recorder* recorder = parts_.world.recorder()) recorder->started(number_);
  parts_.watcher.started(number_);
  schedule_turn(Duration::zero());
  return absl::OkStatus();
}

// What a crash left always recovers. Other pairs of stores need not: they come of files that are gone.
absl::Status Node::refused(const absl::Status& why) {
  if (reason_of(why) == Reason::NewerFormat) {
    is_too_old(why);
    log_.crash(CrashKind::Power);
    state_.crash();
    return why;
  }
  const bool whole = intact() && log_.stands_for(log_.id());
  if (whole) throw Violation("INV_S03", fmt::format("n{} does not recover: {}", number_ + 1, why.ToString()));
  refused_pair_ = true;
  log_.crash(CrashKind::Power);
  state_.crash();
  parts_.world.trace(number_, "refuses its stores, code {}", static_cast<uint64_t>(why.code()));
  return why;
}

// FLT_V01. The operator of a fleet that is upgraded member by member, and sometimes back. Whoever read that a build is too old
// starts the newest.
void Node::choose_build() {
  const uint64_t newest = parts_.plan.newest_level;
  if (newest == 0) return;
  if (stays_newest_) {
    level_ = newest;
  } else if (next_level_) {
    level_ = *std::exchange(next_level_, std::nullopt);
  } else if (random_.chance(0.4)) {
    level_ = std::min(level_ + 1, newest);
  } else if (random_.chance(0.15) && level_ > 0) {
    --level_;
  }
  went_back_ = went_back_ || level_ < highest_;
  highest_ = std::max(highest_, level_);
}

// Nothing is written that a member cannot read, unless that one went back.
void Node::is_too_old(const absl::Status& why) {
  if (!went_back_)
    throw Violation("INV_S08", fmt::format("n{} cannot read what others write: {}", number_ + 1, why.ToString()));
  too_old_ = true;
  next_level_ = parts_.plan.newest_level;
  parts_.world.trace(number_, "is too old, as a build of feature level {}", level_);
}

// FLT_D21: a state that was taken here was taken of entries that were durable in the log.
void Node::check_pair() const {
  const Position at = state_.applied();
  const LogImage& log = log_.durable();
  const bool reaches = log.base.index >= at.index || (log.contains(at.index) && log.at(at.index).entry.term == at.term);
  if (at.index && !reaches && !state_.disk().installed()) {
    throw Violation("INV_S03", fmt::format("n{} opens a log that ends at {} beside its own state after {}", number_ + 1,
                                           log.last().value(), at.index.value()));
  }
}

std::vector<HostedMachine> Node::machines() const {
  std::vector<HostedMachine> machines;
  if (parts_.options.machines) machines = parts_.options.machines(id());
  machines.push_back({kCoordination, make_machine(parts_.defects, number_)});
  return machines;
}

void Node::crash(CrashKind kind) {
  ++epoch_;         // answers that the dying client gives reach no worker
  client_->stop();  // an embedder's callbacks are told, and may call it, or fail, while it is there
  log_.crash(kind);
  state_.crash();
  const std::unique_ptr<Engine> dying = std::move(engine_), dying_proxy = std::move(proxy_);  // the client refers to them
  views_.reset();
  answers_.clear();
  inbox_.clear();
  missed_.clear();
  frozen_ = slept_ = turn_scheduled_ = crash_in_turn_ = false;
  parts_.world.trace(number_, "crashes, kind {}; sure to be on disk ({}, {}]", static_cast<uint64_t>(kind),
                     log_.durable().base.index.value(), log_.durable().last().value());
  if (Recorder* recorder = parts_.world.recorder()) recorder->stopped(number_);
  parts_.watcher.stopped(number_);
  client_.reset();  // after the program that used it
}

void Node::lose_disk() {
  disk_lost_ = true;
  log_.lose(StoreId(random_() | 1));
  state_.disk().lose();
  parts_.world.trace(number_, "has lost its disk");
}

void Node::set_back_disk(const DiskCopy& copy) {
  parts_.network.forget_from(number_);
  log_.restore(copy.log);
  state_.disk().restore(copy.state);
  parts_.world.trace(number_, "is set back to boot {}, log ({}, {}]", copy.log.boot.value(), copy.log.log.base.index.value(),
                     copy.log.log.last().value());
}

// The run has its verdict; what a callback says of the end is no part of it.
void Node::retire() {
  ++epoch_;
  if (!client_) return;
  try {
    client_->stop();
  } catch (const Violation&) {
  }
}

void Node::freeze(Freeze what) {
  frozen_ = true;
  slept_ = what != Freeze::Process;
  if (what == Freeze::Clocks) clock_.stop(parts_.world.now());
  if (Recorder* recorder = parts_.world.recorder()) recorder->frozen(number_, slept_ ? "machine asleep" : "process stopped");
}

void Node::resume() {
  frozen_ = false;
  clock_.go_on(parts_.world.now());
  if (Recorder* recorder = parts_.world.recorder()) recorder->resumed(number_);
  slept_ = false;
  for (std::unique_ptr<Parcel>& parcel : missed_) parts_.network.send_again(std::move(parcel));
  missed_.clear();
  parts_.world.trace(number_, "goes on with {} inputs", inbox_.size());
  schedule_turn(Duration::zero());
  parts_.watcher.resumed(number_);
}

}  // namespace coordkit::sim
