// The bytes of the identity (docs/format-log.md) and of the checkpoint (docs/format-state.md), pinned.
#include "storage/identity.h"
#include "storage/state/lmdb_table.h"
#include "tests/proof/golden/golden.h"

namespace coordkit::testkit {
namespace {

TEST(IdentityGoldenTest, BytesAreThoseOfVersionOneAndAreRead) {
  const storage::Identity identity{
      .store = StoreId(0x0123456789abcdef), .boot = BootCounter(7), .replica = ReplicaId(2), .cluster = "orders"};
  expect_golden("identity-v1.bin", storage::encode(identity));
  const auto decoded = storage::decode_identity(golden_bytes("identity-v1.bin"));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->store, identity.store);
  EXPECT_EQ(decoded->boot, identity.boot);
  EXPECT_EQ(decoded->replica, identity.replica);
  EXPECT_EQ(decoded->cluster, identity.cluster);
}

TEST(CheckpointGoldenTest, BytesAreThoseOfVersionOneAndAreRead) {
  storage::Checkpoint checkpoint{
      .store = StoreId(0x0123456789abcdef), .live = storage::RowTable::B, .applied = {Index(100), Term(5)}};
  checkpoint.digest.add("key", value_sum("key", "value"));
  checkpoint.digest.add("another", value_sum("another", ""));
  expect_golden("checkpoint-v1.bin", storage::encode(checkpoint));
  const auto decoded = storage::decode_checkpoint(golden_bytes("checkpoint-v1.bin"));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->live, checkpoint.live);
  EXPECT_EQ(decoded->applied, checkpoint.applied);
  EXPECT_EQ(decoded->digest, checkpoint.digest);
  EXPECT_EQ(decoded->origin, storage::StateOrigin::Own);
  checkpoint.origin = storage::StateOrigin::Peer;
  const auto installed = storage::decode_checkpoint(storage::encode(checkpoint));
  ASSERT_TRUE(installed.ok());
  EXPECT_EQ(installed->origin, storage::StateOrigin::Peer);
  EXPECT_EQ(installed->live, checkpoint.live);
}

}  // namespace
}  // namespace coordkit::testkit
