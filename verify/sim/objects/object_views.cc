#include "sim/objects/object_views.h"

namespace coordkit::sim {

using machine::ObjectView;

ObjectView view_of(const SemaphoreInfo& info) {
  ObjectView view{.exists = info.exists, .limit = info.limit, .taken = info.held, .waiters = info.waiters};
  for (const PermitsInfo& one : info.holders) {
    view.rows.push_back({.id = one.since, .token = one.token, .session = one.session, .count = one.count});
  }
  return view;
}

ObjectView view_of(const LatchInfo& info) {
  return {.exists = info.exists, .number = static_cast<int64_t>(info.count), .waiters = info.waiters};
}

ObjectView view_of(const BarrierInfo& info) { return {.exists = info.closed, .waiters = info.waiters}; }

ObjectView view_of(const DoubleBarrierInfo& info) {
  return {.exists = info.exists, .limit = info.parties, .taken = info.inside, .waiters = info.waiters};
}

ObjectView view_of(const ItemQueueInfo& info) {
  ObjectView view{.exists = info.length + info.claimed + info.waiters != 0,
                  .number = static_cast<int64_t>(info.length),
                  .taken = info.claimed,
                  .waiters = info.waiters};
  for (const QueuedItem& item : info.next) {
    view.rows.push_back({.id = item.item, .count = item.deliveries, .priority = item.priority, .value = item.value});
  }
  return view;
}

ObjectView view_of(const GroupInfo& info) {
  ObjectView view{.exists = !info.members.empty(), .number = static_cast<int64_t>(info.members.size())};
  for (const GroupMember& one : info.members) {
    view.rows.push_back({.id = one.number, .session = one.session, .owner = one.owner, .value = one.value});
  }
  return view;
}

}  // namespace coordkit::sim
