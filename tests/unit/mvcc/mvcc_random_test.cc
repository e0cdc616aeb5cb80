// The store against its naive twin under random operations, and against copies restored from its checkpoint.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "mvcc/transaction.h"
#include "tests/unit/mvcc/naive_store.h"
#include "tests/unit/mvcc/rows.h"

namespace coordkit::mvcc {
namespace {

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed) {}

  void step() {
    switch (random_.below(12)) {
      case 0: compact(); break;
      case 1: erase_range(); break;
      case 2:
      case 3: transaction(); break;
      case 4:
      case 5: erase(); break;
      default: put();
    }
    const size_t budget = random_.below(4);
    store_.sweep(budget);
    twin_store_.sweep(budget);
  }

  void compare() {
    ASSERT_EQ(store_.revision().value(), naive_.revision);
    ASSERT_EQ(store_.size(), naive_.now.size());
    ASSERT_EQ(store_.digest(), store_.recomputed_digest());
    ASSERT_EQ(store_.digest(), twin_store_.digest()) << "checkpoints must not show";
    const uint64_t at = random_.below(naive_.revision + 2);
    const std::string from = some_key(), end = random_.below(3) == 0 ? std::string(kNoEnd) : some_key();
    Selection selection;
    const RangeOperation range{.key = from, .end = end, .revision = Revision(at)};
    ASSERT_EQ(select(store_, range, {}, selection), naive_.readable(at)) << at;
    if (naive_.readable(at) == Refusal::None) {
      ASSERT_EQ(selection.reply.entries, naive_.range(from, end, at)) << at;
    }
    ASSERT_NO_FATAL_FAILURE(compare_events());
    if (random_.below(5) != 0) return;
    ASSERT_NO_FATAL_FAILURE(restore());
  }

 private:
  void compare_events() {
    const uint64_t from = std::max(naive_.compacted, 1 + random_.below(naive_.revision));
    std::vector<NaiveStore::Event> seen, expected;
    store_.changes({Revision(from)}, [&](const Version& version) {
      seen.push_back({version.mod, version.sub, version.entry()});
      return true;
    });
    for (const auto& event : naive_.events) {
      if (event.revision.value() >= from) expected.push_back(event);
    }
    ASSERT_EQ(seen, expected) << "from " << from;
  }
  void restore() {
    rows_.collect(store_);
    auto copy = rows_.restored();
    ASSERT_TRUE(copy.ok()) << copy.status();
    ASSERT_EQ(copy->digest(), store_.digest());
    ASSERT_EQ(copy->size(), store_.size());
    ASSERT_EQ(copy->bytes(), store_.bytes());
    ASSERT_EQ(copy->weight(), store_.weight());
    ASSERT_EQ(copy->versions(), store_.versions());
    for (uint64_t lease = 1; lease < 4; ++lease) ASSERT_EQ(copy->attached(LeaseId(lease)), store_.attached(LeaseId(lease)));
    if (random_.below(2) == 0) store_ = *std::move(copy);
  }

  template <typename Run>
  void both(Run run) {
    Store::Change change, twin;
    run(store_, change);
    run(twin_store_, twin);
  }
  void put() {
    const std::string key = some_key(), value = std::to_string(random_.below(100));
    const LeaseId lease(random_.below(4));
    naive_.begin();
    naive_.put(key, value, lease);
    naive_.end();
    both([&](Store& store, Store::Change& change) { store.put(change, key, value, lease); });
  }
  void erase() {
    const std::string key = some_key();
    naive_.begin();
    const bool there = naive_.erase(key);
    naive_.end();
    both([&](Store& store, Store::Change& change) { EXPECT_EQ(store.erase(change, key), there); });
  }
  void erase_range() {
    const std::string from = some_key(), end = some_key();
    naive_.begin();
    for (const KeyValue& entry : naive_.range(from, end)) naive_.erase(entry.key);
    naive_.end();
    both([&](Store& store, Store::Change& change) {
      DeleteReply reply;
      execute(store, DeleteOperation{.key = from, .end = end}, change, reply);
      EXPECT_EQ(reply.deleted, naive_.sub);
    });
  }
  // A compare and two puts of different keys.
  void transaction() {
    const std::string key = some_key(), one = some_key();
    const std::string other = one + "'";
    const Transaction body{{Compare::exists(key)},
                           {PutOperation{.key = one, .value = "x"}, PutOperation{.key = other, .value = "y"}},
                           {DeleteOperation{.key = one}, RangeOperation::all()}};
    naive_.begin();
    const bool there = naive_.now.contains(key);
    if (there) {
      naive_.put(one, "x");
      naive_.put(other, "y");
    } else {
      naive_.erase(one);
    }
    naive_.end();
    both([&](Store& store, Store::Change& change) {
      TransactionReply reply;
      const auto no_lease = [](LeaseId) { return false; };
      const auto no_lock = [](const Compare&) { return false; };
      EXPECT_EQ(execute(store, body, {no_lease, no_lock}, change, reply), Refusal::None);
      EXPECT_EQ(reply.succeeded, there);
      if (!there) {
        EXPECT_EQ(std::get<RangeReply>(reply.replies.at(1).body).entries, naive_.range("", std::string(kNoEnd)));
      }
    });
  }
  void compact() {
    const uint64_t at = random_.below(naive_.revision + 2);
    const bool taken = at > naive_.compacted && at <= naive_.revision;
    both([&](Store& store, Store::Change&) { EXPECT_EQ(store.compact(Revision(at)) == Refusal::None, taken); });
    if (taken) naive_.compacted = at;
  }
  std::string some_key() { return std::string(1, static_cast<char>('a' + random_.below(10))); }

  Random random_;
  Store store_, twin_store_;
  NaiveStore naive_;
  Rows rows_;
};

// Covers: S-01 S-02 S-06 S-19 INV_K03 INV_K04
TEST(RandomTest, RandomChangesMatchTheNaiveStoreAndItsCopies) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun run(seed);
    for (int step = 0; step < 400; ++step) {
      run.step();
      ASSERT_NO_FATAL_FAILURE(run.compare()) << step;
    }
  }
}

}  // namespace
}  // namespace coordkit::mvcc
