// Conformance suite for transports, the part about load: bodies that are too long, receivers that
// do not read, peers that fall silent, closing under load, and a thousand reconnects. Part of
// transport_suite.h.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "coordkit/testing/process_count.h"
#include "coordkit/testing/transport_fixture.h"

namespace coordkit::testkit {

TEST_P(TransportSuite, ABodyThatIsTooLongIsDroppedAndLaterOnesArrive) {
  const auto a = make_started(1);
  const auto b = make_started(2);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && b->sink.wait_up(ReplicaId(1)));
  const size_t size = world_->frame_bytes_max() + 1;
  const std::string longest(size - 1, 'y');
  EXPECT_TRUE(send_until_received(*a, *b, 2, longest)) << "the longest body that travels, as the world says, does not arrive";
  for (const Lane lane : {Lane::Bulk, Lane::Control}) send(*a, 2, std::string(size, 'x'), lane);
  EXPECT_TRUE(send_until_received(*a, *b, 2, "after")) << "nothing arrives any more after a body that was too long";
  EXPECT_TRUE(send_until_received(*b, *a, 1, "back")) << "nothing comes back any more after a body that was too long";
  for (const auto& received : b->sink.all()) {
    EXPECT_TRUE(received.body == "after" || received.body == longest || received.body.size() == size)
        << "a part of a body that was too long was reported";
  }
}

// ---- a receiver that does not read

// A sink waits here until it may continue.
class SinkGate {
 public:
  // Waits until open() was called.
  void pass() {
    std::unique_lock lock(mutex_);
    waits_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  // Waits until somebody is in pass(); false: the patience is over.
  bool wait_until_reached() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience(), [this] { return waits_; });
  }
  // Lets everybody pass, now and later.
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false;
  bool open_ = false;
};

// Covers: FLT_N08 FLT_N10
TEST_P(TransportSuite, AReceiverThatDoesNotReadCostsABoundedQueueAndNeverTheNewest) {
  constexpr size_t kFrameBytes = 64 << 10;
  constexpr size_t kSystemBytes = 16 << 20;  // the most that buffers of the system hold
  const size_t count = (8 * world_->queue_bytes_max() + 2 * kSystemBytes) / kFrameBytes;
  SinkGate gate;
  const auto a = make_started(1);
  const auto b = make(2);
  b->sink.on_received = [&gate](ReplicaId, const std::string&) { gate.pass(); };
  start(*b, hello_of(2));
  const absl::Cleanup at_last = [&gate] { gate.open(); };  // before the transports close
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && b->sink.wait_up(ReplicaId(1)));
  send(*a, 2, "first");
  ASSERT_TRUE(gate.wait_until_reached());
  std::promise<void> sent;
  std::thread sender([&] {
    for (size_t i = 0; i < count; ++i) send(*a, 2, std::to_string(i) + std::string(kFrameBytes, ' '));
    send(*a, 2, "vote", Lane::Control);
    sent.set_value();
  });
  EXPECT_EQ(sent.get_future().wait_for(patience()), std::future_status::ready)
      << "send() waits for a receiver that does not read";
  gate.open();
  sender.join();
  ASSERT_TRUE(send_until_received(*a, *b, 2, "awake")) << "nothing arrives any more after a receiver stood still";

  const auto all = each_once(*b);
  const auto place = [&](const std::string& start) {
    return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.body.starts_with(start); });
  };
  const auto is_bulk = [](const auto& one) { return one.body.size() > kFrameBytes; };
  const auto arrived = static_cast<size_t>(std::count_if(all.begin(), all.end(), is_bulk));
  EXPECT_LE(arrived * kFrameBytes, 2 * world_->queue_bytes_max() + kSystemBytes)
      << "the queue to a receiver that does not read grows without bound";
  if (a->sink.downs(ReplicaId(2)) != 0) return;  // given up, with its frames
  const auto newest = place(std::to_string(count - 1) + " ");
  EXPECT_NE(newest, all.end()) << "a full queue has dropped the newest bulk; it drops the oldest";
  EXPECT_NE(place("vote"), all.end()) << "a full queue of bulk has dropped a control message";
  EXPECT_LT(place("vote") - all.begin(), newest - all.begin()) << "a control message has waited behind bulk";
}

// ---- peers that fall silent

