#include "replica/shell/peer_transport.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/engine/wire.h"

namespace coordkit {
namespace {

// Keeps what it is given.
class Recorder final : public Transport {
 public:
  using Sent = std::map<ReplicaId, std::vector<std::vector<std::string>>>;  // the bodies of each batch
  explicit Recorder(Sent& sent) : sent_(sent) {}

  absl::Status start(Hello, std::vector<Peer>, TransportSink&) override { return absl::OkStatus(); }
  void set_cluster(ClusterId) override {}
  void set_peers(std::vector<Peer>) override {}
  void send(ReplicaId to, std::vector<Frame> frames) override {
    std::vector<std::string>& batch = sent_[to].emplace_back();
    for (Frame& frame : frames) batch.push_back(std::move(frame.body));
  }
  void close() override {}

 private:
  Sent& sent_;
};

raft::AppendRequest append(std::string_view payload) {
  raft::AppendRequest append{.term = Term(3), .previous = {Index(7), Term(2)}};
  append.entries.push_back({.index = Index(8), .term = Term(3), .payload = SharedBytes(payload)});
  return append;
}

TEST(PeerTransportTest, ATurnsMessagesLeaveAsOneBatchForEachPeerInTheirOrder) {
  Recorder::Sent sent;
  PeerTransport transport(std::make_unique<Recorder>(sent), nullptr, nullptr);
  Meter meter;
  const raft::TimeoutNow other{Term(3)};
  transport.send({{ReplicaId(2), append("one")}, {ReplicaId(3), append("one")}, {ReplicaId(2), other}}, meter);
  EXPECT_EQ(sent[ReplicaId(2)], (std::vector<std::vector<std::string>>{{encode(append("one")), encode(other)}}));
  EXPECT_EQ(sent[ReplicaId(3)], (std::vector<std::vector<std::string>>{{encode(append("one"))}}));
}

// Bytes that were spoiled on their way, or in this process, are not sent a second time: what is sent again is read again.
TEST(PeerTransportTest, WhatIsSentAgainIsEncodedAgain) {
  Recorder::Sent sent;
  PeerTransport transport(std::make_unique<Recorder>(sent), nullptr, nullptr);
  Meter meter;
  transport.send({{ReplicaId(2), append("spoiled")}}, meter);
  transport.send({{ReplicaId(2), append("correct")}}, meter);
  EXPECT_EQ(sent[ReplicaId(2)],
            (std::vector<std::vector<std::string>>{{encode(append("spoiled"))}, {encode(append("correct"))}}));
}

}  // namespace
}  // namespace coordkit
