// Transports with one defect each, made from the correct built-in ones, and a correct one in the same wrapping.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "coordkit/testing/transport_suite.h"
#include "tests/proof/conformance/planted.h"
#include "tests/proof/conformance/transport_wrapper.h"
#include "tests/unit/transport/worlds.h"

namespace coordkit::testkit {
namespace {

// ---- identity

class WrongSender : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void received(ReplicaId, std::string body) override { sink().received(ReplicaId(1), std::move(body)); }
};

class FarewellKeptSecret : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void peer_down(ReplicaId) override {}
};

class MeetsItself : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    sink.peer_up(self);
    return TransportWrapper::start(std::move(self), std::move(peers), sink);
  }
};

class AgreementInvented : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void peer_up(const Hello& hello) override {
    Hello shown = hello;
    shown.agreement = hello.agreement.value_or(Agreement());
    sink().peer_up(shown);
  }
};

// Carries numbers in 32 bits.
class NumbersCut : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void peer_up(const Hello& hello) override {
    Hello shown = hello;
    shown.store = StoreId(static_cast<uint32_t>(hello.store.value()));
    sink().peer_up(shown);
  }
};

class RefusalKeptSecret : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void peer_refused(ReplicaId, std::string) override {}
};

class RefusalWithoutASentence : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void peer_refused(ReplicaId peer, std::string) override { sink().peer_refused(peer, "EPROTO"); }
};

// Does not compare protocols: all that it starts seem to speak the first.
class ProtocolsIgnored : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    self.protocol_min = 1;
    return TransportWrapper::start(std::move(self), std::move(peers), sink);
  }
};

// Does not check who is newer: it comes with a false boot counter, which is removed again at the other end.
class OlderLifeLetIn : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    if (TransportWrapper::start(self, peers, sink).ok()) return absl::OkStatus();
    self.boot = self.boot + kFalse;
    return TransportWrapper::start(std::move(self), std::move(peers), sink);
  }
  void peer_up(const Hello& hello) override {
    Hello shown = hello;
    if (shown.boot.value() > kFalse) shown.boot = BootCounter(shown.boot.value() - kFalse);
    sink().peer_up(shown);
  }

 private:
  static constexpr uint64_t kFalse = 1000;
};

// It still has a few of the last frames when a later life is reported.
class PreviousLifeHeard : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void received(ReplicaId from, std::string body) override {
    std::vector<std::string>& late = late_[from];
    late.push_back(std::move(body));
    if (late.size() <= 3) return;
    sink().received(from, std::move(late.front()));
    late.erase(late.begin());
  }

 private:
  std::map<ReplicaId, std::vector<std::string>> late_;
};

class ClusterIdKept : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void set_cluster(ClusterId) override {}
};

class PeersKept : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void set_peers(std::vector<Peer>) override {}
};

// ---- frames

class EmptyBodiesDropped : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(ReplicaId to, std::vector<Frame> frames) override {
    std::erase_if(frames, [](const Frame& frame) { return frame.body.empty(); });
    inner().send(to, std::move(frames));
  }
};

class BodiesEndAtAZero : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void received(ReplicaId from, std::string body) override { sink().received(from, body.c_str()); }
};

class OrderTurned : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(ReplicaId to, std::vector<Frame> frames) override {
    std::reverse(frames.begin(), frames.end());
    inner().send(to, std::move(frames));
  }
};

class OneLaneForAll : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(ReplicaId to, std::vector<Frame> frames) override {
    for (Frame& frame : frames) frame.lane = Lane::Bulk;
    inner().send(to, std::move(frames));
  }
};

constexpr size_t kLimit = 32 << 20;  // of a body, the limit of the loopback world

class TooLongEndsEverything : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(ReplicaId to, std::vector<Frame> frames) override {
    ended_ = ended_ || std::any_of(frames.begin(), frames.end(), [](const Frame& frame) { return frame.body.size() > kLimit; });
    if (!ended_) inner().send(to, std::move(frames));
  }

 private:
  bool ended_ = false;
};

class LongestDropped : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(ReplicaId to, std::vector<Frame> frames) override {
    std::erase_if(frames, [](const Frame& frame) { return frame.body.size() >= kLimit; });
    inner().send(to, std::move(frames));
  }
};

class TooLongIsCut : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(ReplicaId to, std::vector<Frame> frames) override {
    for (Frame& frame : frames) frame.body.resize(std::min(frame.body.size(), kLimit));
    inner().send(to, std::move(frames));
  }
};

// A port allows this: a frame may come once more.
class RepeatsFrames : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void received(ReplicaId from, std::string body) override {
    if (body.size() < 100) sink().received(from, body);
    sink().received(from, std::move(body));
  }
};

// ---- load

class EndlessQueueWorld : public WrappedWorld<TransportWrapper, LoopbackWorld> {
 public:
  EndlessQueueWorld() : WrappedWorld(size_t{1} << 40) {}
};

class NewestBulkDropped : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(ReplicaId to, std::vector<Frame> frames) override {
    std::erase_if(frames, [this](const Frame& frame) { return frame.body.size() > 10'000 && ++large_ > 30; });
    inner().send(to, std::move(frames));
  }

 private:
  size_t large_ = 0;
};

class SendWaits : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(ReplicaId to, std::vector<Frame> frames) override {
    while (under_way_ > 20) std::this_thread::yield();
    under_way_ += static_cast<int>(frames.size());
    inner().send(to, std::move(frames));
  }
  void received(ReplicaId from, std::string body) override {
    sink().received(from, std::move(body));
    --under_way_;
  }

 private:
  static inline std::atomic<int> under_way_{0};  // between the two transports of the test
};

