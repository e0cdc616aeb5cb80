#include "mvcc/transaction.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace coordkit::mvcc {
namespace {

template <typename T>
bool related(const T& left, Compare::Relation relation, const T& right) {
  switch (relation) {
    case Compare::Relation::Equal: return left == right;
    case Compare::Relation::NotEqual: return left != right;
    case Compare::Relation::Less: return left < right;
    case Compare::Relation::Greater: return right < left;
  }
  return false;
}

// Null: a key that does not exist.
bool meets(const Compare& compare, const Version* version) {
  const Stamp stamp = version == nullptr ? Stamp{} : version->stamp;
  const auto number = [&](uint64_t value) { return related(value, compare.relation, compare.number); };
  switch (compare.target) {
    case Compare::Target::Version: return number(stamp.version);
    case Compare::Target::Create: return number(stamp.create.value());
    case Compare::Target::Mod: return number(version == nullptr ? 0 : version->mod.value());
    case Compare::Target::Lease: return number(stamp.lease.value());
    case Compare::Target::Value:
      return version != nullptr && related(version->value(), compare.relation, std::string_view(compare.value));
    default: return false;
  }
}

bool holds(const Store& store, const Compare& compare, const Surroundings& around) {
  if (compare.target >= Compare::Target::LockHeld) return around.lock_condition(compare);
  const Interval interval = Interval::of(compare.key, compare.end);
  if (interval.single()) return meets(compare, store.find(compare.key));
  bool any = false, all = true;
  store.scan(interval, {}, [&](const Version& version) {
    any = true;
    return all = meets(compare, &version);
  });
  return any ? all : meets(compare, nullptr);
}

// Which branches are taken, decided on the state before (S-14).
struct Taken {
  bool succeeded = false;
  std::vector<Taken> nested;  // of the branch that is taken, in order

  const std::vector<Operation>& branch(const Transaction& transaction) const {
    return succeeded ? transaction.then : transaction.otherwise;
  }
};

Taken decide(const Store& store, const Transaction& transaction, const Surroundings& around) {
  Taken taken;
  taken.succeeded =
      std::ranges::all_of(transaction.compares, [&](const Compare& compare) { return holds(store, compare, around); });
  for (const Operation& operation : taken.branch(transaction)) {
    const auto* nested = std::get_if<std::vector<Transaction>>(&operation.body);
    if (nested != nullptr) taken.nested.push_back(decide(store, nested->front(), around));
  }
  return taken;
}

Refusal possible(const Store& store, const PutOperation& put, const Surroundings& around) {
  if (put.lease && !around.lease_exists(put.lease)) return Refusal::LeaseNotFound;
  const bool needs_old = put.ignore_value || put.ignore_lease;
  return needs_old && store.find(put.key) == nullptr ? Refusal::KeyNotFound : Refusal::None;
}

// S-18: the whole path, before any write. No operation affects what another one is refused for, because a branch changes
// a key once.
Refusal possible(const Store& store, const Transaction& transaction, const Taken& taken, const Surroundings& around) {
  auto nested = taken.nested.begin();
  for (const Operation& operation : taken.branch(transaction)) {
    Refusal refusal = Refusal::None;
    if (const auto* range = std::get_if<RangeOperation>(&operation.body)) refusal = store.readable(range->revision);
    if (const auto* put = std::get_if<PutOperation>(&operation.body)) refusal = possible(store, *put, around);
    if (const auto* inner = std::get_if<std::vector<Transaction>>(&operation.body)) {
      refusal = possible(store, inner->front(), *nested++, around);
    }
    if (refusal != Refusal::None) return refusal;
  }
  return Refusal::None;
}

// ---- execution: possible() was checked

void run(Store& store, const PutOperation& put, Store::Change& change, PutReply& reply) {
  const bool asks = put.previous || put.ignore_lease || put.ignore_value;
  const Version* before = asks ? store.find(put.key) : nullptr;  // the store finds it anyway
  if (put.previous && before != nullptr) reply.previous = before->entry();
  const LeaseId lease = put.ignore_lease ? before->stamp.lease : put.lease;
  const std::string kept = put.ignore_value ? std::string(before->value()) : std::string();
  store.put(change, put.key, put.ignore_value ? kept : put.value, lease);
}

// Reads, and performs every put and delete through `write(operation, reply)`.
template <typename Write>
TransactionReply run(const Store& store, const Transaction& transaction, const Taken& taken, const Write& write) {
  TransactionReply reply{taken.succeeded, {}};
  auto nested = taken.nested.begin();
  for (const Operation& operation : taken.branch(transaction)) {
    auto& body = reply.replies.emplace_back().body;
    if (const auto* range = std::get_if<RangeOperation>(&operation.body)) {
      Selection selection;
      COORDKIT_CHECK(select(store, *range, {}, selection) == Refusal::None);
      body = std::move(selection.reply);
    } else if (const auto* put = std::get_if<PutOperation>(&operation.body)) {
      write(*put, body.emplace<PutReply>());
    } else if (const auto* erase = std::get_if<DeleteOperation>(&operation.body)) {
      write(*erase, body.emplace<DeleteReply>());
    } else if (const auto* inner = std::get_if<std::vector<Transaction>>(&operation.body)) {
      body.emplace<std::vector<TransactionReply>>().push_back(run(store, inner->front(), *nested++, write));
    }
  }
  return reply;
}

// Writes into a store; an overload for each kind.
struct Writer {
  Store& store;
  Store::Change& change;
  void operator()(const PutOperation& put, PutReply& reply) const { run(store, put, change, reply); }
  void operator()(const DeleteOperation& erase, DeleteReply& reply) const { execute(store, erase, change, reply); }
};

}  // namespace

Refusal execute(Store& store, const PutOperation& put, const Surroundings& around, Store::Change& change, PutReply& reply) {
  const Refusal refusal = possible(store, put, around);
  if (refusal == Refusal::None) run(store, put, change, reply);
  return refusal;
}

// S-13: tombstones are numbered in the order of their keys.
void execute(Store& store, const DeleteOperation& erase, Store::Change& change, DeleteReply& reply) {
  std::vector<std::string> keys;
  const auto take = [&](const Version& version) {
    keys.emplace_back(version.key());
    if (erase.previous) reply.previous.push_back(version.entry());
    return true;
  };
  const Interval interval = Interval::of(erase.key, erase.end);
  store.scan(interval, {}, take);
  if (interval.single()) keys = {erase.key};
  for (const std::string& key : keys) reply.deleted += store.erase(change, key) ? 1 : 0;
}

Refusal execute(Store& store, const Transaction& transaction, const Surroundings& around, Store::Change& change,
                TransactionReply& reply) {
  const Taken taken = decide(store, transaction, around);
  const Refusal refusal = possible(store, transaction, taken, around);
  if (refusal == Refusal::None) reply = run(store, transaction, taken, Writer{store, change});
  return refusal;
}

Refusal read(const Store& store, const Transaction& transaction, const Surroundings& around, TransactionReply& reply) {
  COORDKIT_CHECK(!writes(transaction));
  const Taken taken = decide(store, transaction, around);
  const Refusal refusal = possible(store, transaction, taken, around);
  const auto no_write = [](const auto&, const auto&) { COORDKIT_CHECK_MSG(false, "a write among reads"); };
  if (refusal == Refusal::None) reply = run(store, transaction, taken, no_write);
  return refusal;
}

}  // namespace coordkit::mvcc
