// Small histories with known verdicts, both ways, for each model: the anomaly a model is for, beside its legal neighbour.
#include <gtest/gtest.h>

#include "check/checker.h"

namespace coordkit::check {
namespace {

struct Case {
  const char* name;
  const char* model;
  Verdict verdict;
  std::vector<std::string> lines;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class VerdictTest : public testing::TestWithParam<Case> {};

TEST_P(VerdictTest, IsTheKnownOne) {
  for (const Reading reading : {Reading::Streaming, Reading::Whole}) {
    const auto checker = make_checker(GetParam().model, {.reading = reading});
    ASSERT_NE(checker, nullptr);
    for (const std::string& line : GetParam().lines) {
      const absl::Status status = checker->add(line);
      ASSERT_TRUE(status.ok()) << status;
    }
    const Report report = checker->finish();
    EXPECT_EQ(name_of(report.verdict), name_of(GetParam().verdict));
    EXPECT_EQ(report.counterexample.has_value(), report.verdict == Verdict::Violation);
  }
}

// {"client":"A","op":OP,"key":"k","call":CALL,"return":END,"in":IN,"out":OUT}; END 0: of unknown outcome
std::string line(const char* client, const char* op, int call, int end, const char* in = "{}", const char* out = "{}") {
  std::string text =
      std::string("{\"client\":\"") + client + "\",\"op\":\"" + op + "\",\"key\":\"k\",\"call\":" + std::to_string(call);
  if (end != 0) text += ",\"return\":" + std::to_string(end);
  return text + ",\"in\":" + in + ",\"out\":" + out + "}";
}
std::string write(int call, int end, const char* value) {
  return line("w", "write", call, end, (std::string("{\"value\":") + value + "}").c_str());
}
std::string read(int call, int end, const char* value) {
  return line("r", "read", call, end, "{}", (std::string("{\"value\":") + value + "}").c_str());
}
constexpr Verdict kGood = Verdict::Linearizable, kBad = Verdict::Violation;

INSTANTIATE_TEST_SUITE_P(
    Register, VerdictTest,
    testing::Values(
        Case{"Empty", "register", kGood, {}}, Case{"FirstReadIsNull", "register", kGood, {read(0, 1, "null")}},
        Case{"OverlappingReadsMayDiffer", "register", kGood, {write(0, 10, "1"), read(1, 2, "null"), read(3, 4, "1")}},
        Case{"NewThenOld", "register", kBad, {write(0, 10, "1"), read(1, 2, "1"), read(3, 4, "null")}},
        Case{"StaleRead", "register", kBad, {write(0, 1, "1"), write(2, 3, "2"), read(4, 5, "1")}},
        Case{"TouchingIsOverlapping", "register", kGood, {write(0, 1, "1"), write(2, 4, "2"), read(4, 5, "1")}},
        Case{"UnknownWriteLate", "register", kGood, {write(0, 0, "1"), read(5, 6, "null"), read(7, 8, "1")}},
        Case{"UnknownWriteOnce", "register", kBad, {write(0, 0, "1"), read(1, 2, "1"), write(3, 4, "2"), read(5, 6, "1")}},
        Case{"NumberIsNotText", "register", kBad, {write(0, 1, "1"), read(2, 3, "\"1\"")}},
        Case{"CasWinsOnce",
             "register",
             kBad,
             {write(0, 1, "0"), line("a", "cas", 2, 9, R"({"expected":0,"value":1})", R"({"swapped":true})"),
              line("b", "cas", 3, 8, R"({"expected":0,"value":2})", R"({"swapped":true})")}},
        Case{"CasLosesToTheOther",
             "register",
             kGood,
             {write(0, 1, "0"), line("a", "cas", 2, 9, R"({"expected":0,"value":1})", R"({"swapped":true})"),
              line("b", "cas", 3, 8, R"({"expected":0,"value":2})", R"({"swapped":false})")}}),
    [](const auto& info) { return info.param.name; });

std::string put(int call, int end, const char* value, int revision) {
  return line("p", "put", call, end, (std::string("{\"value\":") + value + "}").c_str(),
              end == 0 ? "{}" : ("{\"revision\":" + std::to_string(revision) + "}").c_str());
}
std::string get(int call, int end, const char* value, int create, int mod, int version, int revision) {
  return line(
      "g", "get", call, end, "{}",
      ("{\"value\":" + std::string(value) + ",\"create\":" + std::to_string(create) + ",\"mod\":" + std::to_string(mod) +
       ",\"version\":" + std::to_string(version) + ",\"revision\":" + std::to_string(revision) + "}")
          .c_str());
}
std::string erase(int call, int end, int deleted, int revision) {
  return line("d", "delete", call, end, "{}",
              ("{\"deleted\":" + std::to_string(deleted) + ",\"revision\":" + std::to_string(revision) + "}").c_str());
}

// Single operations on one key: the kv and the transaction model agree.
INSTANTIATE_TEST_SUITE_P(
    Kv, VerdictTest,
    testing::Values(
        Case{"PutGet", "kv", kGood, {put(0, 1, "1", 2), get(2, 3, "1", 2, 2, 1, 2)}},
        Case{"LostUpdate", "kv", kBad, {put(0, 1, "1", 2), put(0, 1, "2", 3), get(2, 3, "2", 2, 3, 1, 3)}},
        Case{"StaleGet", "kv", kBad, {put(0, 1, "1", 2), put(2, 3, "2", 3), get(4, 5, "1", 2, 2, 1, 2)}},
        Case{"OldRevisionInAnAnswer", "kv", kBad, {put(0, 1, "1", 2), put(2, 3, "1", 3), get(4, 5, "1", 2, 3, 2, 2)}},
        Case{"RevisionsCrossed", "kv", kBad, {put(0, 1, "1", 3), put(2, 3, "2", 2)}},
        Case{"RevisionGivenTwice", "kv", kBad, {put(0, 9, "1", 2), put(1, 9, "2", 2)}},
        Case{"RevisionZeroIsNoChange", "kv", kBad, {put(0, 1, "1", 0)}},
        Case{"DeleteStartsVersionsAgain",
             "kv",
             kGood,
             {put(0, 1, "1", 2), erase(2, 3, 1, 3), put(4, 5, "1", 4), get(6, 7, "1", 4, 4, 1, 4)}},
        Case{"CreateSurvivesItsDelete",
             "kv",
             kBad,
             {put(0, 1, "1", 2), erase(2, 3, 1, 3), put(4, 5, "1", 4), get(6, 7, "1", 2, 4, 1, 4)}},
        Case{"DeletedNothing", "kv", kBad, {put(0, 1, "1", 2), erase(2, 3, 0, 2)}},
        Case{"UnknownPutShowsLater", "kv", kGood, {put(0, 0, "1", 0), put(1, 2, "2", 2), get(3, 4, "1", 2, 3, 2, 3)}},
        Case{"UnknownPutNeedsARevision", "kv", kBad, {put(0, 0, "1", 0), put(1, 2, "2", 2), get(3, 4, "1", 2, 2, 2, 3)}}),
    [](const auto& info) { return info.param.name; });

std::string txn(int call, int end, const char* in, const char* out) { return line("t", "txn", call, end, in, out); }
constexpr const char* kMove =
    R"({"compare":[{"key":"a","target":"version","is":"=","value":1}],)"
    R"("then":[{"op":"delete","key":"a"},{"op":"put","key":"b","value":1}],"else":[{"op":"get","key":"b"}]})";

INSTANTIATE_TEST_SUITE_P(
    Transaction, VerdictTest,
    testing::Values(
        Case{"OneRevisionForAll",
             "transaction",
             kGood,
             {txn(0, 1, R"({"then":[{"op":"put","key":"a","value":1},{"op":"put","key":"b","value":2}]})", R"({"revision":2})"),
              txn(2, 3, R"({"then":[{"op":"get","key":"b"}]})",
                  R"({"results":[{"value":2,"create":2,"mod":2,"version":1}],"revision":2})")}},
        Case{"HalfATransaction",
             "transaction",
             kBad,
             {txn(0, 9, R"({"then":[{"op":"put","key":"a","value":1},{"op":"put","key":"b","value":2}]})", R"({"revision":2})"),
              txn(2, 3, R"({"then":[{"op":"get","key":"a"},{"op":"get","key":"b"}]})",
                  R"({"results":[{"value":1},{"value":null}]})")}},
        Case{"ARevisionIsMissing", "transaction", kBad, {put(0, 1, "1", 2), put(2, 3, "2", 4)}},
        Case{"AnUnknownOneFillsIt", "transaction", kGood, {put(0, 0, "3", 0), put(1, 2, "1", 2), put(3, 4, "2", 4)}},
        Case{
            "ComparedBeforeItsOwnWrites",
            "transaction",
            kGood,
            {txn(
                0, 1,
                R"({"compare":[{"key":"a","target":"mod","is":"=","value":0}],"then":[{"op":"put","key":"a","value":1},{"op":"get","key":"a"}]})",
                R"({"succeeded":true,"results":[{},{"value":1,"version":1}],"revision":2})")}},
        Case{"BothMovedIt",
             "transaction",
             kBad,
             {txn(0, 1, R"({"then":[{"op":"put","key":"a","value":1}]})", R"({"revision":2})"),
              txn(2, 9, kMove, R"({"succeeded":true})"), txn(3, 8, kMove, R"({"succeeded":true})")}},
        Case{"OneMovedIt",
             "transaction",
             kGood,
             {txn(0, 1, R"({"then":[{"op":"put","key":"a","value":1}]})", R"({"revision":2})"),
              txn(2, 9, kMove, R"({"succeeded":true})"), txn(3, 8, kMove, R"({"succeeded":false,"results":[{"value":1}]})")}}),
    [](const auto& info) { return info.param.name; });

std::string acquire(const char* client, int call, int end, const char* out = "{}", const char* in = "{}") {
  return line(client, "acquire", call, end, in, out);
}
std::string release(const char* client, int call, int end, const char* in = "{}") {
  return line(client, "release", call, end, in);
}

INSTANTIATE_TEST_SUITE_P(
    Locks, VerdictTest,
    testing::Values(
        Case{"HandedOver", "mutex", kGood, {acquire("a", 0, 1), acquire("b", 2, 6), release("a", 3, 5)}},
        Case{"DoubleGrant", "mutex", kBad, {acquire("a", 0, 1), acquire("b", 2, 3), release("a", 4, 5)}},
        Case{"ReleaseMayHaveHappened", "mutex", kGood, {acquire("a", 0, 1), release("a", 2, 0), acquire("b", 3, 4)}},
        Case{"HeldByNobody", "mutex", kBad, {acquire("a", 0, 1, R"({"granted":false})")}},
        Case{"ReleasedByAnother", "mutex", kBad, {acquire("a", 0, 1), release("b", 2, 3)}},
        Case{
            "TokensGrow",
            "fenced-mutex",
            kGood,
            {acquire("a", 0, 1, R"({"token":3})"), release("a", 2, 3, R"({"token":3})"), acquire("b", 4, 5, R"({"token":9})")}},
        Case{
            "TokenOutOfOrder",
            "fenced-mutex",
            kBad,
            {acquire("a", 0, 1, R"({"token":9})"), release("a", 2, 3, R"({"token":9})"), acquire("b", 4, 5, R"({"token":3})")}},
        Case{"TwoTokensAtOnce",
             "fenced-mutex",
             kBad,
             {acquire("a", 0, 1, R"({"token":3})"), acquire("b", 2, 3, R"({"token":4})")}},
        Case{"TheFirstOneExpired",
             "fenced-mutex",
             kGood,
             {acquire("a", 0, 1, R"({"token":3})"), line("a", "expire", 1, 0, R"({"token":3})"),
              acquire("b", 2, 3, R"({"token":4})")}},
        Case{"ExpiredTooEarly",
             "fenced-mutex",
             kBad,
             {acquire("a", 0, 1, R"({"token":3})"), acquire("b", 2, 3, R"({"token":4})"),
              line("a", "expire", 4, 0, R"({"token":3})")}},
        Case{"AHolderNobodyWasToldOf",
             "fenced-mutex",
             kGood,
             {acquire("a", 0, 0), line("b", "holder", 1, 2, "{}", R"({"token":5})"), line("a", "expire", 2, 0),
              acquire("b", 3, 4, R"({"token":6})")}},
        Case{"AHolderThatCannotBe",
             "fenced-mutex",
             kBad,
             {acquire("a", 0, 1, R"({"token":3})"), line("b", "holder", 2, 3, "{}", R"({"token":5})")}},
        Case{"ReadersTogether",
             "rw-lock",
             kGood,
             {acquire("a", 0, 1, "{}", R"({"mode":"shared"})"), acquire("b", 2, 3, "{}", R"({"mode":"shared"})")}},
        Case{"AWriterAmongReaders",
             "rw-lock",
             kBad,
             {acquire("a", 0, 1, "{}", R"({"mode":"shared"})"), acquire("b", 2, 3, "{}", R"({"mode":"exclusive"})")}},
        Case{"AWriterAfterReaders",
             "rw-lock",
             kGood,
             {acquire("a", 0, 1, "{}", R"({"mode":"shared"})"), acquire("b", 2, 6, "{}", R"({"mode":"exclusive"})"),
              release("a", 3, 5, R"({"mode":"shared"})")}},
        Case{"OnePermitTooMany",
             "semaphore",
             kBad,
             {line("x", "set_limit", 0, 1, R"({"limit":2})"), acquire("a", 2, 3, "{}", R"({"n":2})"), acquire("b", 4, 5)}},
        Case{"AsManyAsThereAre",
             "semaphore",
             kGood,
             {line("x", "set_limit", 0, 1, R"({"limit":3})"), acquire("a", 2, 3, "{}", R"({"n":2})"), acquire("b", 4, 5)}},
        Case{"LoweringTakesNothingAway",
             "semaphore",
             kGood,
             {acquire("a", 0, 1), line("x", "set_limit", 2, 3, R"({"limit":0})"), release("a", 4, 5),
              acquire("b", 6, 7, R"({"granted":false})")}}),
    [](const auto& info) { return info.param.name; });

std::string enqueue(int call, int end, int value) {
  return line("e", "enqueue", call, end, ("{\"value\":" + std::to_string(value) + "}").c_str());
}
std::string dequeue(int call, int end, const char* value) {
  return line("d", "dequeue", call, end, "{}", end == 0 ? "{}" : (std::string("{\"value\":") + value + "}").c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Queue, VerdictTest,
    testing::Values(
        Case{"FirstInFirstOut", "queue", kGood, {enqueue(0, 1, 1), enqueue(2, 3, 2), dequeue(4, 5, "1"), dequeue(6, 7, "2")}},
        Case{"Overtaken", "queue", kBad, {enqueue(0, 1, 1), enqueue(2, 3, 2), dequeue(4, 5, "2")}},
        Case{"OverlappingEnqueues",
             "queue",
             kGood,
             {enqueue(0, 3, 1), enqueue(2, 4, 2), dequeue(5, 6, "2"), dequeue(7, 8, "1")}},
        Case{"DeliveredTwice", "queue", kBad, {enqueue(0, 1, 1), dequeue(2, 9, "1"), dequeue(3, 8, "1")}},
        Case{"EmptyThoughItIsNot", "queue", kBad, {enqueue(0, 1, 1), dequeue(2, 3, "null")}},
        Case{"SomebodyTookIt", "queue", kGood, {enqueue(0, 1, 1), dequeue(1, 0, ""), dequeue(2, 3, "null")}},
        Case{"NobodyPutItIn", "queue", kBad, {dequeue(2, 3, "7")}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace coordkit::check
