// Random transactions, nested and wrong ones among them, against a model that reads S-05 to S-18 literally.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/random.h"
#include "mvcc/transaction.h"
#include "tests/unit/mvcc/naive_store.h"

namespace coordkit::mvcc {
namespace {

const std::vector<std::string> kUniverse = {std::string(1, '\0'), "a", std::string("a\0", 2), "ab", "b", "\xff", "\xff\xff"};
constexpr uint64_t kLeases = 2;  // leases 1 and 2 are there

bool lease_is_there(LeaseId lease) { return lease.value() <= kLeases; }
bool lock_holds(const Compare& compare) {
  return compare.target == Compare::Target::LockFree ? compare.key != "held" : compare.key == "held" && compare.number == 5;
}

class Model {
 public:
  NaiveStore store;

  // Everything that is wrong with it in any state.
  std::set<Refusal> faults(const Transaction& transaction) const {
    std::set<Refusal> found;
    look(transaction, 128, 1, found);
    return found;
  }
  // The first obstacle on the path that is taken; none: it was executed.
  Refusal run(const Transaction& transaction, TransactionReply& reply) {
    before_ = store.now;
    if (const Refusal refusal = obstacle(transaction); refusal != Refusal::None) return refusal;
    store.begin();
    reply = execute(transaction);
    store.end();
    return Refusal::None;
  }

 private:
  struct Footprint {
    std::set<std::string> puts, deletes;  // of the universe
  };

  static bool bad_interval(const std::string& key, const std::string& end, std::set<Refusal>& found) {
    if (!key.empty() || end == kNoEnd) return false;
    found.insert(Refusal::EmptyKey);
    return true;
  }
  Footprint look(const Transaction& transaction, size_t budget, size_t depth, std::set<Refusal>& found) const {
    const size_t most = std::max({transaction.compares.size(), transaction.then.size(), transaction.otherwise.size()});
    if (most > budget || depth > 8) {
      found.insert(Refusal::TooManyOps);
      return {};
    }
    for (const Compare& compare : transaction.compares) {
      if (compare.target < Compare::Target::LockHeld) bad_interval(compare.key, compare.end, found);
    }
    Footprint all;
    for (const auto* branch : {&transaction.then, &transaction.otherwise}) {
      std::vector<Footprint> each;
      for (const Operation& operation : *branch) each.push_back(look(operation, budget - most, depth, found));
      for (size_t i = 0; i < each.size(); ++i) {
        for (size_t j = 0; j < each.size(); ++j) {
          const auto taken = [&](const std::string& key) {
            return each[j].deletes.contains(key) || each[j].puts.contains(key);
          };
          if (i != j && std::ranges::any_of(each[i].puts, taken)) found.insert(Refusal::DuplicateKey);
        }
        all.puts.insert(each[i].puts.begin(), each[i].puts.end());
        all.deletes.insert(each[i].deletes.begin(), each[i].deletes.end());
      }
    }
    return all;
  }
  Footprint look(const Operation& operation, size_t budget, size_t depth, std::set<Refusal>& found) const {
    Footprint footprint;
    if (const auto* nested = std::get_if<std::vector<Transaction>>(&operation.body)) {
      footprint = look(nested->front(), budget, depth + 1, found);
    } else if (const auto* put = std::get_if<PutOperation>(&operation.body)) {
      if (put->key.empty()) found.insert(Refusal::EmptyKey);
      if (put->ignore_value && !put->value.empty()) found.insert(Refusal::ValueProvided);
      if (put->ignore_lease && put->lease) found.insert(Refusal::LeaseProvided);
      footprint.puts = {put->key};
    } else if (const auto* erase = std::get_if<DeleteOperation>(&operation.body)) {
      if (bad_interval(erase->key, erase->end, found)) return footprint;
      for (const std::string& key : kUniverse) {
        if (NaiveStore::within(key, erase->key, erase->end)) footprint.deletes.insert(key);
      }
    } else {
      const auto& range = std::get<RangeOperation>(operation.body);
      bad_interval(range.key, range.end, found);
      if (range.limit < 0) found.insert(Refusal::InvalidArgument);
    }
    return footprint;
  }

