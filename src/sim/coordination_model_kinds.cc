// The commands of the naive twin, kind by kind.
#include <algorithm>

#include "base/check.h"
#include "sim/coordination_model.h"

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

// ---- semaphores

bool CoordinationModel::fits(const std::string& semaphore, uint64_t count) const {
  const uint64_t limit = semaphores_.at(semaphore);
  const uint64_t held = taken(Kind::Semaphore, semaphore);
  return held <= limit && count <= limit - held;
}

Result CoordinationModel::run(const machine::SetSemaphoreLimit& set) {
  touch(Kind::Semaphore, set.name);
  semaphores_[set.name] = set.limit;
  return {};
}

Result CoordinationModel::run(const machine::AcquirePermits& acquire) {
  if (!semaphores_.contains(acquire.name)) {
    if (!acquire.initial_limit) return {.code = ResultCode::NotFound};
    const bool tries = acquire.wait.kind == machine::Wait::Kind::None;
    if (tries && acquire.count > *acquire.initial_limit) return {.code = ResultCode::Held};
    semaphores_[acquire.name] = *acquire.initial_limit;
  }
  Wait wait{.of = Kind::Semaphore,
            .name = acquire.name,
            .session = acquire.session,
            .request = request_,
            .queued = index_,
            .count = acquire.count};
  const bool free = line(Kind::Semaphore, acquire.name) == 0 && fits(acquire.name, acquire.count);
  return free ? grant(wait) : join_line(std::move(wait), acquire.wait);
}

Result CoordinationModel::run(const machine::DeleteSemaphore& erase) {
  if (!semaphores_.contains(erase.name)) return {.code = ResultCode::NotFound};
  if (taken(Kind::Semaphore, erase.name) + line(Kind::Semaphore, erase.name) != 0) return {.code = ResultCode::Held};
  touch(Kind::Semaphore, erase.name);
  semaphores_.erase(erase.name);
  return {};
}

// ---- latches and barriers

Result CoordinationModel::run(const machine::CreateLatch& create) {
  if (!latches_.emplace(create.name, create.count).second) return {.code = ResultCode::AlreadyExists};
  touch(Kind::Latch, create.name);
  return {.number = static_cast<int64_t>(create.count)};
}

Result CoordinationModel::run(const machine::CountDown& count) {
  const auto latch = latches_.find(count.name);
  if (latch == latches_.end()) return {.code = ResultCode::NotFound};
  touch(Kind::Latch, count.name);
  latch->second -= std::min(latch->second, count.by);
  if (latch->second == 0) decide_all(Kind::Latch, count.name, {});
  return {.number = static_cast<int64_t>(latch->second)};
}

Result CoordinationModel::run(const machine::AwaitLatch& await) {
  const auto latch = latches_.find(await.name);
  if (latch == latches_.end()) return {.code = ResultCode::NotFound};
  if (latch->second == 0) return {};
  return join_line({.of = Kind::Latch, .name = await.name, .session = await.session, .request = request_, .queued = index_},
                   await.wait);
}

Result CoordinationModel::run(const machine::DeleteLatch& erase) {
  if (latches_.erase(erase.name) == 0) return {.code = ResultCode::NotFound};
  decide_all(Kind::Latch, erase.name, {.code = ResultCode::NotFound});
  return {};
}

Result CoordinationModel::run(const machine::CloseBarrier& close) {
  if (!barriers_.emplace(close.name, Barrier{close.session, close.at_end}).second) return {.code = ResultCode::AlreadyExists};
  touch(Kind::Barrier, close.name);
  return {};
}

Result CoordinationModel::run(const machine::OpenBarrier& open) {
  if (barriers_.erase(open.name) == 0) return {.code = ResultCode::NotFound};
  decide_all(Kind::Barrier, open.name, {});
  return {};
}

Result CoordinationModel::run(const machine::AwaitBarrier& await) {
  if (!barriers_.contains(await.name)) return {};
  return join_line({.of = Kind::Barrier, .name = await.name, .session = await.session, .request = request_, .queued = index_},
                   await.wait);
}

