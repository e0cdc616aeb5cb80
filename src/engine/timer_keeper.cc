#include "engine/timer_keeper.h"

#include <algorithm>

namespace coordkit::engine {

LaggingTime TimerKeeper::due(LaggingTime base, Duration duration) {
  return base > LaggingTime::max() - duration ? LaggingTime::max() : base + duration;
}

LaggingTime TimerKeeper::due(const Timer& timer) const {
  return due(std::max(timer.base, takeover_), timer.duration);
}

void TimerKeeper::apply(MachineId machine, const TimerOp& op, LaggingTime now) {
  const Key key{machine, op.id};
  disarm(key);
  if (op.kind == TimerOp::Kind::Arm) arm(key, op, own(now));
}

void TimerKeeper::arm(const Key& key, const TimerOp& op, LaggingTime at) {
  Timer& timer = timers_[key];
  timer = {op.generation, op.duration, at, false, !op.group.alone(), op.group};
  if (timer.grouped) {
    join_group(key, timer, at);
  } else {
    alone_.insert({due(at, op.duration), key});
  }
}

void TimerKeeper::disarm(const Key& key) {
  const auto it = timers_.find(key);
  if (it == timers_.end()) return;
  Timer& timer = it->second;
  if (timer.grouped) {
    leave_group(key, timer);
  } else {
    alone_.erase({due(timer.base, timer.duration), key});  // where it stands: I, or in firing_alone_
    firing_alone_.erase(key);
  }
  timers_.erase(it);
}

void TimerKeeper::join_group(const Key& key, const Timer& timer, LaggingTime at) {
  const auto [group, fresh] = groups_.try_emplace(GroupKey{key.machine, timer.group});
  if (fresh) {
    group->second.renewed = LaggingTime::min();
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
  if (!group->second.members.empty()) return;
  group_checks_.erase({group->second.check, group->first});
  groups_.erase(group);
}

// The holder has given this one up: it keeps the deadline it had and is no longer covered by renewals of the group.
void TimerKeeper::exclude(const Key& key) {
  const auto it = timers_.find(key);
  if (it == timers_.end() || !it->second.grouped) return;
  Timer& timer = it->second;
  const auto group = groups_.find(GroupKey{key.machine, timer.group});
  timer.base = std::max(timer.base, group->second.renewed);
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
    if (group->second.firing.empty()) continue;
    for (const TimerId id : group->second.firing) timers_.find(Key{group->first.machine, id})->second.firing = false;
    group->second.firing.clear();
    schedule(group, due(group->second.renewed, group->first.group.ttl));
  }
  for (const Key& key : firing_alone_) {
    Timer& timer = timers_.find(key)->second;
    timer.firing = false;
    alone_.insert({due(timer.base, timer.duration), key});
  }
  firing_alone_.clear();
}

RenewReply::Group TimerKeeper::renew(MachineId machine, const RenewRequest::Group& asked, LaggingTime received) {
  RenewReply::Group reply{asked.group, RenewReply::Coverage::Only, {}};
  for (const TimerId id : asked.excluded) {
    const auto it = timers_.find(Key{machine, id});
    if (it != timers_.end() && it->second.group == asked.group) exclude(Key{machine, id});
  }
  const auto it = groups_.find(GroupKey{machine, asked.group});
  if (it == groups_.end()) {
    if (asked.count == 0) reply.coverage = RenewReply::Coverage::All;
    return reply;
  }
  Group& group = it->second;
  group.renewed = std::max(group.renewed, own(received));

  // The set meant: members up to `highest`. Younger ones are few, so they are subtracted one by one.
  uint64_t count = group.members.size();
  uint64_t sum = group.sum;
  for (auto younger = group.members.upper_bound(asked.highest); younger != group.members.end(); ++younger) {
    --count;
    sum -= timer_set_hash(*younger);
  }
  if (count == asked.count && sum == asked.sum) {
    reply.coverage = group.firing.empty() ? RenewReply::Coverage::All : RenewReply::Coverage::AllExcept;
    reply.listed.assign(group.firing.begin(), group.firing.end());
    return reply;
  }
  for (const TimerId id : group.members) {
    if (id <= asked.highest && !group.firing.contains(id)) reply.listed.push_back(id);
  }
  return reply;
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

// Walks one group whose bound has come up. It is renewed far more often than it dies, so walking it is rare.
void TimerKeeper::collect_group(Groups::iterator it, LaggingTime at, size_t max, FireTimers& fired) {
  Group& group = it->second;
  const Duration ttl = it->first.group.ttl;
  LaggingTime check = due(std::max(group.renewed, takeover_), ttl);
  if (check <= at) {
    check = LaggingTime::max();
    for (const TimerId id : group.members) {
      if (group.firing.contains(id)) continue;
      const Key key{it->first.machine, id};
      Timer& timer = timers_.find(key)->second;
      const LaggingTime end = due(std::max({timer.base, group.renewed, takeover_}), timer.duration);
      if (end > at) {
        check = std::min(check, end);
      } else if (fired.timers.size() < max) {
        fire(key, timer, fired);
        group.firing.insert(id);
      } else {
        check = std::min(check, at);
      }
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
    const LaggingTime end = due(timer);
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
      schedule(group, std::min(group->second.check, due(it->second)));
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