class ReportsAfterClose : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(ReplicaId to, std::vector<Frame> frames) override {
    inner().send(to, std::move(frames));
    if (closed_) sink().peer_down(to);
  }
  void close() override {
    inner().close();
    closed_ = true;
  }

 private:
  std::atomic<bool> closed_{false};
};

class StartsAgain : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    TransportWrapper::start(std::move(self), std::move(peers), sink).IgnoreError();
    return absl::OkStatus();
  }
};

class DescriptorsLeak : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    if (++starts_ % 4 == 0) static_cast<void>(std::fopen("/dev/null", "r"));
    return TransportWrapper::start(std::move(self), std::move(peers), sink);
  }

 private:
  static inline std::atomic<int> starts_{0};
};

class ThreadsLeak : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    if (++starts_ % 10 == 0) {
      std::thread([] {
        std::mutex never;
        std::unique_lock lock(never);
        std::condition_variable notified;
        notified.wait(lock, [] { return false; });
      }).detach();
    }
    return TransportWrapper::start(std::move(self), std::move(peers), sink);
  }

 private:
  static inline std::atomic<int> starts_{0};
};

// Waits an hour for a sign of life.
class SilenceUnnoticedWorld : public WrappedWorld<TransportWrapper, HostedTcpWorld> {
 public:
  SilenceUnnoticedWorld() : WrappedWorld(TcpOptions{.idle_timeout = std::chrono::hours(1)}) {}
};

// ---- all of them

template <typename World>
TransportUnderTest in(std::string name) {
  return {std::move(name), [] { return std::make_unique<World>(); }};
}

Broken<TransportUnderTest> all_broken() {
  Broken<TransportUnderTest> all;
  const auto add = [&all](TransportUnderTest broken) { all.add(broken.name.c_str(), broken); };
  add(in<WrappedWorld<WrongSender, LoopbackWorld>>("WrongSender"));
  add(in<WrappedWorld<FarewellKeptSecret, LoopbackWorld>>("FarewellKeptSecret"));
  add(in<WrappedWorld<MeetsItself, LoopbackWorld>>("MeetsItself"));
  add(in<WrappedWorld<NumbersCut, LoopbackWorld>>("NumbersCut"));
  add(in<WrappedWorld<RefusalKeptSecret, LoopbackWorld>>("RefusalKeptSecret"));
  add(in<WrappedWorld<RefusalKeptSecret, TcpWorld>>("WrongAddressKeptSecret"));
  add(in<WrappedWorld<ProtocolsIgnored, LoopbackWorld>>("ProtocolsIgnored"));
  add(in<WrappedWorld<RefusalWithoutASentence, LoopbackWorld>>("RefusalWithoutASentence"));
  add(in<WrappedWorld<OlderLifeLetIn, LoopbackWorld>>("OlderLifeLetIn"));
  add(in<WrappedWorld<PreviousLifeHeard, LoopbackWorld>>("PreviousLifeHeard"));
  add(in<WrappedWorld<PreviousLifeHeard, LoopbackWorld>>("PreviousStoreHeard"));
  add(in<WrappedWorld<ClusterIdKept, LoopbackWorld>>("ClusterIdKept"));
  add(in<WrappedWorld<PeersKept, LoopbackWorld>>("PeersKept"));
  add(in<WrappedWorld<EmptyBodiesDropped, LoopbackWorld>>("EmptyBodiesDropped"));
  add(in<WrappedWorld<BodiesEndAtAZero, LoopbackWorld>>("BodiesEndAtAZero"));
  add(in<WrappedWorld<OrderTurned, LoopbackWorld>>("OrderTurned"));
  add(in<WrappedWorld<OneLaneForAll, LoopbackWorld>>("OneLaneForAll"));
  add(in<WrappedWorld<TooLongEndsEverything, LoopbackWorld>>("TooLongEndsEverything"));
  add(in<WrappedWorld<AgreementInvented, LoopbackWorld>>("AgreementInvented"));
  add(in<WrappedWorld<LongestDropped, LoopbackWorld>>("LongestDropped"));
  add(in<WrappedWorld<TooLongIsCut, LoopbackWorld>>("TooLongIsCut"));
  add(in<EndlessQueueWorld>("EndlessQueue"));
  add(in<WrappedWorld<NewestBulkDropped, LoopbackWorld>>("NewestBulkDropped"));
  add(in<WrappedWorld<SendWaits, LoopbackWorld>>("SendWaits"));
  add(in<WrappedWorld<ReportsAfterClose, LoopbackWorld>>("ReportsAfterClose"));
  add(in<WrappedWorld<StartsAgain, LoopbackWorld>>("StartsAgain"));
  add(in<WrappedWorld<DescriptorsLeak, LoopbackWorld>>("DescriptorsLeak"));
  add(in<WrappedWorld<ThreadsLeak, LoopbackWorld>>("ThreadsLeak"));
  add(in<SilenceUnnoticedWorld>("SilenceUnnoticed"));
  return all;
}
const Broken<TransportUnderTest> kBroken = all_broken();

using WorkingWorld = WrappedWorld<TransportWrapper, LoopbackWorld>;
using RepeatingWorld = WrappedWorld<RepeatsFrames, LoopbackWorld>;
INSTANTIATE_TEST_SUITE_P(Working, TransportSuite,
                         ::testing::Values(in<WorkingWorld>("Wrapped"), in<RepeatingWorld>("RepeatsFrames")), transport_name);
INSTANTIATE_TEST_SUITE_P(Broken, TransportSuite, ::testing::ValuesIn(kBroken.here()), transport_name);

TEST(BrokenTransportTest, EachIsInTheList) {
  std::vector<std::string> names = kBroken.names;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, planted_in("TransportSuite"));
}

}  // namespace
}  // namespace coordkit::testkit
