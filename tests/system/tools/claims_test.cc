// The demo's checker must be able to say no.
#include "tools/support/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coordkit::support {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Claims two_holders_in_turn() {
  Claims claims;
  claims.granted(1, 10, 100);
  claims.valid(10, 150);
  claims.ended(10, 160);
  claims.granted(2, 11, 200);
  claims.valid(11, 250);
  claims.ended(11, 260);
  return claims;
}

TEST(ClaimsTest, HoldersInTurnAreFine) {
  const Claims claims = two_holders_in_turn();
  EXPECT_THAT(claims.faults(), IsEmpty());
  EXPECT_EQ(claims.overlaps(), 0u);
  EXPECT_EQ(claims.handovers(), 1u);
  EXPECT_EQ(claims.longest_gap_ns(), 40);
}

TEST(ClaimsTest, AHolderThatStillTrustsItsLockWhenTheNextBeginsIsAnOverlap) {
  Claims claims = two_holders_in_turn();
  claims.valid(10, 201);
  EXPECT_EQ(claims.overlaps(), 1u);
  EXPECT_THAT(claims.faults(), Contains(HasSubstr("holders at once")));
}

TEST(ClaimsTest, AnOverlapAcrossSeveralHoldersIsSeen) {
  Claims claims = two_holders_in_turn();
  claims.granted(1, 12, 300);
  claims.valid(12, 310);
  claims.valid(10, 400);
  EXPECT_EQ(claims.overlaps(), 2u);
}

TEST(ClaimsTest, TokensThatGoDownAreAFault) {
  Claims claims = two_holders_in_turn();
  claims.granted(1, 9, 300);
  EXPECT_THAT(claims.faults(), Contains(HasSubstr("was granted before")));
}

TEST(ClaimsTest, ATokenGrantedTwiceIsAFault) {
  Claims claims = two_holders_in_turn();
  claims.granted(1, 11, 300);
  EXPECT_THAT(claims.faults(), Contains(HasSubstr("granted twice")));
}

TEST(ClaimsTest, ThePauseBeforeTheSameHolderTakesAgainIsNoHandover) {
  Claims claims = two_holders_in_turn();
  claims.granted(2, 12, 300);
  EXPECT_EQ(claims.handovers(), 1u);
}

TEST(AdmissionTest, RefusingTheOldAndTakingTheNewIsFine) {
  const std::vector<Admission> writes = {{110, 1, 10, true}, {210, 2, 11, true}, {220, 1, 10, false}, {230, 2, 11, true}};
  EXPECT_THAT(faults_of(writes, two_holders_in_turn().in_order()), IsEmpty());
}

TEST(AdmissionTest, AWriteBehindANewerTokenIsAFault) {
  const std::vector<Admission> writes = {{110, 1, 10, true}, {210, 2, 11, true}, {220, 1, 10, true}};
  EXPECT_THAT(faults_of(writes, two_holders_in_turn().in_order()), Contains(HasSubstr("got in after token 11")));
}

TEST(AdmissionTest, AWriteWithoutAGrantIsAFault) {
  const std::vector<Admission> writes = {{110, 2, 10, true}};
  EXPECT_THAT(faults_of(writes, two_holders_in_turn().in_order()), Contains(HasSubstr("no grant")));
}

TEST(AdmissionTest, ARefusalForNothingIsAFault) {
  const std::vector<Admission> writes = {{110, 1, 10, false}};
  EXPECT_THAT(faults_of(writes, two_holders_in_turn().in_order()), Contains(HasSubstr("nothing newer")));
}

}  // namespace
}  // namespace coordkit::support
