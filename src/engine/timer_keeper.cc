#include "engine/timer_keeper.h"

namespace coordkit::engine {

LaggingTime TimerKeeper::due(LaggingTime base, Duration duration) {
  return base > LaggingTime::max() - duration ? LaggingTime::max() : base + duration;
}

LaggingTime TimerKeeper::due(const Key& key, const Timer& timer) const {
  LaggingTime base = std::max(timer.base, takeover_);
  if (timer.grouped) base = groups_.find(GroupKey{key.machine, timer.group})->second.covered_base(key.id, base);
  return due(base, timer.duration);
}

void TimerKeeper::apply(MachineId machine, const TimerOp& op, LaggingTime now, Index at) {
  const Key key{machine, op.id};
  disarm(key);
  if (op.kind == TimerOp::Kind::Arm) arm(key, op, own(now), at);
}

void TimerKeeper::arm(const Key& key, const TimerOp& op, LaggingTime now, Index at) {
  Timer& timer = timers_[key];
  timer = {op.generation, op.duration, now, false, !op.group.alone(), op.group, at};
  if (timer.grouped) {
    join_group(key, timer, now);
  } else {
    alone_.insert({due(now, op.duration), key});
  }
}

void TimerKeeper::disarm(const Key& key) {
  const auto it = timers_.find(key);
  if (it == timers_.end()) return;
  Timer& timer = it->second;
  if (timer.grouped) {
    leave_group(key, timer);
  } else {
    alone_.erase({due(timer.base, timer.duration), key});  // by I it is here, or in firing_alone_
    firing_alone_.erase(key);
  }
  timers_.erase(it);
}

void TimerKeeper::join_group(const Key& key, const Timer& timer, LaggingTime at) {
  const auto [group, fresh] = groups_.try_emplace(GroupKey{key.machine, timer.group});
  if (fresh) {
    group->second.check = due(at, timer.duration);
    group_checks_.insert({group->second.check, group->first});
  } else if (due(at, timer.duration) < group->second.check) {
    schedule(group, due(at, timer.duration));
  }
  group->second.members.insert(key.id);
  group->second.sum += timer_set_hash(key.id);
}

void TimerKeeper::leave_group(const Key& key, Timer& timer) {
  const auto group = groups_.find(GroupKey{key.machine, timer.group});
  group->second.members.erase(key.id);
  group->second.firing.erase(key.id);
  group->second.sum -= timer_set_hash(key.id);
  if (!group->second.members.empty() || !group->second.firing.empty()) return;
  group_checks_.erase({group->second.check, group->first});
  groups_.erase(group);
}

// The holder has given this one up: it keeps the deadline it had and is no longer covered by renewals of the group.
void TimerKeeper::exclude(const Key& key) {
  const auto it = timers_.find(key);
  if (it == timers_.end() || !it->second.grouped) return;
  Timer& timer = it->second;
  const auto group = groups_.find(GroupKey{key.machine, timer.group});
  timer.base = group->second.covered_base(key.id, timer.base);
  leave_group(key, timer);
  timer.grouped = false;
  if (timer.firing) {
    firing_alone_.insert(key);
  } else {
    alone_.insert({due(timer.base, timer.duration), key});
  }
}

void TimerKeeper::lead(LaggingTime now) {
  leading_ = true;
  takeover_ = own(now);
}

void TimerKeeper::follow() {
  if (!leading_) return;
  leading_ = false;
  for (auto group = groups_.begin(); group != groups_.end(); ++group) {
    LaggingTime check = group->second.check;
    for (const TimerId id : group->second.firing) {
      Timer& timer = timers_.find(Key{group->first.machine, id})->second;
      timer.firing = false;
      check = std::min(check, due(group->second.covered_base(id, timer.base), timer.duration));
    }
    group->second.members.insert(group->second.firing.begin(), group->second.firing.end());
    group->second.firing.clear();
    schedule(group, check);
  }
  for (const Key& key : firing_alone_) {
    Timer& timer = timers_.find(key)->second;
    timer.firing = false;
    alone_.insert({due(timer.base, timer.duration), key});
  }
  firing_alone_.clear();
}

// What a process gave up may come back to it (S-45) while earlier renewals are still in flight: they exclude nothing of
// the new binding, which would leave the group for good.
RenewReply::Group TimerKeeper::renew(MachineId machine, const RenewRequest::Group& asked, LaggingTime received, Index as_of) {
  RenewReply::Group reply{asked.group, RenewReply::Coverage::Only, {}};
  for (const TimerId id : asked.excluded) {
    const auto it = timers_.find(Key{machine, id});
    if (it == timers_.end() || it->second.group != asked.group) continue;
    const bool came_back = as_of && it->second.armed > as_of;
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
  const auto it = timers_.find(key);
  if (it == timers_.end()) return std::nullopt;
  const LaggingTime end = due(key, it->second);
  return it->second.firing || end <= own(now) ? Duration::zero() : end - own(now);
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
      Timer& timer = timers_.find(Key{machine, *id})->second;
      timer.base = std::max(timer.base, at);
    }
  }
}

