// The bytes of the identity (docs/format-log.md) and of the checkpoint (docs/format-state.md), pinned.
#include "tests/golden/golden.h"

#include "storage/identity.h"
#include "storage/lmdb_table.h"

namespace coordkit::testing {
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
  storage::Checkpoint checkpoint{.store = StoreId(0x0123456789abcdef), .applied = {Index(100), Term(5)}};
  checkpoint.digest.add("key", storage::value_sum("key", "value"));
  checkpoint.digest.add("another", storage::value_sum("another", ""));
  expect_golden("checkpoint-v1.bin", storage::encode(checkpoint));
  const auto decoded = storage::decode_checkpoint(golden_bytes("checkpoint-v1.bin"));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->applied, checkpoint.applied);
  EXPECT_EQ(decoded->digest, checkpoint.digest);
}

TEST(DigestTest, RemovingUndoesAddingInAnyOrder) {
  storage::Digest digest;
  digest.add("a", 1);
  const storage::Digest before = digest;
  digest.add("b", 2);
  digest.add("c", 3);
  EXPECT_NE(digest, before);
  digest.remove("b", 2);
  digest.remove("c", 3);
  EXPECT_EQ(digest, before);
}

}  // namespace
}  // namespace coordkit::testing
