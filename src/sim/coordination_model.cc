#include "sim/coordination_model.h"

#include <algorithm>
#include <iterator>

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

Result CoordinationModel::run(const machine::CoordinationCommand& command, const RequestId& id, Index index) {
  request_ = id;
  index_ = index;
  return std::visit([this](const auto& one) { return run(one); }, command);
}

// ---- waits and holds of every kind

Result CoordinationModel::join_line(Wait wait, const machine::Wait& how) {
  if (how.kind == machine::Wait::Kind::None) return {.code = ResultCode::Held};
  touch(wait.of, wait.name);
  const uint64_t position = line(wait.of, wait.name);
  wait.timed = how.kind == machine::Wait::Kind::Timed;
  waits_.push_back(std::move(wait));
  return {.code = ResultCode::Queued, .position = position};
}

Result CoordinationModel::grant(const Wait& wait) {
  touch(wait.of, wait.name);
  Hold hold{.of = wait.of,
            .name = wait.name,
            .session = wait.session,
            .request = wait.request,
            .queued = wait.queued,
            .since = index_,
            .token = Token(++counter_),
            .count = wait.count,
            .item = {},
            .term = wait.term};
  Result result{.code = ResultCode::Granted, .token = hold.token, .since = index_};
  if (wait.of == Kind::Queue) {
    const Item& next = *next_item(wait.name);
    hold.item = result.id = next.id;
    result.number = static_cast<int64_t>(next.deliveries);
    result.value = next.value;
  }
  holds_.push_back(std::move(hold));
  return result;
}

void CoordinationModel::decide_all(Kind kind, const std::string& name, const Result& result) {
  touch(kind, name);
  for (const Wait& wait : waits_) {
    if (wait.of == kind && wait.name == name) ended_.push_back({wait.request, result});
  }
  std::erase_if(waits_, [&](const Wait& wait) { return wait.of == kind && wait.name == name; });
}

bool CoordinationModel::first_in_line(const Wait& wait) const {
  const auto first = std::ranges::find_if(waits_, [&](const Wait& w) { return w.of == wait.of && w.name == wait.name; });
  return &*first == &wait;
}

uint64_t CoordinationModel::line(Kind kind, const std::string& name) const {
  return std::ranges::count_if(waits_, [&](const Wait& wait) { return wait.of == kind && wait.name == name; });
}

uint64_t CoordinationModel::taken(Kind kind, const std::string& name) const {
  uint64_t sum = 0;
  for (const Hold& hold : holds_) {
    if (hold.of == kind && hold.name == name) sum += kind == Kind::Semaphore ? hold.count : 1;
  }
  return sum;
}

CoordinationModel::Hold* CoordinationModel::find(SessionId session, const std::string& name, Token token) {
  const auto found = std::ranges::find_if(
      holds_, [&](const Hold& hold) { return hold.token == token && hold.session == session && hold.name == name; });
  return found == holds_.end() ? nullptr : &*found;
}

bool CoordinationModel::held(const std::string& name, Token token) const {
  return std::ranges::any_of(holds_, [&](const Hold& hold) { return hold.token == token && hold.name == name; });
}

bool CoordinationModel::anything_of_sessions() const { return !waits_.empty() || !holds_.empty() || !members_.empty(); }

void CoordinationModel::give_back(const Hold& hold) {
  touch(hold.of, hold.name);
  if (hold.of == Kind::Queue) ++item(hold.item).deliveries;
  std::erase_if(holds_, [token = hold.token](const Hold& other) { return other.token == token; });
}

bool CoordinationModel::release(SessionId session, const std::string& name, Token token) {
  const Hold* hold = find(session, name, token);
  if (hold) give_back(*hold);
  return hold != nullptr;
}

std::optional<Result> CoordinationModel::cancel(SessionId session, const RequestId& request, std::vector<Ended>& ended) {
  const auto asked = [&](const auto& one) { return one.session == session && one.request == request; };
  if (const auto wait = std::ranges::find_if(waits_, asked); wait != waits_.end()) {
    touch(wait->of, wait->name);
    ended.push_back({request, {.code = ResultCode::Cancelled}});
    waits_.erase(wait);
    return Result{.code = ResultCode::Cancelled};
  }
  const auto hold = std::ranges::find_if(holds_, asked);
  if (hold == holds_.end()) return std::nullopt;
  Result result{.code = ResultCode::Granted, .token = hold->token, .since = hold->since};
  if (hold->of == Kind::Queue) {
    const Item& claimed = item(hold->item);
    result.id = claimed.id;
    result.number = static_cast<int64_t>(claimed.deliveries);
    result.value = claimed.value;
  }
  return result;
}

void CoordinationModel::time_out(Index queued, std::vector<Ended>& ended) {
  const auto wait = std::ranges::find_if(waits_, [&](const Wait& w) { return w.queued == queued && w.timed; });
  if (wait == waits_.end()) return;
  touch(wait->of, wait->name);
  ended.push_back({wait->request, {.code = ResultCode::WaitTimeout}});
  waits_.erase(wait);
}

void CoordinationModel::end_claim(Index queued, Token token) {
  const auto claim = std::ranges::find_if(
      holds_, [&](const Hold& hold) { return hold.token == token && hold.queued == queued && hold.term > Duration::zero(); });
  if (claim != holds_.end()) give_back(*claim);
}

