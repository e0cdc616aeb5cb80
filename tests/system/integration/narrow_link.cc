#include "tests/system/integration/narrow_link.h"

#include <sstream>

namespace coordkit::testkit {
namespace {

constexpr uint64_t kValuesPerMegabyte = 16;  // member/main.cc fills with values of 64 KiB
constexpr uint64_t kMegabit = 1'000'000;

std::string metric(const std::string& page, const std::string& name) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return line.substr(line.rfind(' ') + 1);
  }
  return "";
}

}  // namespace

void NarrowLinkTest::expect_quiet_transfer(uint64_t state_megabytes, uint64_t bits_per_second) {
  start(kZones, {"--retained-bytes=0"});
  const int leader = agreed_leader();
  const int late = other_than(leader);
  const int third = other_than(leader, late);
  ASSERT_EQ(members().ask(leader, "fill state- " + std::to_string(state_megabytes * kValuesPerMegabyte)), "done");
  put(third, "between-", 200);  // checkpoints, behind which the log goes
  members().kill(late);
  members().lose_disk(late);
  const uint64_t before = term(leader);

  for (const int id : {leader, third}) between(id, late, {.bits_per_second = bits_per_second});
  const std::string at_leader = "leader-", at_third = "third-";
  ASSERT_EQ(members().ask(leader, "load " + at_leader), "loading");
  ASSERT_EQ(members().ask(third, "load " + at_third), "loading");
  ASSERT_EQ(members().start(late), "opened");
  const std::string number = std::to_string(late);
  const Ran replaced = members().coordctl(third, "replace " + number + " " + number + " " + members().address(late));
  EXPECT_EQ(replaced.status, 0) << replaced.text;
  ASSERT_TRUE(members().wait_ready(late)) << members().coordctl(late, "status").text;

  const Timing of_leader = expect_loaded_keys(leader, at_leader, late);
  const Timing of_third = expect_loaded_keys(third, at_third, late);
  print_head(std::to_string(state_megabytes) + " MB over " + std::to_string(bits_per_second / kMegabit) +
             " Mbit/s, gaps of puts");
  print_row("on the leader", of_leader);
  print_row("on a follower", of_third);
  EXPECT_EQ(metric(members().coordctl(late, "metrics").text, "coordkit_states_restored_total"), "1")
      << "it was not sent a state";
  for (int id = 1; id <= kMembers; ++id) EXPECT_EQ(term(id), before) << "member " << id << ": a needless election";
}

}  // namespace coordkit::testkit
