// The transport of example 15 against the suite for all adapters, and what its sockets add.
#include "examples/15_own_transport/unix_transport.h"

#include <sys/stat.h>

#include "coordkit/testing/transport_suite.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

class UnixWorld : public TransportWorld {
 public:
  std::unique_ptr<Transport> make(ReplicaId self) override { return std::make_unique<example::UnixTransport>(path(self)); }
  std::vector<Peer> peers() const override {
    return {{ReplicaId(1), path(ReplicaId(1))}, {ReplicaId(2), path(ReplicaId(2))}, {ReplicaId(3), path(ReplicaId(3))}};
  }
  std::unique_ptr<Transport> make_double(ReplicaId self) override {
    return std::make_unique<example::UnixTransport>(path(self) + "-double");
  }

 private:
  std::string path(ReplicaId id) const { return directory_ / ("socket-" + std::to_string(id.value())); }
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Example, TransportSuite,
                         ::testing::Values(TransportUnderTest{"Unix", [] { return std::make_unique<UnixWorld>(); }}),
                         transport_name);

class UnixTransportTest : public ::testing::Test {
 protected:
  std::string path(uint64_t id) const { return directory_ / ("socket-" + std::to_string(id)); }
  std::vector<Peer> peers() const { return {{ReplicaId(1), path(1)}, {ReplicaId(2), path(2)}}; }
  static Hello hello(uint64_t from, uint64_t boot = 1, uint64_t store = 0, std::string cluster = "bank") {
    Hello hello;
    hello.cluster_name = std::move(cluster);
    hello.from = ReplicaId(from);
    hello.store = StoreId(store != 0 ? store : 1000 + from);
    hello.boot = BootCounter(boot);
    hello.cluster = ClusterId(77);
    return hello;
  }

  TemporaryDirectory directory_;
  RecordingSink sink_, other_sink_;  // outlive the transports
  example::UnixTransport one_{path(1)};
};

// A connection to replica 1 that sends what a test wants.
class Dialer {
 public:
  explicit Dialer(const std::string& path, Hello hello) : stream_(example::socket_at(path, ::connect)) {
    hello.to = ReplicaId(1);
    stream_.put(example::Kind::Hello, example::encode(hello));
    stream_.write();
  }
  void say(const std::string& body) {
    stream_.put(example::Kind::Body, body);
    stream_.write();
  }
  // Reads until the other end hangs up: its last message.
  std::optional<example::Piece> last() {
    std::optional<example::Piece> last;
    for (pollfd readable{stream_.fd(), POLLIN, 0}; ::poll(&readable, 1, 60'000) == 1;) {
      const bool open = stream_.read() >= 0;
      while (std::optional<example::Piece> piece = stream_.next(1 << 20)) last = std::move(piece);
      if (!open) break;
    }
    return last;
  }
  example::Stream& stream() { return stream_; }

 private:
  example::Stream stream_;
};

TEST_F(UnixTransportTest, BothEndsAreToldWhyTheyCannotTalk) {
  example::UnixTransport two(path(2));
  ASSERT_TRUE(one_.start(hello(1), peers(), sink_).ok());
  ASSERT_TRUE(two.start(hello(2, 1, 0, "shop"), peers(), other_sink_).ok());
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(2), "is of cluster 'shop'"));
  EXPECT_TRUE(other_sink_.wait_refused(ReplicaId(1), "of 'bank'"));
  EXPECT_FALSE(sink_.is_up(ReplicaId(2)));
  two.close();
  one_.close();
}

TEST_F(UnixTransportTest, AnAddressWhereAnotherReplicaAnswersIsRefused) {
  ASSERT_TRUE(one_.start(hello(1), {{ReplicaId(3), path(2)}}, sink_).ok());
  example::UnixTransport two(path(2));
  ASSERT_TRUE(two.start(hello(2), {}, other_sink_).ok());
  EXPECT_TRUE(sink_.wait_refused(ReplicaId(3), "found replica 2 where it looks for replica 3"));
  two.close();
  one_.close();
}

