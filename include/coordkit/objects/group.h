// Presence: members join under a name, each with a value, and leave explicitly or with their
// session.
//
// One object is one owner of the session: several owners of one session can be members at once.
//
// Threads: all methods are thread-safe.
#pragma once

#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/objects/observation.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Group {
 public:
  // The group `name`, and the owner of this session that may join it. Makes no call.
  Group(Session session, std::string name, std::string owner = {})
      : session_(std::move(session)), name_(std::move(name)), owner_(std::move(owner)) {}

  // Answers the member's number. Members are ordered by number, and no number comes twice. The
  // value has at most 4 KiB. kAlreadyExists: this owner is a member. kDeadlineExceeded
  // (CallTimeout): a join that takes effect later is undone.
  absl::StatusOr<Index> join(std::string value = {});
  absl::Status update(std::string value);  // replaces this member's value. kNotFound: not a member
  absl::Status leave();                    // ends the membership. kNotFound: not a member

  absl::StatusOr<GroupInfo> members() const;                              // linearizable
  [[nodiscard]] Observation observe(Observer<GroupSeen> observer) const;  // every change

  // The same without blocking. Callbacks run on the engine's thread, where nothing may block. How
  // to cancel a call: call.h.
  AsyncCall join_async(std::string value, Callback<Index> done);
  AsyncCall update_async(std::string value, DoneCallback done);
  AsyncCall leave_async(DoneCallback done);
  AsyncCall members_async(Callback<GroupInfo> done) const;

 private:
  Session session_;
  std::string name_;
  std::string owner_;
};

}  // namespace coordkit
