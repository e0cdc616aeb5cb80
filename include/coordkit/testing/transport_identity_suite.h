// Conformance suite for transports, the part about identity: refusals with a sentence, and lives of
// a replica, which are distinguished by store and boot counter. Part of transport_suite.h.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordkit/testing/transport_fixture.h"

namespace coordkit::testkit {

// ---- refused peers

// Covers: FLT_N12
TEST_P(TransportSuite, APeerThatNamesAnotherClusterIsRefusedWithASentence) {
  const auto a = make_started(1);
  auto b = make(2);
  Hello other = hello_of(2);
  other.cluster_name = "another suite";
  start(*b, other);
  expect_refused(*a, 2, "replica 2 names another cluster than replica 1");
  expect_refused(*b, 1, "replica 1 names another cluster than replica 2");
  EXPECT_FALSE(a->sink.is_up(ReplicaId(2)) || b->sink.is_up(ReplicaId(1))) << "replicas of different clusters have met";
  b->transport->close();
  b = make_started(2, 2);
  EXPECT_TRUE(a->sink.wait_up(ReplicaId(2))) << "a peer stays refused although its cluster's name was corrected";
  EXPECT_FALSE(a->sink.is_refused(ReplicaId(2))) << "a peer is up and refused at once";
}

// Covers: FLT_N12
TEST_P(TransportSuite, APeerOfAnotherClusterOfTheSameNameIsRefusedWithASentence) {
  const auto a = make_started(1, 1, 55);
  const auto b = make_started(2, 1, 66);
  expect_refused(*a, 2, "replica 2 belongs to another cluster of the same name");
  expect_refused(*b, 1, "replica 1 belongs to another cluster of the same name");
  EXPECT_FALSE(a->sink.is_up(ReplicaId(2)) || b->sink.is_up(ReplicaId(1))) << "replicas of different clusters have met";
}

// Covers: FLT_N12
TEST_P(TransportSuite, APeerWithoutACommonProtocolIsRefusedWithASentence) {
  const auto a = make_started(1);
  auto b = make(2);
  Hello newer = hello_of(2);
  newer.protocol_min = newer.protocol_max = newer.protocol_max + 1;
  start(*b, newer);
  expect_refused(*a, 2, "replica 2 speaks no version of the protocol that replica 1 speaks");
  expect_refused(*b, 1, "replica 1 speaks no version of the protocol that replica 2 speaks");
  EXPECT_FALSE(a->sink.is_up(ReplicaId(2)) || b->sink.is_up(ReplicaId(1))) << "replicas without a common protocol have met";
  b->transport->close();
  b = make(2);
  newer.boot = BootCounter(2);
  newer.protocol_min = 1;
  start(*b, newer);
  EXPECT_TRUE(a->sink.wait_up(ReplicaId(2))) << "a peer that speaks a newer protocol besides the common one is refused";
}

// Covers: FLT_N12
TEST_P(TransportSuite, AnotherReplicaAtAPeersAddressIsRefusedWithASentence) {
  std::vector<Peer> swapped = peers_but(3);
  for (const Peer& peer : world_->peers()) {
    if (peer.id == ReplicaId(3)) swapped.back().address = peer.address;
  }
  if (swapped == peers_but(3)) GTEST_SKIP() << "the addresses of this world are all the same: no replica can be at a wrong one";
  const auto third = make_started(3);
  const auto a = make(1);
  ASSERT_TRUE(a->transport->start(hello_of(1), swapped, a->sink).ok());
  send(*a, 2, "for replica 2 alone");
  expect_refused(*a, 2, "replica 3 answers at the address of replica 2");
  EXPECT_FALSE(a->sink.is_up(ReplicaId(2))) << "replica 3 was taken for replica 2";
  const auto b = make_started(2);
  a->transport->set_peers(world_->peers());
  EXPECT_TRUE(a->sink.wait_up(ReplicaId(2))) << "a peer stays refused although its address was corrected";
  EXPECT_TRUE(send_until_received(*a, *b, 2, "found"));
  EXPECT_FALSE(third->sink.has_body("for replica 2 alone")) << "a frame reached another replica than the one it was sent to";
}

// ---- lives of a replica

// Covers: FLT_P18
TEST_P(TransportSuite, AnOlderLifeOfAPeerIsRefusedAndTheNewerOneStays) {
  const auto a = make_started(1);
  const auto b = make_started(2, 5);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && b->sink.wait_up(ReplicaId(1)));
  Node older;
  older.transport = world_->make_double(ReplicaId(2));
  if (!older.transport) GTEST_SKIP() << "TransportWorld::make_double() would show whether an old process is kept out";
  if (older.transport->start(hello_of(2, 4), world_->peers(), older.sink).ok()) {
    send(older, 1, "of an older life");
    expect_refused(older, 1, "a process with boot counter 4 acts as replica 2, which is connected with boot counter 5");
    send(older, 1, "of an older life");
  }
  ASSERT_TRUE(send_until_received(*b, *a, 1, "still here")) << "the newer life of a peer was displaced by an older one";
  EXPECT_EQ(a->sink.hello(ReplicaId(2)).boot, BootCounter(5)) << "peer_up() named an older life after a newer one";
  EXPECT_FALSE(a->sink.has_body("of an older life")) << "a frame of an older life was reported beside a newer one";
  EXPECT_EQ(a->sink.downs(ReplicaId(2)), 0) << "the newer life was cut off";
}

