// The leader's side of every replicated timer (docs/time.md T2, T4 to T7). It decides when an end may be proposed; only the
// log decides whether it happens.
//
// Every replica keeps the timers, because each apply arms and disarms them; only the leader asks what is due. Deadlines are
// lower bounds kept in ordered sets and re-checked when they come up. So taking over (every timer gets a full duration from
// now) and renewing a group are O(1) however many timers there are.
//
// A group is all timers bound to one process and TTL class; none is shorter than group.ttl. Renewing it moves one number and
// covers the timers up to the newest one that the sender knows, no younger one. An excluded timer leaves the group and keeps
// the deadline it had. Invariants: a timer is due duration after max(armed, takeover, renewals that covered it); between
// proposing an end and learning its outcome the timer is `firing` and no renewal of it is acknowledged.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "base/flat_table.h"
#include "base/handle_key.h"
#include "base/handle_pool.h"
#include "coordkit/engine/engine_message.h"
#include "coordkit/ports/clock.h"
#include "coordkit/ports/state_machine.h"
#include "engine/apply/log_command.h"

namespace coordkit::engine {

class TimerKeeper {
 public:
  // An arm or disarm that was applied, by an entry no later than `at`.
  void apply(MachineId machine, const TimerOp& op, LaggingTime now, Index at = {});

  // T5: this replica has applied its own first entry as leader. Every timer gets its full duration from now.
  void lead(LaggingTime now);
  // Leadership is lost: nothing fires, and pending ends are the next leader's business.
  void follow();
  bool leading() const { return leading_; }

  // T6: the leader did not run for `gap`; its timers did not either.
  void shift(Duration gap) { stood_still_ += gap; }

  // T3: a confirmed renewal that was received at `received`. Returns which timers of the asked set it covered. `as_of`: as in
  // RenewRequest; a timer armed later is not the one that its sender gave up.
  RenewReply::Group renew(MachineId machine, const RenewRequest::Group& asked, LaggingTime received, Index as_of = {});

  // How long until its end is proposed; zero: it is. nullopt: no such timer. On a leader only.
  std::optional<Duration> remaining(MachineId machine, TimerId id, LaggingTime now) const;

  // Timers whose end is to be proposed now, at most `max`, all of one machine; they are firing from here on.
  std::optional<FireTimers> collect(LaggingTime now, size_t max);
  // The proposal never reached the log: these are due again.
  void unfire(const FireTimers& fired);

  // When collect() may have something; max() when not leading.
  LaggingTime next_deadline() const;
  size_t size() const;
  // How many timers collect() has checked so far: the cost of elections and renewals, counted instead of timed.
  uint64_t looks() const { return looks_; }

 private:
  struct Key {
    MachineId machine;
    TimerId id;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct GroupKey {
    MachineId machine;
    TimerGroup group;
    friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
  };
  struct Group {
    LaggingTime renewed = LaggingTime::min();  // own time; covers the timers up to `highest`
    TimerId highest;
    LaggingTime check;                 // its place in group_checks_; I: no member is due before it
    absl::btree_set<TimerId> members;  // ascending; not firing
    absl::btree_set<TimerId> firing;   // disjoint from members
    uint64_t sum = 0;                  // of timer_set_hash over both

    LaggingTime covered_base(TimerId id, LaggingTime base) const { return id <= highest ? std::max(base, renewed) : base; }
  };
  using Groups = std::map<GroupKey, Group>;                  // addresses are stable
  static constexpr uint64_t kIndexBits = ~uint64_t{0} >> 1;  // no log is longer
  // There may be a million.
  struct Timer {
    TimerId id;
    Generation generation;
    Duration duration{};
    LaggingTime base;                     // armed, or its group's last renewal when it left the group; own time
    Groups::value_type* group = nullptr;  // null: none, or it left
    uint64_t armed : 63 = 0;              // by the entry of this index, or an earlier one
    uint64_t firing : 1 = 0;
  };
  // The timers of one machine; looked up, never iterated.
  class Timers {
   public:
    Timer* find(TimerId id) const {  // null: there is none
      const auto found = by_id_.find(id);
      return found == by_id_.end() ? nullptr : &(*timers_)[*found];
    }
    Timer& add(const Timer& timer) {  // there is none with its id
      const Handle handle = timers_->add();
      (*timers_)[handle] = timer;
      by_id_.insert(handle);
      return (*timers_)[handle];
    }
    void remove(TimerId id) {  // it is there
      const auto found = by_id_.find(id);
      const Handle handle = *found;
      by_id_.erase(found);
      timers_->remove(handle);
    }
    size_t size() const { return by_id_.size(); }

   private:
    using Handle = HandlePool<Timer>::Handle;
    using ById = SameKey<HandlePool<Timer>, &Timer::id>;
    std::unique_ptr<HandlePool<Timer>> timers_ =
        std::make_unique<HandlePool<Timer>>();  // by_id_ points to it, also after a move
    FlatSet<Handle, ById, ById> by_id_{0, ById{{timers_.get()}}, ById{{timers_.get()}}};
  };

  Timer* find(const Key& key) const {
    const auto of_machine = timers_.find(key.machine);
    return of_machine == timers_.end() ? nullptr : of_machine->second.find(key.id);
  }
  LaggingTime own(LaggingTime now) const { return now - stood_still_; }
  static LaggingTime due(LaggingTime base, Duration duration);  // saturating
  LaggingTime due(const Key& key, const Timer& timer) const;    // with takeover and group taken into account

  void arm(const Key& key, const TimerOp& op, LaggingTime now, Index at);
  void disarm(const Key& key);
  void join_group(const Key& key, Timer& timer, const TimerGroup& of, LaggingTime at);
  void leave_group(const Key& key, Timer& timer);
  void exclude(const Key& key);
  void cover(MachineId machine, Group& group, TimerId highest, LaggingTime at);
  void raise_bases(MachineId machine, Group& group, TimerId above, TimerId through, LaggingTime at);
  void schedule(Groups::value_type& group, LaggingTime check);
  void collect_group(Groups::value_type& group, LaggingTime at, size_t max, FireTimers& fired);
  void fire(const Key& key, Timer& timer, FireTimers& fired);

  std::map<MachineId, Timers> timers_;
  absl::btree_set<std::pair<LaggingTime, Key>> alone_;  // I: {base + duration} of timers without group, not firing
  absl::btree_set<Key> firing_alone_;                   // the firing ones
  Groups groups_;
  absl::btree_set<std::pair<LaggingTime, GroupKey>> group_checks_;  // lower bounds of groups
  LaggingTime takeover_ = LaggingTime::min();
  Duration stood_still_{};
  uint64_t looks_ = 0;
  bool leading_ = false;
};

}  // namespace coordkit::engine
