// The port of a TcpTransport. It is bound early, so that an error is known before anything else is begun. It accepts from
// begin() until close().
//
// Threads: the one that runs the io_context, except port(), which any thread may call.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "coordkit/types.h"
#include "transport/tcp/tcp_types.h"

namespace coordkit::tcp {

class Listener {
 public:
  using Welcome = std::function<void(Socket)>;

  // `retry`: the pause after an error.
  Listener(asio::io_context& io, Duration retry)
      : io_(io), retry_(retry), acceptor_(io.get_executor()), again_(io.get_executor()) {}

  absl::Status bind(const std::string& listen);  // idempotent
  uint16_t port() const { return port_.load(std::memory_order_relaxed); }
  // Pending operations keep `owner` alive, which owns this object as well.
  void begin(const std::shared_ptr<void>& owner, Welcome welcome);
  void close();

 private:
  void listen_at(const Tcp::endpoint& endpoint, boost::system::error_code& error);
  void accept(const std::shared_ptr<void>& owner);
  void take(const std::shared_ptr<void>& owner);

  asio::io_context& io_;
  const Duration retry_;
  Acceptor acceptor_;
  Timer again_;
  Welcome welcome_;
  Tcp protocol_ = Tcp::v4();  // of the endpoint that is bound
  bool closed_ = false;
  std::atomic<uint16_t> port_{0};
};

}  // namespace coordkit::tcp
