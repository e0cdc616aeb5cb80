// The naive twin of semaphores, latches, barriers, double barriers, claim queues, counters and groups: flat lists, scanned as
// often as needed. docs/semantics.md S-50 and section 10 nearly word for word; src/coordination is never asked.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "machine/command.h"
#include "machine/objects.h"
#include "machine/result.h"
#include "sim/lock_model.h"

namespace coordkit::sim {

class CoordinationModel {
 public:
  using Kind = coordination::Kind;
  using Object = std::pair<Kind, std::string>;
  using Ended = LockModel::Ended;
  enum class Waiter : uint8_t { MayReturn, IsGone };  // a double barrier counts on a party that may

  // Tokens come from the counter of the locks.
  explicit CoordinationModel(uint64_t& counter) : counter_(counter) {}

  // Queued: it waits, and ends through one of the functions below.
  machine::Result run(const machine::CoordinationCommand& command, const RequestId& id, Index index);
  // Releases permits, an item or a place. False: the session has no such hold.
  bool release(SessionId session, const std::string& name, Token token);
  // nullopt: it neither waits nor holds.
  std::optional<machine::Result> cancel(SessionId session, const RequestId& request, std::vector<Ended>& ended);
  void time_out(Index queued, std::vector<Ended>& ended);  // of a wait
  void end_claim(Index queued, Token token);               // its term is over
  void end(SessionId session, std::vector<Ended>& ended);
  void end_waits(SessionId session, Waiter waiter, std::vector<Ended>& ended);
  void regrant_all(SessionId session, Index index);
  void decide_waits(Index index, std::vector<Ended>& ended);

  void begin_entry() { touched_.clear(); }
  const std::set<Object>& touched() const { return touched_; }
  machine::ObjectView look(const Object& object) const;
  bool held(const std::string& name, Token token) const;
  bool anything_of_sessions() const;

 private:
  struct Wait {
    Kind of;
    std::string name;
    SessionId session;
    RequestId request;
    Index queued;
    bool timed = false;
    bool leaves = false;
    uint64_t count = 0;
    Duration term{};
  };
  struct Hold {
    Kind of;
    std::string name;
    SessionId session;
    RequestId request;
    Index queued, since;
    Token token;
    uint64_t count = 0;
    Index item;
    Duration term{};
  };
  struct Barrier {
    SessionId session;
    machine::AtSessionEnd at_end;
  };
  struct Meeting {
    Index made;
    uint64_t parties = 0, expected = 0;
    machine::AtPartyEnd at_end;
    bool complete = false, broken = false;
  };
  struct Item {
    Index id;
    std::string queue;
    int64_t priority = 0;
    uint64_t deliveries = 0;
    std::string value;
  };
  struct Member {
    Index number;
    std::string group;
    SessionId session;
    std::string owner, value;
  };

  machine::Result run(const machine::SetSemaphoreLimit& set);
  machine::Result run(const machine::AcquirePermits& acquire);
  machine::Result run(const machine::DeleteSemaphore& erase);
  machine::Result run(const machine::CreateLatch& create);
  machine::Result run(const machine::CountDown& count);
  machine::Result run(const machine::AwaitLatch& await);
  machine::Result run(const machine::DeleteLatch& erase);
  machine::Result run(const machine::CloseBarrier& close);
  machine::Result run(const machine::OpenBarrier& open);
  machine::Result run(const machine::AwaitBarrier& await);
  machine::Result run(const machine::EnterBarrier& enter);
  machine::Result run(const machine::LeaveBarrier& leave);
  machine::Result run(const machine::Enqueue& enqueue);
  machine::Result run(const machine::ClaimItem& claim);
  machine::Result run(const machine::AcknowledgeItem& done);
  machine::Result run(const machine::ChangeCounter& change);
  machine::Result run(const machine::JoinGroup& join);
  machine::Result run(const machine::UpdateMember& update);
  machine::Result run(const machine::LeaveGroup& leave);

  void touch(Kind kind, const std::string& name) { touched_.emplace(kind, name); }
  machine::Result join_line(Wait wait, const machine::Wait& how);
  machine::Result grant(const Wait& wait);
  void decide_all(Kind kind, const std::string& name, const machine::Result& result);
  bool first_in_line(const Wait& wait) const;
  uint64_t line(Kind kind, const std::string& name) const;
  uint64_t taken(Kind kind, const std::string& name) const;
  bool fits(const std::string& semaphore, uint64_t count) const;
  Item* next_item(const std::string& queue);
  Item& item(Index id);
  Hold* find(SessionId session, const std::string& name, Token token);
  Member* find_member(const std::string& group, SessionId session, const std::string& owner);
  void give_back(const Hold& hold);
  bool decide_one_meeting();

  uint64_t& counter_;
  RequestId request_;  // of the current entry
  Index index_;
  std::vector<Wait> waits_;  // in the order in which they were queued
  std::vector<Hold> holds_;  // in grant order
  std::map<std::string, uint64_t> semaphores_, latches_;
  std::map<std::string, Barrier> barriers_;
  std::map<std::string, Meeting> meetings_;  // at double barriers
  std::vector<Item> items_;
  std::map<std::string, int64_t> counters_;
  std::vector<Member> members_;
  std::vector<Ended> ended_;  // by the current command
  std::set<Object> touched_;
};

}  // namespace coordkit::sim