// ---- double barriers

// The last one to arrive takes everyone in, in order of arrival, itself last.
Result CoordinationModel::run(const machine::EnterBarrier& enter) {
  const auto known = meetings_.find(enter.name);
  if (known != meetings_.end() && known->second.parties != enter.parties) return {.code = ResultCode::InvalidArgument};
  if (known != meetings_.end() && known->second.complete) return {.code = ResultCode::TooManyParties};
  const uint64_t expected = known == meetings_.end() ? enter.parties : known->second.expected;
  Wait wait{.of = Kind::DoubleBarrier, .name = enter.name, .session = enter.session, .request = request_, .queued = index_};
  const bool last = line(Kind::DoubleBarrier, enter.name) + 1 >= expected;
  if (!last && enter.wait.kind == machine::Wait::Kind::None) return {.code = ResultCode::Held};
  if (known == meetings_.end()) {
    meetings_[enter.name] = {.made = index_, .parties = enter.parties, .expected = enter.parties, .at_end = enter.at_end};
  }
  if (!last) return join_line(std::move(wait), enter.wait);
  Meeting& meeting = meetings_.at(enter.name);
  meeting.complete = true;
  for (const Wait& other : waits_) {
    if (other.of == Kind::DoubleBarrier && other.name == enter.name) ended_.push_back({other.request, grant(other)});
  }
  std::erase_if(waits_, [&](const Wait& other) { return other.of == Kind::DoubleBarrier && other.name == enter.name; });
  return grant(wait);
}

Result CoordinationModel::run(const machine::LeaveBarrier& leave) {
  const Hold* place = find(leave.session, leave.name, leave.token);
  if (!place || place->of != Kind::DoubleBarrier) return {.code = ResultCode::NotOwner};
  give_back(*place);
  const bool last = taken(Kind::DoubleBarrier, leave.name) == 0;
  if (last || leave.wait.kind == machine::Wait::Kind::None) return {};
  return join_line({.of = Kind::DoubleBarrier,
                    .name = leave.name,
                    .session = leave.session,
                    .request = request_,
                    .queued = index_,
                    .leaves = true},
                   leave.wait);
}

// The oldest one with something due. False: none.
bool CoordinationModel::decide_one_meeting() {
  std::vector<std::pair<Index, std::string>> by_age;
  for (const auto& [name, meeting] : meetings_) by_age.emplace_back(meeting.made, name);
  std::ranges::sort(by_age);
  for (const auto& oldest : by_age) {
    const std::string& name = oldest.second;
    Meeting& meeting = meetings_.at(name);
    const uint64_t waiting = line(Kind::DoubleBarrier, name);
    const bool left = meeting.complete && taken(Kind::DoubleBarrier, name) == 0;
    if (meeting.broken || left) {
      decide_all(Kind::DoubleBarrier, name, {.code = meeting.broken ? ResultCode::Broken : ResultCode::Ok});
      std::erase_if(holds_, [&](const Hold& hold) { return hold.of == Kind::DoubleBarrier && hold.name == name; });
      meetings_.erase(name);
      return true;
    }
    if (meeting.complete) continue;
    if (waiting == 0) {
      touch(Kind::DoubleBarrier, name);
      meetings_.erase(name);
      return true;
    }
    if (waiting < meeting.expected) continue;
    meeting.complete = true;
    for (const Wait& wait : waits_) {
      if (wait.of == Kind::DoubleBarrier && wait.name == name) ended_.push_back({wait.request, grant(wait)});
    }
    std::erase_if(waits_, [&](const Wait& wait) { return wait.of == Kind::DoubleBarrier && wait.name == name; });
    return true;
  }
  return false;
}

// ---- claim queues

