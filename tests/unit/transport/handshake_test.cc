#include "transport/secure/handshake.h"

#include <gtest/gtest.h>

#include <functional>

namespace coordkit {
namespace {

using Side = Handshake::Side;

constexpr ClusterId kOrders(7);
const std::string kNoSecret;
const std::string kShared = "0123456789abcdef";

Hello from_to(uint64_t from, uint64_t to, ClusterId cluster = kOrders) {
  return {.cluster_name = "orders", .from = ReplicaId(from), .to = ReplicaId(to), .cluster = cluster};
}

// Replica 1 dials replica 2.
struct HandshakeTest : ::testing::Test {
  const std::string& secret;
  Handshake dialer{Side::Dialed, ReplicaId(2), 100, 11, secret};
  Handshake acceptor{Side::Accepted, ReplicaId(), 200, 22, secret};

  explicit HandshakeTest(const std::string& shared = kNoSecret) : secret(shared) {}
  void exchange_hellos() {
    ASSERT_TRUE(acceptor.receive(dialer.hello(from_to(1, 2))));
    ASSERT_TRUE(dialer.receive(acceptor.hello(from_to(2, 1))));
  }
};

TEST_F(HandshakeTest, BothEndsKnowEachOtherAfterThreeHellos) {
  exchange_hellos();
  EXPECT_EQ(dialer.judge_sender(), CloseReason::NoReason);
  EXPECT_EQ(dialer.judge_proofs(kOrders), CloseReason::NoReason);
  EXPECT_TRUE(dialer.belongs());
  EXPECT_EQ(acceptor.peer(), ReplicaId());
  EXPECT_EQ(acceptor.identify(), CloseReason::NoReason);
  EXPECT_EQ(acceptor.peer(), ReplicaId(1));
  EXPECT_NE(acceptor.judge_proofs(kOrders), CloseReason::NoReason) << "a first hello proves nothing";
  EXPECT_EQ(acceptor.receive_again(dialer.hello(from_to(1, 2))), CloseReason::NoReason);
  EXPECT_EQ(acceptor.judge_proofs(kOrders), CloseReason::NoReason);
  EXPECT_TRUE(acceptor.belongs());
  EXPECT_EQ(dialer.key_of_ours(), acceptor.key_of_theirs());
  EXPECT_EQ(dialer.key_of_theirs(), acceptor.key_of_ours());
}

// Covers: FLT_S03
TEST_F(HandshakeTest, AnAnswerToAnotherHelloIsNone) {
  Handshake elsewhere(Side::Dialed, ReplicaId(2), 100, 12, secret);
  ASSERT_TRUE(acceptor.receive(elsewhere.hello(from_to(1, 2))));
  EXPECT_FALSE(dialer.receive(acceptor.hello(from_to(2, 1))));
  EXPECT_FALSE(dialer.receive("no hello"));
}

TEST_F(HandshakeTest, WhoAnswersMustBeWhoWasDialed) {
  ASSERT_TRUE(acceptor.receive(dialer.hello(from_to(1, 2))));
  ASSERT_TRUE(dialer.receive(acceptor.hello(from_to(3, 1))));
  EXPECT_EQ(dialer.judge_sender(), CloseReason::WrongReceiver);
}

TEST_F(HandshakeTest, ACertificateMustNameTheSender) {
  acceptor.set_certified(CertifiedIdentity{"orders", ReplicaId(3)});
  ASSERT_TRUE(acceptor.receive(dialer.hello(from_to(1, 2))));
  EXPECT_EQ(acceptor.identify(), CloseReason::CertificateOtherReplica);
  EXPECT_EQ(acceptor.peer(), ReplicaId());
}

TEST_F(HandshakeTest, ARepeatedHelloIsOfTheSameReplica) {
  exchange_hellos();
  EXPECT_EQ(acceptor.receive_again("no hello"), CloseReason::BadHello);
  EXPECT_EQ(acceptor.receive_again(dialer.hello(from_to(3, 2))), CloseReason::IdentityChanged);
}

TEST_F(HandshakeTest, WhatIsShownIsWhatIsProved) {
  exchange_hellos();
  EXPECT_EQ(acceptor.shown(kOrders).cluster, ClusterId()) << "not proved yet";
  EXPECT_EQ(acceptor.shown(ClusterId()).cluster, ClusterId(mark_of(kOrders))) << "a blank replica cannot judge";
  EXPECT_EQ(acceptor.receive_again(dialer.hello(from_to(1, 2))), CloseReason::NoReason);
  EXPECT_EQ(acceptor.judge_proofs(kOrders), CloseReason::NoReason);
  EXPECT_EQ(acceptor.shown(kOrders).cluster, kOrders);
}

TEST_F(HandshakeTest, ADialerRemembersWhichClusterItNamed) {
  EXPECT_EQ(dialer.sent_cluster(), ClusterId());
  dialer.hello(from_to(1, 2, ClusterId()));
  EXPECT_EQ(dialer.sent_cluster(), ClusterId());
  dialer.hello(from_to(1, 2));
  EXPECT_EQ(dialer.sent_cluster(), kOrders);
}

struct SecretHandshakeTest : HandshakeTest {
  SecretHandshakeTest() : HandshakeTest(kShared) {}
};

// Covers: FLT_S03
TEST_F(SecretHandshakeTest, AnEndWithoutTheSecretIsNotIdentified) {
  Handshake open(Side::Dialed, ReplicaId(2), 100, 11, kNoSecret);
  ASSERT_TRUE(acceptor.receive(open.hello(from_to(1, 2))));
  EXPECT_EQ(acceptor.identify(), CloseReason::SecretMissing);
  ASSERT_TRUE(open.receive(acceptor.hello(from_to(2, 1))));
  EXPECT_EQ(open.identify(), CloseReason::SecretMissing);
}

// A hello as somebody on the way changes it; the proofs that this build knows stay as they are.
std::string changed(const std::string& body, const std::function<void(Hello&)>& change) {
  Introduction said = decode_introduction(body).value();
  change(said.hello);
  return encode(said);
}

TEST_F(SecretHandshakeTest, AHelloThatSaysAllThatItMayFits) {
  Hello mine = from_to(1, 2);
  mine.cluster_name.assign(kClusterNameBytesMax, 'c');
  mine.agreement.emplace();
  for (uint64_t i = 0; i < kAgreedMachinesMax; ++i) mine.agreement->machines.push_back({MachineId(1000 + i), 1'000'000});
  for (uint64_t i = 0; i < 64; ++i) mine.members.push_back({ReplicaId(1'000'000'000 + i), ~uint32_t{0}});
  Handshake one(Side::Dialed, ReplicaId(2), 100, 11, secret), other(Side::Accepted, ReplicaId(), 200, 22, secret);
  ASSERT_TRUE(other.receive(one.hello(mine)));
  ASSERT_TRUE(one.receive(other.hello(mine)));
  const std::string last = one.hello(mine);
  EXPECT_LE(last.size(), kHelloBytesMax);
  EXPECT_EQ(decode_introduction(last).value().hello.members, mine.members);
}

TEST_F(SecretHandshakeTest, AListThatDoesNotFitIsLeftOut) {
  Hello mine = from_to(1, 2);
  mine.cluster_name.assign(kClusterNameBytesMax, 'c');
  mine.agreement.emplace();
  for (uint64_t i = 0; i < kAgreedMachinesMax; ++i) mine.agreement->machines.push_back({MachineId(~i), ~i});
  for (uint64_t i = 0; i < 64; ++i) mine.members.push_back({ReplicaId(~i), ~uint32_t{0}});
  Handshake one(Side::Dialed, ReplicaId(2), 100, 11, secret), other(Side::Accepted, ReplicaId(), 200, 22, secret);
  ASSERT_TRUE(other.receive(one.hello(mine)));
  EXPECT_TRUE(other.theirs().hello.members.empty());
  ASSERT_TRUE(one.receive(other.hello(mine)));
  const std::string last = one.hello(mine);
  EXPECT_LE(last.size(), kHelloBytesMax);
  EXPECT_EQ(other.receive_again(last), CloseReason::NoReason);
}

// Else an older build could be made to look like one that reads what it does not, and a feature level never sinks.
// Covers: FLT_S03
TEST_F(SecretHandshakeTest, NothingInAHelloCanBeChangedOnTheWay) {
  const std::function<void(Hello&)> changes[] = {
      [](Hello& hello) { hello.feature_level = 99; },
      [](Hello& hello) { hello.agreement.emplace().rate_error_ppm = 7; },
      [](Hello& hello) {
        hello.members.push_back({ReplicaId(3), 7});
      },
  };
  for (const auto& change : changes) {
    Handshake one(Side::Dialed, ReplicaId(2), 100, 11, secret), other(Side::Accepted, ReplicaId(), 200, 22, secret);
    ASSERT_TRUE(other.receive(changed(one.hello(from_to(1, 2)), change)));
    ASSERT_TRUE(one.receive(changed(other.hello(from_to(2, 1)), change)));
    EXPECT_EQ(one.judge_proofs(kOrders), CloseReason::NotProven);
    EXPECT_EQ(other.receive_again(changed(one.hello(from_to(1, 2)), change)), CloseReason::NoReason);
    EXPECT_EQ(other.judge_proofs(kOrders), CloseReason::NotProven);
  }
}

// Covers: FLT_S03
TEST_F(SecretHandshakeTest, AnOlderBuildNeedNotProveAllThatItSaysAndNobodyElseCanPassForOne) {
  const auto of_level = [this](uint32_t protocol, const std::function<void(Hello&)>& change) {
    Hello mine = from_to(1, 2);
    mine.protocol_max = protocol;
    mine.feature_level = 2;
    Handshake one(Side::Dialed, ReplicaId(2), 100, 11, secret), other(Side::Accepted, ReplicaId(), 200, 22, secret);
    EXPECT_TRUE(other.receive(changed(one.hello(mine), change)));
    EXPECT_TRUE(one.receive(other.hello(from_to(2, 1))));
    EXPECT_EQ(other.receive_again(changed(one.hello(mine), change)), CloseReason::NoReason);
    return other.judge_proofs(kOrders);
  };
  EXPECT_EQ(of_level(1, [](Hello&) {}), CloseReason::NoReason);
  EXPECT_EQ(of_level(2, [](Hello& hello) { hello.protocol_max = 1; }), CloseReason::SecretDiffers);
}

TEST_F(SecretHandshakeTest, TheKeysOfASessionAreTheSameAtBothEnds) {
  exchange_hellos();
  EXPECT_EQ(dialer.session_key_of_ours().frames, acceptor.session_key_of_theirs().frames);
  EXPECT_EQ(dialer.session_key_of_theirs().frames, acceptor.session_key_of_ours().frames);
  EXPECT_NE(dialer.session_key_of_ours().frames, dialer.session_key_of_theirs().frames);
}

}  // namespace
}  // namespace coordkit
