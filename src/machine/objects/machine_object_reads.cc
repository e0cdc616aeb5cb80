// Reads of semaphores, barriers and the like.
#include <algorithm>
#include <utility>

#include "machine/machine_reads.h"

namespace coordkit::machine {
namespace {

using coordination::Coordination;
using coordination::Kind;

// Fills rows until the room is used up.
class RowsOfReply {
 public:
  RowsOfReply(ObjectView& reply, uint64_t limit) : reply_(reply), left_(limit == 0 ? kRowsMax : std::min(limit, kRowsMax)) {}
  bool add(ObjectRow row) {
    const size_t size = row.owner.size() + row.value.size() + 1;
    if (left_ == 0 || bytes_ + size > kBytesMax) {
      reply_.more = true;
      return false;
    }
    --left_;
    bytes_ += size;
    reply_.rows.push_back(std::move(row));
    return true;
  }

 private:
  static constexpr size_t kBytesMax = 4 << 20;
  ObjectView& reply_;
  uint64_t left_;
  size_t bytes_ = 0;
};

void describe(const Coordination& state, Index id, const coordination::Semaphore& semaphore, ObjectView& reply,
              RowsOfReply rows) {
  reply.limit = semaphore.limit;
  reply.taken = state.semaphores.held(id);
  for (const Token token : state.semaphores.permits().of_object(id)) {
    const coordination::Permits& permits = state.semaphores.permits().at(token);
    if (!rows.add({.id = permits.since, .token = token, .session = permits.session, .count = permits.count})) return;
  }
}
void describe(const Coordination&, Index, const coordination::Latch& latch, ObjectView& reply, RowsOfReply) {
  reply.number = static_cast<int64_t>(latch.count);
}
void describe(const Coordination&, Index, const coordination::Barrier&, ObjectView&, RowsOfReply) {}
void describe(const Coordination& state, Index id, const coordination::DoubleBarrier& barrier, ObjectView& reply, RowsOfReply) {
  reply.limit = barrier.parties;
  reply.taken = state.double_barriers.places().of_object(id).size();
}
void describe(const Coordination& state, Index id, const coordination::Queue&, ObjectView& reply, RowsOfReply rows) {
  const size_t ready = state.queues.length(id);
  reply.number = static_cast<int64_t>(ready);
  reply.taken = state.queues.items().of_object(id).size() - ready;
  state.queues.ready(id, [&](Index item, const coordination::Item& row) {
    return rows.add({.id = item, .count = row.deliveries, .priority = row.priority, .value = row.value});
  });
}
void describe(const Coordination&, Index, const coordination::Counter& counter, ObjectView& reply, RowsOfReply) {
  reply.number = counter.value;
}
ObjectRow row_of(Index id, const coordination::Member& member) {
  return {.id = id, .session = member.session, .owner = member.owner, .value = member.value};
}
void describe(const Coordination& state, Index id, const coordination::Group&, ObjectView& reply, RowsOfReply rows) {
  const auto& members = state.groups.members();
  reply.number = static_cast<int64_t>(members.of_object(id).size());
  for (const Index member : members.of_object(id)) {
    if (!rows.add(row_of(member, members.at(member)))) return;
  }
}

template <typename Row>
ObjectView look(const Coordination& state, const coordination::Rows<Row>& objects, std::string_view name, uint64_t limit) {
  ObjectView reply;
  const std::optional<Index> id = objects.named(name);
  if (!id) return reply;
  reply.exists = true;
  reply.waiters = state.waits.line(*id);
  describe(state, *id, objects.at(*id), reply, RowsOfReply(reply, limit));
  return reply;
}

}  // namespace

std::vector<ObjectRow> MachineReads::members_of(std::string_view group) const {
  std::vector<ObjectRow> rows;
  const coordination::Groups& groups = state_.coordination.groups;
  const std::optional<Index> id = groups.groups().named(group);
  if (!id) return rows;
  for (const Index member : groups.members().of_object(*id)) rows.push_back(row_of(member, groups.members().at(member)));
  return rows;
}

ObjectView MachineReads::object(Kind kind, std::string_view name, uint64_t limit) const {
  const Coordination& state = state_.coordination;
  const auto view = [&](const auto& objects) { return look(state, objects, name, limit); };
  switch (kind) {
    case Kind::Semaphore: return view(state.semaphores.semaphores());
    case Kind::Latch: return view(state.latches.latches());
    case Kind::Barrier: return view(state.barriers.barriers());
    case Kind::DoubleBarrier: return view(state.double_barriers.barriers());
    case Kind::Queue: return view(state.queues.queues());
    case Kind::Counter: return view(state.counters.counters());
    case Kind::Group: return view(state.groups.groups());
    case Kind::Lock: break;  // holders_of()
  }
  return {};
}

}  // namespace coordkit::machine
