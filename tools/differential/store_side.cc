#include "tools/differential/store_side.h"

namespace coordkit::differential {
namespace {

using mvcc::Refusal;
using nlohmann::json;

Answer refused(Refusal refusal) {
  constexpr const char* kNames[] = {
      "",           "EmptyKey",     "InvalidArgument", "InvalidSort",    "LimitExceeded", "ValueProvided", "LeaseProvided",
      "TooManyOps", "DuplicateKey", "Compacted",       "FutureRevision", "KeyNotFound",   "LeaseNotFound"};
  return {{"error", kNames[static_cast<size_t>(refusal)]}};
}

constexpr auto kNoLocks = [](const Compare&) { return false; };

}  // namespace

Answer StoreSide::take(const Step& step) {
  return std::visit([this](const auto& one) { return take_one(one); }, step);
}

template <typename Form>
Answer StoreSide::answer(Refusal refusal, Form form) const {
  if (refusal != Refusal::None) return refused(refusal);
  Answer out = form();
  out["revision"] = store_.revision().value();
  return out;
}

Answer StoreSide::take_one(const RangeOperation& range) {
  Refusal refusal = mvcc::check(range);
  mvcc::Selection selection;
  if (refusal == Refusal::None) refusal = select(store_, range, {}, selection);
  return answer(refusal, [&] { return form_of(selection.reply); });
}

Answer StoreSide::take_one(const PutOperation& put) {
  Refusal refusal = mvcc::check(put);
  mvcc::Store::Change change;
  PutReply reply;
  const auto exists = [this](LeaseId lease) { return leases_.contains(lease); };
  const mvcc::Surroundings around{exists, kNoLocks};
  if (refusal == Refusal::None) refusal = execute(store_, put, around, change, reply);
  return answer(refusal, [&] { return form_of(reply); });
}

Answer StoreSide::take_one(const DeleteOperation& erase) {
  const Refusal refusal = mvcc::check(erase);
  mvcc::Store::Change change;
  DeleteReply reply;
  if (refusal == Refusal::None) execute(store_, erase, change, reply);
  return answer(refusal, [&] { return form_of(reply); });
}

Answer StoreSide::take_one(const Transaction& transaction) {
  Refusal refusal = mvcc::check(transaction);
  mvcc::Store::Change change;
  TransactionReply reply;
  const auto exists = [this](LeaseId lease) { return leases_.contains(lease); };
  const mvcc::Surroundings around{exists, kNoLocks};
  if (refusal == Refusal::None) refusal = execute(store_, transaction, around, change, reply);
  return answer(refusal, [&] { return form_of(reply); });
}

Answer StoreSide::take_one(const Compact& compact) {
  const Refusal refusal = store_.compact(compact.at);
  if (refusal == Refusal::None) store_.sweep(SIZE_MAX);
  return answer(refusal, [] { return json::object(); });
}

Answer StoreSide::take_one(const GrantLease& grant) {
  if (!leases_.insert(grant.lease).second) return {{"error", "LeaseExists"}};
  return answer(Refusal::None, [&] { return json{{"lease", grant.lease.value()}, {"ttl", kLeaseTtl.count()}}; });
}

Answer StoreSide::take_one(const RevokeLease& revoke) {
  if (leases_.erase(revoke.lease) == 0) return refused(Refusal::LeaseNotFound);
  mvcc::Store::Change change;
  for (const std::string& key : store_.attached(revoke.lease)) store_.erase(change, key);
  return answer(Refusal::None, [] { return json::object(); });
}

Answer StoreSide::take_one(const ListKeysOfLease& list) {
  if (!leases_.contains(list.lease)) return refused(Refusal::LeaseNotFound);
  json keys = json::array();
  for (const std::string& key : store_.attached(list.lease)) keys.push_back(escaped(key));
  std::sort(keys.begin(), keys.end());
  return answer(Refusal::None, [&] { return json{{"keys", keys}, {"granted", kLeaseTtl.count()}}; });
}

Answer StoreSide::take_one(const WatchFrom& watch) {
  const mvcc::Interval interval = mvcc::Interval::of(watch.key.empty() ? std::string_view("\0", 1) : watch.key, watch.end);
  if (interval.empty()) return {{"error", "EmptyRange"}};
  if (watch.from < store_.compacted()) return refused(Refusal::Compacted);
  json events = json::array();
  store_.changes(watch.from, [&](const mvcc::Version& version) {
    if (!interval.contains(version.key()) || !(version.deleted() ? watch.deletes : watch.puts)) return true;
    Event event{version.deleted(), version.entry(), std::nullopt};
    const Revision before(version.mod.value() - 1);
    if (watch.previous && before >= store_.compacted()) {
      if (const mvcc::Version* previous = store_.find(version.key(), before)) event.previous = previous->entry();
    }
    events.push_back(form_of(event));
    return true;
  });
  return {{"events", std::move(events)}};
}

}  // namespace coordkit::differential
