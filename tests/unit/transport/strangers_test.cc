// The TCP transport against uninvited peers, and with a secret.
#include <gtest/gtest.h>

#include <algorithm>

#include "tcp_fixture.h"

namespace coordkit {
namespace {

using testkit::RecordingSink;

constexpr ClusterId kCluster(7);
const std::string kSecret = "0123456789abcdef";

Hello member(uint64_t id) {
  Hello hello = TcpFixture::hello_of(id);
  hello.cluster = kCluster;
  return hello;
}

// Replica 1, a member of the cluster, under test; 2 and 3 are its peers.
class TcpStrangersTest : public TcpFixture {
 protected:
  void start(TcpOptions options = {}, const Hello& self = member(1), const std::string& second = "127.0.0.1:1") {
    start_as(self, std::move(options), {{ReplicaId(2), second}, {ReplicaId(3), "127.0.0.1:1"}});
  }

  FakePeer connect(ClusterId knows = ClusterId(), std::string secret = "") {
    FakePeer peer = FakePeer::connect(transport_->port());
    peer.knows = knows;
    peer.secret = std::move(secret);
    return peer;
  }
  bool wait_closed(CloseReason reason, size_t count = 1) {
    return wait_events(
        count, [reason](const TcpEvent& event) { return event.kind == TcpEvent::Kind::Closed && event.reason == reason; });
  }
  bool reported(uint64_t id, ClusterId cluster) {
    return sink_.wait_hello(ReplicaId(id), [&](const Hello& hello) { return hello.cluster == cluster; });
  }
};

// ---- peers that have proved nothing

// Covers: FLT_S07
TEST_F(TcpStrangersTest, WhoHasShownNothingMayNotSayAWord) {
  start();
  for (const uint64_t id : {2, 11}) {  // a peer's id, and an unused one
    FakePeer stranger = connect();
    ASSERT_TRUE(stranger.shake(introduction(id)) && stranger.processed());
    stranger.send(FrameKind::Message, "vote for me");
    EXPECT_FALSE(stranger.processed());
    EXPECT_EQ(stranger.goodbye(), CloseReason::NotProven);
  }
  EXPECT_TRUE(sink_.all().empty());
  EXPECT_TRUE(wait_closed(CloseReason::NotProven, 2));
}

// Covers: FLT_S07
TEST_F(TcpStrangersTest, AStrangerIsNobodysBusinessAndWhoIsInvitedIsWhoAnswersAtItsAddress) {
  FakeListener listener;
  start({}, member(1), "127.0.0.1:" + std::to_string(listener.port()));
  for (const uint64_t id : {11, 2}) {
    FakePeer stranger = connect();
    ASSERT_TRUE(stranger.shake(introduction(id, 9, 66)) && stranger.processed());
    EXPECT_NE(stranger.received_hello.mark, 0u) << "it learns that there is a cluster to wait for";
    EXPECT_NE(stranger.received_hello.mark, kCluster.value());
    EXPECT_EQ(sink_.reports(), 0u);
  }
  FakePeer before = connect();
  ASSERT_TRUE(before.shake(introduction(2, 9, 66)) && before.processed());
  FakePeer blank = listener.accept();
  ASSERT_TRUE(blank.welcome(introduction(2)));
  EXPECT_TRUE(sink_.wait_hello(ReplicaId(2), [](const Hello& hello) {
    return hello.store == StoreId(1002) && hello.boot == BootCounter(1) && !hello.cluster;
  }));
  EXPECT_TRUE(before.ended());
  FakePeer after = connect();
  ASSERT_TRUE(after.shake(introduction(2, 9, 66)));
  EXPECT_FALSE(after.processed());
  EXPECT_EQ(after.goodbye(), CloseReason::NotProven);
}

// Covers: FLT_S07
TEST_F(TcpStrangersTest, AClaimToBelongIsChecked) {
  start();
  const std::function<void(Introduction&)> spoilers[] = {
      [](Introduction& one) { one.proof_of_cluster.clear(); },
      [](Introduction& one) { one.proof_of_cluster[0] ^= 1; },
      [](Introduction& one) { one.proof_of_cluster = proof_of_cluster(kCluster, Prover::Acceptor, encode_statement(one)); },
  };
  for (const auto& spoil : spoilers) {
    FakePeer liar = connect(kCluster);
    liar.spoil = spoil;
    ASSERT_TRUE(liar.shake(introduction()));
    EXPECT_FALSE(liar.processed());
    EXPECT_EQ(liar.goodbye(), CloseReason::NotProven);
  }
  FakePeer hasty = connect();  // claims, and omits the third hello
  Introduction claim = introduction();
  claim.mark = mark_of(kCluster);
  ASSERT_TRUE(hasty.shake(claim));
  EXPECT_FALSE(hasty.processed());
  EXPECT_EQ(hasty.goodbye(), CloseReason::NotProven);
  EXPECT_EQ(sink_.reports(), 0u);
}

// Covers: FLT_S07
TEST_F(TcpStrangersTest, AClaimDisplacesNobodyWhoHasShownThatItBelongs) {
  start();
  FakePeer peer = connect(kCluster);
  ASSERT_TRUE(peer.shake(introduction(2, 1)) && peer.processed());
  ASSERT_TRUE(reported(2, kCluster));
  for (const uint64_t boot : {1, 2, 3}) {
    FakePeer stranger = connect();
    ASSERT_TRUE(stranger.shake(introduction(2, boot, 66)));
    EXPECT_FALSE(stranger.processed());
    EXPECT_EQ(stranger.goodbye(), CloseReason::NotProven);
  }
  peer.send(FrameKind::Message, "undisturbed");
  EXPECT_TRUE(sink_.wait_body("undisturbed"));
  FakePeer restarted = connect(kCluster);
  EXPECT_TRUE(restarted.shake(introduction(2, 2, 6)) && restarted.processed()) << "itself, started again";
  EXPECT_TRUE(peer.ended());
}

// Covers: FLT_S07
TEST_F(TcpStrangersTest, WhateverWasClaimedBeforeTheRealOneIsLetIn) {
  start();
  FakePeer first = connect();
  ASSERT_TRUE(first.shake(introduction(2, 9, 66)) && first.processed());
  FakePeer second = connect();  // two copies of one directory, as far as they claim
  ASSERT_TRUE(second.shake(introduction(2, 9, 67)));
  EXPECT_FALSE(second.processed());
  FakePeer third = connect();
  third.shake(introduction(2, 10, 68));
  FakePeer peer = connect(kCluster);
  ASSERT_TRUE(peer.shake(introduction(2, 1)) && peer.processed());
  EXPECT_TRUE(third.ended());
  peer.send(FrameKind::Message, "here");
  EXPECT_TRUE(sink_.wait_body("here"));
}

TEST_F(TcpStrangersTest, WhoIsInvitedShowsItOnTheConnectionItHas) {
  start();
  FakePeer peer = connect();
  Introduction mine = introduction();
  ASSERT_TRUE(peer.shake(mine) && peer.processed());
  EXPECT_EQ(sink_.reports(), 0u);
  mine.echo = peer.received_hello.nonce;
  prove(mine, Prover::Dialer, kCluster, "");
  peer.send(FrameKind::Hello, encode(mine));
  EXPECT_TRUE(reported(2, kCluster));
  peer.send(FrameKind::Message, std::string(1 << 20, 'x'));
  EXPECT_TRUE(sink_.wait_body(std::string(1 << 20, 'x')));
}

// News of a peer stays in health() until that peer connects: a made-up one never does.
// Covers: FLT_S07
TEST_F(TcpStrangersTest, StrangersUnderOneIdAreRefusedAndAccuseNobody) {
  start();
  for (const uint64_t id : {2, 11}) {  // a peer's id, and an unused one
    FakePeer first = connect();
    ASSERT_TRUE(first.shake(introduction(id, 9, 66)) && first.processed());
    FakePeer copy = connect();
    ASSERT_TRUE(copy.shake(introduction(id, 9, 67)));
    EXPECT_FALSE(copy.processed());
    EXPECT_EQ(copy.goodbye(), CloseReason::TwoIncarnations);
  }
  FakePeer one = connect(kCluster);
  ASSERT_TRUE(one.shake(introduction(3)) && one.processed());
  FakePeer other = connect(kCluster);
  ASSERT_TRUE(other.shake(introduction(3, 1, 6)));
  EXPECT_FALSE(other.processed());
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(3), "two processes")) << "those who belong are believed";
  EXPECT_FALSE(sink_.is_refused(ReplicaId(2)));
  EXPECT_FALSE(sink_.is_refused(ReplicaId(11)));
}