// Covers: FLT_P18
TEST_P(TransportSuite, NothingOfAPreviousLifeIsReportedOnceALaterOneIsUp) {
  const auto a = make_started(1);
  const auto previous = make_started(2, 4);
  Node later;
  later.transport = world_->make_double(ReplicaId(2));
  if (!later.transport) GTEST_SKIP() << "TransportWorld::make_double() would show whether a previous life falls silent";
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && previous->sink.wait_up(ReplicaId(1)));
  std::atomic<bool> stop{false};
  std::thread talker([&] {  // all the time, like one that does not know that it was given up
    while (!stop) {
      send(*previous, 1, "4", Lane::Control);
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(a->sink.wait_body("4"));
  const bool came = later.transport->start(hello_of(2, 5), world_->peers(), later.sink).ok() &&
                    a->sink.wait_hello(ReplicaId(2), [](const Hello& hello) { return hello.boot == BootCounter(5); });
  const bool received = came && send_until_received(later, *a, 1, "5") && send_until_received(later, *a, 1, "5 again");
  stop = true;
  talker.join();
  EXPECT_TRUE(came) << "a later life of a peer was not reported by peer_up()";
  EXPECT_TRUE(received) << "a later life of a peer is up and not heard";
  for (const auto& [from, body, life, store] : a->sink.all()) {
    ASSERT_TRUE(body != "4" || life == BootCounter(4))
        << "a frame of a previous life was reported after peer_up() named a later one";
  }
}

// Covers: FLT_P27
TEST_P(TransportSuite, FramesInFlightDoNotOutliveARestartOfTheirReceiver) {
  const auto a = make_started(1);
  for (uint64_t life = 1; life <= 12; ++life) {
    const auto b = make_started(2, life);
    ASSERT_TRUE(a->sink.wait_hello(ReplicaId(2), [&](const Hello& hello) { return hello.boot == BootCounter(life); }));
    const std::string body = "to life " + std::to_string(life);
    ASSERT_TRUE(send_until_received(*a, *b, 2, body)) << "a peer that came again gets nothing";
    for (int i = 0; i < 500; ++i) send(*a, 2, body);
    b->transport->close();
    for (int i = 0; i < 500; ++i) send(*a, 2, body);
    for (const auto& received : b->sink.all()) {
      ASSERT_EQ(received.body, body) << "a frame that was sent to an earlier life was reported to a later one";
    }
  }
}

// Covers: FLT_P18
TEST_P(TransportSuite, FramesInFlightDoNotOutliveARestartOfTheirSender) {
  const auto tag = [](StoreId store, BootCounter boot) {
    return std::to_string(store.value()) + "/" + std::to_string(boot.value()) + ":";
  };
  const auto a = make_started(1);
  for (uint64_t life = 1; life <= 12; ++life) {
    auto b = make(2);
    Hello hello = hello_of(2, life);
    // A replaced disk: its lives begin at 1 again.
    if (life >= 8) hello.store = StoreId(2002), hello.boot = BootCounter(life - 7);
    start(*b, hello);
    const auto is_this = [&](const Hello& reported) { return reported.boot == hello.boot && reported.store == hello.store; };
    ASSERT_TRUE(a->sink.wait_hello(ReplicaId(2), is_this)) << "peer_up() does not name the life that came: " << life;
    ASSERT_TRUE(b->sink.wait_up(ReplicaId(1)));
    const std::string mine = tag(hello.store, hello.boot);
    ASSERT_TRUE(send_until_received(*b, *a, 1, mine + "here")) << "a peer that came again is not heard";
    for (int i = 0; i < 500; ++i) send(*b, 1, mine + std::to_string(i));
    b->transport->close();
  }
  for (const auto& received : a->sink.all()) {
    ASSERT_TRUE(received.body.starts_with(tag(received.store, received.life)))
        << "a frame of a previous life was reported after peer_up() named a later one: " << received.body << " of "
        << tag(received.store, received.life);
  }
}

}  // namespace coordkit::testkit
