// The naive twin of the groups. A member belongs to a session and is gone with it.
#pragma once

#include <string>
#include <vector>

#include "machine/command.h"
#include "machine/objects/object_views.h"
#include "sim/objects/coordination_entry.h"

namespace coordkit::sim {

class GroupModel {
 public:
  explicit GroupModel(CoordinationEntry& entry) : entry_(entry) {}

  machine::Result run(const machine::JoinGroup& join);
  machine::Result run(const machine::UpdateMember& update);
  machine::Result run(const machine::LeaveGroup& leave);
  void end(SessionId session);
  void show(const std::string& name, machine::ObjectView& view) const;
  bool empty() const { return members_.empty(); }

 private:
  struct Member {
    Index number;
    std::string group;
    SessionId session;
    std::string owner, value;
  };
  Member* find(const std::string& group, SessionId session, const std::string& owner);

  CoordinationEntry& entry_;
  std::vector<Member> members_;
};

}  // namespace coordkit::sim
