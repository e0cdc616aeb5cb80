// A Transport over Unix domain sockets, for replicas that are processes of one host: the address of a replica is the path of
// its socket. Meant to be copied.
//
// Trust: any process that can open a socket is believed to be who it says it is, and the cluster's id is sent in clear, which a
// transport that leaves its host must never do (Hello::cluster). So the sockets lie in a directory that only one user can enter
// (0700); in any other, start() refuses to listen.
// Threads: one, for the sockets and the sink, which is called without the lock. Failure: a frame may be lost, as the port says.
#pragma once

#include <coordkit/error.h>
#include <coordkit/ports/transport.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "network.h"

namespace example {

class UnixTransport final : public Transport {
 public:
  explicit UnixTransport(std::string path) : network_(std::move(path)) {}
  ~UnixTransport() override { close(); }

  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    if (closing_ || thread_.joinable()) return make_error(Reason::InUse, "the transport was started or closed before");
    if (absl::Status listens = network_.open(std::move(self)); !listens.ok()) return listens;
    network_.set_peers(peers);
    thread_ = std::thread([this, &sink] { run(sink); });
    return absl::OkStatus();
  }
  void set_cluster(ClusterId cluster) override {
    change([&] { network_.set_cluster(cluster); });
  }
  void set_peers(std::vector<Peer> peers) override {
    change([&] { network_.set_peers(peers); });
  }
  void send(ReplicaId to, std::vector<Frame> frames) override {
    change([&] { network_.push(to, std::move(frames)); });
  }
  void close() override {
    change([&] { closing_ = true; });
    if (thread_.joinable()) thread_.join();
    network_.close();
  }

 private:
  static constexpr int kTickMs = 100;  // as coarse as pings, silence and redials may be

  template <typename Change>
  void change(Change make) {
    const std::lock_guard lock(mutex_);
    make();
    eventfd_write(wake_.fd(), 1);
  }

  void run(TransportSink& sink) {
    std::unique_lock lock(mutex_);
    while (!closing_) {
      network_.turn();
      const Network::News news = network_.news();
      std::vector<pollfd> sockets = network_.sockets();
      sockets.push_back({wake_.fd(), POLLIN, 0});
      lock.unlock();
      for (const auto& tell : news) tell(sink);
      ::poll(sockets.data(), sockets.size(), kTickMs);
      lock.lock();
      eventfd_t ignored = 0;
      eventfd_read(wake_.fd(), &ignored);
    }
  }

  Descriptor wake_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  std::mutex mutex_;  // guards the next two
  Network network_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace example
