#include "raft/log/entry_codec.h"

#include <gtest/gtest.h>

namespace coordkit {
namespace {

raft::Configuration three() {
  return {.voters = {{ReplicaId(1), StoreId(11), "a:1"}, {ReplicaId(2), StoreId(12), "b:2"}, {ReplicaId(3), StoreId(13), ""}}};
}

TEST(EntryCodecTest, GenesisSurvivesTheRoundTrip) {
  const raft::Genesis genesis{ClusterId(99), uint64_t{7} << 31, three()};
  EXPECT_EQ(decode_genesis(encode(genesis)).value(), genesis);
}

TEST(EntryCodecTest, EveryTruncationOfAGenesisIsRefusedOrDecodesToSomethingElse) {
  const raft::Genesis genesis{ClusterId(99), 5, three()};
  const std::string bytes = encode(genesis);
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto decoded = decode_genesis(std::string_view(bytes).substr(0, length));
    EXPECT_TRUE(!decoded.ok() || *decoded != genesis) << length;
  }
}

TEST(EntryCodecTest, ConfigurationWithRepeatedMemberIsRefused) {
  raft::Configuration twice = three();
  twice.voters[1].id = ReplicaId(1);
  EXPECT_EQ(decode_configuration(encode(twice)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(EntryCodecTest, ConfigurationWithoutVotersIsRefused) {
  EXPECT_EQ(decode_configuration("").status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace coordkit