// Covers: FLT_P18
TEST_F(UnixTransportTest, AnOlderProcessOfTheSameDirectoryIsRefusedWhileTheLaterOneIsHere) {
  ASSERT_TRUE(one_.start(hello(1), peers(), sink_).ok());
  Dialer later(path(1), hello(2, 7));
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  Dialer older(path(1), hello(2, 6));
  older.say("from the past");
  const auto frame = older.last();
  ASSERT_TRUE(frame && frame->kind == example::Kind::Refusal);
  EXPECT_NE(frame->body.find("an older process of replica 2"), std::string::npos) << frame->body;
  later.say("from the present");
  ASSERT_TRUE(sink_.wait_body("from the present"));
  EXPECT_FALSE(sink_.has_body("from the past"));
  one_.close();
}

// Covers: FLT_P18
TEST_F(UnixTransportTest, NothingOfAPreviousLifeIsReportedAfterTheLaterHello) {
  ASSERT_TRUE(one_.start(hello(1), peers(), sink_).ok());
  Dialer previous(path(1), hello(2, 6));
  previous.say("before");
  ASSERT_TRUE(sink_.wait_body("before"));
  Dialer later(path(1), hello(2, 7));
  ASSERT_TRUE(sink_.wait_hello(ReplicaId(2), [](const Hello& hello) { return hello.boot == BootCounter(7); }));
  previous.say("after");
  previous.last();  // until it is closed
  later.say("now");
  ASSERT_TRUE(sink_.wait_body("now"));
  EXPECT_FALSE(sink_.has_body("after"));
  one_.close();
}

// Covers: FLT_P18
TEST_F(UnixTransportTest, AnotherDirectoryIsRefusedUnlessMembershipNamesIt) {
  std::vector<Peer> known = peers();
  known[1].store = StoreId(5);
  ASSERT_TRUE(one_.start(hello(1), known, sink_).ok());
  Dialer first(path(1), hello(2, 1, 4));
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  Dialer right(path(1), hello(2, 1, 5));
  ASSERT_TRUE(sink_.wait_hello(ReplicaId(2), [](const Hello& hello) { return hello.store == StoreId(5); }));
  const auto frame = Dialer(path(1), hello(2, 9, 4)).last();
  ASSERT_TRUE(frame && frame->kind == example::Kind::Refusal);
  EXPECT_NE(frame->body.find("another data directory"), std::string::npos) << frame->body;
  one_.close();
}

TEST_F(UnixTransportTest, APeerThatFallsSilentIsDown) {
  ASSERT_TRUE(one_.start(hello(1), peers(), sink_).ok());
  const Dialer silent(path(1), hello(2));
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  EXPECT_TRUE(sink_.wait_down(ReplicaId(2))) << "it never says another word";
  one_.close();
}

TEST_F(UnixTransportTest, AFrameBeyondTheLimitEndsItsConnectionAndNothingElse) {
  ASSERT_TRUE(one_.start(hello(1), peers(), sink_).ok());
  Dialer greedy(path(1), hello(2));
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  greedy.say(std::string(example::kFrameBytesMax + 1, 'x'));  // the socket takes the beginning of it
  const auto frame = greedy.last();
  ASSERT_TRUE(frame && frame->kind == example::Kind::Refusal);
  Dialer modest(path(1), hello(2));
  ASSERT_TRUE(sink_.wait_up(ReplicaId(2)));
  modest.say("small");
  EXPECT_TRUE(sink_.wait_body("small"));
  one_.close();
}

TEST_F(UnixTransportTest, ASocketThatADeadProcessLeftIsTakenOverAndALivingOneIsNot) {
  const example::Descriptor left = example::socket_at(path(1), ::bind);
  ASSERT_TRUE(left.open());
  ASSERT_TRUE(one_.start(hello(1), peers(), sink_).ok());
  example::UnixTransport second(path(1));
  const absl::Status refused = second.start(hello(1), peers(), other_sink_);
  EXPECT_EQ(reason_of(refused), Reason::CannotListen);
  EXPECT_NE(refused.message().find(path(1)), std::string::npos) << refused;
  one_.close();
}

TEST_F(UnixTransportTest, ADirectoryThatOthersCanEnterIsRefused) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  EXPECT_EQ(reason_of(one_.start(hello(1), peers(), sink_)), Reason::PermissionDenied);
}

}  // namespace
}  // namespace coordkit::testkit
