#include "sim/nodes/node_stores.h"

#include <fmt/format.h>

#include <utility>

#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

// Draws one after the other: the arguments of a call have an order of their own in every compiler.
SimLogStore make_log(World& world, uint32_t node, Random& random) {
  Random own = random.fork();
  return SimLogStore(world, node, StoreId(random() | 1), own);
}

}  // namespace

NodeStores::NodeStores(const NodeParts& parts, uint32_t node, Random& random)
    : parts_(parts), node_(node), log_(make_log(parts.world, node, random)), state_(parts.world, node, random.fork()) {
  set_quality(parts.plan.disk);
  log_.disk().bytes().set_options(parts.plan.log_files);
  log_.disk().set_defects(parts.defects);
}

absl::StatusOr<NodeStores::Recovered> NodeStores::open(StoreEvents& sink) {
  absl::StatusOr<Position> checkpoint = state_.open(sink);
  if (!checkpoint.ok()) {
    parts_.world.trace(node_, "cannot open its state, code {}", static_cast<uint64_t>(checkpoint.status().code()));
    return checkpoint.status();
  }
  absl::StatusOr<RecoveredLog> recovered = log_.open(sink);
  if (!recovered.ok()) {
    state_.close();
    parts_.world.trace(node_, "cannot open its log, code {}", static_cast<uint64_t>(recovered.status().code()));
    return recovered.status();
  }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view = state_.view();
  if (!view.ok()) throw Violation("INV_S01", "a simulated disk does not open");
  return Recovered{*std::move(recovered), *std::move(view)};
}

// FLT_D21: a state that was taken here was taken of entries that were durable in the log.
void NodeStores::taken_up() {
  const Position at = state_.applied();
  const LogImage& log = log_.durable();
  const bool reaches = log.base.index >= at.index || (log.contains(at.index) && log.at(at.index).entry.term == at.term);
  if (at.index && !reaches && !state_.disk().installed()) {
    throw Violation("INV_S03", fmt::format("n{} opens a log that ends at {} beside its own state after {}", node_ + 1,
                                           log.last().value(), at.index.value()));
  }
  state_.disk().stands_again();
}

void NodeStores::crash(CrashKind kind) {
  log_.crash(kind);
  state_.crash();
}

void NodeStores::set_quality(const DiskQuality& quality) {
  log_.set_quality(quality);
  state_.set_quality(quality);
}

void NodeStores::hurry() {
  log_.hurry();
  state_.hurry();
}

void NodeStores::scrub(Inbox& inbox) {
  const absl::Status state = state_.scrub([](size_t) { return true; });
  if (absl::IsDataLoss(state)) inbox.post(StateRotten{state});
  Index from(1);
  while (from) {
    log_.scrub(from, [&](LogScrub part) {
      from = part.next;
      if (!part.first_bad) return;  // a header of a segment may have been mended
      parts_.watcher.reached(Situation::LogScrubbed);
      parts_.world.trace(node_, "finds entries {} to {} rotten", part.first_bad.value(), part.last_bad.value());
      inbox.post(LogDamaged{part.first_bad, part.last_bad, part.why});
    });
  }
}

bool NodeStores::rot_passing(Random& random, Index applied) {
  if (failed()) return false;
  return random.chance(0.5) ? state_.disk().rot_passing() : log_.rot_passing(applied);
}

void NodeStores::set_back(const Copy& copy) {
  log_.restore(copy.log);
  state_.disk().restore(copy.state);
}

void NodeStores::lose(StoreId replacement) {
  were_lost_ = true;
  log_.lose(replacement);
  state_.disk().lose();
}

}  // namespace coordkit::sim
