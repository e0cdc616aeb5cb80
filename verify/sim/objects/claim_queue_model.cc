#include "sim/objects/claim_queue_model.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace coordkit::sim {

using coordination::Kind;
using machine::Result;
using machine::ResultCode;

bool ClaimQueueModel::claimed(const Item& item) const {
  return std::ranges::any_of(lines_.holds(),
                             [&](const WaitsAndHolds::Hold& hold) { return hold.of == Kind::Queue && hold.item == item.id; });
}

const ClaimQueueModel::Item* ClaimQueueModel::next(const std::string& queue) const {
  const Item* best = nullptr;
  for (const Item& candidate : items_) {
    if (candidate.queue != queue || claimed(candidate)) continue;
    if (!best || std::pair(candidate.priority, candidate.id) < std::pair(best->priority, best->id)) best = &candidate;
  }
  return best;
}

Result ClaimQueueModel::run(const machine::Enqueue& enqueue) {
  entry_.touch(Kind::Queue, enqueue.name);
  items_.push_back({entry_.index, enqueue.name, enqueue.priority, 0, enqueue.value});
  return {.id = entry_.index};
}

Result ClaimQueueModel::run(const machine::ClaimItem& claim) {
  WaitsAndHolds::Wait wait = lines_.wait_at(Kind::Queue, claim.name, claim.session);
  wait.term = claim.term;
  const bool free = lines_.waiting(Kind::Queue, claim.name) == 0 && next(claim.name) != nullptr;
  return free ? grant(wait) : lines_.join_line(std::move(wait), claim.wait);
}

Result ClaimQueueModel::run(const machine::AcknowledgeItem& done) {
  const WaitsAndHolds::Hold* claim = lines_.find(done.session, done.name, done.token);
  if (!claim || claim->of != Kind::Queue) return {.code = ResultCode::NotOwner};
  const Index id = claim->item;
  lines_.give_back(done.token);
  std::erase_if(items_, [id](const Item& one) { return one.id == id; });
  return {.id = id};
}

Result ClaimQueueModel::grant(const WaitsAndHolds::Wait& wait) {
  const Index item = next(wait.name)->id;
  WaitsAndHolds::Hold& hold = lines_.grant(wait);
  hold.item = item;
  return granted(hold);
}

Result ClaimQueueModel::granted(const WaitsAndHolds::Hold& claim) const {
  const auto item = std::ranges::find(items_, claim.item, &Item::id);
  COORDKIT_CHECK(item != items_.end());
  Result result = claim.granted();
  result.id = item->id;
  result.number = static_cast<int64_t>(item->deliveries);
  result.value = item->value;
  return result;
}

void ClaimQueueModel::given_back(const WaitsAndHolds::Hold& claim) {
  const auto item = std::ranges::find(items_, claim.item, &Item::id);
  COORDKIT_CHECK(item != items_.end());
  ++item->deliveries;
}

void ClaimQueueModel::serve() {
  lines_.serve(
      Kind::Queue, [this](const WaitsAndHolds::Wait& wait) { return next(wait.name) != nullptr; },
      [this](const WaitsAndHolds::Wait& wait) { return grant(wait); });
}

void ClaimQueueModel::show(const std::string& name, machine::ObjectView& view) const {
  view.taken = lines_.holding(Kind::Queue, name);
  for (const Item& item : items_) {
    if (item.queue != name || claimed(item)) continue;
    view.rows.push_back({.id = item.id, .count = item.deliveries, .priority = item.priority, .value = item.value});
  }
  std::ranges::sort(view.rows, {}, [](const machine::ObjectRow& row) { return std::pair(row.priority, row.id); });
  view.number = static_cast<int64_t>(view.rows.size());
  view.exists = view.taken + view.waiters + view.rows.size() != 0;
}

}  // namespace coordkit::sim
