#include "sim/oracle/model_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "machine/reads.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

std::string requests_of(const auto& waiters) {
  std::string text;
  for (const auto& waiter : waiters) {
    text += fmt::format("{}n{} boot {} request {}", text.empty() ? "" : ", ", waiter.request.origin.replica.value(),
                        waiter.request.origin.boot.value(), waiter.request.sequence.value());
  }
  return text.empty() ? "empty" : text;
}

void compare_lock(uint64_t node, const machine::Reads& reads, const Model& model, const std::string& name) {
  const machine::Holders holders = reads.holders_of(name);
  const auto same_hold = [](const machine::HolderInfo& holder, const LockModel::Claim& hold) {
    return holder.token == hold.token && holder.count == hold.count;
  };
  if (!std::ranges::equal(holders.holders, model.locks().holds(name), same_hold)) {
    throw Violation("INV_L01",
                    fmt::format("n{}: the holder of {} after {} differs from the log's", node, name, model.applied().value()),
                    {.index = model.applied(), .lock = name});
  }
  const machine::LockQueue queue = reads.queue_of(name, 0);
  const auto same_wait = [](const WaiterInfo& waiter, const LockModel::Claim& wait) { return waiter.request == wait.request; };
  if (!std::ranges::equal(queue.waiters, model.locks().queue(name), same_wait)) {
    throw Violation("INV_L05",
                    fmt::format("n{}: the queue of {} after {} is {}, by the log it is {}", node, name, model.applied().value(),
                                requests_of(queue.waiters), requests_of(model.locks().queue(name))),
                    {.index = model.applied(), .lock = name});
  }
}

// The same for semaphores, barriers and the like.
void compare_objects(uint64_t node, const machine::Reads& reads, const Model& model) {
  using coordination::Kind;
  for (const Kind kind :
       {Kind::Semaphore, Kind::Latch, Kind::Barrier, Kind::DoubleBarrier, Kind::Queue, Kind::Counter, Kind::Group}) {
    for (const std::string name : {"object-0", "object-1"}) {
      if (reads.object(kind, name, 0) == model.coordination().look({kind, name})) continue;
      throw Violation("INV_L01",
                      fmt::format("n{}: {} of kind {} after {} differs from the log's", node, name, static_cast<int>(kind),
                                  model.applied().value()),
                      {.index = model.applied()});
    }
  }
}

}  // namespace

void compare_with_model(const Node& node, const Model& model, const WorkPlan& work) {
  const machine::Reads& reads = *node.engine()->machine(kCoordination)->reads();
  for (uint32_t i = 0; i < work.locks; ++i) compare_lock(node.id().value(), reads, model, fmt::format("lock-{}", i));
  if (work.coordination_share != 0) compare_objects(node.id().value(), reads, model);
}

}  // namespace coordkit::sim
