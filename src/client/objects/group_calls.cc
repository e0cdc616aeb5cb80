// Groups and elections: members, and leaders (objects.h). A campaign is an acquire.
#include <utility>

#include "client/calls/answers.h"
#include "client/impl.h"
#include "coordkit/error.h"

namespace coordkit {

// ---- groups

CallId CoordinationCalls::join(const SessionRef& session, std::string group, std::string owner, std::string value,
                               Callback<Index> done, CallDeadline deadline) {
  machine::JoinGroup body{.owner_tag = std::move(owner), .name = std::move(group), .value = std::move(value)};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done), client::id_made);
}

CallId CoordinationCalls::update(const SessionRef& session, std::string group, std::string owner, std::string value,
                                 DoneCallback done, CallDeadline deadline) {
  machine::UpdateMember body{.owner_tag = std::move(owner), .name = std::move(group), .value = std::move(value)};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done));
}

CallId CoordinationCalls::leave_group(const SessionRef& session, std::string group, std::string owner, DoneCallback done,
                                      CallDeadline deadline) {
  machine::LeaveGroup body{.owner_tag = std::move(owner), .name = std::move(group)};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done));
}

CallId CoordinationCalls::members(std::string group, Callback<GroupInfo> done, CallDeadline deadline) {
  return client_->impl_->reads.object(coordination::Kind::Group, std::move(group), 0, deadline, std::move(done),
                                      [](const machine::ObjectView& now, Index as_of) {
                                        GroupInfo info{.members = {}, .more = now.more, .as_of = as_of};
                                        for (const auto& row : now.rows) info.members.push_back(client::member_of(row));
                                        return info;
                                      });
}

// ---- elections

CallId CoordinationCalls::campaign(const SessionRef& session, std::string name, CampaignOptions options,
                                   Callback<HoldRef> done) {
  return client_->impl_->locks.acquiring().campaign(session, std::move(name), std::move(options), std::move(done));
}

CallId CoordinationCalls::proclaim(const HoldRef& leadership, std::string value, DoneCallback done, CallDeadline deadline) {
  if (leadership && leadership->terms().mode != LockMode::Exclusive) {
    return client_->impl_->calls.refuse(
        std::move(done),
        make_error(Reason::NotOwner, "a shared hold of the lock does not lead; upgrade the grant, or campaign"));
  }
  return client_->impl_->locks.changes().update_value(leadership, std::move(value), std::move(done), deadline);
}

CallId CoordinationCalls::leader(std::string name, Callback<std::optional<LeaderInfo>> done, CallDeadline deadline) {
  absl::Status refusal = client::check_lock_name(name);
  return client_->impl_->reads.read<std::optional<LeaderInfo>>(
      {.deadline = deadline, .refusal = std::move(refusal)}, machine::HoldersOf{std::move(name)}, std::move(done),
      [](const machine::HoldersOf&, const machine::Holders& now, const Completion&) { return client::leader_of(now); });
}

}  // namespace coordkit
