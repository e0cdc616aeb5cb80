#include "engine/apply/restored_state.h"

#include <exception>
#include <new>

#include "coordkit/error.h"

namespace coordkit {

absl::StatusOr<std::unique_ptr<RestoredState>> RestoredState::build(std::vector<HostedMachine> machines,
                                                                    const CheckpointView& view) try {
  auto parts = std::make_unique<Parts>(std::move(machines));
  if (absl::Status status = parts->router.restore(view); !status.ok()) return status;
  std::vector<engine::MachineTimerOp> timers;
  parts->router.timers(timers);
  // A leader gives every timer its full time when it applies its own first entry (docs/time.md T5), which is still to come.
  for (const engine::MachineTimerOp& one : timers)
    parts->keeper.apply(one.machine, one.op, LaggingTime(), parts->router.applied().index);
  return std::unique_ptr<RestoredState>(new RestoredState(std::move(parts)));
} catch (const std::bad_alloc&) {
  throw;
} catch (const engine::MachineThrew& threw) {  // which says nothing about the rows
  return make_error(Reason::HostThrew, threw.what());
} catch (const std::exception& error) {
  return make_error(Reason::Corrupt, error.what());
} catch (...) {
  return make_error(Reason::HostThrew, "a machine threw something that is no std::exception while it was restored");
}

RestoredState::RestoredState(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RestoredState::~RestoredState() = default;

}  // namespace coordkit
