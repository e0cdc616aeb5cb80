#include "lease/lease_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/sums.h"

namespace coordkit::lease {
namespace {

constexpr uint64_t kGenerationMax = (uint64_t{1} << 60) - 1;  // of a Row; at one resume per nanosecond that takes 36 years

uint64_t session_hash(SessionId id, const Session& session) {
  uint64_t hash = hash_bytes(session.secret.view(), hash_bytes(session.metadata, 0x73657373));
  for (const uint64_t field :
       {id.value(), session.group.node.value(), session.group.boot.value(), session.group.incarnation,
        static_cast<uint64_t>(session.group.ttl.count()), session.generation.value(), uint64_t{session.ending},
        uint64_t{session.contested}, session.resumed_by.value(), session.name.value()}) {
    hash = hash_mix(hash, field);
  }
  return hash;
}

}  // namespace

Session Table::session_of(const Row& row) {
  return {.group = row.group->first,
          .generation = Generation(row.generation),
          .metadata = row.extra ? row.extra->metadata : std::string(),
          .secret = row.secret,
          .ending = row.ending != 0,
          .contested = row.contested != 0,
          .resumed_by = row.extra ? row.extra->resumed_by : Sequence(),
          .name = row.extra ? row.extra->name : LeaseId()};
}

Table::Row Table::row_of(Session session) {
  const auto group = groups_.try_emplace(session.group).first;
  ++group->second;
  Row row;
  row.group = &*group;
  if (!session.metadata.empty() || session.resumed_by || session.name) {
    row.extra = std::make_unique<Extra>(Extra{std::move(session.metadata), session.resumed_by, session.name});
  }
  row.secret = session.secret;
  row.generation = session.generation.value() & kGenerationMax;
  row.ending = session.ending ? 1 : 0;
  row.contested = session.contested ? 1 : 0;
  return row;
}

void Table::leave_group(Row& row) {
  if (--row.group->second == 0) groups_.erase(groups_.find(row.group->first));
  row.group = nullptr;
}

void Table::open(SessionId id, Session session) {
  COORDKIT_CHECK_MSG(sessions_.empty() || sessions_.rbegin()->first < id, "INV_L04");
  digest_ += session_hash(id, session);
  if (session.name) COORDKIT_CHECK_MSG(names_.emplace(session.name, id).second, "INV_K05");
  Row row = row_of(std::move(session));
  row.dirty = 1;
  sessions_.emplace_hint(sessions_.end(), id, std::move(row));
  changed_.push_back(id);
}

template <typename Change>
void Table::change(SessionId id, Change apply) {
  const auto found = sessions_.find(id);
  COORDKIT_CHECK_MSG(found != sessions_.end(), "INV_L07");
  Row& row = found->second;
  Session session = session_of(row);
  digest_ -= session_hash(id, session);
  apply(session);
  digest_ += session_hash(id, session);
  const bool stored = row.stored != 0;
  const bool listed = row.dirty != 0;
  Row fresh = row_of(std::move(session));  // before the old row is removed: they may share the group
  leave_group(row);
  row = std::move(fresh);
  row.stored = stored ? 1 : 0;
  row.dirty = 1;
  if (!listed) changed_.push_back(id);
}

void Table::resume(SessionId id, const TimerGroup& group, Sequence by, PreviousProcess previous) {
  change(id, [&](Session& session) {
    session.group = group;
    session.generation = session.generation.next();
    session.contested = previous == PreviousProcess::MayLive;
    session.resumed_by = by;
  });
}

void Table::renew(SessionId id) {
  change(id, [](Session& session) { session.generation = session.generation.next(); });
}

void Table::mark_ending(SessionId id) {
  change(id, [](Session& session) { session.ending = true; });
}

bool Table::close(SessionId id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return false;
  digest_ -= session_hash(id, session_of(found->second));
  if (found->second.extra && found->second.extra->name) names_.erase(found->second.extra->name);
  if (found->second.stored) erased_.push_back(id);
  leave_group(found->second);
  sessions_.erase(found);
  // Sessions that came and went must leave no memory behind, even if no checkpoint is ever taken (REG_F76).
  if (changed_.size() > 2 * sessions_.size() + 64) std::erase_if(changed_, [this](SessionId each) { return !contains(each); });
  return true;
}

std::optional<Session> Table::find(SessionId id) const {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return std::nullopt;
  return session_of(found->second);
}

Standing Table::standing(SessionId id, const RequestId& request) const {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return Standing::Unknown;
  const Row& row = found->second;
  if (!binds(row.group->first, row.extra ? row.extra->resumed_by : Sequence(), request)) return Standing::OfAnother;
  return row.ending ? Standing::Ending : Standing::Alive;
}

void Table::each_after(SessionId after, WhileVisitor visit) const {
  for (auto row = sessions_.upper_bound(after); row != sessions_.end(); ++row) {
    if (!visit(row->first, session_of(row->second))) return;
  }
}

std::optional<SessionId> Table::named(LeaseId name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

void Table::each_named_after(LeaseId after, WhileVisitor visit) const {
  for (auto named = names_.upper_bound(after); named != names_.end(); ++named) {
    if (!visit(named->second, session_of(sessions_.find(named->second)->second))) return;
  }
}

void Table::collect(Visitor put, absl::FunctionRef<void(SessionId)> erase) {
  std::ranges::sort(erased_);
  for (const SessionId id : std::exchange(erased_, {})) erase(id);  // the list releases its memory
  std::ranges::sort(changed_);
  for (const SessionId id : std::exchange(changed_, {})) {
    const auto row = sessions_.find(id);
    if (row == sessions_.end()) continue;
    put(id, session_of(row->second));
    row->second.stored = 1;
    row->second.dirty = 0;
  }
}

void Table::forget_stored() {
  erased_.clear();
  changed_.clear();
  for (auto& [id, row] : sessions_) {
    row.stored = 0;
    row.dirty = 1;
    changed_.push_back(id);
  }
}

absl::Status Table::restore(SessionId id, Session session) {
  if (!id || (!sessions_.empty() && sessions_.rbegin()->first >= id)) return absl::DataLossError("sessions out of order");
  if (session.group.ttl < kTtlFloor) return absl::DataLossError("a session below the TTL floor");
  if (session.generation.value() > kGenerationMax) return absl::DataLossError("a session with an impossible generation");
  if (session.name && !names_.emplace(session.name, id).second) return absl::DataLossError("two leases of one name");
  digest_ += session_hash(id, session);
  Row row = row_of(std::move(session));
  row.stored = 1;
  sessions_.emplace_hint(sessions_.end(), id, std::move(row));
  return absl::OkStatus();
}

uint64_t Table::recomputed_digest() const {
  uint64_t sum = 0;
  for (const auto& [id, row] : sessions_) sum += session_hash(id, session_of(row));
  return sum;
}

}  // namespace coordkit::lease