CoordinationModel::Item* CoordinationModel::next_item(const std::string& queue) {
  Item* best = nullptr;
  for (Item& candidate : items_) {
    const bool claimed =
        std::ranges::any_of(holds_, [&](const Hold& hold) { return hold.of == Kind::Queue && hold.item == candidate.id; });
    if (candidate.queue != queue || claimed) continue;
    if (!best || std::pair(candidate.priority, candidate.id) < std::pair(best->priority, best->id)) best = &candidate;
  }
  return best;
}

CoordinationModel::Item& CoordinationModel::item(Index id) {
  const auto found = std::ranges::find(items_, id, &Item::id);
  COORDKIT_CHECK(found != items_.end());
  return *found;
}

Result CoordinationModel::run(const machine::Enqueue& enqueue) {
  touch(Kind::Queue, enqueue.name);
  items_.push_back({index_, enqueue.name, enqueue.priority, 0, enqueue.value});
  return {.id = index_};
}

Result CoordinationModel::run(const machine::ClaimItem& claim) {
  Wait wait{.of = Kind::Queue,
            .name = claim.name,
            .session = claim.session,
            .request = request_,
            .queued = index_,
            .term = claim.term};
  const bool free = line(Kind::Queue, claim.name) == 0 && next_item(claim.name) != nullptr;
  return free ? grant(wait) : join_line(std::move(wait), claim.wait);
}

Result CoordinationModel::run(const machine::AcknowledgeItem& done) {
  const Hold* claim = find(done.session, done.name, done.token);
  if (!claim || claim->of != Kind::Queue) return {.code = ResultCode::NotOwner};
  const Index id = claim->item;
  give_back(*claim);
  std::erase_if(items_, [id](const Item& one) { return one.id == id; });
  return {.id = id};
}

// ---- counters and groups

Result CoordinationModel::run(const machine::ChangeCounter& change) {
  using Operation = machine::ChangeCounter::Operation;
  const auto known = counters_.find(change.name);
  const int64_t before = known == counters_.end() ? 0 : known->second;
  if (change.operation == Operation::Delete) {
    if (known == counters_.end()) return {.code = ResultCode::NotFound};
    touch(Kind::Counter, change.name);
    counters_.erase(known);
    return {};
  }
  int64_t after = change.operand;
  const bool sums = change.operation == Operation::Add || change.operation == Operation::Allocate;
  if (sums && __builtin_add_overflow(before, change.operand, &after)) return {.code = ResultCode::CounterOverflow};
  const bool swaps = change.operation == Operation::CompareAndSet;
  if (swaps && before != change.expected) return {.number = before};
  touch(Kind::Counter, change.name);
  counters_[change.name] = after;
  if (change.operation == Operation::Allocate) return {.number = before + 1};
  return {.number = after, .swapped = swaps};
}

CoordinationModel::Member* CoordinationModel::find_member(const std::string& group, SessionId session,
                                                          const std::string& owner) {
  const auto found = std::ranges::find_if(members_, [&](const Member& member) {
    return member.group == group && member.session == session && member.owner == owner;
  });
  return found == members_.end() ? nullptr : &*found;
}

Result CoordinationModel::run(const machine::JoinGroup& join) {
  if (const Member* member = find_member(join.name, join.session, join.owner_tag)) {
    return {.code = ResultCode::AlreadyExists, .id = member->number};
  }
  touch(Kind::Group, join.name);
  members_.push_back({index_, join.name, join.session, join.owner_tag, join.value});
  return {.id = index_};
}

Result CoordinationModel::run(const machine::UpdateMember& update) {
  Member* member = find_member(update.name, update.session, update.owner_tag);
  if (!member) return {.code = ResultCode::NotFound};
  touch(Kind::Group, update.name);
  member->value = update.value;
  return {.id = member->number};
}

Result CoordinationModel::run(const machine::LeaveGroup& leave) {
  const Member* member = find_member(leave.name, leave.session, leave.owner_tag);
  if (!member) return {.code = ResultCode::NotFound};
  touch(Kind::Group, leave.name);
  const Index number = member->number;
  std::erase_if(members_, [number](const Member& one) { return one.number == number; });
  return {.id = number};
}

}  // namespace coordkit::sim
