// The lines that a history may contain, and the errors for everything else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/checker.h"
#include "check/json.h"

namespace coordkit::check {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Malformed {
  const char* line = "";
  const char* complaint = "";
  const char* model = "kv";
};

TEST(LinesTest, EveryMalformedLineIsNamedAndExplained) {
  const std::string deep(40, '[');
  const std::string long_line(json::kTextBytesMax + 1, ' ');
  const Malformed rows[] = {
      {"x", "column 1: a value is expected"},
      {"[]", "an object is expected, not an array"},
      {"{", "a name in quotes is expected"},
      {R"({"op")", "a colon is expected"},
      {R"({"op":)", "the line ends where a value is expected"},
      {R"({"op":"get")", "a comma or the end of the object"},
      {R"({"op":"get"} 1)", "something follows the value"},
      {R"({"op":"get)", "a string without an end"},
      {R"({"op":"g\x"})", "an escape that JSON does not have"},
      {R"({"op":"\ud800"})", "half a surrogate pair"},
      {"{\"op\":\"\x01\"}", "a control character"},
      {"{\"op\":\"\xff\"}", "not UTF-8"},
      {"{\"op\":\"\xc0\x80\"}", "not UTF-8"},
      {R"({"op":"get","op":"get"})", "\"op\" occurs twice"},
      {R"({"op":"get","call":1.5})", "only whole numbers"},
      {R"({"op":"get","call":1e3})", "only whole numbers"},
      {R"({"op":"get","call":01})", "leading zero"},
      {R"({"op":"get","call":9223372036854775808})", "beyond 64 bits"},
      {deep.c_str(), "nested deeper"},
      {long_line.c_str() + 1, nullptr},  // blank, and just short enough
      {R"({"call":1,"return":2})", "op: a string is missing"},
      {R"({"op":7,"call":1,"return":2})", "op: a string is expected, not a whole number"},
      {R"({"op":"get","return":2})", "call: a whole number is missing"},
      {R"({"op":"get","call":5,"return":4,"out":{"value":null}})", "return: lies before the call"},
      {R"({"op":"get","call":5,"outcome":"ok"})", "return: is missing"},
      {R"({"op":"get","call":5,"outcome":"fine"})", "outcome: \"ok\", \"refused\" or \"unknown\" is expected"},
      {R"({"op":"get","call":5,"out":{"value":1}})", "out: must be empty"},
      {R"({"op":"get","call":5,"retrun":6})", "retrun: nothing has this name"},
      {R"({"op":"get","call":5,"return":6})", "out.value: a string, a whole number, true or false is expected"},
      {R"({"op":"get","call":5,"return":6,"out":{"value":[1]}})", "out.value: a string"},
      {R"({"op":"get","call":5,"return":6,"out":{"value":null,"mod":3}})", "out.value: is null"},
      {R"({"op":"get","call":5,"return":6,"out":{"value":1,"mod":-3}})", "out.mod: must not be negative"},
      {R"({"op":"get","call":5,"return":6,"out":{"value":1,"modd":3}})", "out.modd: nothing has this name"},
      {R"({"op":"put","call":5,"return":6})", "in.value: a string"},
      {R"({"op":"delete","call":5,"return":6,"out":{"deleted":2}})", "out.deleted: 0 or 1"},
      {R"({"op":"fetch","call":5,"return":6})", "op: one of put, delete, get is expected, not \"fetch\""},
      {R"({"op":"acquire","call":5,"return":6})", "client: a mutex needs to know who", "mutex"},
      {R"({"op":"acquire","client":"a","call":5,"return":6})", "in.mode: a string is missing", "rw-lock"},
      {R"({"op":"acquire","client":"a","call":5,"return":6})", "out.token: a whole number is missing", "fenced-mutex"},
      {R"({"op":"acquire","call":5,"return":6,"out":{"token":0}})", "tokens count from 1", "fenced-mutex"},
      {R"({"op":"acquire","client":"a","call":5,"return":6,"in":{"n":0}})", "in.n: 1 or more", "semaphore"},
      {R"({"op":"cas","call":5,"return":6,"in":{"expected":1,"value":2}})", "out.swapped: true or false is missing",
       "register"},
      {R"({"op":"txn","call":5,"return":6,"in":{"then":[{"op":"put","key":"a"}]}})", "in.then[0].value", "transaction"},
      {R"({"op":"txn","call":5,"return":6,"in":{"compare":[{"key":"a","target":"size","is":"=","value":1}]}})",
       "in.compare[0].target: one of value, version, create, mod", "transaction"},
      {R"({"op":"txn","call":5,"return":6,"in":{"then":[{"op":"put","key":"a","value":1},{"op":"delete","key":"a"}]}})",
       "put and changed again", "transaction"},
      {R"({"op":"txn","call":5,"return":6,"in":{"then":[{"op":"get","key":"a"}]},"out":{"results":[]}})", "has 0 members",
       "transaction"},
  };
  for (const Malformed& row : rows) {
    for (const Reading reading : {Reading::Streaming, Reading::Whole}) {
      const auto checker = make_checker(row.model, {.reading = reading});
      ASSERT_TRUE(checker->add("").ok());
      const absl::Status status = checker->add(row.line);
      if (row.complaint == nullptr) {
        EXPECT_TRUE(status.ok()) << status;
        continue;
      }
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.line;
      EXPECT_THAT(std::string(status.message()), StartsWith("line 2: ")) << row.line;
      EXPECT_THAT(std::string(status.message()), HasSubstr(row.complaint)) << row.line;
      EXPECT_EQ(checker->finish().operations, 0u);
    }
  }
}

TEST(LinesTest, ALineThatIsTooLongIsRefused) {
  const auto checker = make_checker("kv", {});
  const absl::Status status = checker->add("{" + std::string(json::kTextBytesMax, ' '));
  EXPECT_THAT(std::string(status.message()), HasSubstr("longer than"));
}

TEST(LinesTest, LinesOutOfOrderAreRefusedUnlessAllAreReadFirst) {
  const std::string first = R"({"op":"write","call":5,"return":6,"in":{"value":1}})";
  const std::string second = R"({"op":"read","call":3,"return":4,"out":{"value":null}})";
  const auto streaming = make_checker("register", {});
  EXPECT_TRUE(streaming->add(first).ok());
  EXPECT_THAT(std::string(streaming->add(second).message()), HasSubstr("line 2: its call (3) lies before"));
  const auto whole = make_checker("register", {.reading = Reading::Whole});
  EXPECT_TRUE(whole->add(first).ok());
  EXPECT_TRUE(whole->add(second).ok());
  EXPECT_EQ(whole->finish().verdict, Verdict::Linearizable);
}

TEST(LinesTest, LinesOfOtherModelsAreSkippedAndCounted) {
  const auto checker = make_checker("transaction", {});
  EXPECT_TRUE(checker->add(R"({"model":"mutex","client":"a","op":"acquire","call":5,"return":6})").ok());
  EXPECT_TRUE(checker->add(R"({"model":"kv","op":"put","key":"k","call":5,"return":6,"in":{"value":1}})").ok());
  const Report report = checker->finish();
  EXPECT_EQ(report.skipped, 1u);
  EXPECT_EQ(report.operations, 1u);
}

TEST(LinesTest, OneStringHasOneForm) {
  const auto checker = make_checker("register", {});
  EXPECT_TRUE(checker->add(R"({"op":"write","call":1,"return":2,"in":{"value":"A\u00e9\ud83d\ude00\n"}})").ok());
  EXPECT_TRUE(checker->add("{\"op\":\"read\",\"call\":3,\"return\":4,\"out\":{\"value\":\"\\u0041é😀\\u000a\"}}").ok());
  EXPECT_EQ(checker->finish().verdict, Verdict::Linearizable);
}

TEST(LinesTest, ThereIsNoOtherModel) {
  EXPECT_EQ(make_checker("no such", {}), nullptr);
  EXPECT_EQ(models().size(), 8u);
}

}  // namespace
}  // namespace coordkit::check
