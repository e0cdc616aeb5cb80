// Members whose packets are lost at random, at the default timeouts: how much service is left. The tables are for humans.
#include <chrono>

#include "tests/system/integration/members_on_hosts.h"
#include "tools/support/child.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

constexpr Pace kDefaults{60ms, 300ms};

class LossTest : public MembersOnHosts {
 protected:
  struct Service {
    uint64_t terms = 0;
    uint64_t puts = 0;
    bool warned = false;
  };

  // Every member puts one key after the other for a minute. Afterwards all that was acknowledged is there.
  Service a_minute(const std::string& title, const Way& way) {
    start(kDefaults);
    const uint64_t before = term(agreed_leader());
    everywhere(way);
    for (int id = 1; id <= kMembers; ++id) EXPECT_EQ(members().ask(id, "load " + prefix(id)), "loading");
    std::string status;
    const support::Deadline end = support::in(60s);
    while (std::chrono::steady_clock::now() < end) status = members().coordctl(1, "status").text;
    Service service{.warned = status.find("have to be sent again") != std::string::npos};
    for (int id = 1; id <= kMembers; ++id) service.terms = std::max(service.terms, term(id) - before);
    mend();
    print_head(title + ": terms +" + std::to_string(service.terms) + ", gaps of puts");
    for (int id = 1; id <= kMembers; ++id) {
      const Timing timing = expect_loaded_keys(id, prefix(id), id);
      print_row("member " + std::to_string(id), timing);
      service.puts += timing.count;
    }
    return service;
  }

 private:
  static std::string prefix(int id) { return "by-" + std::to_string(id) + "-"; }
};

// Covers: FLT_N01
TEST_F(LossTest, ThreePacketsOfTenAreLostForAMinute) {
  const Service service = a_minute("30 % lost, 1 ms each way", {.loss = 0.3, .delay = 1ms});
  EXPECT_TRUE(service.warned) << "nobody says that packets are lost";
  EXPECT_GT(service.puts, 30u);
}

// Covers: FLT_N01
TEST_F(LossTest, OnePacketOfTenIsLostForAMinute) {
  const Service service = a_minute("10 % lost, 1 ms each way", {.loss = 0.1, .delay = 1ms});
  EXPECT_TRUE(service.warned) << "nobody says that packets are lost";
  EXPECT_GT(service.puts, 300u);
}

}  // namespace
}  // namespace coordkit::testkit
