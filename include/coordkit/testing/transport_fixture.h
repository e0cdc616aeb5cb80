// The basis of the claims of transport_suite.h: a world of three replicas, and nodes with a
// transport and a sink each.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/ports/transport.h"
#include "coordkit/testing/recording_sink.h"

namespace coordkit::testkit {

// Replicas 1, 2 and 3 that can reach each other.
class TransportWorld {
 public:
  virtual ~TransportWorld() = default;
  // A transport for this replica, not started. Called again after the earlier one was closed: a
  // restart at the same address.
  virtual std::unique_ptr<Transport> make(ReplicaId self) = 0;
  // All three, as each of them gets them; all at one address where addresses mean nothing.
  virtual std::vector<Peer> peers() const = 0;

  // The following calls make more claims testable. A test that needs a call that a world does not
  // offer is skipped, and says why.

  // One more transport that can act as this replica beside the first: that of a copied directory,
  // or of a process that was given up too early. It reaches the others; none needs to reach it.
  // Null: not offered.
  virtual std::unique_ptr<Transport> make_double(ReplicaId) { return nullptr; }
  // Freezes the process of this replica: its transport does nothing at all, and its connections
  // stay open. False: not offered.
  virtual bool freeze(ReplicaId) { return false; }
  virtual void thaw(ReplicaId) {}  // ends freeze()
  // The longest body that travels, in bytes. The suite sends a longer one; a smaller bound makes it
  // quicker.
  virtual size_t frame_bytes_max() const { return 32 << 20; }
  // The bulk that may wait for one peer, in bytes. The suite sends eight times as much; a smaller
  // bound makes it quicker.
  virtual size_t queue_bytes_max() const { return 64 << 20; }
};

// A transport to test.
struct TransportUnderTest {
  std::string name;                                             // in the names of the tests:
                                                                // letters, digits and "_"
  std::function<std::unique_ptr<TransportWorld>()> make_world;  // a new world for each test
};
// For GoogleTest: how a transport is printed.
inline void PrintTo(const TransportUnderTest& under_test, std::ostream* out) { *out << under_test.name; }
// For INSTANTIATE_TEST_SUITE_P: the transport is part of a test's name.
inline std::string transport_name(const ::testing::TestParamInfo<TransportUnderTest>& info) { return info.param.name; }

// A world, and what the tests do with its replicas.
class TransportSuite : public ::testing::TestWithParam<TransportUnderTest> {
 protected:
  // A replica's transport with its sink. Closes the transport at its end.
  struct Node {
    RecordingSink sink;                    // gets the reports of the transport
    std::unique_ptr<Transport> transport;  // null: not made yet
    ~Node() {
      if (transport) transport->close();
    }
  };

  // As long as the numbers that replicas draw for cluster ids.
  static constexpr uint64_t kCluster = (uint64_t{0xc1} << 56) + 4711;
  // The store id that hello_of() names for this replica.
  static StoreId store_of(uint64_t id) { return StoreId((uint64_t{0xd1} << 56) + id); }
  // A hello of this replica, with every field set. `boot` counts its lives.
  static Hello hello_of(uint64_t id, uint64_t boot = 1, uint64_t cluster = kCluster) {
    Hello hello;
    hello.cluster_name = "suite";
    hello.from = ReplicaId(id);
    hello.store = store_of(id);
    hello.boot = BootCounter(boot);
    hello.cluster = ClusterId(cluster);
    hello.feature_level = 40 + id;
    hello.agreement = Agreement{.rate_error_ppm = 7, .machines = {{.id = MachineId(16), .version = id}}};
    hello.members = {{ReplicaId(id), 0xfedcba98}, {ReplicaId(id + 70'000), 0}};
    return hello;
  }
  // A node that is not started.
  std::unique_ptr<Node> make(uint64_t id) {
    auto node = std::make_unique<Node>();
    node->transport = world_->make(ReplicaId(id));
    return node;
  }
  // Starts a node that knows all three peers.
  void start(Node& node, const Hello& hello) {
    const absl::Status status = node.transport->start(hello, world_->peers(), node.sink);
    ASSERT_TRUE(status.ok()) << status;
  }
  // Both at once, with hello_of().
  std::unique_ptr<Node> make_started(uint64_t id, uint64_t boot = 1, uint64_t cluster = kCluster) {
    auto node = make(id);
    start(*node, hello_of(id, boot, cluster));
    return node;
  }
  // All peers of the world without this one.
  std::vector<Peer> peers_but(uint64_t id) {
    std::vector<Peer> peers = world_->peers();
    std::erase_if(peers, [id](const Peer& peer) { return peer.id == ReplicaId(id); });
    return peers;
  }
  // Makes a node that knows all but replica 3.
  std::unique_ptr<Node> make_without_third(uint64_t id) {
    auto node = make(id);
    const absl::Status status = node->transport->start(hello_of(id), peers_but(3), node->sink);
    EXPECT_TRUE(status.ok()) << status;
    return node;
  }
  // Sends one frame, and does not wait.
  static void send(Node& node, uint64_t to, std::string body, Lane lane = Lane::Bulk) {
    std::vector<Frame> frames(1);
    frames[0] = {lane, std::move(body)};
    node.transport->send(ReplicaId(to), std::move(frames));
  }
  // The received bodies, each once: a transport may repeat frames.
  static std::vector<RecordingSink::Received> each_once(Node& node) {
    std::vector<RecordingSink::Received> once;
    std::set<std::string> seen;
    for (RecordingSink::Received& one : node.sink.all()) {
      if (seen.insert(one.body).second) once.push_back(std::move(one));
    }
    return once;
  }

  // Sends until `to` receives one of them: a connection that ends loses the frames that were queued
  // for it.
  static bool send_until_received(Node& from, Node& to, uint64_t to_id, const std::string& text) {
    constexpr int kTries = 60;
    for (int i = 0; i < kTries; ++i) {
      send(from, to_id, text);
      if (to.sink.wait_body(text, patience() / kTries)) return true;
    }
    return false;
  }
  // Whether an operator can act on the text.
  static bool is_sentence(const std::string& text) { return text.size() >= 15 && text.find(' ') != std::string::npos; }
  // Waits until the peer is refused with a sentence. `why` says in the failure what should have
  // done it.
  static void expect_refused(Node& node, uint64_t peer, const std::string& why) {
    const std::optional<std::string> reported = node.sink.wait_refusal(ReplicaId(peer));
    ASSERT_TRUE(reported) << "peer_refused() was not called, so that no operator learns of it: " << why;
    EXPECT_TRUE(is_sentence(*reported)) << "peer_refused() says '" << *reported << "': no sentence that an operator can act on";
  }

  std::unique_ptr<TransportWorld> world_ = GetParam().make_world();  // of this test
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransportSuite);

}  // namespace coordkit::testkit