  template <typename T>
  static bool related(Compare::Relation relation, const T& left, const T& right) {
    switch (relation) {
      case Compare::Relation::Equal: return left == right;
      case Compare::Relation::NotEqual: return left != right;
      case Compare::Relation::Less: return left < right;
      case Compare::Relation::Greater: return left > right;
    }
    return false;
  }
  static bool meets(const Compare& compare, const std::optional<KeyValue>& entry) {
    const KeyValue shown = entry.value_or(KeyValue());
    switch (compare.target) {
      case Compare::Target::Version: return related(compare.relation, shown.version, compare.number);
      case Compare::Target::Create: return related(compare.relation, shown.create.value(), compare.number);
      case Compare::Target::Mod: return related(compare.relation, shown.mod.value(), compare.number);
      case Compare::Target::Lease: return related(compare.relation, shown.lease.value(), compare.number);
      case Compare::Target::Value: return entry && related(compare.relation, entry->value, compare.value);
      default: return lock_holds(compare);
    }
  }
  bool holds(const Compare& compare) const {
    if (compare.target >= Compare::Target::LockHeld) return lock_holds(compare);
    std::vector<KeyValue> found;
    for (const auto& [key, entry] : before_) {
      if (NaiveStore::within(key, compare.key, compare.end)) found.push_back(entry);
    }
    if (found.empty()) return meets(compare, std::nullopt);
    return std::ranges::all_of(found, [&](const KeyValue& entry) { return meets(compare, entry); });
  }
  const std::vector<Operation>& branch(const Transaction& transaction) const {
    const bool all = std::ranges::all_of(transaction.compares, [this](const Compare& compare) { return holds(compare); });
    return all ? transaction.then : transaction.otherwise;
  }

  Refusal obstacle(const Transaction& transaction) const {
    for (const Operation& operation : branch(transaction)) {
      Refusal refusal = Refusal::None;
      if (const auto* nested = std::get_if<std::vector<Transaction>>(&operation.body)) refusal = obstacle(nested->front());
      if (const auto* range = std::get_if<RangeOperation>(&operation.body)) refusal = store.readable(range->revision.value());
      if (const auto* put = std::get_if<PutOperation>(&operation.body)) {
        const bool keeps = put->ignore_value || put->ignore_lease;
        if (!lease_is_there(put->lease)) {
          refusal = Refusal::LeaseNotFound;
        } else if (keeps && !before_.contains(put->key)) {
          refusal = Refusal::KeyNotFound;
        }
      }
      if (refusal != Refusal::None) return refusal;
    }
    return Refusal::None;
  }

