// Conformance suite for the Transport port. Our transports pass it, and so must yours:
//
//   class MyWorld : public coordkit::testkit::TransportWorld { ... };
//   INSTANTIATE_TEST_SUITE_P(Mine, TransportSuite, ::testing::Values(
//       coordkit::testkit::TransportUnderTest{"mine", [] { return std::make_unique<MyWorld>(); }}),
//       coordkit::testkit::transport_name);
//
// Include it in one source file of a test program and instantiate it in the namespace
// coordkit::testkit. Quiet conditions are assumed: no frame is lost unless a test floods. Waits
// have generous deadlines (patience.h) and no test sleeps. This header tests frames and peers in
// good order. transport_identity_suite.h tests identity, transport_load_suite.h load. Which defects
// each test notices: docs/conformance.md.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/testing/transport_fixture.h"
#include "coordkit/testing/transport_identity_suite.h"
#include "coordkit/testing/transport_load_suite.h"

namespace coordkit::testkit {

TEST_P(TransportSuite, PeersLearnEachOthersHello) {
  const auto a = make_started(1);
  const auto b = make_started(2, 7);
  ASSERT_TRUE(a->sink.wait_hello(ReplicaId(2), [](const Hello& hello) {
    return hello.to == ReplicaId(1) && hello.store == store_of(2) && hello.boot == BootCounter(7) &&
           hello.cluster_name == "suite" && hello.cluster == ClusterId(kCluster) && hello.feature_level == 42 &&
           hello.agreement == hello_of(2).agreement && hello.members == hello_of(2).members;
  })) << "peer_up() does not name the hello that the other end has said";
  ASSERT_TRUE(b->sink.wait_up(ReplicaId(1)));
  EXPECT_FALSE(a->sink.is_up(ReplicaId(1))) << "oneself is no peer";
  EXPECT_FALSE(a->sink.is_up(ReplicaId(3)));
  const auto c = make(3);
  Hello says_less = hello_of(3);
  says_less.agreement.reset();
  start(*c, says_less);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(3)));
  EXPECT_EQ(a->sink.hello(ReplicaId(3)).agreement, std::nullopt)
      << "peer_up() names an agreement that the other end has not said: it would be compared";
}

TEST_P(TransportSuite, BodiesArriveAsTheyWereSent) {
  const auto a = make_started(1);
  const auto b = make_started(2);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)));
  std::string large(1 << 20, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>((i * 31 >> 3) + 1);
  const std::vector<std::string> bodies = {"one", "", std::string("0\0\xff\r\n", 5), large, "last"};
  for (const std::string& body : bodies) send(*a, 2, body);
  ASSERT_TRUE(b->sink.wait_body("last"));
  const auto received = each_once(*b);
  ASSERT_EQ(received.size(), bodies.size()) << "a body did not arrive, empty ones included";
  for (size_t i = 0; i < bodies.size(); ++i) {
    EXPECT_TRUE(received[i].body == bodies[i]) << "a body arrived otherwise than it was sent: number " << i;
    EXPECT_EQ(received[i].from, ReplicaId(1));
  }
}

TEST_P(TransportSuite, FramesOfOneLaneStayInOrder) {
  const auto a = make_started(1);
  const auto b = make_started(2);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)));
  constexpr int kCount = 1500;
  std::vector<Frame> batch;
  for (int i = 0; i < kCount; ++i) {
    const Lane lane = i % 3 == 0 ? Lane::Control : Lane::Bulk;
    batch.push_back({lane, (lane == Lane::Control ? "L" : "B") + std::to_string(i)});
    if (i % 7 == 0) a->transport->send(ReplicaId(2), std::exchange(batch, {}));
  }
  a->transport->send(ReplicaId(2), std::move(batch));
  ASSERT_TRUE(b->sink.wait_received(kCount) && b->sink.wait_body("L1497") && b->sink.wait_body("B1499"));
  std::map<char, int> last = {{'L', -1}, {'B', -1}};
  for (const auto& received : each_once(*b)) {
    const std::string& body = received.body;
    const int number = std::stoi(body.substr(1));
    EXPECT_LT(last[body[0]], number) << "frames of one lane have changed their order";
    last[body[0]] = number;
  }
}

TEST_P(TransportSuite, TheConnectionProvesTheSender) {
  const auto a = make_started(1);
  const auto b = make_started(2);
  const auto c = make_started(3);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(3)) && b->sink.wait_up(ReplicaId(3)));
  send(*a, 3, "I am 2");
  send(*b, 3, "I am 1");
  ASSERT_TRUE(c->sink.wait_body("I am 2") && c->sink.wait_body("I am 1"));
  for (const auto& received : c->sink.all()) {
    EXPECT_EQ(received.from, received.body == "I am 2" ? ReplicaId(1) : ReplicaId(2))
        << "received() names another sender than the one at the other end of the connection";
  }
}