void CoordinationModel::end_waits(SessionId session, Waiter waiter, std::vector<Ended>& ended) {
  for (const Wait& wait : waits_) {
    if (wait.session != session) continue;
    touch(wait.of, wait.name);
    ended.push_back({wait.request, {.code = ResultCode::Lost}});
    if (wait.of != Kind::DoubleBarrier || wait.leaves || waiter == Waiter::MayReturn) continue;
    Meeting& meeting = meetings_.at(wait.name);
    meeting.at_end == machine::AtPartyEnd::Breaks ? meeting.broken = true : --meeting.expected;
  }
  std::erase_if(waits_, [session](const Wait& wait) { return wait.session == session; });
}

// S-45: by kind, and within a kind in grant order; each becomes the newest grant.
void CoordinationModel::regrant_all(SessionId session, Index index) {
  std::vector<Hold> again;
  for (const Hold& hold : holds_) {
    if (hold.session == session) again.push_back(hold);
  }
  std::erase_if(holds_, [session](const Hold& hold) { return hold.session == session; });
  std::ranges::stable_sort(again, {}, &Hold::of);
  for (Hold& hold : again) {
    hold.token = Token(++counter_);
    hold.since = index;
    touch(hold.of, hold.name);
    holds_.push_back(hold);
  }
}

void CoordinationModel::end(SessionId session, std::vector<Ended>& ended) {
  end_waits(session, Waiter::IsGone, ended);
  const std::vector<Hold> holds = holds_;
  for (const Hold& hold : holds) {
    if (hold.session != session) continue;
    if (hold.of == Kind::DoubleBarrier) {
      Meeting& meeting = meetings_.at(hold.name);
      if (meeting.at_end == machine::AtPartyEnd::Breaks) meeting.broken = true;
    }
    give_back(hold);
  }
  std::vector<std::pair<std::string, machine::AtSessionEnd>> orphaned;
  for (const auto& [name, barrier] : barriers_) {
    if (barrier.session == session && barrier.at_end != machine::AtSessionEnd::Stays)
      orphaned.emplace_back(name, barrier.at_end);
  }
  for (const auto& [name, at_end] : orphaned) {
    decide_all(Kind::Barrier, name, {.code = at_end == machine::AtSessionEnd::Opens ? ResultCode::Ok : ResultCode::Broken});
    barriers_.erase(name);
  }
  for (const Member& member : members_) {
    if (member.session == session) touch(Kind::Group, member.group);
  }
  std::erase_if(members_, [session](const Member& member) { return member.session == session; });
}

// S-48: permits first, then double barriers, then items; each time the first queued among those that can be served.
void CoordinationModel::decide_waits(Index index, std::vector<Ended>& ended) {
  index_ = index;
  const auto serve = [this](Kind kind, auto can) {
    for (;;) {
      const auto next =
          std::ranges::find_if(waits_, [&](const Wait& wait) { return wait.of == kind && first_in_line(wait) && can(wait); });
      if (next == waits_.end()) return;
      ended_.push_back({next->request, grant(*next)});
      waits_.erase(next);
    }
  };
  serve(Kind::Semaphore, [this](const Wait& wait) { return fits(wait.name, wait.count); });
  while (decide_one_meeting()) {
  }
  serve(Kind::Queue, [this](const Wait& wait) { return next_item(wait.name) != nullptr; });
  ended.insert(ended.end(), std::make_move_iterator(ended_.begin()), std::make_move_iterator(ended_.end()));
  ended_.clear();
}

// ---- queries

machine::ObjectView CoordinationModel::look(const Object& object) const {
  const auto& [kind, name] = object;
  machine::ObjectView reply{.waiters = line(kind, name)};
  if (kind == Kind::Semaphore && semaphores_.contains(name)) {
    reply.exists = true;
    reply.limit = semaphores_.at(name);
    reply.taken = taken(kind, name);
    for (const Hold& hold : holds_) {
      if (hold.of != kind || hold.name != name) continue;
      reply.rows.push_back({.id = hold.since, .token = hold.token, .session = hold.session, .count = hold.count});
    }
  }
  if (kind == Kind::Latch && latches_.contains(name)) {
    reply.exists = true;
    reply.number = static_cast<int64_t>(latches_.at(name));
  }
  if (kind == Kind::Barrier) reply.exists = barriers_.contains(name);
  if (kind == Kind::DoubleBarrier && meetings_.contains(name)) {
    reply.exists = true;
    reply.limit = meetings_.at(name).parties;
    reply.taken = taken(kind, name);
  }
  if (kind == Kind::Counter && counters_.contains(name)) {
    reply.exists = true;
    reply.number = counters_.at(name);
  }
  if (kind == Kind::Queue) {
    reply.taken = taken(kind, name);
    for (const Item& item : items_) {
      const auto claims = [&item](const Hold& hold) { return hold.of == Kind::Queue && hold.item == item.id; };
      if (item.queue != name || std::ranges::any_of(holds_, claims)) continue;
      reply.rows.push_back({.id = item.id, .count = item.deliveries, .priority = item.priority, .value = item.value});
    }
    std::ranges::sort(reply.rows, {}, [](const machine::ObjectRow& row) { return std::pair(row.priority, row.id); });
    reply.number = static_cast<int64_t>(reply.rows.size());
    reply.exists = reply.taken + reply.waiters + reply.rows.size() != 0;
  }
  if (kind == Kind::Group) {
    for (const Member& member : members_) {
      if (member.group != name) continue;
      reply.rows.push_back({.id = member.number, .session = member.session, .owner = member.owner, .value = member.value});
    }
    reply.number = static_cast<int64_t>(reply.rows.size());
    reply.exists = !reply.rows.empty();
  }
  return reply;
}

}  // namespace coordkit::sim