void TimerKeeper::schedule(Groups::iterator group, LaggingTime check) {
  group_checks_.erase({group->second.check, group->first});
  group->second.check = check;
  group_checks_.insert({check, group->first});
}

void TimerKeeper::fire(const Key& key, Timer& timer, FireTimers& fired) {
  timer.firing = true;
  fired.machine = key.machine;
  fired.timers.push_back({key.id, timer.generation});
}

// Walks one group whose bound has come up: none right after a takeover, the timers younger than the last renewal as long
// as that holds, all of it only if the process is gone. A scan ends when the entry is full; the next continues after it.
void TimerKeeper::collect_group(Groups::iterator it, LaggingTime at, size_t max, FireTimers& fired) {
  Group& group = it->second;
  const Duration ttl = it->first.group.ttl;
  if (const LaggingTime all = due(takeover_, ttl); all > at) return schedule(it, all);
  const LaggingTime covered = due(group.renewed, ttl);
  LaggingTime check = covered > at ? covered : LaggingTime::max();
  auto member = covered > at ? group.members.upper_bound(group.highest) : group.members.begin();
  while (member != group.members.end() && check > at) {
    const Key key{it->first.machine, *member};
    Timer& timer = timers_.find(key)->second;
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
  schedule(it, check);
}

std::optional<FireTimers> TimerKeeper::collect(LaggingTime now, size_t max) {
  if (!leading_) return std::nullopt;
  const LaggingTime at = own(now);
  FireTimers fired;
  const auto fits = [&](MachineId machine) {
    return fired.timers.size() < max && (fired.timers.empty() || fired.machine == machine);
  };
  while (!group_checks_.empty() && group_checks_.begin()->first <= at && fits(group_checks_.begin()->second.machine)) {
    collect_group(groups_.find(group_checks_.begin()->second), at, max, fired);
  }
  while (!alone_.empty() && alone_.begin()->first <= at && fits(alone_.begin()->second.machine)) {
    const Key key = alone_.begin()->second;
    alone_.erase(alone_.begin());
    Timer& timer = timers_.find(key)->second;
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
    const auto it = timers_.find(key);
    if (it == timers_.end() || !it->second.firing || it->second.generation != one.generation) continue;
    it->second.firing = false;
    if (it->second.grouped) {
      const auto group = groups_.find(GroupKey{key.machine, it->second.group});
      group->second.firing.erase(one.id);
      group->second.members.insert(one.id);
      schedule(group, std::min(group->second.check, due(key, it->second)));
    } else {
      firing_alone_.erase(key);
      alone_.insert({due(it->second.base, it->second.duration), key});
    }
  }
}

LaggingTime TimerKeeper::next_deadline() const {
  if (!leading_) return LaggingTime::max();
  LaggingTime next = LaggingTime::max();
  if (!group_checks_.empty()) next = group_checks_.begin()->first;
  if (!alone_.empty()) next = std::min(next, alone_.begin()->first);
  return next > LaggingTime::max() - stood_still_ ? LaggingTime::max() : next + stood_still_;
}

}  // namespace coordkit::engine
