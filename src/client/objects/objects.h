// Semaphores, barriers, queues, counters and groups: one path for commands, one for waits. Reads are those of read_calls.h. The
// calls themselves, with their types, are in a file per kind (semaphore_calls.cc and so on).
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include "absl/container/btree_set.h"
#include "client/calls/answers.h"
#include "client/calls/waits.h"
#include "client/locks/acquires.h"
#include "client/objects/executed.h"
#include "client/objects/typed_answers.h"
#include "coordkit/client/resumed_holds.h"

namespace coordkit::client {

class Objects {
 public:
  Objects(SessionTable& table, Requests& requests, Calls& calls, SessionCommands& commands, Acquires& acquires)
      : table_(table), requests_(requests), calls_(calls), commands_(commands), acquires_(acquires) {}

  // A command that does not wait. `session` null: it needs no session.
  CallId command(const SessionRef* session, machine::Request::Body body, std::string subject, CallDeadline deadline,
                 Callback<Executed> done);
  // A command that may wait, with or without a hold afterwards.
  CallId await(const SessionRef& session, machine::CoordinationCommand body, std::string name, LockWait wait,
               CallDeadline deadline, OutcomeOfView outcome, Callback<Executed> done);
  CallId leave(const HoldRef& place, LockWait wait, DoneCallback done, CallDeadline deadline);
  CallId acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline);

  // ---- the same for a command that names its object, and its session if it has one. `of(executed)` makes the caller's
  // answer
  template <typename Body, typename T, typename Of>
  CallId command(const SessionRef& session, Body body, CallDeadline deadline, Callback<T> done, Of of) {
    body.session = id_of(session);
    return command(&session, machine::CoordinationCommand(body), body.name, deadline, giving<Executed>(std::move(done), of));
  }
  template <typename Body>
  CallId command(const SessionRef& session, Body body, CallDeadline deadline, DoneCallback done) {
    body.session = id_of(session);
    return command(&session, machine::CoordinationCommand(body), body.name, deadline, giving(std::move(done)));
  }
  template <typename Body, typename T, typename Of>
  CallId command(Body body, CallDeadline deadline, Callback<T> done, Of of) {
    return command(nullptr, machine::CoordinationCommand(body), body.name, deadline, giving<Executed>(std::move(done), of));
  }
  template <typename Body, typename T, typename Of>
  CallId await(const SessionRef& session, Body body, LockWait wait, CallDeadline deadline, OutcomeOfView outcome,
               Callback<T> done, Of of) {
    return await(session, waiting(session, body, wait), body.name, wait, deadline, std::move(outcome),
                 giving<Executed>(std::move(done), of));
  }
  template <typename Body>
  CallId await(const SessionRef& session, Body body, LockWait wait, CallDeadline deadline, OutcomeOfView outcome,
               DoneCallback done) {
    return await(session, waiting(session, body, wait), body.name, wait, deadline, std::move(outcome), giving(std::move(done)));
  }

  // Everything that a resumed session has besides locks.
  void adopt(Session& session, std::vector<machine::OwnedObject> objects, ResumedSession& resumed);

 private:
  template <typename Body>
  static machine::CoordinationCommand waiting(const SessionRef& session, Body body, const LockWait& wait) {
    body.session = id_of(session);
    body.wait = wait_of(wait);
    return body;
  }

  struct Waiting {
    machine::CoordinationCommand body;
    std::string name;
    OutcomeOfView outcome;
  };

  static bool held_back(const Session& session, const machine::Request::Body& body);
  bool joins_too_soon(const machine::Request& request) const;
  void start_command(CallId id, const SessionRef& session, machine::Request request, std::string subject, Now now);
  void executed(CallId id, const SessionRef& session, const machine::Request& request, const std::string& subject, Index index,
                const SessionCommands::Result& result, Now now);
  using Member = std::tuple<SessionId, std::string, std::string>;  // session, group, owner
  static Member member_of(const machine::JoinGroup& join) { return {join.session, join.name, join.owner_tag}; }
  void leave_again(const SessionRef& session, const Member& member);
  void start_await(CallId id, const SessionRef& session, Waiting waiting, Now now);
  bool predicted_refusal(const Session& session, const Waiting& waiting) const;
  void confirm(CallId id, const SessionRef& session, Waiting waiting);
  void submit(CallId id, Waiting waiting);
  void not_acknowledged(const HoldRef& claim);
  void start_acknowledge(CallId id, const HoldRef& claim, machine::Request request, Now now);

  SessionTable& table_;
  Requests& requests_;
  Calls& calls_;
  SessionCommands& commands_;
  Acquires& acquires_;
  absl::btree_set<Member> leaving_;  // members that no caller knows
};

}  // namespace coordkit::client
