#include "sim/nodes/state_transfers.h"

#include <utility>
#include <variant>

#include "sim/faults/defects.h"
#include "sim/nodes/node_options.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {

void StateTransfers::end() {
  views_.reset();
  answers_.clear();
}

void StateTransfers::perform(EngineEffects& effects) {
  const StatePlan& plan = parts_.plan.states;
  for (const ViewOrder& order : effects.views) {
    auto answer = views_->perform(order);
    if (!answer) continue;
    answer_later(Duration(random_.below(plan.read_max.count())),
                 std::visit([](auto& one) { return EngineInput(std::move(one)); }, *answer));
  }
  for (StagingOrder& order : effects.staging) coordkit::perform(std::move(order), state_);
  if (effects.restore) answer_later(Duration(random_.below(plan.load_max.count())), std::nullopt);
}

void StateTransfers::answer_later(Duration after, std::optional<EngineInput> answer) {
  answers_.emplace(++last_answer_, std::move(answer));
  parts_.world.schedule(parts_.world.now() + after, EventKind::StateDone, node_, schedule_.epoch(), last_answer_);
}

void StateTransfers::event(const Event& event) {
  auto done = answers_.extract(event.item);
  if (done.empty()) return;  // the process that ordered it is gone
  if (done.mapped()) return inbox_.post(*std::move(done.mapped()));
  const absl::StatusOr<std::unique_ptr<CheckpointView>> view = state_.view();
  if (!view.ok()) throw Violation("INV_S01", "a simulated disk does not open");
  inbox_.post(StateRestored{RestoredState::build(changed_for_restore(parts_.defects, machines_of(parts_, node_)), **view)});
}

}  // namespace coordkit::sim
