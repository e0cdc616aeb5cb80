#include "coordkit/transport/tcp_transport.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <thread>

#include "base/fixed.h"
#include "base/random.h"
#include "name_service.h"
#include "tcp_fixture.h"

namespace coordkit {
namespace {

using std::chrono::milliseconds;
using testkit::RecordingSink;

// Replica 1 under test; replicas 2 and 3 are fakes.
class TcpTransportTest : public TcpFixture {
 protected:
  void start(TcpOptions options = {}, const std::string& second = "127.0.0.1:1", const std::string& third = "127.0.0.1:1") {
    start_as(hello_of(1), std::move(options), {{ReplicaId(2), second}, {ReplicaId(3), third}});
  }

  FakePeer connect() { return FakePeer::connect(transport_->port()); }
  bool wait_event(TcpEvent::Kind kind, CloseReason reason, size_t count = 1) {
    return wait_events(count, [kind, reason](const TcpEvent& event) {
      return event.kind == kind && (event.reason == reason || event.peers_reason == reason);
    });
  }
  bool wait_closed(CloseReason reason, size_t count = 1) { return wait_event(TcpEvent::Kind::Closed, reason, count); }
  uint64_t closed_for(CloseReason reason) { return transport_->counters().closed_for(reason); }
};

// ---- accepting

TEST_F(TcpTransportTest, PortInUseIsUnavailableAndNamesThePort) {
  start();
  const std::string port = std::to_string(transport_->port());
  TcpTransport second(TcpOptions{.listen = "127.0.0.1:" + port});
  RecordingSink sink;
  const absl::Status status = second.start(hello_of(2), {}, sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(std::string(status.message()).find("port " + port + " is in use"), std::string::npos) << status;
}

TEST_F(TcpTransportTest, NonsenseIsRefusedWithASentence) {
  const auto start_with = [&](TcpOptions options, Hello self, std::vector<Peer> peers) {
    TcpTransport transport(std::move(options));
    return transport.start(std::move(self), std::move(peers), sink_).code();
  };
  const TcpOptions good{.listen = "127.0.0.1:0"};
  const auto invalid = absl::StatusCode::kInvalidArgument;
  Hello nameless = hello_of(1);
  nameless.cluster_name.clear();
  EXPECT_EQ(start_with(TcpOptions{}, hello_of(1), {}), absl::StatusCode::kOk) << "it only dials";
  EXPECT_EQ(start_with(TcpOptions{.listen = "nowhere"}, hello_of(1), {}), invalid);
  EXPECT_EQ(start_with(TcpOptions{.listen = "127.0.0.1:70000"}, hello_of(1), {}), invalid);
  EXPECT_EQ(start_with(good, nameless, {}), invalid);
  EXPECT_EQ(start_with(good, hello_of(0), {}), invalid);
  EXPECT_EQ(start_with(good, hello_of(1), {{ReplicaId(2), "no port"}}), invalid);
  EXPECT_EQ(start_with(good, hello_of(1), {{ReplicaId(2), "h:1"}, {ReplicaId(2), "h:2"}}), invalid);
  EXPECT_EQ(start_with(TcpOptions{.listen = "127.0.0.1:0", .redial_min = milliseconds(0)}, hello_of(1), {}), invalid);
}

TEST_F(TcpTransportTest, AHostNameIsResolved) {
  std::ifstream hosts("/etc/hosts");
  const std::string known(std::istreambuf_iterator<char>(hosts), {});
  if (known.find("localhost") == std::string::npos) GTEST_SKIP() << "this machine's /etc/hosts does not name localhost";
  FakeListener listener;
  start({}, "localhost:" + std::to_string(listener.port()));
  FakePeer peer = listener.accept();
  EXPECT_TRUE(peer.welcome(introduction()));
  EXPECT_TRUE(sink_.wait_up(ReplicaId(2)));
}

// Covers: FLT_N17
TEST_F(TcpTransportTest, ANameWithoutAnswerHoldsUpNoOtherPeerAndNotTheEnd) {
  testkit::NameService names;
  FakeListener listener;
  start({.hello_timeout = std::chrono::seconds(1)}, "a.silent.test:7400", "known.test:" + std::to_string(listener.port()));
  names.wait_asked(1);
  FakePeer third = listener.accept();
  EXPECT_TRUE(third.welcome(introduction(3)));
  EXPECT_TRUE(sink_.wait_up(ReplicaId(3)));
  EXPECT_TRUE(sink_.wait_unreachable(ReplicaId(2), "the name service does not answer"));
  std::future<void> closed = std::async(std::launch::async, [this] { transport_->close(); });
  EXPECT_EQ(closed.wait_for(testkit::patience()), std::future_status::ready);
  names.release();
}

// Counts what it is told of peers that are not reached.
class NotReached : public RecordingSink {
 public:
  void peer_unreachable(ReplicaId peer, std::string why) override {
    ++reports;
    RecordingSink::peer_unreachable(peer, std::move(why));
  }
  std::atomic<int> reports{0};
};

// Covers: FLT_N17
TEST_F(TcpTransportTest, ANameServiceThatAnswersLateEachTimeIsReportedOnce) {
  testkit::NameService names;
  NotReached sink;
  TcpTransport transport(TcpOptions{.listen = "127.0.0.1:0", .hello_timeout = milliseconds(80)});
  ASSERT_TRUE(transport.start(hello_of(1), {{ReplicaId(2), "a.silent.test:7400"}}, sink).ok());
  for (int tries = 1; tries <= 3; ++tries) {
    names.wait_asked(tries);
    ASSERT_TRUE(sink.wait_unreachable(ReplicaId(2), "the name service does not answer"));
    if (tries > 1) std::this_thread::sleep_for(milliseconds(200));  // for as long as that takes again
    names.answer();
  }
  names.wait_asked(4);
  EXPECT_EQ(sink.reports, 1);
  transport.close();
}

// Covers: FLT_N17
TEST_F(TcpTransportTest, OfSeveralAddressesEachHasItsTurnIfTheFirstIsSilent) {
  testkit::NameService names;
  FakeListener silent;
  FakeListener listener(silent.port(), 2);
  start({.hello_timeout = milliseconds(200)}, "both.test:" + std::to_string(silent.port()));
  FakePeer second = listener.accept();
  EXPECT_TRUE(second.welcome(introduction()));
  EXPECT_TRUE(sink_.wait_up(ReplicaId(2)));
}

// The flags of a socket that waits for an answer to its connect(); -1: there is none.
int flags_of_one_that_dials() {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    tcp_info info{};
    socklen_t size = sizeof info;
    const bool socket = ::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
    if (socket && info.tcpi_state == TCP_SYN_SENT) return ::fcntl(descriptor, F_GETFD);
  }
  return -1;
}

// With a program that was started meanwhile the connection outlived its replica, and the peer took that for alive.
// Covers: FLT_P19
TEST_F(TcpTransportTest, AConnectionThatIsBeingMadeIsInheritedByNoProgram) {
  FakeListener full(0, 1, 0);
  const FakePeer only = FakePeer::connect(full.port());
  start({}, "127.0.0.1:" + std::to_string(full.port()));
  int flags = -1;
  for (int looks = 0; flags < 0 && looks < 100'000; ++looks) flags = flags_of_one_that_dials();
  ASSERT_GE(flags, 0);
  EXPECT_TRUE(flags & FD_CLOEXEC);
}

// Covers: FLT_N17
TEST_F(TcpTransportTest, WhoMovesIsDialedWhereItIsWhileItsFormerNameHasNoAnswer) {
  testkit::NameService names;
  FakeListener listener;
  start({}, "a.silent.test:7400");
  names.wait_asked(1);
  transport_->set_peers({{ReplicaId(2), "known.test:" + std::to_string(listener.port()), StoreId()}});
  FakePeer second = listener.accept();
  EXPECT_TRUE(second.welcome(introduction()));
  EXPECT_TRUE(sink_.wait_up(ReplicaId(2)));
  names.release();
}

// ---- uninvited peers

// Covers: FLT_S01
TEST_F(TcpTransportTest, OtherProtocolsAndNoiseAreClosedAtOnceAndCounted) {
  start();
  Random random(1);
  std::string noise(64, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  const std::vector<std::string> strangers = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", std::string("\x16\x03\x01\x02\x00\x01", 6),
                                              noise, "G"};
  for (const std::string& bytes : strangers) {
    FakePeer stranger = connect();
    stranger.write(bytes);
    EXPECT_TRUE(stranger.ended());
  }
  EXPECT_TRUE(wait_closed(CloseReason::SpeaksTls));
  EXPECT_TRUE(wait_closed(CloseReason::BadMagic, strangers.size() - 1));
  EXPECT_EQ(closed_for(CloseReason::BadMagic), strangers.size() - 1);
}

// Covers: FLT_S02
TEST_F(TcpTransportTest, AHelloThatClaimsFourGigabytesIsClosedByItsHeader) {
  start();
  FakePeer stranger = connect();
  std::string header = stranger.seal(FrameKind::Hello, "");
  store_u32(header.data() + 16, 0xffffffff);
  store_u32(header.data() + 20, static_cast<uint32_t>(hash_bytes({header.data(), 20})));
  stranger.write(header);
  EXPECT_TRUE(stranger.ended());
  EXPECT_TRUE(wait_closed(CloseReason::Oversize));
}

// Covers: FLT_S02
TEST_F(TcpTransportTest, BodyBeyondTheLimitIsClosedByItsHeader) {
  start({.frame_bytes_max = 4096});
  FakePeer peer = connect();
  ASSERT_TRUE(peer.shake(introduction()) && peer.processed());
  peer.write(peer.seal(FrameKind::Message, std::string(4096, 'x')));
  peer.write(peer.seal(FrameKind::Message, std::string(4097, 'x')).substr(0, kFrameHeaderBytes));
  EXPECT_TRUE(peer.ended());
  EXPECT_TRUE(wait_closed(CloseReason::Oversize));
  EXPECT_EQ(sink_.all().size(), 1u);
}

TEST_F(TcpTransportTest, MessagesBeforeTheHelloAreNotParsed) {
  start();
  FakePeer stranger = connect();
  stranger.send(FrameKind::Message, "vote for me");
  EXPECT_TRUE(stranger.ended());
  EXPECT_TRUE(wait_closed(CloseReason::UnexpectedFrame));
  EXPECT_TRUE(sink_.all().empty());
}

// Covers: FLT_S03
TEST_F(TcpTransportTest, AReplayedConnectionDisplacesNobodyAndDeliversNothing) {
  start();
  FakePeer peer = connect();
  ASSERT_TRUE(peer.shake(introduction()) && peer.processed());
  peer.send(FrameKind::Message, "once");
  ASSERT_TRUE(sink_.wait_body("once"));
  FakePeer replay = connect();
  replay.write(peer.sent);
  EXPECT_TRUE(replay.ended());
  EXPECT_TRUE(wait_closed(CloseReason::BadHeaderSum));
  peer.send(FrameKind::Message, "still connected");
  EXPECT_TRUE(sink_.wait_body("still connected"));
  EXPECT_EQ(sink_.all().size(), 2u);
}

// Covers: FLT_S04
TEST_F(TcpTransportTest, SilentStrangersAreClosedAfterTheTimeout) {
  start({.hello_timeout = milliseconds(30)});
  FakePeer silent = connect();
  FakePeer slow = connect();
  slow.write(std::string("\xc0KIT", 4));
  EXPECT_TRUE(silent.ended() && slow.ended());
  EXPECT_TRUE(wait_closed(CloseReason::HelloTimeout, 2));
}

// Covers: FLT_S04
TEST_F(TcpTransportTest, AFloodOfStrangersEvictsStrangersOnly) {
  start({.unverified_max = 8, .unverified_per_address_max = 4, .hello_timeout = std::chrono::hours(1)});
  FakePeer peer = connect();
  ASSERT_TRUE(peer.shake(introduction()) && peer.processed());
  std::vector<FakePeer> flood;
  for (int i = 0; i < 40; ++i) flood.push_back(connect());
  EXPECT_TRUE(wait_closed(CloseReason::Crowded, 36));
  FakePeer other = connect();
  EXPECT_TRUE(other.shake(introduction(3)) && other.processed()) << "a real peer still gets in";
  peer.send(FrameKind::Message, "undisturbed");
  EXPECT_TRUE(sink_.wait_body("undisturbed"));
}

// ---- hello

// Covers: FLT_N12
TEST_F(TcpTransportTest, AHelloThatDoesNotFitIsRefusedForItsReason) {
  start({.guests_max = 0});
  transport_->set_cluster(ClusterId(7));
  const auto refused = [&](auto change) {
    Introduction mine = introduction();
    change(mine.hello);
    FakePeer peer = connect();
    if (mine.hello.cluster) peer.knows = mine.hello.cluster;
    EXPECT_FALSE(peer.shake(mine));
    EXPECT_TRUE(peer.ended());
    EXPECT_TRUE(wait_closed(peer.goodbye()));
    return peer.goodbye();
  };
  EXPECT_EQ(refused([](Hello& hello) { hello.cluster_name = "invoices"; }), CloseReason::OtherClusterName);
  EXPECT_EQ(refused([](Hello& hello) { hello.to = ReplicaId(3); }), CloseReason::WrongReceiver);
  EXPECT_EQ(refused([](Hello& hello) { hello.from = ReplicaId(9); }), CloseReason::UnknownSender);
  EXPECT_EQ(refused([](Hello& hello) { hello.from = ReplicaId(1); }), CloseReason::UnknownSender);
  EXPECT_EQ(refused([](Hello& hello) { hello.cluster = ClusterId(8); }), CloseReason::OtherCluster);
  EXPECT_EQ(refused([](Hello& hello) { hello.protocol_min = 3, hello.protocol_max = 4; }), CloseReason::NoCommonProtocol);
  EXPECT_EQ(transport_->counters().opened, 0u);
  EXPECT_EQ(sink_.reports(), 0u);
}

// Covers: FLT_N12
TEST_F(TcpTransportTest, SwappedAddressesAreNoticedByBothEnds) {
  FakeListener listener;  // replica 3 lives where replica 2 is said to be
  start({}, "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer third = listener.accept();
  third.welcome(introduction(3));
  EXPECT_TRUE(wait_closed(CloseReason::WrongReceiver));
  EXPECT_FALSE(third.processed());
  EXPECT_EQ(third.goodbye(), CloseReason::WrongReceiver);
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "")) << "its operator is informed";
  EXPECT_FALSE(sink_.is_up(ReplicaId(2)) || sink_.is_up(ReplicaId(3)));
}

TEST_F(TcpTransportTest, TheDialerLearnsWhyItIsRefused) {
  FakeListener listener;
  start({}, "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer peer = listener.accept();
  ASSERT_TRUE(peer.read().has_value());
  peer.send(FrameKind::Goodbye, std::string(1, static_cast<char>(CloseReason::OtherClusterName)));
  EXPECT_TRUE(wait_closed(CloseReason::RefusedByPeer));
  EXPECT_TRUE(wait_closed(CloseReason::OtherClusterName));  // as the peer's reason
}

TEST_F(TcpTransportTest, AnAnswerThatDoesNotEchoTheNonceIsRefused) {
  FakeListener listener;
  start({}, "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer peer = listener.accept();
  ASSERT_TRUE(peer.read().has_value());
  Introduction stale = introduction();
  stale.echo = 12345;
  peer.send(FrameKind::Hello, encode(stale));
  EXPECT_TRUE(wait_closed(CloseReason::BadHello));
}

TEST_F(TcpTransportTest, ARepeatedHelloMayChangeTheClusterIdOnly) {
  start();
  FakePeer peer = connect();
  Introduction mine = introduction();
  ASSERT_TRUE(peer.shake(mine) && peer.processed());
  const auto again = [&](const Introduction& repeated) { return peer.send(FrameKind::Hello, encode(repeated)); };
  transport_->set_cluster(ClusterId(7));
  const auto frame = peer.read();  // on the live connection
  ASSERT_TRUE(frame && frame->kind == FrameKind::Hello);
  const Introduction theirs = decode_introduction(frame->body).value();
  EXPECT_EQ(theirs.mark, mark_of(ClusterId(7)));
  mine.echo = theirs.nonce;
  prove(mine, Prover::Dialer, ClusterId(7), "");
  again(mine);
  EXPECT_TRUE(sink_.wait_hello(ReplicaId(2), [](const Hello& hello) { return hello.cluster == ClusterId(7); }));
  mine.hello.store = StoreId(666);
  again(mine);
  EXPECT_TRUE(peer.ended());
  EXPECT_TRUE(wait_closed(CloseReason::IdentityChanged));
  EXPECT_TRUE(sink_.wait_down(ReplicaId(2)));
}

TEST_F(TcpTransportTest, AGenesisOfAnotherClusterEndsALiveConnection) {
  start();
  FakePeer peer = connect();
  peer.knows = ClusterId(8);
  ASSERT_TRUE(peer.shake(introduction()) && peer.processed());
  transport_->set_cluster(ClusterId(7));
  EXPECT_TRUE(wait_closed(CloseReason::OtherCluster));
}

// ---- bytes

// Covers: FLT_N09
TEST_F(TcpTransportTest, AFlippedBitAnywhereEndsTheConnectionAndDeliversNothing) {
  start();
  const std::string body = "append entries";
  uint64_t ended = 0;
  for (size_t at = 0; at < kFrameHeaderBytes + body.size(); ++at) {
    FakePeer peer = connect();
    ASSERT_TRUE(peer.shake(introduction()) && peer.processed());
    std::string frame = peer.seal(FrameKind::Message, body);
    frame[at] ^= static_cast<char>(1u << (at % 8));
    peer.write(frame);
    EXPECT_TRUE(peer.ended()) << at;
    ++ended;
  }
  EXPECT_TRUE(sink_.wait_down(ReplicaId(2)));
  const TcpCounters counters = transport_->counters();
  EXPECT_EQ(counters.frames_received, 0u);
  EXPECT_GE(counters.closed_for(CloseReason::BadSum), body.size());
  EXPECT_EQ(counters.closed_for(CloseReason::BadSum) + counters.closed_for(CloseReason::BadHeaderSum) +
                counters.closed_for(CloseReason::BadMagic) + counters.closed_for(CloseReason::BadVersion),
            ended);
}

// Covers: FLT_N11
TEST_F(TcpTransportTest, OneByteAtATimeIsTheSameStream) {
  start();
  FakePeer peer = connect();
  ASSERT_TRUE(peer.shake(introduction()));
  std::string stream;
  for (int i = 0; i < 20; ++i) stream += peer.seal(FrameKind::Message, std::string(static_cast<size_t>(i), 'x'));
  for (const char byte : stream) ASSERT_TRUE(peer.write({&byte, 1}));
  ASSERT_TRUE(sink_.wait_received(20));
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(sink_.all()[i].body, std::string(i, 'x'));
}

// Covers: FLT_N11
TEST_F(TcpTransportTest, AResetInsideAFrameDeliversNothingOfIt) {
  start();
  FakePeer peer = connect();
  ASSERT_TRUE(peer.shake(introduction()) && peer.processed());
  const std::string frame = peer.seal(FrameKind::Message, "half a vote");
  peer.write(frame.substr(0, frame.size() - 1));
  peer.reset();
  EXPECT_TRUE(sink_.wait_down(ReplicaId(2)));
  EXPECT_TRUE(sink_.all().empty());
  FakePeer again = connect();
  ASSERT_TRUE(again.shake(introduction()));
  again.send(FrameKind::Message, "whole");
  EXPECT_TRUE(sink_.wait_body("whole"));
}

TEST_F(TcpTransportTest, FramesOfAnUnknownGroupAreCountedAndSkipped) {
  start();
  FakePeer peer = connect();
  ASSERT_TRUE(peer.shake(introduction()));
  peer.write(peer.seal(FrameKind::Message, "later", GroupId(2)));
  peer.send(FrameKind::Message, "now");
  EXPECT_TRUE(sink_.wait_body("now"));
  EXPECT_EQ(sink_.all().size(), 1u);
  EXPECT_EQ(transport_->counters().other_group, 1u);
}

// ---- connections

// Covers: FLT_N15
TEST_F(TcpTransportTest, ANewerConnectionReplacesTheOlderOfItsDirection) {
  start();
  std::vector<FakePeer> connections;
  for (int i = 0; i <= 20; ++i) {
    connections.push_back(connect());
    ASSERT_TRUE(connections.back().shake(introduction()) && connections.back().processed());
    if (i == 0) continue;
    EXPECT_TRUE(connections[connections.size() - 2].ended());
  }
  EXPECT_EQ(closed_for(CloseReason::Replaced), 20u);
  EXPECT_TRUE(sink_.is_up(ReplicaId(2)));
  connections.back().send(FrameKind::Message, "from the last");
  EXPECT_TRUE(sink_.wait_body("from the last"));
}

// Covers: FLT_N10
TEST_F(TcpTransportTest, APeerThatFallsSilentIsDown) {
  FakeListener listener;
  start({.idle_timeout = milliseconds(60)}, "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer dialed = listener.accept();  // answers no ping
  ASSERT_TRUE(dialed.welcome(introduction()));
  FakePeer accepted = connect();
  ASSERT_TRUE(accepted.shake(introduction()));  // sends no ping
  EXPECT_TRUE(wait_closed(CloseReason::Idle, 2));
  EXPECT_TRUE(sink_.wait_down(ReplicaId(2)));
}

TEST_F(TcpTransportTest, ADialerComesBackAtOnceWhenThePeerAppears) {
  FakeListener listener;
  // Only the peer's arrival could make it dial again within this test.
  start({.redial_min = std::chrono::hours(1), .redial_max = std::chrono::hours(1)},
        "127.0.0.1:" + std::to_string(listener.port()));
  { FakePeer refused = listener.accept(); }
  ASSERT_TRUE(wait_closed(CloseReason::Ended));
  FakePeer accepted = connect();
  ASSERT_TRUE(accepted.shake(introduction()));
  FakePeer dialed = listener.accept();
  EXPECT_TRUE(dialed.welcome(introduction()));
}

// Covers: FLT_N08
TEST_F(TcpTransportTest, LifeOvertakesBulkThatWaits) {
  FakeListener listener;
  start({.bulk_bytes_max = 256 << 20}, "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer peer = listener.accept();
  ASSERT_TRUE(peer.welcome(introduction()));
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  // More than any socket buffer takes: the rest waits in the queue, and the peer does not read yet.
  constexpr int kBulk = 600;
  for (int i = 0; i < kBulk; ++i) transport_->send(ReplicaId(2), {{Lane::Bulk, std::string(100'000, 'b')}});
  transport_->send(ReplicaId(2), {{Lane::Control, "vote"}});
  int bulk_before = 0;
  for (;;) {
    const auto frame = peer.read();
    ASSERT_TRUE(frame.has_value());
    if (frame->kind == FrameKind::Message && frame->body == "vote") break;
    bulk_before += frame->kind == FrameKind::Message;
  }
  EXPECT_LT(bulk_before, kBulk / 2);
}

// Covers: FLT_N10
TEST_F(TcpTransportTest, TheQueueToASilentPeerIsBoundedAndTheOldestBulkGoes) {
  FakeListener listener;
  start({.bulk_bytes_max = 1 << 20}, "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer peer = listener.accept();
  ASSERT_TRUE(peer.welcome(introduction()));
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  for (int i = 0; i < 600; ++i) transport_->send(ReplicaId(2), {{Lane::Bulk, std::to_string(i) + std::string(100'000, 'b')}});
  EXPECT_GT(transport_->counters().bulk_dropped, 100u);
  transport_->send(ReplicaId(2), {{Lane::Bulk, "newest"}});
  for (;;) {
    const auto frame = peer.read();
    ASSERT_TRUE(frame.has_value());
    if (frame->body == "newest") break;
  }
}

TEST_F(TcpTransportTest, AFrameBeyondTheLimitIsDroppedAndReported) {
  start({.frame_bytes_max = 4096});
  transport_->send(ReplicaId(2), {{Lane::Bulk, std::string(4097, 'x')}});
  EXPECT_TRUE(wait_event(TcpEvent::Kind::OversizeFrame, CloseReason::Oversize));
  EXPECT_EQ(transport_->counters().bulk_dropped, 1u);
}

TEST_F(TcpTransportTest, ThreadsMaySendWhileItCloses) {
  start();
  FakePeer peer = connect();
  ASSERT_TRUE(peer.shake(introduction()) && peer.processed());
  std::atomic<bool> stop{false};
  std::vector<std::thread> senders;
  for (int i = 0; i < 3; ++i) {
    senders.emplace_back([&] {
      while (!stop) {
        transport_->send(ReplicaId(2), {{Lane::Control, "x"}});
        transport_->set_cluster(ClusterId(1));
        (void)transport_->counters();
      }
    });
  }
  ASSERT_TRUE(wait_event(TcpEvent::Kind::Opened, CloseReason::NoReason));
  transport_->close();
  sink_.forbid();
  stop = true;
  for (std::thread& sender : senders) sender.join();
  EXPECT_FALSE(sink_.violated());
}

// ---- guests, and peers that come and go

TEST_F(TcpTransportTest, GuestsAreBounded) {
  start({.guests_max = 2});
  std::vector<FakePeer> guests;
  for (const uint64_t id : {11, 12}) {
    guests.push_back(connect());
    ASSERT_TRUE(guests.back().shake(introduction(id)) && guests.back().processed());
  }
  FakePeer third = connect();
  EXPECT_FALSE(third.shake(introduction(13)));
  EXPECT_EQ(third.goodbye(), CloseReason::UnknownSender);
  FakePeer peer = connect();
  EXPECT_TRUE(peer.shake(introduction(2)) && peer.processed()) << "a peer is no guest";
  guests.pop_back();
  ASSERT_TRUE(sink_.wait_down(ReplicaId(12)));
  FakePeer next = connect();
  EXPECT_TRUE(next.shake(introduction(13)) && next.processed());
}

TEST_F(TcpTransportTest, AGuestIsAnsweredOnTheConnectionItMade) {
  start();
  FakePeer guest = connect();
  ASSERT_TRUE(guest.shake(introduction(11)) && guest.processed());
  ASSERT_TRUE(sink_.wait_up(ReplicaId(11)));
  transport_->send(ReplicaId(11), {{Lane::Control, "you are not a member"}});
  for (;;) {
    const auto frame = guest.read();
    ASSERT_TRUE(frame.has_value());
    if (frame->kind == FrameKind::Message && frame->body == "you are not a member") break;
  }
}

TEST_F(TcpTransportTest, APeerThatMovesIsDialedAtItsNewAddress) {
  FakeListener here;
  FakeListener there;
  const auto at = [](const FakeListener& listener) { return "127.0.0.1:" + std::to_string(listener.port()); };
  start({}, at(here));
  FakePeer before = here.accept();
  ASSERT_TRUE(before.welcome(introduction()));
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  transport_->set_peers({{ReplicaId(2), at(there), StoreId()}});
  EXPECT_TRUE(before.ended());
  FakePeer after = there.accept();
  EXPECT_TRUE(after.welcome(introduction()));
  EXPECT_TRUE(wait_closed(CloseReason::LetGo));
}

// Covers: FLT_M07
TEST_F(TcpTransportTest, TheDirectoryThatMembershipNamesDisplacesTheOther) {
  start();
  FakePeer previous = connect();
  ASSERT_TRUE(previous.shake(introduction()) && previous.processed());
  Introduction named = introduction(2, 1, 222);
  named.hello.store = StoreId(4711);
  transport_->set_peers({{ReplicaId(2), "127.0.0.1:1", StoreId(4711)}});
  FakePeer replacement = connect();
  EXPECT_TRUE(replacement.shake(named) && replacement.processed());
  EXPECT_TRUE(previous.ended());
  EXPECT_TRUE(sink_.wait_hello(ReplicaId(2), [](const Hello& hello) { return hello.store == StoreId(4711); }));
  FakePeer back = connect();
  ASSERT_TRUE(back.shake(introduction()));
  EXPECT_FALSE(back.processed());
}

TEST_F(TcpTransportTest, WhoeverCanBeHelpedByAnOperatorIsReportedWithASentence) {
  FakeListener listener;
  start({}, "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer peer = listener.accept();
  Introduction other = introduction();
  other.hello.cluster_name = "invoices";
  peer.welcome(other);
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "replica 2 names its cluster differently"));
  FakePeer again = listener.accept();
  ASSERT_TRUE(again.read().has_value());
  again.send(FrameKind::Goodbye, std::string(1, static_cast<char>(CloseReason::TwoIncarnations)));
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "replica 2 says: two processes act as replica 1"));
}

// Closes it as soon as a peer is not reached.
class ClosingSink : public RecordingSink {
 public:
  void peer_unreachable(ReplicaId peer, std::string why) override {
    transport->close();
    RecordingSink::peer_unreachable(peer, std::move(why));
    forbid();
  }
  std::unique_ptr<TcpTransport> transport;
};

TEST_F(TcpTransportTest, AfterASinkHasClosedItNothingIsReported) {
  FakeListener listener;
  ClosingSink sink;
  sink.transport = std::make_unique<TcpTransport>(TcpOptions{.listen = "127.0.0.1:0", .idle_timeout = milliseconds(200)});
  ASSERT_TRUE(sink.transport->start(hello_of(1), {{ReplicaId(2), "127.0.0.1:" + std::to_string(listener.port())}}, sink).ok());
  FakePeer peer = listener.accept();
  ASSERT_TRUE(peer.welcome(introduction()));
  ASSERT_TRUE(sink.wait_unreachable(ReplicaId(2), "nothing comes over it"));
  sink.transport.reset();
  EXPECT_FALSE(sink.violated());
}

// Covers: FLT_N17
TEST_F(TcpTransportTest, AfterASinkHasClosedItThereIsNothingToWaitFor) {
  testkit::NameService names;
  ClosingSink sink;
  const auto long_after = std::chrono::minutes(10);
  sink.transport = std::make_unique<TcpTransport>(
      TcpOptions{.listen = "127.0.0.1:0", .hello_timeout = long_after, .redial_min = long_after, .redial_max = long_after});
  ASSERT_TRUE(sink.transport->start(hello_of(1), {{ReplicaId(2), "a.silent.test:7400"}}, sink).ok());
  names.wait_asked(1);
  names.release();
  ASSERT_TRUE(sink.wait_unreachable(ReplicaId(2), "does not resolve"));
  std::future<void> ended = std::async(std::launch::async, [&] { sink.transport.reset(); });
  EXPECT_EQ(ended.wait_for(testkit::patience()), std::future_status::ready);
}

TEST_F(TcpTransportTest, ThreadsMayChangeThePeersWhileOthersSend) {
  start();
  std::atomic<bool> stop{false};
  std::vector<std::thread> senders;
  for (uint64_t id = 2; id <= 4; ++id) {
    senders.emplace_back([&, id] {
      while (!stop) transport_->send(ReplicaId(id), {{Lane::Control, "x"}});
    });
  }
  for (int i = 0; i < 200; ++i) {
    std::vector<Peer> peers;
    for (uint64_t id = 2; id <= 4; ++id) {
      if ((i + id) % 3 != 0) peers.push_back({ReplicaId(id), "127.0.0.1:" + std::to_string(1 + i % 2), StoreId()});
    }
    transport_->set_peers(std::move(peers));
  }
  FakePeer peer = connect();
  EXPECT_TRUE(peer.shake(introduction()) && peer.processed());
  stop = true;
  for (std::thread& sender : senders) sender.join();
}

// ---- peers that are not reached at their address

class TcpOneWayTest : public TcpTransportTest {
 protected:
  static constexpr ClusterId kMembers{7};

  void start_knowing(ClusterId cluster, const std::string& second = "127.0.0.1:1") {
    Hello self = hello_of(1);
    self.cluster = cluster;
    const auto forever = std::chrono::seconds(60);
    start_as(self, {.hello_timeout = forever, .idle_timeout = forever, .redial_max = milliseconds(20)},
             {{ReplicaId(2), second}});
  }
  FakePeer connect_as(ClusterId knows, uint64_t instance = 5) {
    FakePeer peer = connect();
    peer.knows = knows;
    EXPECT_TRUE(peer.shake(introduction(2, 1, instance)));
    return peer;
  }
  // Since now.
  bool wait_dialed_in_vain() { return wait_closed(CloseReason::DialFailed, closed_for(CloseReason::DialFailed) + 2); }
  void send(const std::string& body) { transport_->send(ReplicaId(2), {{Lane::Bulk, body}}); }
  // The next message; everything else is skipped. Empty: the connection ended.
  static std::string next_body(FakePeer& peer) {
    while (const auto frame = peer.read()) {
      if (frame->kind == FrameKind::Message) return frame->body;
    }
    return "";
  }
};

// Covers: FLT_N16
TEST_F(TcpOneWayTest, AMemberIsAnsweredOnTheConnectionItMadeAndItsAddressIsNamed) {
  start_knowing(kMembers);
  FakePeer peer = connect_as(kMembers);
  ASSERT_TRUE(peer.processed());
  send("append");
  EXPECT_EQ(next_body(peer), "append");
  EXPECT_TRUE(sink_.wait_unreachable(ReplicaId(2), "nothing listens there"));
  EXPECT_TRUE(sink_.is_up(ReplicaId(2)));
  FakePeer again = connect_as(kMembers);  // the same start of it
  ASSERT_TRUE(again.processed());
  EXPECT_TRUE(peer.ended());
  send("more");
  EXPECT_EQ(next_body(again), "more");
  EXPECT_TRUE(sink_.wait_unreachable(ReplicaId(2), "nothing listens there")) << "after each connection that it makes";
}

// Covers: FLT_N17
TEST_F(TcpOneWayTest, AMemberIsAnsweredWhileItsNameHasNoAnswer) {
  testkit::NameService names;
  Hello self = hello_of(1);
  self.cluster = kMembers;
  start_as(self, {.hello_timeout = std::chrono::seconds(1), .idle_timeout = std::chrono::seconds(60)},
           {{ReplicaId(2), "a.silent.test:7400"}});
  names.wait_asked(1);
  FakePeer peer = connect_as(kMembers);
  send("append");
  EXPECT_EQ(next_body(peer), "append");
  EXPECT_TRUE(sink_.wait_unreachable(ReplicaId(2), "the name service does not answer"));
}

// Covers: FLT_N16
TEST_F(TcpOneWayTest, OnceItIsReachedWhatIsSentLeavesThere) {
  FakeListener listener;
  start_knowing(kMembers);
  FakePeer accepted = connect_as(kMembers);
  send("on its own");
  EXPECT_EQ(next_body(accepted), "on its own");
  transport_->set_peers({{ReplicaId(2), "127.0.0.1:" + std::to_string(listener.port()), StoreId()}});
  FakePeer dialed = listener.accept();
  dialed.knows = kMembers;
  ASSERT_TRUE(dialed.welcome(introduction()));
  ASSERT_TRUE(wait_event(TcpEvent::Kind::Opened, CloseReason::NoReason, 2));
  EXPECT_TRUE(sink_.wait_reached(ReplicaId(2)));
  send("at its address");
  EXPECT_EQ(next_body(dialed), "at its address");
}

// Covers: FLT_N16
TEST_F(TcpOneWayTest, AnotherReplicaAtItsAddressIsNamedWhileItIsAnswered) {
  FakeListener listener;
  start_knowing(kMembers);
  FakePeer peer = connect_as(kMembers);
  transport_->set_peers({{ReplicaId(2), "127.0.0.1:" + std::to_string(listener.port()), StoreId()}});
  listener.accept().welcome(introduction(3));
  send("append");
  EXPECT_EQ(next_body(peer), "append");
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "another replica answers at the address of replica 2"));
}

// Covers: FLT_N16
TEST_F(TcpOneWayTest, WhoShowsNothingAtItsAddressDoesNotKeepItFromBeingAnswered) {
  FakeListener listener;
  start_knowing(kMembers, "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer impostor = listener.accept();
  FakePeer peer = connect_as(kMembers);
  ASSERT_TRUE(peer.processed());
  impostor.welcome(introduction(2, 9, 66));
  EXPECT_TRUE(wait_closed(CloseReason::NotProven));
  send("append");
  EXPECT_EQ(next_body(peer), "append");
}

// Covers: FLT_S07
TEST_F(TcpOneWayTest, WhoCopiesAMembersHelloAtItsAddressDoesNotKeepItFromBeingAnswered) {
  FakeListener listener;
  start_knowing(kMembers, "127.0.0.1:" + std::to_string(listener.port()));
  FakePeer impostor = listener.accept();
  ASSERT_TRUE(impostor.welcome(introduction()));  // the member's very life, as it tells all that dial it
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  FakePeer peer = connect_as(kMembers);
  ASSERT_TRUE(peer.processed());
  send("append");
  EXPECT_EQ(next_body(peer), "append");
}

// Covers: FLT_S07
TEST_F(TcpOneWayTest, WhoCopiesAMembersHelloDoesNotHideThatItIsGone) {
  FakeListener listener;
  start_knowing(kMembers, "127.0.0.1:" + std::to_string(listener.port()));
  std::optional<FakePeer> peer = listener.accept();
  FakePeer stranger = connect_as(ClusterId());
  ASSERT_TRUE(stranger.processed());
  peer->knows = kMembers;
  ASSERT_TRUE(peer->welcome(introduction()));
  ASSERT_TRUE(sink_.wait_hello(ReplicaId(2), [](const Hello& hello) { return hello.cluster == kMembers; }));
  peer.reset();
  EXPECT_TRUE(sink_.wait_down(ReplicaId(2)));
}

// Covers: FLT_N16
TEST_F(TcpOneWayTest, WhatWaitedForAConnectionThatIsLostIsNotSentOnTheNext) {
  start_knowing(kMembers);
  std::optional<FakePeer> peer = connect_as(kMembers);
  send("first");
  EXPECT_EQ(next_body(*peer), "first");
  for (int i = 0; i < 600; ++i) send(std::string(100'000, 'b'));  // more than any socket buffer takes
  peer.reset();
  ASSERT_TRUE(sink_.wait_down(ReplicaId(2)));
  send("newest");
  FakePeer again = connect_as(kMembers);
  EXPECT_EQ(next_body(again), "newest");
}

// Covers: FLT_S07
TEST_F(TcpOneWayTest, WhoHasShownNothingIsNotAnsweredInAPeersPlace) {
  start_knowing(kMembers);
  FakePeer stranger = connect_as(ClusterId());
  ASSERT_TRUE(stranger.processed() && wait_dialed_in_vain());
  send("for members only");
  ASSERT_TRUE(stranger.send(FrameKind::Ping));
  const auto frame = stranger.read();
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->kind, FrameKind::Pong);
}

// Covers: FLT_S07
TEST_F(TcpOneWayTest, WhoIsBlankAnswersNobodyInAPeersPlace) {
  start_knowing(ClusterId());
  FakePeer stranger = connect_as(ClusterId());
  ASSERT_TRUE(stranger.processed() && wait_dialed_in_vain());
  EXPECT_TRUE(sink_.is_up(ReplicaId(2)));
  send("an invitation");
  ASSERT_TRUE(stranger.send(FrameKind::Ping));
  const auto frame = stranger.read();
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->kind, FrameKind::Pong);
}

// ---- two processes, one identity

// Covers: FLT_P18
TEST_F(TcpTransportTest, TwoLiveCopiesOfOneDirectoryAreBothRefusedWithAnAlarm) {
  start();
  FakePeer original = connect();
  ASSERT_TRUE(original.shake(introduction(2, 4, 111)) && original.processed());
  FakePeer copy = connect();
  ASSERT_TRUE(copy.shake(introduction(2, 4, 222)));
  EXPECT_FALSE(copy.processed());
  EXPECT_EQ(copy.goodbye(), CloseReason::TwoIncarnations);
  EXPECT_TRUE(original.ended());
  EXPECT_TRUE(wait_event(TcpEvent::Kind::TwoIncarnations, CloseReason::TwoIncarnations));
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "two processes act as replica 2"));
  EXPECT_TRUE(sink_.wait_down(ReplicaId(2)));
  FakePeer back = connect();
  EXPECT_FALSE(back.shake(introduction(2, 4, 111)) && back.processed()) << "until it is resolved";
  FakePeer restarted = connect();
  EXPECT_TRUE(restarted.shake(introduction(2, 5, 333)) && restarted.processed()) << "a restart resolves it";
}

// Covers: FLT_P18
TEST_F(TcpTransportTest, AnOlderBootIsRefusedWhileTheNewerIsConnected) {
  start();
  FakePeer newer = connect();
  ASSERT_TRUE(newer.shake(introduction(2, 5, 222)) && newer.processed());
  FakePeer older = connect();
  ASSERT_TRUE(older.shake(introduction(2, 4, 111)));
  EXPECT_FALSE(older.processed());
  EXPECT_EQ(older.goodbye(), CloseReason::OlderIncarnation);
  EXPECT_TRUE(wait_event(TcpEvent::Kind::TwoIncarnations, CloseReason::TwoIncarnations));
  newer.send(FrameKind::Message, "undisturbed");
  EXPECT_TRUE(sink_.wait_body("undisturbed"));
}

// Covers: FLT_P18
TEST_F(TcpTransportTest, ANewerBootTakesThePlaceOfTheOlder) {
  start();
  FakePeer older = connect();
  ASSERT_TRUE(older.shake(introduction(2, 4, 111)) && older.processed());
  FakePeer newer = connect();
  ASSERT_TRUE(newer.shake(introduction(2, 5, 222)) && newer.processed());
  older.send(FrameKind::Message, "of a previous life");
  EXPECT_TRUE(older.ended());
  EXPECT_TRUE(sink_.wait_hello(ReplicaId(2), [](const Hello& hello) { return hello.boot == BootCounter(5); }));
  EXPECT_EQ(closed_for(CloseReason::Replaced), 1u);
  newer.send(FrameKind::Message, "of this one");
  EXPECT_TRUE(sink_.wait_body("of this one"));
  EXPECT_FALSE(sink_.has_body("of a previous life"));
}

// Covers: FLT_P18
TEST_F(TcpTransportTest, AnotherStoreIsRefusedWhileOneIsConnected) {
  start();
  FakePeer first = connect();
  ASSERT_TRUE(first.shake(introduction()) && first.processed());
  Introduction other = introduction(2, 9, 222);
  other.hello.store = StoreId(4711);
  FakePeer second = connect();
  ASSERT_TRUE(second.shake(other));
  EXPECT_FALSE(second.processed());
  EXPECT_EQ(second.goodbye(), CloseReason::TwoIncarnations);
  EXPECT_TRUE(wait_event(TcpEvent::Kind::TwoIncarnations, CloseReason::TwoIncarnations));
}

}  // namespace
}  // namespace coordkit
