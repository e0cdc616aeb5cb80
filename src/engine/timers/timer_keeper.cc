#include "engine/timers/timer_keeper.h"

#include <utility>

namespace coordkit::engine {

LaggingTime TimerKeeper::due(LaggingTime base, Duration duration) {
  return base > LaggingTime::max() - duration ? LaggingTime::max() : base + duration;
}

LaggingTime TimerKeeper::due(const Key& key, const Timer& timer) const {
  LaggingTime base = std::max(timer.base, takeover_);
  if (timer.group) base = timer.group->second.covered_base(key.id, base);
  return due(base, timer.duration);
}

void TimerKeeper::apply(MachineId machine, const TimerOp& op, LaggingTime now, Index at) {
  const Key key{machine, op.id};
  disarm(key);
  if (op.kind == TimerOp::Kind::Arm) arm(key, op, own(now), at);
}

void TimerKeeper::arm(const Key& key, const TimerOp& op, LaggingTime now, Index at) {
  Timer& timer = timers_[key.machine].add(
      {.id = key.id, .generation = op.generation, .duration = op.duration, .base = now, .armed = at.value() & kIndexBits});
  if (!op.group.alone()) {
    join_group(key, timer, op.group, now);
  } else {
    alone_.insert({due(now, op.duration), key});
  }
}

void TimerKeeper::disarm(const Key& key) {
  Timer* const timer = find(key);
  if (timer == nullptr) return;
  if (timer->group) {
    leave_group(key, *timer);
  } else {
    alone_.erase({due(timer->base, timer->duration), key});  // by I it is here, or in firing_alone_
    firing_alone_.erase(key);
  }
  timers_.find(key.machine)->second.remove(key.id);
}

void TimerKeeper::join_group(const Key& key, Timer& timer, const TimerGroup& of, LaggingTime at) {
  const auto [group, fresh] = groups_.try_emplace(GroupKey{key.machine, of});
  timer.group = &*group;
  if (fresh) {
    group->second.check = due(at, timer.duration);
    group_checks_.insert({group->second.check, group->first});
  } else if (due(at, timer.duration) < group->second.check) {
    schedule(*group, due(at, timer.duration));
  }
  group->second.members.insert(key.id);
  group->second.sum += timer_set_hash(key.id);
}

void TimerKeeper::leave_group(const Key& key, Timer& timer) {
  Groups::value_type* const group = std::exchange(timer.group, nullptr);
  group->second.members.erase(key.id);
  group->second.firing.erase(key.id);
  group->second.sum -= timer_set_hash(key.id);
  if (!group->second.members.empty() || !group->second.firing.empty()) return;
  group_checks_.erase({group->second.check, group->first});
  groups_.erase(groups_.find(group->first));
}

// The holder has given this one up: it keeps the deadline it had and is no longer covered by renewals of the group.
void TimerKeeper::exclude(const Key& key) {
  Timer* const timer = find(key);
  if (timer == nullptr || timer->group == nullptr) return;
  timer->base = timer->group->second.covered_base(key.id, timer->base);
  leave_group(key, *timer);
  if (timer->firing) {
    firing_alone_.insert(key);
  } else {
    alone_.insert({due(timer->base, timer->duration), key});
  }
}

void TimerKeeper::lead(LaggingTime now) {
  leading_ = true;
  takeover_ = own(now);
}

void TimerKeeper::follow() {
  if (!leading_) return;
  leading_ = false;
  for (Groups::value_type& each : groups_) {
    auto& [group_key, group] = each;
    LaggingTime check = group.check;
    for (const TimerId id : group.firing) {
      Timer& timer = *find({group_key.machine, id});
      timer.firing = false;
      check = std::min(check, due(group.covered_base(id, timer.base), timer.duration));
    }
    group.members.insert(group.firing.begin(), group.firing.end());
    group.firing.clear();
    schedule(each, check);
  }
  for (const Key& key : firing_alone_) {
    Timer& timer = *find(key);
    timer.firing = false;
    alone_.insert({due(timer.base, timer.duration), key});
  }
  firing_alone_.clear();
}

// A timer that a process gave up may come back to it (S-45) while earlier renewals are still in flight. They exclude nothing of
// the new binding: it would leave the group for good.
RenewReply::Group TimerKeeper::renew(MachineId machine, const RenewRequest::Group& asked, LaggingTime received, Index as_of) {
  RenewReply::Group reply{asked.group, RenewReply::Coverage::Only, {}};
  for (const TimerId id : asked.excluded) {
    const Timer* const timer = find({machine, id});
    if (timer == nullptr || timer->group == nullptr || timer->group->first.group != asked.group) continue;
    const bool came_back = as_of && timer->armed > as_of.value();
    if (!came_back) exclude(Key{machine, id});
  }
  const auto it = groups_.find(GroupKey{machine, asked.group});
  if (it == groups_.end()) {
    if (asked.count == 0) reply.coverage = RenewReply::Coverage::All;
    return reply;
  }
  Group& group = it->second;
  cover(machine, group, asked.highest, own(received));

  // The set meant: timers up to `highest`. Younger ones are few, so they are subtracted one by one.
  uint64_t count = group.members.size() + group.firing.size();
  uint64_t sum = group.sum;
  for (const auto* timers : {&group.members, &group.firing}) {
    for (auto younger = timers->upper_bound(asked.highest); younger != timers->end(); ++younger) {
      --count;
      sum -= timer_set_hash(*younger);
    }
  }
  if (count == asked.count && sum == asked.sum) {
    reply.listed.assign(group.firing.begin(), group.firing.upper_bound(asked.highest));
    reply.coverage = reply.listed.empty() ? RenewReply::Coverage::All : RenewReply::Coverage::AllExcept;
    return reply;
  }
  reply.listed.assign(group.members.begin(), group.members.upper_bound(asked.highest));
  return reply;
}

std::optional<Duration> TimerKeeper::remaining(MachineId machine, TimerId id, LaggingTime now) const {
  const Key key{machine, id};
  const Timer* const timer = find(key);
  if (timer == nullptr) return std::nullopt;
  const LaggingTime end = due(key, *timer);
  return timer->firing || end <= own(now) ? Duration::zero() : end - own(now);
}

// One number covers all up to `highest`. Where two renewals disagree about the newest timer (messages overtook each
// other, or the sender does not know a timer yet), the few between the two store their own renewals.
void TimerKeeper::cover(MachineId machine, Group& group, TimerId highest, LaggingTime at) {
  if (at < group.renewed) return raise_bases(machine, group, group.highest, highest, at);
  raise_bases(machine, group, highest, group.highest, group.renewed);
  group.renewed = at;
  group.highest = highest;
}

void TimerKeeper::raise_bases(MachineId machine, Group& group, TimerId above, TimerId through, LaggingTime at) {
  for (const auto* timers : {&group.members, &group.firing}) {
    for (auto id = timers->upper_bound(above); id != timers->end() && *id <= through; ++id) {
      Timer& timer = *find({machine, *id});
      timer.base = std::max(timer.base, at);
    }
  }
}

void TimerKeeper::schedule(Groups::value_type& group, LaggingTime check) {
  group_checks_.erase({group.second.check, group.first});
  group.second.check = check;
  group_checks_.insert({check, group.first});
}

void TimerKeeper::fire(const Key& key, Timer& timer, FireTimers& fired) {
  timer.firing = true;
  fired.machine = key.machine;
  fired.timers.push_back({key.id, timer.generation});
}

// Walks one group whose bound has come up: none right after a takeover, the timers younger than the last renewal as long
// as that holds, all of it only if the process is gone. A scan ends when the entry is full; the next continues after it.
void TimerKeeper::collect_group(Groups::value_type& of, LaggingTime at, size_t max, FireTimers& fired) {
  Group& group = of.second;
  const Duration ttl = of.first.group.ttl;
  if (const LaggingTime all = due(takeover_, ttl); all > at) return schedule(of, all);
  const LaggingTime covered = due(group.renewed, ttl);
  LaggingTime check = covered > at ? covered : LaggingTime::max();
  auto member = covered > at ? group.members.upper_bound(group.highest) : group.members.begin();
  while (member != group.members.end() && check > at) {
    const Key key{of.first.machine, *member};
    Timer& timer = *find(key);
    const LaggingTime end = due(key, timer);
    ++looks_;
    if (end > at) {
      check = std::min(check, end);
      ++member;
    } else if (fired.timers.size() < max) {
      fire(key, timer, fired);
      group.firing.insert(key.id);
      member = group.members.erase(member);
    } else {
      check = at;
    }
  }
  schedule(of, check);
}

std::optional<FireTimers> TimerKeeper::collect(LaggingTime now, size_t max) {
  if (!leading_) return std::nullopt;
  const LaggingTime at = own(now);
  FireTimers fired;
  const auto fits = [&](MachineId machine) {
    return fired.timers.size() < max && (fired.timers.empty() || fired.machine == machine);
  };
  while (!group_checks_.empty() && group_checks_.begin()->first <= at && fits(group_checks_.begin()->second.machine)) {
    collect_group(*groups_.find(group_checks_.begin()->second), at, max, fired);
  }
  while (!alone_.empty() && alone_.begin()->first <= at && fits(alone_.begin()->second.machine)) {
    const Key key = alone_.begin()->second;
    alone_.erase(alone_.begin());
    Timer& timer = *find(key);
    const LaggingTime end = due(key, timer);
    ++looks_;
    if (end <= at) {
      fire(key, timer, fired);
      firing_alone_.insert(key);
    } else {
      timer.base = std::max(timer.base, takeover_);
      alone_.insert({end, key});
    }
  }
  if (fired.timers.empty()) return std::nullopt;
  return fired;
}

void TimerKeeper::unfire(const FireTimers& fired) {
  for (const FiredTimer& one : fired.timers) {
    const Key key{fired.machine, one.id};
    Timer* const timer = find(key);
    if (timer == nullptr || !timer->firing || timer->generation != one.generation) continue;
    timer->firing = false;
    if (Groups::value_type* const group = timer->group) {
      group->second.firing.erase(one.id);
      group->second.members.insert(one.id);
      schedule(*group, std::min(group->second.check, due(key, *timer)));
    } else {
      firing_alone_.erase(key);
      alone_.insert({due(timer->base, timer->duration), key});
    }
  }
}

size_t TimerKeeper::size() const {
  size_t size = 0;
  for (const auto& [machine, timers] : timers_) size += timers.size();
  return size;
}

LaggingTime TimerKeeper::next_deadline() const {
  if (!leading_) return LaggingTime::max();
  LaggingTime next = LaggingTime::max();
  if (!group_checks_.empty()) next = group_checks_.begin()->first;
  if (!alone_.empty()) next = std::min(next, alone_.begin()->first);
  return next > LaggingTime::max() - stood_still_ ? LaggingTime::max() : next + stood_still_;
}

}  // namespace coordkit::engine
