#include "transport/tcp/packet_loss.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/descriptor.h"

namespace coordkit::tcp {
namespace {

using namespace std::chrono_literals;

constexpr LossGauge::TimePoint after(Duration time) { return LossGauge::TimePoint(1h) + time; }

struct LossGaugeTest : ::testing::Test {
  void sends(Duration when, uint64_t sent, uint64_t resent) {
    all.sent += sent;
    all.resent += resent;
    gauge.sent(after(when), all);
  }
  LossGauge gauge;
  Packets all;
};

TEST_F(LossGaugeTest, TellsTheShareOfTheLastWhile) {
  EXPECT_EQ(gauge.percent(after(0s)), 0);
  for (int second = 0; second < 8; ++second) sends(std::chrono::seconds(second), 100, 30);
  EXPECT_EQ(gauge.percent(after(8s)), 30);
  sends(11s, 400, 0);
  EXPECT_EQ(gauge.percent(after(12s)), 20) << "240 of 1200";
  sends(22s, 100, 0);
  EXPECT_EQ(gauge.percent(after(22s)), 0) << "none of the last 500";
  sends(23s, 100, 50);
  EXPECT_EQ(gauge.percent(after(24s)), 8);
  EXPECT_EQ(gauge.percent(after(60s)), 0) << "nothing was sent since";
}

TEST_F(LossGaugeTest, AnotherConnectionCountsFromTheBeginning) {
  sends(0s, 100, 50);
  all = {};
  sends(1s, 20, 10);
  sends(2s, 80, 0);
  EXPECT_EQ(gauge.percent(after(2s)), 30) << "60 of 200";
}

TEST_F(LossGaugeTest, AFewRepeatedPacketsAreNoLoss) {
  sends(0s, 9, 9);
  EXPECT_EQ(gauge.percent(after(1s)), 0) << "too few to say so";
  sends(1s, 1000, 40);
  EXPECT_EQ(gauge.percent(after(2s)), 0) << "below five percent";
  EXPECT_EQ(LossGauge().percent(after(0s)), 0);
}

// A kernel refuses an option that it does not know, and the connection works without.
// Covers: FLT_N01
TEST(PacketLossTest, AConnectionIsToldToResendSoon) {
  const Descriptor socket = open_socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_TRUE(socket);
  const auto option = [&](int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(socket.get(), IPPROTO_TCP, name, &value, &size) == 0 ? value : -1;
  };
  constexpr int kRtoMinUs = 45;
  const int before = option(kRtoMinUs);
  resend_soon(socket.get(), 0ms);
  EXPECT_EQ(option(TCP_THIN_LINEAR_TIMEOUTS), 0) << "left to the kernel";
  resend_soon(socket.get(), 10ms);
  EXPECT_EQ(option(TCP_THIN_LINEAR_TIMEOUTS), 1);
  if (before < 0) GTEST_SKIP() << "this kernel is older than Linux 6.15";
  EXPECT_GE(option(kRtoMinUs), 8'000);
  EXPECT_LE(option(kRtoMinUs), 20'000) << "two ticks of the slowest kernel";
}

}  // namespace
}  // namespace coordkit::tcp