// The hello of a blank replica tells anybody its store and boot.
// Covers: FLT_S07
TEST_F(TcpStrangersTest, CopiesThatConnectDoNotCountAgainstTheOneThatIsDialed) {
  FakeListener listener;
  start({}, member(1), "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer blank = listener.accept();  // its answer is on the way
  FakePeer first = connect();
  ASSERT_TRUE(first.shake(introduction(2, 1, 66)) && first.processed());
  FakePeer second = connect();
  ASSERT_TRUE(second.shake(introduction(2, 1, 67)));
  EXPECT_FALSE(second.processed());
  EXPECT_EQ(second.goodbye(), CloseReason::TwoIncarnations);
  ASSERT_TRUE(blank.welcome(introduction(2)));
  EXPECT_TRUE(reported(2, ClusterId()));
  FakePeer itself = connect();
  EXPECT_FALSE(itself.shake(introduction(2)) && itself.processed()) << "while copies were seen to connect";
  FakePeer liar = connect();
  ASSERT_TRUE(liar.shake(introduction(2, 1, 68)));
  EXPECT_FALSE(liar.processed());
  EXPECT_EQ(liar.goodbye(), CloseReason::NotProven);
  EXPECT_EQ(sink_.downs(ReplicaId(2)), 0) << "the one that is dialed stays";
}

// ---- the cost of uninvited peers

// Covers: FLT_S09
TEST_F(TcpStrangersTest, AStrangersFrameIsNoLargerThanAHello) {
  start();
  FakePeer stranger = connect();
  ASSERT_TRUE(stranger.shake(introduction(11)) && stranger.processed());
  stranger.write(stranger.seal(FrameKind::Message, std::string(30 << 20, 'x')).substr(0, kFrameHeaderBytes));
  EXPECT_TRUE(stranger.ended());
  EXPECT_TRUE(wait_closed(CloseReason::Oversize));
}

// Covers: FLT_S09
TEST_F(TcpStrangersTest, StrangersShareOneBudgetOfBytesAndMembersAreNotInIt) {
  start({.unproven_bytes_per_second = 64 << 10});
  FakePeer peer = connect(kCluster);
  ASSERT_TRUE(peer.shake(introduction()) && peer.processed());
  std::vector<FakePeer> strangers;
  for (uint64_t id = 11; id < 15; ++id) {
    strangers.push_back(connect());
    ASSERT_TRUE(strangers.back().shake(introduction(id)) && strangers.back().processed());
  }
  const auto exhausted = [&] {
    for (int i = 0; i < 100'000; ++i) {
      if (!strangers[static_cast<size_t>(i) % strangers.size()].send(FrameKind::Ping)) return true;
    }
    return false;
  };
  EXPECT_TRUE(exhausted());
  EXPECT_TRUE(sink_.wait_up(ReplicaId(2)));
  peer.send(FrameKind::Message, std::string(1 << 20, 'x'));
  EXPECT_TRUE(sink_.wait_received(1));
  EXPECT_TRUE(wait_closed(CloseReason::Greedy));
}

// Covers: FLT_S09
TEST_F(TcpStrangersTest, StrangersCanBeRefusedAltogetherAndThoseWhoBelongAreStillLetIn) {
  start({.guests_max = 0});
  FakePeer stranger = connect();
  EXPECT_FALSE(stranger.shake(introduction(11)));
  EXPECT_EQ(stranger.goodbye(), CloseReason::UnknownSender);
  FakePeer liar = connect();
  Introduction claim = introduction(12);
  claim.mark = mark_of(kCluster);
  ASSERT_TRUE(liar.shake(claim));
  EXPECT_FALSE(liar.processed());
  FakePeer leader = connect(kCluster);  // of a log that ours does not reach yet
  ASSERT_TRUE(leader.shake(introduction(13)) && leader.processed());
  leader.send(FrameKind::Message, "append");
  EXPECT_TRUE(sink_.wait_body("append"));
}

TEST_F(TcpStrangersTest, WhoIsBlankTakesAnInvitationAndNothingLarge) {
  start({}, hello_of(1));
  FakePeer leader = connect(kCluster);
  ASSERT_TRUE(leader.shake(introduction(11)) && leader.processed());
  leader.send(FrameKind::Message, std::string(kInvitationBytesMax, 'x'));
  EXPECT_TRUE(sink_.wait_received(1));
  leader.write(leader.seal(FrameKind::Message, std::string(kInvitationBytesMax + 1, 'x')).substr(0, kFrameHeaderBytes));
  EXPECT_TRUE(leader.ended());
  EXPECT_TRUE(wait_closed(CloseReason::Oversize));
}

// ---- a shared secret

// Covers: FLT_S03
TEST_F(TcpStrangersTest, WithTheSecretItWorksInBothDirections) {
  FakeListener listener;
  start({.secret = kSecret}, member(1), "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer accepted = listener.accept();
  accepted.knows = kCluster;
  accepted.secret = kSecret;
  ASSERT_TRUE(accepted.welcome(introduction()));
  FakePeer dialed = connect(kCluster, kSecret);
  ASSERT_TRUE(dialed.shake(introduction()) && dialed.processed());
  dialed.send(FrameKind::Message, "to you");
  EXPECT_TRUE(sink_.wait_body("to you"));
  transport_->send(ReplicaId(2), {{Lane::Control, "to me"}});
  for (;;) {
    const auto frame = accepted.read();
    ASSERT_TRUE(frame.has_value());
    if (frame->kind == FrameKind::Message && frame->body == "to me") break;
  }
}

// Covers: FLT_N16
TEST_F(TcpStrangersTest, WhoKnowsTheSecretIsInvitedOnTheConnectionThatItMade) {
  start({.secret = kSecret, .idle_timeout = std::chrono::seconds(60), .redial_max = std::chrono::milliseconds(20)});
  FakePeer blank = connect(ClusterId(), kSecret);
  ASSERT_TRUE(blank.shake(introduction()));
  EXPECT_TRUE(reported(2, ClusterId()));
  transport_->send(ReplicaId(2), {{Lane::Bulk, "an invitation"}});
  for (;;) {
    const auto frame = blank.read();
    ASSERT_TRUE(frame.has_value());
    if (frame->kind == FrameKind::Message && frame->body == "an invitation") break;
  }
}

// Covers: FLT_S03
TEST_F(TcpStrangersTest, WithoutTheSecretNobodyGetsPastTheHello) {
  start({.secret = kSecret});
  FakePeer none = connect(kCluster);
  EXPECT_FALSE(none.shake(introduction()));
  EXPECT_EQ(none.goodbye(), CloseReason::SecretMissing);
  FakePeer wrong = connect(kCluster, "fedcba9876543210");
  ASSERT_TRUE(wrong.shake(introduction()));
  EXPECT_TRUE(wrong.ended());
  FakePeer spoiled = connect(kCluster, kSecret);
  spoiled.spoil = [](Introduction& one) { one.proof_of_secret[7] ^= 1; };
  ASSERT_TRUE(spoiled.shake(introduction()));
  EXPECT_TRUE(spoiled.ended());
  EXPECT_TRUE(wait_closed(CloseReason::SecretDiffers, 2));
  EXPECT_EQ(sink_.reports(), 0u);
}

// Covers: FLT_S03
TEST_F(TcpStrangersTest, ARecordedConversationIsWorthNothing) {
  start({.secret = kSecret});
  FakePeer peer = connect(kCluster, kSecret);
  ASSERT_TRUE(peer.shake(introduction()) && peer.processed());
  peer.send(FrameKind::Message, "once");
  ASSERT_TRUE(sink_.wait_body("once"));
  FakePeer replay = connect();
  replay.write(peer.sent);
  EXPECT_TRUE(replay.ended());
  peer.send(FrameKind::Message, "still connected");
  EXPECT_TRUE(sink_.wait_body("still connected"));
  EXPECT_EQ(sink_.all().size(), 2u);
}

// Covers: FLT_S03
TEST_F(TcpStrangersTest, AWrongSecretIsToldOnBothSidesAndNeverSaid) {
  const std::string other = "fedcba9876543210";
  TcpTransport second({.listen = "127.0.0.1:0", .secret = other});
  ASSERT_TRUE(second.bind().ok());
  start({.secret = kSecret}, member(1), "127.0.0.1:" + std::to_string(second.port()));
  RecordingSink sink;
  ASSERT_TRUE(second.start(member(2), {{ReplicaId(1), "127.0.0.1:" + std::to_string(transport_->port())}}, sink).ok());
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "secret"));
  EXPECT_TRUE(sink.wait_refused(ReplicaId(1), "secret"));
  second.close();
  for (const CloseReason reason : {CloseReason::SecretDiffers, CloseReason::SecretMissing}) {
    const std::string sentence = advice(ReplicaId(2), ReplicaId(1), reason, {});
    EXPECT_EQ(sentence.find(kSecret), std::string::npos);
    EXPECT_NE(sentence.find("SharedSecret"), std::string::npos) << sentence;
  }
}

TEST_F(TcpStrangersTest, AShortSecretIsRefusedWithoutRepeatingIt) {
  TcpTransport transport({.listen = "127.0.0.1:0", .secret = "too short"});
  const absl::Status status = transport.start(member(1), {}, sink_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("16 to 1024 bytes"), std::string::npos);
  EXPECT_EQ(std::string(status.message()).find("too short"), std::string::npos);
}

}  // namespace
}  // namespace coordkit
