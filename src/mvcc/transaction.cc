#include "mvcc/transaction.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "coordkit/ports/state_machine.h"

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

// The branches that are taken, decided on the state before the transaction (S-14).
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

// S-18: checks the whole path, before any write. No operation affects whether another one is refused, because a branch
// changes a key once.
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

// Performs every operation through `perform(operation, reply)`.
template <typename Perform>
TransactionReply run(const Transaction& transaction, const Taken& taken, const Perform& perform) {
  TransactionReply reply{taken.succeeded, {}};
  auto nested = taken.nested.begin();
  for (const Operation& operation : taken.branch(transaction)) {
    auto& body = reply.replies.emplace_back().body;
    if (const auto* range = std::get_if<RangeOperation>(&operation.body)) {
      perform(*range, body.emplace<RangeReply>());
    } else if (const auto* put = std::get_if<PutOperation>(&operation.body)) {
      perform(*put, body.emplace<PutReply>());
    } else if (const auto* erase = std::get_if<DeleteOperation>(&operation.body)) {
      perform(*erase, body.emplace<DeleteReply>());
    } else if (const auto* inner = std::get_if<std::vector<Transaction>>(&operation.body)) {
      body.emplace<std::vector<TransactionReply>>().push_back(run(inner->front(), *nested++, perform));
    }
  }
  return reply;
}

// How much may still be put into the answer of a command. When no room is left, the answer has more than kResultBytesMax and
// no caller sees it. So no entry makes its replicas copy the store, neither once for each of its ranges nor once for values
// that its puts replace.
class AnswerRoom {
 public:
  bool any() const { return left_ != 0; }
  RangeRoom of_range() const { return {.entries = any() ? UINT64_MAX : 0, .bytes = left_}; }
  void take(const KeyValue& entry) { left_ -= std::min(left_, entry.key.size() + entry.value.size()); }

 private:
  size_t left_ = kResultBytesMax + kKeyBytesMax + kValueBytesMax;  // an entry that does not fit leaves kResultBytesMax used
};

void run(Store& store, const PutOperation& put, AnswerRoom& room, Store::Change& change, PutReply& reply) {
  const bool asks = put.previous || put.ignore_lease || put.ignore_value;
  const Version* before = asks ? store.find(put.key) : nullptr;  // the store finds it anyway
  if (put.previous && before != nullptr && room.any()) room.take(reply.previous.emplace(before->entry()));
  const LeaseId lease = put.ignore_lease ? before->stamp.lease : put.lease;
  const std::string kept = put.ignore_value ? std::string(before->value()) : std::string();
  store.put(change, put.key, put.ignore_value ? kept : put.value, lease);
}

// Returns whether it was cut.
bool run(const Store& store, const RangeOperation& range, const RangeRoom& room, RangeReply& reply) {
  Selection selection;
  COORDKIT_CHECK(select(store, range, room, selection) == Refusal::None);
  reply = std::move(selection.reply);
  return selection.cut;
}

// S-13: tombstones are numbered in the order of their keys.
void run(Store& store, const DeleteOperation& erase, AnswerRoom& room, Store::Change& change, DeleteReply& reply) {
  std::vector<std::string> keys;
  const auto take = [&](const Version& version) {
    keys.emplace_back(version.key());
    if (erase.previous && room.any()) room.take(reply.previous.emplace_back(version.entry()));
    return true;
  };
  const Interval interval = Interval::of(erase.key, erase.end);
  store.scan(interval, {}, take);
  if (interval.single()) keys = {erase.key};
  for (const std::string& key : keys) reply.deleted += store.erase(change, key) ? 1 : 0;
}

// One overload for each kind of operation.
struct Writer {
  Store& store;
  Store::Change& change;
  AnswerRoom& room;
  void operator()(const RangeOperation& range, RangeReply& reply) const {
    run(store, range, room.of_range(), reply);
    for (const KeyValue& entry : reply.entries) room.take(entry);
  }
  void operator()(const PutOperation& put, PutReply& reply) const { run(store, put, room, change, reply); }
  void operator()(const DeleteOperation& erase, DeleteReply& reply) const { run(store, erase, room, change, reply); }
};
struct Reader {
  const Store& store;
  RangeRoom& room;  // the room that is left
  bool& full;       // the answer has no room, and no caller sees it
  void operator()(const RangeOperation& range, RangeReply& reply) const {
    full |= run(store, range, room, reply);
    size_t bytes = 0;
    for (const KeyValue& entry : reply.entries) bytes += entry.key.size() + entry.value.size();
    full |= bytes > room.bytes;  // the first entry is always taken
    room.bytes -= std::min(bytes, room.bytes);
    room.entries = full ? 0 : room.entries - reply.entries.size();
  }
  template <typename Write, typename Reply>
  void operator()(const Write&, const Reply&) const {
    COORDKIT_CHECK_MSG(false, "a write among reads");
  }
};

}  // namespace

Refusal execute(Store& store, const PutOperation& put, const Surroundings& around, Store::Change& change, PutReply& reply) {
  const Refusal refusal = possible(store, put, around);
  AnswerRoom room;
  if (refusal == Refusal::None) run(store, put, room, change, reply);
  return refusal;
}

void execute(Store& store, const DeleteOperation& erase, Store::Change& change, DeleteReply& reply) {
  AnswerRoom room;
  run(store, erase, room, change, reply);
}

Refusal execute(Store& store, const Transaction& transaction, const Surroundings& around, Store::Change& change,
                TransactionReply& reply) {
  const Taken taken = decide(store, transaction, around);
  const Refusal refusal = possible(store, transaction, taken, around);
  AnswerRoom room;
  if (refusal == Refusal::None) reply = run(transaction, taken, Writer{store, change, room});
  return refusal;
}

Refusal read(const Store& store, const Transaction& transaction, const Surroundings& around, const RangeRoom& room,
             TransactionReply& reply) {
  COORDKIT_CHECK(!writes(transaction));
  const Taken taken = decide(store, transaction, around);
  const Refusal refusal = possible(store, transaction, taken, around);
  if (refusal != Refusal::None) return refusal;
  RangeRoom left = room;
  bool full = false;
  reply = run(transaction, taken, Reader{store, left, full});
  return full ? Refusal::LimitExceeded : Refusal::None;
}

}  // namespace coordkit::mvcc
