#include "coordination/groups.h"

namespace coordkit::coordination {

using Result = Verdict::Kind;

Verdict Groups::join(Step& step, const Who& who, std::string_view value) {
  if (const std::optional<Index> member = find(who)) return {.kind = Result::AlreadyExists, .id = *member};
  std::optional<Index> group = groups_.named(who.group);
  if (!group) {
    groups_.add(step.index, {std::string(who.group)});
    group = step.index;
  }
  members_.add(step.index, {*group, who.session, std::string(who.owner), std::string(value)});
  owners_.emplace(Owner{*group, who.session, who.owner}, step.index);
  step.changes.push_back(change_of(step.index, Change::What::Joined));
  return {.id = step.index};
}

Verdict Groups::update(Step& step, const Who& who, std::string_view value) {
  const std::optional<Index> member = find(who);
  if (!member) return {.kind = Result::NotFound};
  members_.change(*member, [value](Member& row) { row.value = value; });
  step.changes.push_back(change_of(*member, Change::What::Updated));
  return {.id = *member};
}

Verdict Groups::leave(Step& step, const Who& who) {
  const std::optional<Index> member = find(who);
  if (!member) return {.kind = Result::NotFound};
  remove(*member, step);
  return {.id = *member};
}

void Groups::end(SessionId session, Step& step) {
  const auto members = members_.of_session(session);
  for (const Index member : members) remove(member, step);
}

std::optional<Index> Groups::find(const Who& who) const {
  const std::optional<Index> group = groups_.named(who.group);
  if (!group) return std::nullopt;
  const auto found = owners_.find(Owner{*group, who.session, who.owner});
  return found == owners_.end() ? std::nullopt : std::optional(found->second);
}

void Groups::remove(Index member, Step& step) {
  step.changes.push_back(change_of(member, Change::What::Left));
  const Member& row = members_.at(member);
  const Index group = row.object;
  owners_.erase(Owner{group, row.session, row.owner});
  members_.remove(member);
  if (members_.of_object(group).empty()) groups_.remove(group);
}

Change Groups::change_of(Index member, Change::What what) const {
  const Member& row = members_.at(member);
  return {.kind = Kind::Group,
          .what = what,
          .name = groups_.at(row.object).name,
          .member = member,
          .session = row.session,
          .owner = row.owner,
          .value = row.value};
}

absl::Status Groups::restored() {
  absl::Status status;
  members_.each([&](Index id, const Member& member) {
    const bool possible = groups_.find(member.object) && member.session;
    const bool fresh = owners_.emplace(Owner{member.object, member.session, member.owner}, id).second;
    if (!possible || !fresh) status = absl::DataLossError("an impossible member of a group");
  });
  groups_.each([&](Index id, const Group&) {
    if (members_.of_object(id).empty()) status = absl::DataLossError("a group without members");
  });
  return status;
}

}  // namespace coordkit::coordination