  TransactionReply execute(const Transaction& transaction) {
    const std::vector<Operation>& taken = branch(transaction);
    TransactionReply reply{&taken == &transaction.then, {}};
    for (const Operation& operation : taken) {
      OperationReply& one = reply.replies.emplace_back();
      if (const auto* nested = std::get_if<std::vector<Transaction>>(&operation.body)) {
        one.body = std::vector<TransactionReply>{execute(nested->front())};
      } else if (const auto* put = std::get_if<PutOperation>(&operation.body)) {
        one.body = execute(*put);
      } else if (const auto* erase = std::get_if<DeleteOperation>(&operation.body)) {
        const std::vector<KeyValue> gone = store.range(erase->key, erase->end);
        for (const KeyValue& entry : gone) store.erase(entry.key);
        one.body = DeleteReply{gone.size(), erase->previous ? gone : std::vector<KeyValue>()};
      } else {
        one.body = execute(std::get<RangeOperation>(operation.body));
      }
    }
    return reply;
  }
  PutReply execute(const PutOperation& put) {
    const auto found = store.now.find(put.key);
    const std::optional<KeyValue> old = found == store.now.end() ? std::nullopt : std::optional(found->second);
    store.put(put.key, put.ignore_value ? old->value : put.value, put.ignore_lease ? old->lease : put.lease);
    return {.key = {}, .previous = put.previous ? old : std::nullopt};
  }
  RangeReply execute(const RangeOperation& range) const {
    std::vector<KeyValue> found = store.range(range.key, range.end, range.revision.value());
    RangeReply reply{.entries = {}, .more = false, .count = found.size()};
    if (range.count_only) return reply;
    std::erase_if(found, [&](const KeyValue& entry) {
      const auto out = [](Revision at, Revision low, Revision high) { return at < low || (high && at > high); };
      return out(entry.mod, range.mod_min, range.mod_max) || out(entry.create, range.create_min, range.create_max);
    });
    std::ranges::stable_sort(found, [&](const KeyValue& a, const KeyValue& b) {
      const bool descends = range.order == SortOrder::Descending;
      const KeyValue& low = descends ? b : a;
      const KeyValue& high = descends ? a : b;
      switch (range.sort_by) {
        case SortTarget::Key: return low.key < high.key;
        case SortTarget::Version: return low.version < high.version;
        case SortTarget::Create: return low.create < high.create;
        case SortTarget::Mod: return low.mod < high.mod;
        case SortTarget::Value: return low.value < high.value;
      }
      return false;
    });
    const size_t limit = range.limit == 0 ? found.size() : static_cast<size_t>(range.limit);
    reply.more = found.size() > limit;
    found.resize(std::min(found.size(), limit));
    for (KeyValue& entry : found) {
      if (range.keys_only) entry.value.clear();
    }
    reply.entries = std::move(found);
    return reply;
  }

  std::map<std::string, KeyValue> before_;
};

class TransactionMaker {
 public:
  TransactionMaker(Random& random, uint64_t newest) : random_(random), newest_(newest) {}

  Transaction transaction(size_t depth) {
    Transaction made;
    for (uint64_t i = random_.below(3); i > 0; --i) made.compares.push_back(compare());
    for (auto* branch : {&made.then, &made.otherwise}) {
      for (uint64_t i = random_.below(depth > 3 ? 2 : 4); i > 0; --i) branch->push_back(operation(depth));
      if (random_.below(40) == 0) branch->resize(random_.between(20, 140), RangeOperation::of("b"));
    }
    return made;
  }

 private:
  std::string key() { return random_.below(60) == 0 ? std::string() : kUniverse[random_.below(kUniverse.size())]; }
  std::string end() {
    const uint64_t kind = random_.below(4);
    return kind < 2 ? std::string() : kind == 2 ? std::string(kNoEnd) : kUniverse[random_.below(kUniverse.size())];
  }
  std::string value() { return std::string(1, static_cast<char>('u' + random_.below(4))); }
  Revision revision() { return Revision(random_.below(newest_ + 2)); }

