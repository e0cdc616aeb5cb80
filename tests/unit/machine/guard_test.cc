// Guards on coordkit's own state: bytes, and when they are met.
#include "machine/guard.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "base/random.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

std::string held(std::string name, Token token) { return encode(Guard(LockHeld{std::move(name), token})); }

TEST(GuardTest, EveryGuardSurvivesTheRoundTrip) {
  for (const LockHeld& guard : {LockHeld{"billing", Token(7)}, LockHeld{std::string("\0\xff", 2), Token(~uint64_t{0})},
                                LockHeld{std::string(1024, 'n'), Token(1)}}) {
    EXPECT_EQ(decode_guard(encode(Guard(guard))).value(), Guard(guard));
    EXPECT_LE(encode(Guard(guard)).size(), kGuardBytesMax);
  }
}

// Covers: S-54
TEST(GuardTest, TheOtherGuardsSurviveTheRoundTripToo) {
  for (const Guard& guard : {Guard(LockHeld{"billing", Token(7), true}), Guard(LockFree{"billing"})}) {
    EXPECT_EQ(decode_guard(encode(guard)).value(), guard);
  }
}

TEST(GuardTest, AKindOfALaterVersionIsReadAndNeverMet) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_bytes(15, "later");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decode_guard(bytes).value()));
  EXPECT_FALSE(Driver().machine.holds(bytes));
}

// Covers: S-60
TEST(GuardTest, IsMetFromTheGrantToItsReleaseByThatTokenOnly) {
  Driver driver;
  const SessionId me = driver.open();
  const Token token = driver.acquire(me, "billing").token;
  EXPECT_TRUE(driver.machine.holds(held("billing", token)));
  EXPECT_FALSE(driver.machine.holds(held("billing", token.next())));
  EXPECT_FALSE(driver.machine.holds(held("billing", Token())));
  EXPECT_FALSE(driver.machine.holds(held("shipping", token)));
  driver.release(me, "billing", token);
  EXPECT_FALSE(driver.machine.holds(held("billing", token)));
  EXPECT_NE(driver.acquire(me, "billing").token, token);
  EXPECT_FALSE(driver.machine.holds(held("billing", token)));
}

// Covers: S-60
TEST(GuardTest, IsNotMetOnceTheSessionHasEnded) {
  Driver driver;
  const SessionId me = driver.open();
  const Token token = driver.acquire(me, "billing").token;
  driver.expire({me});
  EXPECT_FALSE(driver.machine.holds(held("billing", token)));
}

TEST(GuardTest, HostileBytesAreNeverMet) {
  Driver driver;
  const SessionId me = driver.open();
  const std::string intact = held("billing", driver.acquire(me, "billing").token);
  for (size_t cut = 0; cut < intact.size(); ++cut) EXPECT_FALSE(driver.machine.holds(intact.substr(0, cut))) << cut;
  Random random(1);
  for (int run = 0; run < 5'000; ++run) {
    std::string bytes = intact;
    bytes[random.below(bytes.size())] ^= static_cast<char>(random.between(1, 255));
    EXPECT_FALSE(driver.machine.holds(bytes));
  }
}

}  // namespace
}  // namespace coordkit::machine
