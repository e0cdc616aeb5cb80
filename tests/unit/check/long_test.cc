// Long histories: what is planted in a correct one is found, with a small counterexample; memory is bounded by what is in
// progress; and a search that costs too much says so.
#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "check/fenced_mutex_model.h"
#include "check/history.h"
#include "check/kv_model.h"
#include "check/queue_model.h"
#include "check/register_model.h"

namespace coordkit::check {
namespace {

template <typename Model>
using Ops = std::vector<Operation<typename Model::Call>>;

// Operations of some clients that take effect, through `take`, at a moment within each.
template <typename Model>
Ops<Model> correct(size_t count, size_t clients, size_t keys,
                   const std::function<typename Model::Call(Random&, const std::string&)>& take) {
  Random random(11);
  std::vector<Moment> free(clients);
  std::vector<std::pair<Moment, Operation<typename Model::Call>>> drawn;
  for (size_t i = 0; i < count; ++i) {
    const auto client = std::min_element(free.begin(), free.end());
    Operation<typename Model::Call> op;
    op.client = std::to_string(client - free.begin());
    op.key = "key-" + std::to_string(random.below(keys));
    op.call = *client + static_cast<Moment>(random.below(20));
    op.end = op.call + 10 + static_cast<Moment>(random.below(90));
    *client = op.end + 1;
    const Moment moment = op.call + static_cast<Moment>(random.below(static_cast<uint64_t>(op.end - op.call)));
    drawn.emplace_back(moment, std::move(op));
  }
  std::stable_sort(drawn.begin(), drawn.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [moment, op] : drawn) op.what = take(random, op.key);
  Ops<Model> ops;
  for (auto& one : drawn) ops.push_back(std::move(one.second));
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.call < b.call; });
  for (size_t i = 0; i < ops.size(); ++i) ops[i].number = i + 1;
  return ops;
}

Ops<KvModel> correct_kv(size_t count, size_t keys = 10) {
  struct Entry {
    std::string value;
    uint64_t create = 0, mod = 0, version = 0;
  };
  std::map<std::string, Entry> store;
  uint64_t revision = 1;
  return correct<KvModel>(count, 8, keys, [&](Random& random, const std::string& key) {
    KvCall call;
    const uint64_t dice = random.below(10);
    Entry& entry = store[key];
    if (dice < 4) {
      call.kind = KvCall::Kind::Put;
      call.value = std::to_string(++revision);
      entry = {call.value, entry.version == 0 ? revision : entry.create, revision, entry.version + 1};
    } else if (dice < 5) {
      call.kind = KvCall::Kind::Delete;
      call.deleted = entry.version == 0 ? 0 : 1;
      if (entry.version != 0) ++revision;
      entry = {};
    } else {
      call.found = entry.version != 0;
      call.value = entry.value;
      if (call.found) call.create = entry.create, call.mod = entry.mod, call.version = entry.version;
    }
    call.revision = revision;
    return call;
  });
}

template <typename Model>
Report check(const Ops<Model>& ops, const Limits& limits = {}) {
  Partition<Model> partition({}, limits);
  for (const auto& op : ops) {
    if (!partition.add(op)) break;
  }
  return partition.finish();
}

// The index of the first operation from the middle on for which this is true.
template <typename Op>
size_t from_middle(const std::vector<Op>& ops, const std::function<bool(const Op&)>& wanted) {
  size_t i = ops.size() / 2;
  while (!wanted(ops[i])) ++i;
  return i;
}

void expect_small(const Report& report, uint64_t planted, size_t size_max) {
  ASSERT_EQ(report.verdict, Verdict::Violation);
  const Counterexample& counterexample = *report.counterexample;
  EXPECT_LE(counterexample.operations.size(), size_max);
  EXPECT_NE(std::find(counterexample.numbers.begin(), counterexample.numbers.end(), planted), counterexample.numbers.end());
  EXPECT_FALSE(counterexample.why.empty());
}

