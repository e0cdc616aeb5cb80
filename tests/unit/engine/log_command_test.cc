#include "engine/apply/log_command.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "base/random.h"
#include "tests/proof/golden/golden.h"
#include "tests/proof/golden/hex.h"

namespace coordkit::engine {
namespace {

constexpr Origin kOrigin{ReplicaId(3), StoreId(0xfedcba9876543210), BootCounter(7)};

std::vector<std::string> samples() {
  return {encode(Request{{kOrigin, Sequence(9)}, Sequence(4), MachineId(2), "payload"}),
          encode(Request{{kOrigin, Sequence(9)}, Sequence(4), MachineId(16), "payload", {{MachineId(1), "guard"}}}),
          encode(RegisterOrigin{kOrigin}),
          encode(FireTimers{Term(5), MachineId(1), {{TimerId(9), Generation(1)}}}),
          encode(DigestVote{ReplicaId(3), Index(65'536), 0xfedcba9876543210}),
          encode(RaiseLevel{3})};
}

TEST(LogCommandTest, RequestSurvivesARoundTrip) {
  for (const std::string& payload : {std::string(), std::string("\0\xff", 2), std::string(100'000, 'x')}) {
    const std::string bytes = encode(Request{{kOrigin, Sequence(9)}, Sequence(4), MachineId(2), payload});
    const auto decoded = decode_command(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    const auto& request = std::get<Request>(*decoded);
    EXPECT_EQ(request.id, (RequestId{kOrigin, Sequence(9)}));
    EXPECT_EQ(request.lowest_unanswered, Sequence(4));
    EXPECT_EQ(request.machine, MachineId(2));
    EXPECT_EQ(request.payload, payload);
  }
}

TEST(LogCommandTest, AGuardSurvivesARoundTrip) {
  for (const std::string& guard : {std::string(), std::string("\0\xff", 2), std::string(kGuardBytesMax, 'g')}) {
    const std::string bytes = encode(Request{{kOrigin, Sequence(9)}, Sequence(4), MachineId(16), "x", {{MachineId(1), guard}}});
    const auto decoded = decode_command(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    const auto& request = std::get<Request>(*decoded);
    ASSERT_TRUE(request.guard.has_value());
    EXPECT_EQ(request.guard->machine, MachineId(1));
    EXPECT_EQ(request.guard->bytes, guard);
    EXPECT_EQ(request.payload, "x");
  }
}

TEST(LogCommandTest, AGuardBeyondItsLimitIsRefused) {
  const std::string guard(kGuardBytesMax + 1, 'g');
  const std::string bytes = encode(Request{{kOrigin, Sequence(9)}, Sequence(4), MachineId(16), "x", {{MachineId(1), guard}}});
  EXPECT_EQ(decode_command(bytes).status().code(), absl::StatusCode::kDataLoss);
}

// The bytes of each kind. A difference means that logs of older versions would be misread: add fields, never change them.
TEST(LogCommandTest, GoldenBytesAreAsEver) {
  std::string now;
  for (const std::string& bytes : samples()) now += hex(bytes) + "\n";
  testkit::expect_golden("log_commands.hex", now);
}

TEST(LogCommandTest, LargestNumbersSurviveARoundTrip) {
  const uint64_t most = ~uint64_t{0};
  const Origin origin{ReplicaId(most), StoreId(most), BootCounter(most)};
  const std::string bytes = encode(Request{{origin, Sequence(most)}, Sequence(most), MachineId(most), "x"});
  const auto decoded = decode_command(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<Request>(*decoded).id, (RequestId{origin, Sequence(most)}));
}

TEST(LogCommandTest, RegistrationSurvivesARoundTrip) {
  const auto decoded = decode_command(encode(RegisterOrigin{kOrigin, Sequence(7), Index(9)}));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<RegisterOrigin>(*decoded).origin, kOrigin);
  EXPECT_EQ(std::get<RegisterOrigin>(*decoded).lowest_unanswered, Sequence(7));
  EXPECT_EQ(std::get<RegisterOrigin>(*decoded).as_of, Index(9));
}

// The bytes without a name are the golden ones.
TEST(LogCommandTest, TheNameOfARemoteSurvivesARoundTrip) {
  Request named{{kOrigin, Sequence(9)}, Sequence(4), MachineId(2), "payload"};
  named.name = "billing";
  const std::string request = encode(named);
  EXPECT_EQ(std::get<Request>(*decode_command(request)).name, "billing");
  EXPECT_EQ(std::get<Request>(*decode_command(request)).payload, "payload");
  EXPECT_EQ(request.size(), samples()[0].size() + 2 + named.name.size());
  const std::string registration = encode(RegisterOrigin{kOrigin, Sequence(7), {}, "billing"});
  EXPECT_EQ(std::get<RegisterOrigin>(*decode_command(registration)).name, "billing");
  EXPECT_EQ(std::get<RegisterOrigin>(*decode_command(samples()[2])).name, "");
}

TEST(LogCommandTest, FiredTimersSurviveARoundTripInOrder) {
  FireTimers fired{Term(5), MachineId(1), {{TimerId(9), Generation(0)}, {TimerId(2), Generation(3)}}};
  const auto decoded = decode_command(encode(fired));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<FireTimers>(*decoded).term, fired.term);
  EXPECT_EQ(std::get<FireTimers>(*decoded).machine, fired.machine);
  EXPECT_EQ(std::get<FireTimers>(*decoded).timers, fired.timers);
}

TEST(LogCommandTest, ADigestSurvivesARoundTripAndNamesAReplicaAndAnEntry) {
  const DigestVote vote{ReplicaId(3), Index(65'536), ~uint64_t{0}};
  const auto decoded = decode_command(encode(vote));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<DigestVote>(*decoded), vote);
  EXPECT_EQ(decode_command(encode(DigestVote{ReplicaId(), Index(1), 5})).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(decode_command(encode(DigestVote{ReplicaId(1), Index(), 5})).status().code(), absl::StatusCode::kDataLoss);
}

TEST(LogCommandTest, ALevelSurvivesARoundTripAndIsNeverZero) {
  const auto decoded = decode_command(encode(RaiseLevel{~uint64_t{0}}));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<RaiseLevel>(*decoded), RaiseLevel{~uint64_t{0}});
  EXPECT_EQ(decode_command(encode(RaiseLevel{})).status().code(), absl::StatusCode::kDataLoss);
}

TEST(LogCommandTest, MoreFiredTimersThanTheLimitAreRefused) {
  FireTimers fired{Term(5), MachineId(1), std::vector<FiredTimer>(kFiredTimersMax, {TimerId(1), Generation(1)})};
  EXPECT_TRUE(decode_command(encode(fired)).ok());
  fired.timers.push_back({TimerId(1), Generation(1)});
  EXPECT_EQ(decode_command(encode(fired)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(LogCommandTest, RequestsWithoutAValidIdAreRefused) {
  const auto refused = [](Request request) {
    return decode_command(encode(request)).status().code() == absl::StatusCode::kDataLoss;
  };
  EXPECT_TRUE(refused({{Origin{ReplicaId(0), StoreId(1), BootCounter(1)}, Sequence(1)}, Sequence(1), MachineId(1), ""}));
  EXPECT_TRUE(refused({{kOrigin, Sequence(0)}, Sequence(0), MachineId(1), ""}));
  EXPECT_TRUE(refused({{kOrigin, Sequence(1)}, Sequence(2), MachineId(1), ""}));
  EXPECT_FALSE(refused({{kOrigin, Sequence(2)}, Sequence(2), MachineId(1), ""}));
}

TEST(LogCommandTest, EmptyAndUnknownKindsAreRefused) {
  EXPECT_EQ(decode_command("").status().code(), absl::StatusCode::kDataLoss);
  std::string bytes;
  protozero::pbf_writer(bytes).add_bytes(15, "of a later version");
  EXPECT_EQ(decode_command(bytes).status().code(), absl::StatusCode::kDataLoss);
}

TEST(LogCommandTest, UnknownFieldsAreSkipped) {
  const std::string request = encode(Request{{kOrigin, Sequence(9)}, Sequence(4), MachineId(2), "payload"});
  std::string extended;
  protozero::pbf_writer out(extended);
  out.add_uint64(14, 1);
  out.add_bytes(1, request.substr(2) + std::string("\x70\x01", 2));  // the same body with one more field, number 14
  const auto decoded = decode_command(extended);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(std::get<Request>(*decoded).payload, "payload");
}

TEST(LogCommandTest, HostileBytesAreRefusedOrReadButNeverHarm) {
  const std::vector<std::string> intact = samples();
  for (const std::string& bytes : intact) {
    for (size_t cut = 0; cut < bytes.size(); ++cut) EXPECT_FALSE(decode_command(bytes.substr(0, cut)).ok()) << cut;
  }
  Random random(1);
  size_t refused = 0;
  for (int run = 0; run < 20'000; ++run) {
    std::string bytes = intact[random.below(intact.size())];
    for (uint64_t flips = random.between(1, 3); flips > 0; --flips) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    const auto decoded = decode_command(bytes);
    refused += !decoded.ok();
    if (!decoded.ok() || !std::holds_alternative<Request>(*decoded)) continue;
    const auto& request = std::get<Request>(*decoded);
    EXPECT_TRUE(request.id.sequence && request.lowest_unanswered <= request.id.sequence);
    EXPECT_TRUE(request.payload.empty() || (request.payload.data() >= bytes.data() &&
                                            request.payload.data() + request.payload.size() <= bytes.data() + bytes.size()));
  }
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace coordkit::engine
