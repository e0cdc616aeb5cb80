#include "coordkit/transport/tcp_transport.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/thread.h"
#include "coordkit/error.h"
#include "coordkit/export.h"
#include "transport/tcp/tcp_network.h"
#include "transport/tcp/tcp_transport_asio.h"

namespace coordkit {

namespace asio = boost::asio;

// The shell around tcp::Network: the thread that runs it, and the order of start and close.
class COORDKIT_HIDDEN TcpTransport::Impl {
 public:
  Impl(TcpOptions options, asio::io_context* host)
      : options_status_(options.validate()),
        own_(host == nullptr ? std::make_unique<asio::io_context>(1) : nullptr),
        io_(host == nullptr ? *own_ : *host),
        network_(make_network(io_, std::move(options))) {}

  absl::Status bind() {
    if (!options_status_.ok()) return options_status_;
    if (phase_ != Phase::New) return make_error(Reason::InUse, "the transport was started or closed before");
    return network_->bind();
  }

  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) {
    if (absl::Status status = bind(); !status.ok()) return status;
    if (absl::Status status = network_->prepare(std::move(self), std::move(peers), sink); !status.ok()) return status;
    phase_ = Phase::Started;
    asio::post(io_, [network = network_] { network->begin(); });
    if (own_) {
      work_.emplace(own_->get_executor());
      thread_ = Thread("coordkit/tcp", [this] { run(); });
    }
    return absl::OkStatus();
  }

  void close() {
    if (std::this_thread::get_id() == running_.load()) {  // from the sink: the thread ends by itself and is joined later
      phase_ = Phase::Closed;
      return network_->close();
    }
    const std::lock_guard lock(closing_);
    const Phase before = phase_.exchange(Phase::Closed);
    if (!own_ || before == Phase::New) {
      network_->close();
    } else if (before == Phase::Started) {
      asio::post(io_, [network = network_] { network->close(); });
    }
    work_.reset();
    if (thread_.joinable()) thread_.join();
  }

  tcp::Network& network() { return *network_; }

 private:
  enum class Phase : uint8_t { New, Started, Closed };

  // The first timer makes Asio open the descriptors with which it waits.
  static std::shared_ptr<tcp::Network> make_network(asio::io_context& io, TcpOptions options) {
    const StandardStreamsKept kept;
    return std::make_shared<tcp::Network>(io, std::move(options));
  }

  // If one handler runs out of memory, its connection is lost: it falls silent and is closed as idle.
  void run() {
    running_ = std::this_thread::get_id();
    for (;;) {
      try {
        own_->run();
        return;
      } catch (...) {  // the one place of the thread where an unexpected exception ends
      }
    }
  }

  const absl::Status options_status_;
  std::unique_ptr<asio::io_context> own_;
  asio::io_context& io_;
  std::shared_ptr<tcp::Network> network_;  // handlers hold it too
  std::optional<asio::executor_work_guard<tcp::Executor>> work_;
  std::mutex closing_;
  std::atomic<Phase> phase_{Phase::New};
  Thread thread_;
  std::atomic<std::thread::id> running_{};  // own thread; none: not started, or the host's thread
};

TcpTransport::TcpTransport(TcpOptions options) : impl_(std::make_unique<Impl>(std::move(options), nullptr)) {}
TcpTransport::TcpTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TcpTransport::~TcpTransport() { impl_->close(); }

absl::Status TcpTransport::bind() { return impl_->bind(); }
uint16_t TcpTransport::port() const { return impl_->network().port(); }
absl::Status TcpTransport::start(Hello self, std::vector<Peer> peers, TransportSink& sink) {
  return impl_->start(std::move(self), std::move(peers), sink);
}
void TcpTransport::set_cluster(ClusterId cluster) { impl_->network().set_cluster(cluster); }
void TcpTransport::set_peers(std::vector<Peer> peers) { impl_->network().set_peers(std::move(peers)); }
void TcpTransport::send(ReplicaId to, std::vector<Frame> frames) { impl_->network().push(to, std::move(frames)); }
void TcpTransport::close() { impl_->close(); }
TcpCounters TcpTransport::counters() const { return impl_->network().tally().read(); }
std::vector<std::string> TcpTransport::warnings() const { return impl_->network().tally().warnings(); }

std::unique_ptr<TcpTransport> make_tcp_transport(TcpOptions options, asio::io_context& io) {
  return std::make_unique<TcpTransport>(std::make_unique<TcpTransport::Impl>(std::move(options), &io));
}

}  // namespace coordkit