  Compare compare() {
    if (random_.below(8) == 0) {
      return random_.below(2) == 0 ? Compare::lock_free(random_.below(2) == 0 ? "held" : "free")
                                   : Compare::lock_held("held", Token(random_.between(5, 6)));
    }
    Compare made{.key = key(), .end = end()};
    made.target = static_cast<Compare::Target>(random_.between(1, 5));
    made.relation = static_cast<Compare::Relation>(random_.between(1, 4));
    made.number = random_.below(2) == 0 ? random_.below(3) : random_.below(newest_ + 2);
    made.value = value();
    return made;
  }
  Operation operation(size_t depth) {
    const uint64_t kind = random_.below(10);
    if (kind < 3) return range();
    if (kind < 6) return put();
    if (kind < 8) return DeleteOperation{.key = key(), .end = end(), .previous = random_.below(2) == 0};
    return depth < 10 ? Operation(transaction(depth + 1)) : Operation(range());
  }
  RangeOperation range() {
    RangeOperation made{.key = key(), .end = end()};
    if (random_.below(3) == 0) made.revision = revision();
    if (random_.below(3) == 0) made.limit = static_cast<int64_t>(random_.below(4));
    if (random_.below(80) == 0) made.limit = -1;
    made.sort_by = static_cast<SortTarget>(random_.below(5));
    made.order = static_cast<SortOrder>(random_.below(3));
    made.keys_only = random_.below(4) == 0;
    made.count_only = random_.below(6) == 0;
    for (Revision* bound : {&made.mod_min, &made.mod_max, &made.create_min, &made.create_max}) {
      if (random_.below(6) == 0) *bound = revision();
    }
    return made;
  }
  PutOperation put() {
    PutOperation made{.key = key(), .previous = random_.below(2) == 0};
    made.ignore_value = random_.below(6) == 0;
    made.ignore_lease = random_.below(6) == 0;
    if (!made.ignore_value || random_.below(10) == 0) made.value = value();
    if (!made.ignore_lease || random_.below(10) == 0) made.lease = LeaseId(random_.below(random_.below(20) == 0 ? 5 : 3));
    return made;
  }

  Random& random_;
  const uint64_t newest_;
};

// Covers: S-14 S-15 S-16 S-17 S-18
TEST(TransactionRandomTest, RandomTransactionsMatchALiteralModel) {
  uint64_t refused = 0, executed = 0, read_only = 0;
  std::set<Refusal> seen;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Model model;
    Store store;
    const Surroundings around{lease_is_there, lock_holds};
    for (int step = 0; step < 300; ++step) {
      SCOPED_TRACE(step);
      const Transaction body = TransactionMaker(random, model.store.revision).transaction(1);
      const std::set<Refusal> faults = model.faults(body);
      const Refusal verdict = check(body);
      seen.insert(verdict);
      ASSERT_EQ(verdict == Refusal::None, faults.empty()) << static_cast<int>(verdict);
      if (verdict != Refusal::None) {
        ASSERT_TRUE(faults.contains(verdict)) << static_cast<int>(verdict);
        ++refused;
        continue;
      }
      const uint64_t digest = store.digest();
      TransactionReply reply, looked, expected;
      std::optional<Refusal> look;
      if (!writes(body)) look = read(store, body, around, {}, looked);
      Store::Change change;
      const Refusal refusal = execute(store, body, around, change, reply);
      seen.insert(refusal);
      ASSERT_EQ(refusal, model.run(body, expected));
      ASSERT_EQ(store.revision().value(), model.store.revision);
      if (look) {
        ASSERT_EQ(*look, refusal);
        ASSERT_EQ(store.digest(), digest);
        ASSERT_TRUE(refusal != Refusal::None || looked == reply);
        ++read_only;
      }
      if (refusal != Refusal::None) {
        ASSERT_EQ(store.digest(), digest) << "S-18: a refusal leaves no trace";
        continue;
      }
      ++executed;
      ASSERT_TRUE(reply == expected);
      Selection all;
      ASSERT_EQ(select(store, RangeOperation::all(), {}, all), Refusal::None);
      ASSERT_EQ(all.reply.entries, model.store.range("", std::string(kNoEnd)));
      if (random.below(20) == 0) {
        const Revision at(random.between(model.store.compacted + 1, model.store.revision));
        if (store.compact(at) == Refusal::None) model.store.compacted = at.value();
      }
      store.sweep(random.below(6));
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(executed, 3000u);
  EXPECT_GT(read_only, 300u);
  for (const Refusal each :
       {Refusal::EmptyKey, Refusal::InvalidArgument, Refusal::ValueProvided, Refusal::LeaseProvided, Refusal::TooManyOps,
        Refusal::DuplicateKey, Refusal::Compacted, Refusal::FutureRevision, Refusal::KeyNotFound, Refusal::LeaseNotFound}) {
    EXPECT_TRUE(seen.contains(each)) << static_cast<int>(each);
  }
}

}  // namespace
}  // namespace coordkit::mvcc
