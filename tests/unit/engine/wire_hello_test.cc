// Hellos as written by the host's own transports: an entry point for hostile bytes like any other.
#include <gtest/gtest.h>

#include "base/random.h"
#include "coordkit/engine/wire.h"

namespace coordkit {
namespace {

Hello whole() {
  return {.protocol_min = 1,
          .protocol_max = 3,
          .cluster_name = "orders",
          .from = ReplicaId(1),
          .to = ReplicaId(2),
          .store = StoreId(0xabcdef0123456789),
          .boot = BootCounter(300),
          .cluster = ClusterId(99),
          .feature_level = 4,
          .agreement = Agreement{.rate_error_ppm = 10'000,
                                 .election_timeout = std::chrono::milliseconds(300),
                                 .leader_leases = true,
                                 .digest_entries = 128,
                                 .revisions_kept = 5,
                                 .history_kept = std::chrono::hours(1),
                                 .machines = {{.id = MachineId(16), .version = 2}, {.id = MachineId(17)}}},
          .members = {{ReplicaId(1), 0xffffffff}, {ReplicaId(300), 0}}};
}

TEST(WireHelloTest, AHelloSurvivesTheRoundTrip) {
  EXPECT_EQ(decode_hello(encode(whole())).value(), whole());
  Hello plain = whole();
  plain.agreement.reset();
  EXPECT_EQ(decode_hello(encode(plain)).value(), plain);
}

TEST(WireHelloTest, EveryTruncationIsRefusedOrAnotherHello) {
  const std::string bytes = encode(whole());
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto decoded = decode_hello(std::string_view(bytes).substr(0, length));
    EXPECT_TRUE(!decoded.ok() || *decoded != whole()) << length;
  }
}

TEST(WireHelloTest, FlippedBytesNeverCrash) {
  Random random(7);
  const std::string bytes = encode(whole());
  for (int i = 0; i < 20'000; ++i) {
    std::string flipped = bytes;
    flipped[random.below(flipped.size())] = static_cast<char>(random());
    const auto decoded = decode_hello(flipped);
    if (!decoded.ok()) continue;
    EXPECT_EQ(decode_hello(encode(*decoded)).value(), *decoded);
  }
}

TEST(WireHelloTest, WhatIsTooLargeIsRefused) {
  EXPECT_EQ(decode_hello(std::string(8 << 10, '\0')).status().code(), absl::StatusCode::kDataLoss);
  Hello many = whole();
  many.agreement->machines.assign(kAgreedMachinesMax, {.id = MachineId(20)});
  EXPECT_TRUE(decode_hello(encode(many)).ok());
  Hello unnamed = whole();
  unnamed.from = ReplicaId();
  EXPECT_EQ(decode_hello(encode(unnamed)).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace coordkit
