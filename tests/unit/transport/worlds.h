// The built-in transports as worlds of the conformance suite.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordkit/testing/transport_fixture.h"
#include "coordkit/transport/loopback_transport.h"
#include "coordkit/transport/tcp_transport.h"
#include "transport/tcp/tcp_transport_asio.h"

namespace coordkit::testkit {

inline constexpr size_t kWorldQueueBytes = 2 << 20;

class LoopbackWorld : public TransportWorld {
 public:
  explicit LoopbackWorld(size_t queue_bytes = kWorldQueueBytes) : hub_({.bulk_bytes_max = queue_bytes}) {}

  std::unique_ptr<Transport> make(ReplicaId) override { return std::make_unique<LoopbackTransport>(hub_); }
  std::vector<Peer> peers() const override { return {{ReplicaId(1), ""}, {ReplicaId(2), ""}, {ReplicaId(3), ""}}; }
  std::unique_ptr<Transport> make_double(ReplicaId self) override { return make(self); }
  size_t queue_bytes_max() const override { return kWorldQueueBytes; }

 private:
  LoopbackHub hub_;
};

// Three addresses on this machine. `Made` is a transport that is made with TcpOptions and knows bind() and port().
template <typename Made>
class TcpWorldOf : public TransportWorld {
 public:
  explicit TcpWorldOf(TcpOptions options = {}) : options_(std::move(options)) {
    options_.frame_bytes_max = 4 << 20;
    options_.bulk_bytes_max = kWorldQueueBytes;
    for (uint64_t id = 1; id <= 3; ++id) {
      auto transport = make_at("127.0.0.1:0");
      EXPECT_TRUE(transport->bind().ok());
      ports_[ReplicaId(id)] = transport->port();
      first_[ReplicaId(id)] = std::move(transport);
    }
  }
  std::unique_ptr<Transport> make(ReplicaId self) override {
    auto made = first_[self] ? std::move(first_[self]) : make_at(address(self));
    latest_[self] = made.get();
    return made;
  }
  std::vector<Peer> peers() const override {
    std::vector<Peer> peers;
    for (uint64_t id = 1; id <= 3; ++id) peers.push_back({ReplicaId(id), address(ReplicaId(id))});
    return peers;
  }
  std::unique_ptr<Transport> make_double(ReplicaId) override { return make_at("127.0.0.1:0"); }
  size_t frame_bytes_max() const override { return options_.frame_bytes_max; }
  size_t queue_bytes_max() const override { return kWorldQueueBytes; }

 protected:
  Made& latest(ReplicaId self) { return *latest_.at(self); }

 private:
  std::unique_ptr<Made> make_at(std::string listen) const {
    TcpOptions options = options_;
    options.listen = std::move(listen);
    return std::make_unique<Made>(std::move(options));
  }
  std::string address(ReplicaId id) const { return "127.0.0.1:" + std::to_string(ports_.at(id)); }

  TcpOptions options_;
  std::map<ReplicaId, uint16_t> ports_;
  std::map<ReplicaId, std::unique_ptr<Made>> first_;
  std::map<ReplicaId, Made*> latest_;  // as long as the suite keeps it
};
using TcpWorld = TcpWorldOf<TcpTransport>;

// On a thread of its host's, which can be stopped.
class HostedTcp final : public Transport {
 public:
  explicit HostedTcp(TcpOptions options) : transport_(make_tcp_transport(std::move(options), io_)) {}
  ~HostedTcp() override { close(); }

  absl::Status bind() { return transport_->bind(); }
  uint16_t port() const { return transport_->port(); }
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    absl::Status status = transport_->start(std::move(self), std::move(peers), sink);
    if (status.ok()) thread_ = std::thread([this] { io_.run(); });
    return status;
  }
  void set_cluster(ClusterId cluster) override { transport_->set_cluster(cluster); }
  void set_peers(std::vector<Peer> peers) override { transport_->set_peers(std::move(peers)); }
  void send(ReplicaId to, std::vector<Frame> frames) override { transport_->send(to, std::move(frames)); }
  void close() override {
    thaw();
    if (!thread_.joinable()) return transport_->close();
    boost::asio::post(io_, [this] { transport_->close(); });
    thread_.join();
  }

  void freeze() {
    std::unique_lock lock(mutex_);
    frozen_ = true;
    boost::asio::post(io_, [this] {
      std::unique_lock stands(mutex_);
      changed_.wait(stands, [this] { return !frozen_; });
    });
  }
  void thaw() {
    const std::lock_guard lock(mutex_);
    frozen_ = false;
    changed_.notify_all();
  }

 private:
  boost::asio::io_context io_{1};
  const std::unique_ptr<TcpTransport> transport_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool frozen_ = false;
};

class HostedTcpWorld : public TcpWorldOf<HostedTcp> {
 public:
  using TcpWorldOf::TcpWorldOf;
  bool freeze(ReplicaId self) override {
    latest(self).freeze();
    return true;
  }
  void thaw(ReplicaId self) override { latest(self).thaw(); }
};

}  // namespace coordkit::testkit
