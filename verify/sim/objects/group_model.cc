#include "sim/objects/group_model.h"

#include <algorithm>

namespace coordkit::sim {

using coordination::Kind;
using machine::Result;
using machine::ResultCode;

GroupModel::Member* GroupModel::find(const std::string& group, SessionId session, const std::string& owner) {
  const auto found = std::ranges::find_if(members_, [&](const Member& member) {
    return member.group == group && member.session == session && member.owner == owner;
  });
  return found == members_.end() ? nullptr : &*found;
}

Result GroupModel::run(const machine::JoinGroup& join) {
  if (const Member* member = find(join.name, join.session, join.owner_tag)) {
    return {.code = ResultCode::AlreadyExists, .id = member->number};
  }
  entry_.touch(Kind::Group, join.name);
  members_.push_back({entry_.index, join.name, join.session, join.owner_tag, join.value});
  return {.id = entry_.index};
}

Result GroupModel::run(const machine::UpdateMember& update) {
  Member* member = find(update.name, update.session, update.owner_tag);
  if (!member) return {.code = ResultCode::NotFound};
  entry_.touch(Kind::Group, update.name);
  member->value = update.value;
  return {.id = member->number};
}

Result GroupModel::run(const machine::LeaveGroup& leave) {
  const Member* member = find(leave.name, leave.session, leave.owner_tag);
  if (!member) return {.code = ResultCode::NotFound};
  entry_.touch(Kind::Group, leave.name);
  const Index number = member->number;
  std::erase_if(members_, [number](const Member& one) { return one.number == number; });
  return {.id = number};
}

void GroupModel::end(SessionId session) {
  for (const Member& member : members_) {
    if (member.session == session) entry_.touch(Kind::Group, member.group);
  }
  std::erase_if(members_, [session](const Member& member) { return member.session == session; });
}

void GroupModel::show(const std::string& name, machine::ObjectView& view) const {
  for (const Member& member : members_) {
    if (member.group != name) continue;
    view.rows.push_back({.id = member.number, .session = member.session, .owner = member.owner, .value = member.value});
  }
  view.number = static_cast<int64_t>(view.rows.size());
  view.exists = !view.rows.empty();
}

}  // namespace coordkit::sim