TEST_P(TransportSuite, ASinkMaySend) {
  const auto a = make(1);
  const auto b = make(2);
  constexpr int kRounds = 300;
  b->sink.on_received = [&](ReplicaId from, const std::string& body) { send(*b, from.value(), body); };
  int round = 0;
  a->sink.on_received = [&](ReplicaId from, const std::string& body) {
    const int n = std::stoi(body);
    if (std::exchange(round, (std::max)(round, n)) < n && n < kRounds)
      send(*a, from.value(), std::to_string(n + 1), Lane::Control);
  };
  start(*a, hello_of(1));
  start(*b, hello_of(2));
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && b->sink.wait_up(ReplicaId(1)));
  send(*a, 2, "1", Lane::Control);
  EXPECT_TRUE(a->sink.wait_body(std::to_string(kRounds)));
  a->transport->close();  // before the sinks go
  b->transport->close();
}

TEST_P(TransportSuite, FramesToNobodyOrOneselfAreDropped) {
  const auto a = make_started(1);
  const auto b = make_started(2);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)));
  send(*a, 99, "nobody");
  send(*a, 1, "myself");
  send(*a, 2, "you");
  ASSERT_TRUE(b->sink.wait_body("you"));
  EXPECT_EQ(each_once(*b).size(), 1u) << "a frame reached another replica than the one it was sent to";
  EXPECT_TRUE(a->sink.all().empty()) << "a frame to oneself was delivered";
}

TEST_P(TransportSuite, SendingToAnAbsentPeerNeverBlocks) {
  const auto a = make_started(1);
  for (int i = 0; i < 20'000; ++i) send(*a, 2, std::string(100, 'x'), i % 2 == 0 ? Lane::Control : Lane::Bulk);
  const auto b = make_started(2);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && b->sink.wait_up(ReplicaId(1)));
  send(*a, 2, "after");
  EXPECT_TRUE(b->sink.wait_body("after"));
}

TEST_P(TransportSuite, ControlArrivesWhileBulkFloods) {
  const auto a = make_started(1);
  const auto b = make_started(2);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)));
  for (int i = 0; i < 3000; ++i) send(*a, 2, std::string(40'000, 'x'));
  send(*a, 2, "vote", Lane::Control);
  EXPECT_TRUE(b->sink.wait_body("vote"));
}

TEST_P(TransportSuite, NothingIsReportedAfterClose) {
  const auto a = make_started(1);
  const auto b = make_started(2);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && b->sink.wait_up(ReplicaId(1)));
  for (int i = 0; i < 2000; ++i) send(*a, 2, std::string(1000, 'x'));
  ASSERT_TRUE(b->sink.wait_received(1));
  b->transport->close();
  b->sink.forbid();
  send(*a, 2, "late");
  ASSERT_TRUE(a->sink.wait_down(ReplicaId(2)));
  a->transport->close();
  EXPECT_FALSE(b->sink.violated()) << "something was reported after close() had returned";
}

TEST_P(TransportSuite, CloseMayBeRepeatedAndEndsEverything) {
  const auto a = make_started(1);
  const auto never_started = make(2);
  never_started->transport->close();
  never_started->transport->close();
  a->transport->close();
  a->transport->close();
  send(*a, 2, "after close");
  a->transport->set_cluster(ClusterId(1));
  EXPECT_FALSE(a->transport->start(hello_of(1), world_->peers(), a->sink).ok()) << "a transport that was closed starts again";
}

TEST_P(TransportSuite, APeerThatRestartsIsFoundAgain) {
  const auto a = make_started(1);
  auto b = make_started(2);
  for (uint64_t boot = 2; boot <= 4; ++boot) {
    ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && b->sink.wait_up(ReplicaId(1)));
    b->transport->close();
    b.reset();
    ASSERT_TRUE(a->sink.wait_down(ReplicaId(2))) << "a peer has gone and peer_down() was not called";
    b = make_started(2, boot);
    ASSERT_TRUE(a->sink.wait_hello(ReplicaId(2), [&](const Hello& hello) { return hello.boot == BootCounter(boot); }));
    ASSERT_TRUE(b->sink.wait_up(ReplicaId(1)));
    send(*a, 2, "to the new one");
    send(*b, 1, "from boot " + std::to_string(boot));
    EXPECT_TRUE(b->sink.wait_body("to the new one"));
    EXPECT_TRUE(a->sink.wait_body("from boot " + std::to_string(boot)));
  }
}

