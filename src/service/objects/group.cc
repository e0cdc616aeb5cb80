#include "coordkit/objects/group.h"

#include "service/objects/object_access.h"

namespace coordkit {

AsyncCall Group::join_async(std::string value, Callback<Index> done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::join, kSession, name_, owner_, std::move(value));
}

AsyncCall Group::update_async(std::string value, DoneCallback done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::update, kSession, name_, owner_, std::move(value));
}

AsyncCall Group::leave_async(DoneCallback done) {
  return begin_of<Admission::Always>(session_, std::move(done), &CoordinationCalls::leave_group, kSession, name_, owner_);
}

AsyncCall Group::members_async(Callback<GroupInfo> done) const {
  return begin_of(session_, std::move(done), &CoordinationCalls::members, name_);
}

Observation Group::observe(Observer<GroupSeen> observer) const {
  return observe_of(session_, &CoordinationCalls::observe_group, name_, std::move(observer));
}

// ---- the same, blocking

absl::StatusOr<Index> Group::join(std::string value) { return wait_of(session_, *this, &Group::join_async, std::move(value)); }

absl::Status Group::update(std::string value) { return wait_of(session_, *this, &Group::update_async, std::move(value)); }

absl::Status Group::leave() { return wait_of(session_, *this, &Group::leave_async); }

absl::StatusOr<GroupInfo> Group::members() const { return wait_of(session_, *this, &Group::members_async); }

}  // namespace coordkit
