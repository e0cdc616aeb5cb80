// The process of a node: how it starts, crashes and stands still; and what becomes of its disk meanwhile.
#include <fmt/format.h>

#include <utility>

#include "coordkit/error.h"
#include "sim/nodes/node.h"
#include "sim/nodes/node_options.h"
#include "sim/oracle/violation.h"
#include "sim/record/recorder.h"

namespace coordkit::sim {

absl::Status Node::start() {
  schedule_.next_epoch();
  schedule_.reset();
  slept_ = crash_in_turn_ = refused_pair_ = false;
  build_.choose(random_);
  parts_.network.begin_life(number_);
  absl::StatusOr<NodeStores::Recovered> recovered = stores_.open(inbox_);
  if (!recovered.ok()) return recovered.status();
  EngineOptions options = engine_options(parts_, member(), build_.level());
  options.members = parts_.lists.start(member(), stores_.were_lost());
  options.raft.seed = random_();
  options.new_cluster = ClusterId(random_() | 1);
  const uint64_t start = options.start = random_() | 1;
  const Now now = clock_now();
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Engine::recover(std::move(options), machines_of(parts_, member()), std::move(recovered->log), *recovered->view, now);
  if (!engine.ok()) return refused(engine.status());
  stores_.taken_up();
  running_ = std::make_unique<Incarnation>(parts_, number_, *std::move(engine),
                                           client_options(parts_, member(), stores_.log().boot()), start, now);
  outbox_.transfers().begin();
  inbox_.open();
  const LogImage& log = stores_.log().durable();
  parts_.world.trace(number_, "starts, boot {}, log ({}, {}], applied {}", stores_.log().boot().value(), log.base.index.value(),
                     log.last().value(), running_->engine().applied().value());
  if (Recorder* recorder = parts_.world.recorder()) recorder->started(number_);
  parts_.watcher.started(number_);
  schedule_.turn_after(Duration::zero());
  return absl::OkStatus();
}

// The stores that a crash left always recover. Other pairs of stores need not: they come of files that are gone.
absl::Status Node::refused(const absl::Status& why) {
  if (reason_of(why) == Reason::NewerFormat) {
    build_.is_too_old(why);
    stores_.crash(CrashKind::Power);
    return why;
  }
  const bool whole = stores_.intact() && stores_.log().stands_for(stores_.log().id());
  if (whole) throw Violation("INV_S03", fmt::format("n{} does not recover: {}", number_ + 1, why.ToString()));
  refused_pair_ = true;
  stores_.crash(CrashKind::Power);
  parts_.world.trace(number_, "refuses its stores, code {}", static_cast<uint64_t>(why.code()));
  return why;
}

void Node::crash(CrashKind kind) {
  schedule_.next_epoch();     // answers that the dying client gives reach no worker
  running_->client().stop();  // an embedder's callbacks run, and may call it, or fail, while it is there
  stores_.crash(kind);
  running_->end();
  outbox_.transfers().end();
  inbox_.close();
  missed_.clear();
  schedule_.reset();
  slept_ = crash_in_turn_ = false;
  const LogImage& log = stores_.log().durable();
  parts_.world.trace(number_, "crashes, kind {}; sure to be on disk ({}, {}]", static_cast<uint64_t>(kind),
                     log.base.index.value(), log.last().value());
  if (Recorder* recorder = parts_.world.recorder()) recorder->stopped(number_);
  parts_.watcher.stopped(number_);
  running_.reset();  // after the program that used it
}

void Node::lose_disk() {
  stores_.lose(StoreId(random_() | 1));
  parts_.world.trace(number_, "has lost its disk");
}

void Node::set_back_disk(const NodeStores::Copy& copy) {
  parts_.network.forget_from(number_);
  stores_.set_back(copy);
  parts_.world.trace(number_, "is set back to boot {}, log ({}, {}]", copy.log.boot.value(), copy.log.log.base.index.value(),
                     copy.log.log.last().value());
}

// The run has its verdict; a callback's word about the end is no part of it.
void Node::retire() {
  schedule_.next_epoch();
  if (!running_) return;
  try {
    running_->client().stop();
  } catch (const Violation&) {
  }
}

void Node::freeze(Freeze what) {
  schedule_.freeze();
  slept_ = what != Freeze::Process;
  if (what == Freeze::Clocks) clock_.stop(parts_.world.now());
  if (Recorder* recorder = parts_.world.recorder()) recorder->frozen(number_, slept_ ? "machine asleep" : "process stopped");
}

void Node::resume() {
  clock_.go_on(parts_.world.now());
  if (Recorder* recorder = parts_.world.recorder()) recorder->resumed(number_);
  slept_ = false;
  for (std::unique_ptr<Parcel>& parcel : missed_) parts_.network.send_again(std::move(parcel));
  missed_.clear();
  parts_.world.trace(number_, "continues with {} inputs", inbox_.inputs().size());
  schedule_.resume();
  parts_.watcher.resumed(number_);
}

}  // namespace coordkit::sim