TEST(LongTest, ACorrectHistoryIsLinearizableAndKeepsLittle) {
  uint64_t live_short = 0;
  for (const size_t count : {4'000, 40'000}) {
    const Report report = check<KvModel>(correct_kv(count));
    EXPECT_EQ(report.verdict, Verdict::Linearizable);
    EXPECT_EQ(report.operations, count);
    EXPECT_LT(report.configurations_most, 200u);
    if (live_short == 0) live_short = report.live_most;
    EXPECT_LT(report.live_most, 2 * live_short) << "memory grows with the history";
    EXPECT_LT(report.live_most, 1'000u);
  }
}

TEST(LongTest, AStaleReadIsFound) {
  auto ops = correct_kv(20'000);
  const size_t at = from_middle<KvModel::Op>(ops, [](const auto& op) { return op.what.found && op.what.version > 2u; });
  for (size_t i = at; i-- > 0;) {  // what an earlier get was shown
    if (ops[i].key != ops[at].key || !ops[i].what.found || ops[i].end + 300 > ops[at].call) continue;
    ops[at].what = ops[i].what;
    break;
  }
  expect_small(check<KvModel>(ops), ops[at].number, 4);
}

TEST(LongTest, ALostUpdateIsFound) {
  auto ops = correct_kv(20'000);
  const size_t at = from_middle<KvModel::Op>(ops, [](const auto& op) { return op.what.found && op.what.version > 2u; });
  ops[at].what.version = *ops[at].what.version - 1;
  expect_small(check<KvModel>(ops), ops[at].number, 6);
}

TEST(LongTest, TwoSwappedResultsAreFound) {
  auto ops = correct_kv(20'000);
  const auto put = [](const auto& op) { return op.what.kind == KvCall::Kind::Put; };
  const size_t first = from_middle<KvModel::Op>(ops, put);
  const size_t second = from_middle<KvModel::Op>(ops, [&](const auto& op) { return put(op) && op.call > ops[first].end; });
  std::swap(ops[first].what.revision, ops[second].what.revision);
  EXPECT_EQ(check<KvModel>(ops).verdict, Verdict::Violation);
}

Ops<FencedMutexModel> correct_fenced(size_t count) {
  std::map<std::string, uint64_t> holders;
  uint64_t last = 0;
  return correct<FencedMutexModel>(count, 8, 4, [&](Random&, const std::string& key) {
    FencedMutexModel::Call call;
    uint64_t& holder = holders[key];
    call.kind = holder == 0 ? FencedMutexModel::Kind::Acquire : FencedMutexModel::Kind::Release;
    call.token = holder == 0 ? ++last : holder;
    holder = holder == 0 ? last : 0;
    return call;
  });
}

TEST(LongTest, ADoubleGrantIsFound) {
  auto ops = correct_fenced(20'000);
  EXPECT_EQ(check<FencedMutexModel>(ops).verdict, Verdict::Linearizable);
  const size_t at =
      from_middle<FencedMutexModel::Op>(ops, [](const auto& op) { return op.what.kind == FencedMutexModel::Kind::Release; });
  ops[at].outcome = Outcome::Refused;  // so the next grant meets a holder
  EXPECT_EQ(check<FencedMutexModel>(ops).verdict, Verdict::Violation);
}

TEST(LongTest, ATokenOutOfOrderIsFound) {
  auto ops = correct_fenced(20'000);
  const size_t at =
      from_middle<FencedMutexModel::Op>(ops, [](const auto& op) { return op.what.kind == FencedMutexModel::Kind::Acquire; });
  ops[at].what.token = 1;
  expect_small(check<FencedMutexModel>(ops), ops[at].number, 8);
}

TEST(LongTest, OverlappingEnqueuesDoNotMultiply) {
  std::map<std::string, std::deque<std::string>> queues;
  uint64_t next = 0;
  auto ops = correct<QueueModel>(20'000, 8, 2, [&](Random& random, const std::string& key) {
    std::deque<std::string>& queue = queues[key];
    if (queue.size() < 50 && random.chance(0.55)) return QueueModel::Call{true, queue.emplace_back(std::to_string(++next))};
    if (queue.empty()) return QueueModel::Call{};
    QueueModel::Call call{false, queue.front()};
    queue.pop_front();
    return call;
  });
  EXPECT_EQ(check<QueueModel>(ops).verdict, Verdict::Linearizable);
  const auto wanted = [](const auto& op) { return !op.what.enqueues && op.what.value; };
  const size_t first = from_middle<QueueModel::Op>(ops, wanted);
  const size_t second = from_middle<QueueModel::Op>(
      ops, [&](const auto& op) { return wanted(op) && op.key == ops[first].key && op.call > ops[first].end + 500; });
  std::swap(ops[first].what.value, ops[second].what.value);
  EXPECT_EQ(check<QueueModel>(ops).verdict, Verdict::Violation);
}

// Puts of known and unknown outcome alternate, without any read: each unknown one may have happened or not, at any later time.
Ops<KvModel> hard(size_t unknown) {
  Ops<KvModel> ops;
  for (size_t i = 0; i < 2 * unknown; ++i) {
    KvModel::Op op;
    op.number = i + 1;
    op.call = static_cast<Moment>(4 * i);
    op.outcome = i % 2 == 0 ? Outcome::Unknown : Outcome::Ok;
    op.end = op.certain() ? op.call + 1 : kNever;
    op.what.kind = KvCall::Kind::Put;
    op.what.value = std::to_string(i);
    ops.push_back(op);
  }
  return ops;
}

KvModel::Op impossible_get(const Ops<KvModel>& ops, std::string key) {
  KvModel::Op op;
  op.key = std::move(key);
  op.number = ops.size() + 1;
  op.call = ops.back().call + 2;
  op.end = op.call + 1;
  op.what.found = true;
  op.what.value = "nobody put this";
  return op;
}

TEST(LongTest, ASpentBudgetIsUndecidedNotAVerdict) {
  Ops<KvModel> few = hard(3);
  few.push_back(impossible_get(few, ""));
  EXPECT_EQ(check<KvModel>(few).verdict, Verdict::Violation);
  Ops<KvModel> many = hard(30);
  many.push_back(impossible_get(many, ""));
  const Report steps = check<KvModel>(many, {.steps = 10'000});
  EXPECT_EQ(steps.verdict, Verdict::Undecided);
  EXPECT_EQ(steps.undecided, 1u);
  EXPECT_LT(steps.steps, 20'000u);
  const Report configurations = check<KvModel>(many, {.configurations = 100});
  EXPECT_EQ(configurations.verdict, Verdict::Undecided);
  EXPECT_LT(configurations.steps, 200'000u);
}

TEST(LongTest, AViolationElsewhereOutweighsAnUndecidedKey) {
  Ops<KvModel> ops = hard(30);
  ops.push_back(impossible_get(ops, "other"));
  const Report report = check<KvModel>(ops, {.configurations = 100});
  EXPECT_EQ(report.verdict, Verdict::Violation);
  EXPECT_EQ(report.undecided, 1u);
  EXPECT_EQ(report.counterexample->key, "other");
}

// A whole history knows which values were never seen; a stream does not, and needs more configurations.
TEST(LongTest, ValuesNobodySawAreNotToldApartInAWholeHistory) {
  const Limits limits{.configurations = 2'000};
  EXPECT_EQ(check<KvModel>(hard(20), limits).verdict, Verdict::Undecided);
  History<KvModel> whole;
  for (const KvModel::Op& op : hard(20)) whole.add(op);
  EXPECT_EQ(whole.check({}, limits).verdict, Verdict::Linearizable);
}

TEST(LongTest, TheCounterexampleSaysWhatCameBefore) {
  const auto checked = [](const char* value) {
    Ops<RegisterModel> ops(3);
    for (size_t i = 0; i < ops.size(); ++i)
      ops[i].number = i + 1, ops[i].call = static_cast<Moment>(10 * i), ops[i].end = ops[i].call + 5;
    ops[0].what = {RegisterModel::Kind::Write, "1", {}, false};
    ops[1].what = {RegisterModel::Kind::Write, "2", {}, false};
    ops[2].what = {RegisterModel::Kind::Read, value, {}, false};
    return check<RegisterModel>(ops);
  };
  EXPECT_EQ(checked("2").verdict, Verdict::Linearizable);
  const Report report = checked("1");
  ASSERT_TRUE(report.counterexample);
  EXPECT_EQ(report.counterexample->numbers, std::vector<uint64_t>{3});
  EXPECT_EQ(report.counterexample->unplaced, 3u);
  EXPECT_EQ(report.counterexample->earlier, 2u);
  EXPECT_EQ(report.counterexample->from, std::vector<std::string>{"2"});
}

}  // namespace
}  // namespace coordkit::check