TEST_P(TransportSuite, AClusterIdSetLaterReachesThePeers) {
  const auto a = make_started(1, 1, 0);
  const auto b = make_started(2, 1, 0);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && b->sink.wait_up(ReplicaId(1)));
  const auto knows = [](const Hello& hello) { return hello.cluster == ClusterId(77); };
  a->transport->set_cluster(ClusterId(77));
  EXPECT_TRUE(b->sink.wait_hello(ReplicaId(1), [](const Hello& hello) { return bool(hello.cluster); }))
      << "peers do not learn of the cluster id that set_cluster() gave";
  send(*a, 2, "come in");
  EXPECT_TRUE(b->sink.wait_body("come in")) << "a blank peer can be invited";
  b->transport->set_cluster(ClusterId(77));
  EXPECT_TRUE(a->sink.wait_hello(ReplicaId(2), knows));
  EXPECT_TRUE(b->sink.wait_hello(ReplicaId(1), knows));
  send(*a, 2, "still here");
  EXPECT_TRUE(b->sink.wait_body("still here"));
}

// ---- peers that come and go

TEST_P(TransportSuite, AReplicaThatIsNotListedIsAGuestThatIsHeardAndAnswered) {
  const auto a = make_without_third(1);
  const auto guest = make_started(3);
  ASSERT_TRUE(guest->sink.wait_up(ReplicaId(1)));
  ASSERT_TRUE(a->sink.wait_hello(ReplicaId(3), [](const Hello& hello) { return hello.store == store_of(3); }))
      << "peer_up() does not name the hello that a guest has said";
  send(*guest, 1, "let me in");
  ASSERT_TRUE(a->sink.wait_body("let me in"));
  EXPECT_EQ(a->sink.all()[0].from, ReplicaId(3));
  send(*a, 3, "wait");
  ASSERT_TRUE(guest->sink.wait_body("wait"));
  guest->transport->close();
  EXPECT_TRUE(a->sink.wait_down(ReplicaId(3)));
}

TEST_P(TransportSuite, APeerThatIsAddedIsConnectedWith) {
  const auto a = make_without_third(1);
  const auto b = make_without_third(2);
  auto third = make(3);
  std::vector<Peer> nobody;
  ASSERT_TRUE(third->transport->start(hello_of(3), nobody, third->sink).ok());
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)));
  EXPECT_FALSE(a->sink.is_up(ReplicaId(3)));
  for (int again = 0; again < 2; ++again) a->transport->set_peers(world_->peers());
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(3)) && third->sink.wait_up(ReplicaId(1)))
      << "a peer that set_peers() has added is not connected with";
  send(*a, 3, "welcome");
  ASSERT_TRUE(third->sink.wait_body("welcome"));
  send(*third, 1, "thanks");  // as a guest
  EXPECT_TRUE(a->sink.wait_body("thanks"));
  third->transport->set_peers(world_->peers());
  ASSERT_TRUE(third->sink.wait_up(ReplicaId(2)));
  send(*third, 1, "still here");
  EXPECT_TRUE(a->sink.wait_body("still here"));
}

TEST_P(TransportSuite, APeerThatIsRemovedIsLetGoAndMayBeAddedAgain) {
  const auto a = make_started(1);
  const auto b = make_started(2);
  const auto third = make(3);
  std::vector<Peer> nobody;
  ASSERT_TRUE(third->transport->start(hello_of(3), nobody, third->sink).ok());
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(3)) && b->sink.wait_up(ReplicaId(3)) && a->sink.wait_up(ReplicaId(2)));
  send(*a, 3, "goodbye");
  a->transport->set_peers(peers_but(3));
  EXPECT_TRUE(third->sink.wait_body("goodbye"));
  ASSERT_TRUE(a->sink.wait_down(ReplicaId(3)) && third->sink.wait_down(ReplicaId(1)))
      << "a peer that set_peers() has removed is still connected";
  EXPECT_TRUE(b->sink.is_up(ReplicaId(3)) && a->sink.is_up(ReplicaId(2)));
  a->transport->set_peers(world_->peers());
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(3)) && third->sink.wait_up(ReplicaId(1)));
  send(*a, 3, "again");
  EXPECT_TRUE(third->sink.wait_body("again"));
}

TEST_P(TransportSuite, ReplicasOfDifferentClustersNeverMeet) {
  const auto a = make_started(1, 1, 55);
  const auto b = make_started(2, 1, 66);
  const auto blank = make_started(3, 1, 0);
  ASSERT_TRUE(blank->sink.wait_up(ReplicaId(1)) && blank->sink.wait_up(ReplicaId(2)));
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(3)) && b->sink.wait_up(ReplicaId(3)));
  send(*a, 2, "wrong");
  send(*b, 1, "wrong");
  send(*a, 3, "right 1");
  send(*b, 3, "right 2");
  ASSERT_TRUE(blank->sink.wait_body("right 1") && blank->sink.wait_body("right 2"));
  EXPECT_FALSE(a->sink.is_up(ReplicaId(2)));
  EXPECT_FALSE(b->sink.is_up(ReplicaId(1)));
  EXPECT_TRUE(a->sink.all().empty());
}

}  // namespace coordkit::testkit
