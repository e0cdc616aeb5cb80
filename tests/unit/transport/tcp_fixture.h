// Replica 1, over TCP, under test; its peers are fakes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "coordkit/testing/recording_sink.h"
#include "coordkit/transport/tcp_transport.h"
#include "fake_peer.h"

namespace coordkit {

class TcpFixture : public ::testing::Test {
 public:
  static Hello hello_of(uint64_t id, uint64_t boot = 1) {
    Hello hello;
    hello.cluster_name = "orders";
    hello.from = ReplicaId(id);
    hello.store = StoreId(1000 + id);
    hello.boot = BootCounter(boot);
    return hello;
  }

 protected:
  void start_as(const Hello& self, TcpOptions options, std::vector<Peer> peers) {
    options.listen = "127.0.0.1:0";
    options.on_event = [this](const TcpEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
      changed_.notify_all();
    };
    transport_ = std::make_unique<TcpTransport>(std::move(options));
    ASSERT_TRUE(transport_->start(self, std::move(peers), sink_).ok());
  }
  void TearDown() override {
    if (transport_) transport_->close();
  }

  Introduction introduction(uint64_t id = 2, uint64_t boot = 1, uint64_t instance = 5) {
    Introduction mine{hello_of(id, boot), instance, ++nonce_, 0};
    mine.hello.to = ReplicaId(1);
    return mine;
  }
  // This many events for which it holds.
  template <typename Holds>
  bool wait_events(size_t count, Holds holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      return count <= static_cast<size_t>(std::count_if(events_.begin(), events_.end(), holds));
    });
  }

  testkit::RecordingSink sink_;
  std::unique_ptr<TcpTransport> transport_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<TcpEvent> events_;
  uint64_t nonce_ = 100;
};

}  // namespace coordkit