// Covers: FLT_N10
TEST_P(TransportSuite, APeerThatStandsStillIsDownUntilItGoesOnAndAQuietOneStaysUp) {
  const auto a = make_started(1);
  const auto quiet = make_started(2);
  const auto frozen = make_started(3);
  ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && a->sink.wait_up(ReplicaId(3)) && frozen->sink.wait_up(ReplicaId(1)));
  if (!world_->freeze(ReplicaId(3)))
    GTEST_SKIP() << "TransportWorld::freeze() would show whether a peer that stands still is noticed";
  const bool noticed = a->sink.wait_down(ReplicaId(3));
  world_->thaw(ReplicaId(3));
  EXPECT_TRUE(noticed)
      << "a peer stands still and peer_down() is never called: the transport does not listen for signs of life";
  EXPECT_EQ(a->sink.downs(ReplicaId(2)), 0) << "a peer that has nothing to say was taken for one that stands still";
  EXPECT_TRUE(a->sink.wait_up(ReplicaId(3))) << "a peer continues after a while and is not found again";
  EXPECT_TRUE(send_until_received(*a, *frozen, 3, "awake?"));
  EXPECT_TRUE(send_until_received(*frozen, *a, 1, "awake"));
}

// ---- closing and coming back

TEST_P(TransportSuite, NothingIsReportedAfterACloseUnderSendsOfManyThreads) {
  for (int round = 0; round < 4; ++round) {
    const auto a = make_started(1);
    const auto b = make_started(2);
    ASSERT_TRUE(a->sink.wait_up(ReplicaId(2)) && b->sink.wait_up(ReplicaId(1)));
    std::atomic<bool> stop{false};
    std::array<std::atomic<uint64_t>, 4> sent{};  // by each thread, to both
    std::vector<std::thread> senders;
    for (size_t i = 0; i < sent.size(); ++i) {
      senders.emplace_back([&, i] {
        while (!stop) {
          send(*a, 2, "ping", i % 2 == 0 ? Lane::Control : Lane::Bulk);
          send(*b, 1, "pong", i % 2 == 0 ? Lane::Bulk : Lane::Control);
          ++sent[i];
          std::this_thread::yield();
        }
      });
    }
    EXPECT_TRUE(a->sink.wait_body("pong") && b->sink.wait_body("ping"));
    b->transport->close();
    b->sink.forbid();
    EXPECT_TRUE(a->sink.wait_down(ReplicaId(2)));
    a->transport->close();
    a->sink.forbid();
    // The second send from now on began when both were closed.
    for (const std::atomic<uint64_t>& by_one : sent) {
      const uint64_t before = by_one;
      while (by_one < before + 2) std::this_thread::yield();
    }
    stop = true;
    for (std::thread& sender : senders) sender.join();
    EXPECT_FALSE(a->sink.violated() || b->sink.violated()) << "something was reported after close() had returned";
  }
}

TEST_P(TransportSuite, AThousandReconnects_Slow_LeaveNoThreadAndNoDescriptor) {
  if (open_descriptors() == 0) GTEST_SKIP() << "this system does not say in /proc/self what a process has open";
  const auto a = make_started(1);
  const auto come_and_go = [&](uint64_t boot) {
    auto b = make_started(2, boot);
    ASSERT_TRUE(a->sink.wait_hello(ReplicaId(2), [&](const Hello& hello) { return hello.boot == BootCounter(boot); }));
    ASSERT_TRUE(b->sink.wait_up(ReplicaId(1)));
    b->transport->close();
    b.reset();
    ASSERT_TRUE(a->sink.wait_down(ReplicaId(2)));
  };
  for (uint64_t boot = 1; boot <= 10; ++boot) ASSERT_NO_FATAL_FAILURE(come_and_go(boot)) << boot;
  const size_t descriptors = open_descriptors(), threads = running_threads();
  for (uint64_t boot = 11; boot <= 1000; ++boot) ASSERT_NO_FATAL_FAILURE(come_and_go(boot)) << boot;
  constexpr size_t kUnderWay = 50;  // recently ended ones
  EXPECT_LE(open_descriptors(), descriptors + kUnderWay) << "reconnects leave descriptors open";
  EXPECT_LE(running_threads(), threads + kUnderWay) << "reconnects leave threads running";
}

}  // namespace coordkit::testkit
