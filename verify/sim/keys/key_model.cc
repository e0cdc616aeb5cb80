#include "sim/keys/key_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "machine/keys/kv_codec.h"

namespace coordkit::sim {
namespace {

using machine::Result;

bool within(const std::string& key, const std::string& from, const std::string& end) {
  if (end.empty()) return key == from;
  return key >= from && (end == kNoEnd || key < end);
}

template <typename T>
bool related(const T& a, Compare::Relation relation, const T& b) {
  switch (relation) {
    case Compare::Relation::Equal: return a == b;
    case Compare::Relation::NotEqual: return a != b;
    case Compare::Relation::Less: return a < b;
    case Compare::Relation::Greater: return a > b;
  }
  return false;
}

// S-15: for a missing key all numbers are zero, and nothing holds for its value.
bool meets(const Compare& compare, const KeyModel::Value* found) {
  const KeyModel::Value value = found ? *found : KeyModel::Value{};
  const auto number = [&](uint64_t own) { return related(own, compare.relation, compare.number); };
  switch (compare.target) {
    case Compare::Target::Version: return number(value.version);
    case Compare::Target::Create: return number(value.create.value());
    case Compare::Target::Mod: return number(value.mod.value());
    case Compare::Target::Lease: return number(value.lease.value());
    case Compare::Target::Value: return found && related(value.value, compare.relation, compare.value);
    default: return false;
  }
}

bool before(const RangeOperation& range, const KeyValue& a, const KeyValue& b) {
  switch (range.sort_by) {
    case SortTarget::Key: return a.key < b.key;
    case SortTarget::Version: return a.version < b.version;
    case SortTarget::Create: return a.create < b.create;
    case SortTarget::Mod: return a.mod < b.mod;
    case SortTarget::Value: return a.value < b.value;
  }
  return false;
}

}  // namespace

KeyValue entry_of(const std::string& key, const KeyModel::Value& value) {
  return {.key = key,
          .value = value.value,
          .create = value.create,
          .mod = value.mod,
          .version = value.version,
          .lease = value.lease};
}

// ---- commands

Result KeyModel::run(const PutOperation& asked, Index index, const Around& around) {
  PutOperation one = asked;
  PutReply reply;
  if (one.sequential) reply.key = one.key = fmt::format("{}{:020}", one.key, index.value());  // S-63
  Draft next = draft();
  const Code code = put(next, one, around, reply);
  if (code != Code::Ok) return {.code = code};
  accept(std::move(next));
  const bool says_more = one.sequential || reply.previous;
  return {.code = Code::Ok, .reply = says_more ? machine::encode(OperationReply{std::move(reply)}) : ""};
}

Result KeyModel::run(const DeleteOperation& asked) {
  DeleteReply reply;
  Draft next = draft();
  erase(next, asked, reply);
  accept(std::move(next));
  const uint64_t deleted = reply.deleted;
  return {
      .code = Code::Ok, .deleted = deleted, .reply = asked.previous ? machine::encode(OperationReply{std::move(reply)}) : ""};
}

Result KeyModel::run(const Transaction& transaction, const Around& around) {
  TransactionReply reply;
  Draft next = draft();
  decide(transaction, around, next.decided);
  const Code code = transact(next, transaction, around, reply);
  if (code != Code::Ok) return {.code = code};
  accept(std::move(next));
  return {.code = Code::Ok, .reply = machine::encode(OperationReply{std::vector<TransactionReply>{std::move(reply)}})};
}

Result KeyModel::run(const machine::Compact& compact) {
  if (compact.at <= compacted_) return {.code = Code::Compacted};
  if (compact.at > revision_) return {.code = Code::FutureRevision};
  compacted_ = compact.at;
  return {.code = Code::Ok};
}

uint64_t KeyModel::end(LeaseId lease) {
  Draft next = draft();
  for (const auto& [key, value] : now_) {
    if (value.lease == lease) set(next, key, std::nullopt);
  }
  const uint64_t gone = next.changes.size();
  accept(std::move(next));
  return gone;
}

// ---- drafts

void KeyModel::set(Draft& draft, const std::string& key, std::optional<Value> value) {
  const auto found = draft.entries.find(key);
  draft.changes.push_back(
      {draft.revision, key, value, found == draft.entries.end() ? std::nullopt : std::optional(found->second)});
  if (value) {
    draft.entries[key] = *std::move(value);
  } else {
    draft.entries.erase(key);
  }
}

// INV_K02: one revision if anything changed, else none.
void KeyModel::accept(Draft draft) {
  if (draft.changes.empty()) return;
  revision_ = draft.revision;
  now_ = std::move(draft.entries);
  for (Change& change : draft.changes) {
    auto& history = history_[change.key];
    if (!history.empty() && history.back().first == revision_) history.pop_back();
    history.emplace_back(revision_, change.now);
    changes_.push_back(std::move(change));
  }
}

KeyModel::Code KeyModel::put(Draft& draft, const PutOperation& put, const Around& around, PutReply& reply) {
  const auto found = draft.entries.find(put.key);
  const bool there = found != draft.entries.end();
  if (put.lease && !around.lease_lives(put.lease)) return Code::LeaseNotFound;
  if ((put.ignore_value || put.ignore_lease) && !there) return Code::KeyNotFound;
  const Value old = there ? found->second : Value{.create = draft.revision};
  if (put.previous && there) reply.previous = entry_of(put.key, old);
  set(draft, put.key,
      Value{put.ignore_value ? old.value : put.value, old.create, draft.revision, old.version + 1,
            put.ignore_lease ? old.lease : put.lease});
  return Code::Ok;
}

void KeyModel::erase(Draft& draft, const DeleteOperation& erase, DeleteReply& reply) {
  const Entries before_it = draft.entries;
  for (const auto& [key, value] : before_it) {
    if (!within(key, erase.key, erase.end)) continue;
    ++reply.deleted;
    if (erase.previous) reply.previous.push_back(entry_of(key, value));
    set(draft, key, std::nullopt);
  }
}

// ---- transactions

// On the keys as they were before the outermost transaction (S-14): now_, which no draft touches.
bool KeyModel::holds(const Compare& compare, const Around& around) const {
  if (compare.target >= Compare::Target::LockHeld) return around.lock_condition(compare);
  bool any = false;
  for (const auto& [key, value] : now_) {
    if (!within(key, compare.key, compare.end)) continue;
    any = true;
    if (!meets(compare, &value)) return false;
  }
  return any || meets(compare, nullptr);
}

// Decides all branches before anything is executed.
void KeyModel::decide(const Transaction& transaction, const Around& around, std::vector<bool>& decided) const {
  const bool succeeds = std::ranges::all_of(transaction.compares, [&](const Compare& one) { return holds(one, around); });
  decided.push_back(succeeds);
  for (const Operation& operation : succeeds ? transaction.then : transaction.otherwise) {
    const auto* nested = std::get_if<std::vector<Transaction>>(&operation.body);
    if (nested != nullptr) decide(nested->front(), around, decided);
  }
}

// A refusal anywhere on the path refuses everything: the draft is discarded.
KeyModel::Code KeyModel::transact(Draft& draft, const Transaction& transaction, const Around& around,
                                  TransactionReply& reply) const {
  reply.succeeded = draft.decided[draft.followed++];
  for (const Operation& operation : reply.succeeded ? transaction.then : transaction.otherwise) {
    const Code code = operate(draft, operation, around, reply.replies.emplace_back());
    if (code != Code::Ok) return code;
  }
  return Code::Ok;
}

KeyModel::Code KeyModel::operate(Draft& draft, const Operation& operation, const Around& around, OperationReply& reply) const {
  if (const auto* range = std::get_if<RangeOperation>(&operation.body)) {
    if (range->revision > revision_) return Code::FutureRevision;
    if (range->revision && range->revision < compacted_) return Code::Compacted;
    reply.body = range->revision ? range_at(*range, range->revision) : select(draft.entries, *range);
    return Code::Ok;
  }
  if (const auto* one = std::get_if<PutOperation>(&operation.body)) {
    return put(draft, *one, around, reply.body.emplace<PutReply>());
  }
  if (const auto* one = std::get_if<DeleteOperation>(&operation.body)) {
    erase(draft, *one, reply.body.emplace<DeleteReply>());
    return Code::Ok;
  }
  const auto& nested = std::get<std::vector<Transaction>>(operation.body);
  return transact(draft, nested.front(), around, reply.body.emplace<std::vector<TransactionReply>>().emplace_back());
}

// ---- reading

// S-07, S-08: filters and order apply to everything, the limit comes last.
RangeReply KeyModel::select(const Entries& entries, const RangeOperation& range) {
  RangeReply reply;
  const auto between = [](Revision at, Revision min, Revision max) { return (!min || at >= min) && (!max || at <= max); };
  for (const auto& [key, value] : entries) {
    if (!within(key, range.key, range.end)) continue;
    ++reply.count;
    const bool passes =
        between(value.mod, range.mod_min, range.mod_max) && between(value.create, range.create_min, range.create_max);
    if (passes && !range.count_only) reply.entries.push_back(entry_of(key, value));
  }
  const bool down = range.order == SortOrder::Descending;
  std::ranges::stable_sort(
      reply.entries, [&](const KeyValue& a, const KeyValue& b) { return down ? before(range, b, a) : before(range, a, b); });
  reply.more = range.limit != 0 && reply.entries.size() > static_cast<uint64_t>(range.limit);
  if (reply.more) reply.entries.resize(static_cast<size_t>(range.limit));
  for (KeyValue& entry : reply.entries) {
    if (range.keys_only) entry.value.clear();
  }
  return reply;
}

std::optional<KeyModel::Value> KeyModel::value_at(const std::string& key, Revision at) const {
  const auto found = history_.find(key);
  if (found == history_.end()) return std::nullopt;
  const auto later = std::ranges::upper_bound(found->second, at, {}, [](const auto& item) { return item.first; });
  return later == found->second.begin() ? std::nullopt : std::prev(later)->second;
}

KeyModel::Entries KeyModel::entries_at(Revision at) const {
  Entries entries;
  for (const auto& [key, history] : history_) {
    if (const std::optional<Value> value = value_at(key, at)) entries.emplace(key, *value);
  }
  return entries;
}

RangeReply KeyModel::range_at(const RangeOperation& range, Revision at) const { return select(entries_at(at), range); }

}  // namespace coordkit::sim
