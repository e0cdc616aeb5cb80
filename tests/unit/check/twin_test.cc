// Small random histories of every model, right and corrupted ones: the checker's verdict is that of trying all orders, and a
// counterexample that begins with the history is a failing history by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "check/checker.h"
#include "check/history.h"
#include "check/line.h"
#include "tests/unit/check/naive.h"

namespace coordkit::check {
namespace {

template <typename Twin>
class TwinTest : public testing::Test {
 public:
  using Model = typename Twin::Model;
  using Op = Operation<typename Model::Call>;
  using Ops = std::vector<Op>;

  // As a service would answer at a random moment of each operation; then, half of the time, one answer is corrupted.
  static Ops draw(Random& random) {
    struct Drawn {
      Op op;
      int64_t moment = 0;
    };
    std::vector<Drawn> drawn(1 + random.below(7));
    const uint64_t unknown_percent = random.below(3) * 20;
    for (Drawn& one : drawn) {
      one.op.key = random.chance(0.8) ? "k" : "l";
      one.op.client = "c";
      one.op.call = static_cast<Moment>(random.below(14));
      one.op.end = one.op.call + static_cast<Moment>(random.below(6));
      one.moment = one.op.call + static_cast<Moment>(random.below(static_cast<uint64_t>(one.op.end - one.op.call + 1)));
      one.op.what = Twin::draw(random, one.op.key);
      if (random.below(100) < unknown_percent) one.op.outcome = Outcome::Unknown;
      if (random.chance(0.03)) one.op.outcome = Outcome::Refused;
    }
    std::sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) { return a.moment < b.moment; });
    std::map<std::string, typename Twin::State> states;
    for (Drawn& one : drawn) {
      if (!one.op.certain() && random.chance(0.5)) continue;  // without effect
      const auto asked = one.op.what;
      Twin::answer(states[Model::kByKey ? one.op.key : ""], one.op.what);
      if (!one.op.certain()) one.op.what = asked;
    }
    if (random.chance(0.5)) {
      Op& spoilt = drawn[random.below(drawn.size())].op;
      if (spoilt.certain()) Twin::spoil(spoilt.what, random);
    }
    std::sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) { return a.op.call < b.op.call; });
    Ops ops;
    for (Drawn& one : drawn) {
      if (!one.op.certain()) one.op.end = kNever;
      ops.push_back(one.op);
      ops.back().number = ops.size();
    }
    return ops;
  }

  static Report check(const Ops& ops, Reading reading) {
    const auto checker = make_checker(Model::kName, {.reading = reading});
    for (const Op& op : ops) {
      const absl::Status status = checker->add(line_of<Model>(op));
      EXPECT_TRUE(status.ok()) << status << "\n" << line_of<Model>(op);
    }
    return checker->finish();
  }

  static Ops from_lines(const std::vector<std::string>& lines) {
    Ops ops;
    for (const std::string& line : lines) {
      json::Document document;
      LineHead head;
      EXPECT_TRUE(read_head(**document.parse(line), head).ok());
      EXPECT_TRUE(read_operation<Model>(head, ops.emplace_back()).ok());
    }
    return ops;
  }

  static std::string story(const Ops& ops) {
    std::string text;
    for (const Op& op : ops) text += line_of<Model>(op) + "\n";
    return text;
  }

  // Revisions answered to callers of different keys in the wrong order are a violation, but not for any key by itself.
  static bool across_keys(const Report& report) { return report.counterexample && report.counterexample->from.empty(); }
};

using Twins =
    testing::Types<RegisterTwin, KvTwin, TransactionTwin, MutexTwin, FencedMutexTwin, RwLockTwin, SemaphoreTwin, QueueTwin>;
TYPED_TEST_SUITE(TwinTest, Twins);

TYPED_TEST(TwinTest, AgreesWithTryingAllOrders) {
  Random random(7);
  int right = 0, wrong = 0, proofs = 0;
  for (int round = 0; round < 12000; ++round) {
    const auto ops = this->draw(random);
    const Report report = this->check(ops, Reading::Streaming);
    if (this->across_keys(report)) continue;
    const bool linearizable = naive_linearizable<TypeParam>(ops);
    ++(linearizable ? right : wrong);
    const Verdict expected = linearizable ? Verdict::Linearizable : Verdict::Violation;
    ASSERT_EQ(report.verdict, expected) << this->story(ops);
    ASSERT_EQ(this->check(ops, Reading::Whole).verdict, expected) << this->story(ops);
    if (linearizable) continue;
    const auto part = this->from_lines(report.counterexample->operations);
    ASSERT_FALSE(part.empty());
    EXPECT_LE(part.size(), ops.size());
    if (report.counterexample->earlier != 0) continue;
    ++proofs;
    ASSERT_FALSE(naive_linearizable<TypeParam>(part)) << "from\n" << this->story(ops) << "came\n" << this->story(part);
  }
  EXPECT_GT(right, 500);
  EXPECT_GT(wrong, 500);
  EXPECT_GT(proofs, 100);
}

// The kv model looks at each key by itself and at revisions across keys. A whole store must reject all that it rejects. Beyond
// that a whole store rejects only a revision that grew by more than one, or unknown changes.
TEST(KvAcrossKeysTest, TheModelOfAWholeStoreRejectsEveryHistoryThatTheKeyModelRejects) {
  Random random(8);
  int refused = 0, across = 0, wrong = 0;
  for (int round = 0; round < 12000; ++round) {
    auto ops = TwinTest<TransactionTwin>::draw(random);
    const auto checker = make_checker("kv", {});
    std::vector<Operation<TransactionModel::Call>> alone;
    for (const auto& op : ops) {
      if (!op.what.alone) continue;
      alone.push_back(op);
      std::string line = line_of<TransactionModel>(op);
      line.replace(line.find("\"transaction\""), 13, "\"kv\"");
      ASSERT_TRUE(checker->add(line).ok()) << line;
    }
    const Report report = checker->finish();
    const bool linearizable = naive_linearizable<TransactionTwin>(alone);
    wrong += linearizable ? 0 : 1;
    if (report.verdict != Verdict::Violation) continue;
    ++refused;
    across += report.counterexample->from.empty() ? 1 : 0;
    ASSERT_FALSE(linearizable) << TwinTest<TransactionTwin>::story(alone);
  }
  EXPECT_GT(across, 20);
  EXPECT_GT(refused, 200);
  EXPECT_GE(wrong, refused);
}

}  // namespace
}  // namespace coordkit::check
