// Ids and tokens where a program meets them: in streams, in hash tables, in what fmt and Abseil print.
#include "coordkit/types.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "coordkit/engine/engine.h"
#include "coordkit/fmt.h"
#include "coordkit/locks/fence.h"

namespace coordkit {
namespace {

constexpr uint64_t kSome[] = {0, 1, 9, 10, 42, 18'446'744'073'709'551'615ULL};

TEST(IdTest, PrintsInDecimalOnAStream) {
  for (const uint64_t number : kSome) {
    std::ostringstream out;
    out << Token(number) << ' ' << SessionId(number);
    EXPECT_EQ(out.str(), std::to_string(number) + " " + std::to_string(number));
  }
}

TEST(IdTest, FollowsTheFormatOfTheStream) {
  std::ostringstream out;
  out << std::hex << Token(255);
  EXPECT_EQ(out.str(), "ff");
}

// As StrCat and StrFormat of newer Abseils do; Debian 12's does not know the hook yet.
struct Sink {
  std::string text;
  void Append(std::string_view piece) { text += piece; }
  void Append(size_t count, char byte) { text.append(count, byte); }
};

TEST(IdTest, PrintsInDecimalByTheHookOfAbseil) {
  for (const uint64_t number : kSome) {
    Sink sink;
    AbslStringify(sink, Index(number));
    EXPECT_EQ(sink.text, std::to_string(number));
  }
}

TEST(IdTest, PrintsByFmtWithTheSpecificationsOfIntegers) {
  EXPECT_EQ(fmt::format("{} {:>5} {:x}", Token(7), SessionId(42), Revision(255)), "7    42 ff");
}

TEST(IdTest, IsAKeyOfUnorderedContainers) {
  std::unordered_map<SessionId, int> sessions{{SessionId(1), 10}, {SessionId(2), 20}};
  EXPECT_EQ(sessions.at(SessionId(2)), 20);
  EXPECT_EQ((std::unordered_set<Token>{Token(3), Token(3), Token(4)}).size(), 2u);
}

TEST(NamesTest, EnumeratorsArePrintedByFmtAsTheirNames) {
  EXPECT_EQ(fmt::format("{} {:>10} {}", ReplicaState::Ready, FenceMode::Shared, Reason::Held), "Ready     Shared Held");
}

}  // namespace
}  // namespace coordkit
