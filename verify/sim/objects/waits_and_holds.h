// The waits at semaphores, barriers, queues and the like, and the holds of permits, places and items of them: two flat lists
// for objects of all kinds, scanned as often as needed. Waits at one object are its line.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "coordination/step.h"
#include "machine/result.h"
#include "machine/wait.h"
#include "sim/objects/coordination_entry.h"

namespace coordkit::sim {

class WaitsAndHolds {
 public:
  using Kind = coordination::Kind;
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
    machine::Result granted() const { return {.code = machine::ResultCode::Granted, .token = token, .since = since}; }
  };

  // Tokens come from the counter of the locks.
  WaitsAndHolds(uint64_t& counter, CoordinationEntry& entry) : counter_(counter), entry_(entry) {}

  // The wait that the current command would become.
  Wait wait_at(Kind kind, const std::string& name, SessionId session) const;
  // Queued; or Held if it does not want to wait.
  machine::Result join_line(Wait wait, const machine::Wait& how);
  Hold& grant(const Wait& wait);
  void grant_line(Kind kind, const std::string& name);
  void end_line(Kind kind, const std::string& name, const machine::Result& result);
  // Serves the first queued of the waits that are first in any line of this kind and can be served; then the next one.
  template <typename Can, typename Grant>
  void serve(Kind kind, Can can, Grant grant);

  // False: the session has no such wait.
  bool cancel(SessionId session, const RequestId& request);
  void time_out(Index queued);
  void end_waits(SessionId session);
  void give_back(Token token);
  void give_back_all(Kind kind, const std::string& name);
  void regrant_all(SessionId session);

  uint64_t waiting(Kind kind, const std::string& name) const;
  uint64_t holding(Kind kind, const std::string& name) const;
  const Hold* find(SessionId session, const std::string& name, Token token) const;
  const std::vector<Wait>& waits() const { return waits_; }
  const std::vector<Hold>& holds() const { return holds_; }

 private:
  bool first_in_line(const Wait& wait) const;
  void end(const Wait& wait, machine::Result result);

  uint64_t& counter_;
  CoordinationEntry& entry_;
  std::vector<Wait> waits_;  // in the order in which they were queued
  std::vector<Hold> holds_;  // in grant order
};

template <typename Can, typename Grant>
void WaitsAndHolds::serve(Kind kind, Can can, Grant grant) {
  for (;;) {
    const auto next =
        std::ranges::find_if(waits_, [&](const Wait& wait) { return wait.of == kind && first_in_line(wait) && can(wait); });
    if (next == waits_.end()) return;
    entry_.ended.push_back({next->request, grant(*next)});
    waits_.erase(next);
  }
}

}  // namespace coordkit::sim
