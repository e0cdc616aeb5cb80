// What a node does with its stores beside its turns. States for peers and from them: each answer after a latency of its own.
// Scrubs, and rot that goes again.
#include "sim/defects.h"
#include "sim/node.h"
#include "sim/violation.h"

namespace coordkit::sim {

void Node::work_on_states() {
  const Duration most = parts_.plan.states.read_max;
  for (const ViewOrder& order : effects_.views) {
    auto answer = views_->perform(order);
    if (!answer) continue;
    answer_later(Duration(random_.below(most.count())),
                 std::visit([](auto& one) { return EngineInput(std::move(one)); }, *answer));
  }
  for (StagingOrder& order : effects_.staging) perform(std::move(order), state_);
  if (effects_.restore) answer_later(Duration(random_.below(parts_.plan.states.load_max.count())), std::nullopt);
}

void Node::answer_later(Duration after, std::optional<EngineInput> answer) {
  answers_.emplace(++last_answer_, std::move(answer));
  parts_.world.schedule(parts_.world.now() + after, EventKind::StateDone, number_, epoch_, last_answer_);
}

void Node::state_done(const Event& event) {
  if (event.epoch != epoch_ || !up()) return;
  auto done = answers_.extract(event.item);
  if (done.mapped()) return post(*std::move(done.mapped()));
  const absl::StatusOr<std::unique_ptr<CheckpointView>> view = state_.view();
  if (!view.ok()) throw Violation("INV_S01", "a simulated disk does not open");
  post(StateRestored{RestoredState::build(changed_for_restore(parts_.defects, machines()), **view)});
}

void Node::scrub() {
  if (!up() || frozen_) return;
  const absl::Status state = state_.scrub([](size_t) { return true; });
  if (absl::IsDataLoss(state)) post(StateRotten{state});
  Index from(1);
  while (from) {
    log_.scrub(from, [&](LogScrub part) {
      from = part.next;
      if (!part.first_bad) return;
      parts_.watcher.log_scrubbed();
      parts_.world.trace(number_, "finds entries {} to {} rotten", part.first_bad.value(), part.last_bad.value());
      post(LogDamaged{part.first_bad, part.last_bad, part.why});
    });
  }
}

bool Node::rot_passing(Random& random) {
  if (!up() || frozen_ || engine_->core() == nullptr || log_.failed() || state_.failed()) return false;
  return random.chance(0.5) ? state_.disk().rot_passing() : log_.rot_passing(engine_->applied());
}

}  // namespace coordkit::sim
