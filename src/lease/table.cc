#include "lease/table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/sums.h"

namespace coordkit::lease {
namespace {

uint64_t session_hash(SessionId id, const Session& session) {
  uint64_t hash = hash_bytes(session.metadata, 0x73657373);
  for (const uint64_t field : {id.value(), session.group.node.value(), session.group.boot.value(), session.group.incarnation,
                               static_cast<uint64_t>(session.group.ttl.count()), session.generation.value()}) {
    hash = hash_mix(hash, field);
  }
  return hash;
}

}  // namespace

const Session& Table::open(SessionId id, Session session) {
  COORDKIT_CHECK_MSG(sessions_.empty() || sessions_.rbegin()->first < id, "INV_L04");
  const auto row = sessions_.emplace_hint(sessions_.end(), id, Row{std::move(session)});
  digest_ += session_hash(id, row->second.session);
  opened_.push_back(id);
  return row->second.session;
}

bool Table::close(SessionId id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return false;
  digest_ -= session_hash(id, found->second.session);
  if (found->second.stored) erased_.push_back(id);
  sessions_.erase(found);
  // Sessions that came and went must leave nothing, even if nobody ever takes a checkpoint (REG_F76).
  if (opened_.size() > 2 * sessions_.size() + 64) std::erase_if(opened_, [this](SessionId each) { return !find(each); });
  return true;
}

const Session* Table::find(SessionId id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second.session;
}

void Table::each_after(SessionId after, WhileVisitor visit) const {
  for (auto row = sessions_.upper_bound(after); row != sessions_.end(); ++row) {
    if (!visit(row->first, row->second.session)) return;
  }
}

void Table::collect(Visitor put, absl::FunctionRef<void(SessionId)> erase) {
  std::ranges::sort(erased_);
  for (const SessionId id : erased_) erase(id);
  erased_.clear();
  for (const SessionId id : opened_) {  // ids ascend with time
    const auto row = sessions_.find(id);
    if (row == sessions_.end()) continue;
    put(id, row->second.session);
    row->second.stored = true;
  }
  opened_.clear();
}

absl::Status Table::restore(SessionId id, Session session) {
  if (!id || (!sessions_.empty() && sessions_.rbegin()->first >= id)) return absl::DataLossError("sessions out of order");
  if (session.group.ttl < kTtlFloor) return absl::DataLossError("a session below the TTL floor");
  digest_ += session_hash(id, session);
  sessions_.emplace_hint(sessions_.end(), id, Row{std::move(session), true});
  return absl::OkStatus();
}

uint64_t Table::recomputed_digest() const {
  uint64_t sum = 0;
  for (const auto& [id, row] : sessions_) sum += session_hash(id, row.session);
  return sum;
}

}  // namespace coordkit::lease
