#include "transport/secure/certified.h"

#include <gtest/gtest.h>

namespace coordkit {
namespace {

// Covers: FLT_S10
TEST(CertifiedTest, OnlyTheNameOfThisClusterAndOfWhoWasMeantIsGood) {
  Hello self;
  self.cluster_name = "orders";
  self.from = ReplicaId(1);
  const auto judged = [&](std::optional<CertifiedIdentity> theirs, uint64_t expected) {
    return judge_certificate(theirs, self, ReplicaId(expected));
  };
  EXPECT_EQ(judged({{"orders", ReplicaId(2)}}, 2), CloseReason::NoReason);
  EXPECT_EQ(judged({{"orders", ReplicaId(2)}}, 0), CloseReason::NoReason) << "who comes by itself";
  EXPECT_EQ(judged({{"orders", ReplicaId(3)}}, 2), CloseReason::CertificateOtherReplica);
  EXPECT_EQ(judged({{"orders", ReplicaId(1)}}, 0), CloseReason::CertificateOtherReplica) << "our own";
  EXPECT_EQ(judged({{"order", ReplicaId(2)}}, 2), CloseReason::CertificateOtherCluster);
  EXPECT_EQ(judged({{"orders2", ReplicaId(2)}}, 0), CloseReason::CertificateOtherCluster);
  EXPECT_EQ(judged(std::nullopt, 2), CloseReason::CertificateRefused);
}

// Covers: FLT_S10
TEST(CertifiedTest, WhomItNamesStandsBehindTheAdviceOnlyWhereItIsTheMatter) {
  const CertifiedIdentity third{"orders", ReplicaId(3)};
  EXPECT_EQ(certified_detail(CloseReason::CertificateOtherReplica, third), " (it names replica 3 of cluster 'orders')");
  EXPECT_EQ(certified_detail(CloseReason::NotProven, third), "");
  EXPECT_EQ(certified_detail(CloseReason::CertificateOtherReplica, std::nullopt), "");
}

}  // namespace
}  // namespace coordkit
