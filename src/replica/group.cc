#include "coordkit/group.h"

#include "replica/coordination.h"

namespace coordkit {

AsyncCall Group::join_async(std::string value, Callback<Index> done) {
  return begin_of<absl::StatusOr<Index>>(
      session_,
      [name = name_, owner = owner_, value = std::move(value)](CoordinationCalls calls, const SessionRef& session,
                                                               Callback<Index> answer) mutable {
        return calls.join(session, name, owner, std::move(value), std::move(answer));
      },
      std::move(done));
}

AsyncCall Group::update_async(std::string value, DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_, owner = owner_, value = std::move(value)](CoordinationCalls calls, const SessionRef& session,
                                                               DoneCallback answer) mutable {
        return calls.update(session, name, owner, std::move(value), std::move(answer));
      },
      std::move(done));
}

AsyncCall Group::leave_async(DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_, owner = owner_](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
        return calls.leave_group(session, name, owner, std::move(answer));
      },
      std::move(done));
}

AsyncCall Group::members_async(Callback<GroupInfo> done) const {
  return begin_of<absl::StatusOr<GroupInfo>>(
      session_,
      [name = name_](CoordinationCalls calls, const SessionRef&, Callback<GroupInfo> answer) {
        return calls.members(name, std::move(answer));
      },
      std::move(done));
}

Observation Group::observe(Observer<GroupSeen> observer) const {
  return observe_of(session_, [name = name_, observer = std::move(observer)](CoordinationCalls calls) mutable {
    return calls.observe_group(name, std::move(observer));
  });
}

// ---- the same, blocking

absl::StatusOr<Index> Group::join(std::string value) {
  return wait_of<absl::StatusOr<Index>>(session_, [&](Callback<Index> done) { join_async(std::move(value), std::move(done)); });
}

absl::Status Group::update(std::string value) {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { update_async(std::move(value), std::move(done)); });
}

absl::Status Group::leave() {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { leave_async(std::move(done)); });
}

absl::StatusOr<GroupInfo> Group::members() const {
  return wait_of<absl::StatusOr<GroupInfo>>(session_, [&](Callback<GroupInfo> done) { members_async(std::move(done)); });
}

}  // namespace coordkit
