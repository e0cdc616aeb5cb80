#include "coordkit/group.h"

#include "replica/coordination.h"

namespace coordkit {

absl::StatusOr<Index> Group::join(std::string value) {
  return call_of<Index>(session_, [name = name_, owner = owner_, value = std::move(value)](
                                      CoordinationCalls calls, const SessionRef& session, Callback<Index> done) mutable {
    calls.join(session, name, owner, std::move(value), std::move(done));
  });
}

absl::Status Group::update(std::string value) {
  return call_done(session_, [name = name_, owner = owner_, value = std::move(value)](
                                 CoordinationCalls calls, const SessionRef& session, DoneCallback done) mutable {
    calls.update(session, name, owner, std::move(value), std::move(done));
  });
}

absl::Status Group::leave() {
  return call_done(session_,
                   [name = name_, owner = owner_](CoordinationCalls calls, const SessionRef& session, DoneCallback done) {
                     calls.leave_group(session, name, owner, std::move(done));
                   });
}

absl::StatusOr<GroupInfo> Group::members() const {
  return call_of<GroupInfo>(session_, [name = name_](CoordinationCalls calls, const SessionRef&, Callback<GroupInfo> done) {
    calls.members(name, std::move(done));
  });
}

Observation Group::observe(Observer<GroupSeen> observer) const {
  return observe_of(session_, [name = name_, observer = std::move(observer)](CoordinationCalls calls) mutable {
    return calls.observe_group(name, std::move(observer));
  });
}

}  // namespace coordkit
