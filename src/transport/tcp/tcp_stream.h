// The carrier of the bytes of one connection: the socket, or an encrypted channel over it. Without a channel an operation is
// the socket's own, decided by one branch. With a channel it is SecureStream's, once for up to 64 KiB.
//
// Threads: the one that runs the io_context. A pending operation needs the stream to stay alive; its handler makes sure of
// that.
#pragma once

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <memory>
#include <span>
#include <utility>

#include "transport/secure/secure_stream.h"
#include "transport/tcp/tcp_types.h"

namespace coordkit::tcp {

class Stream {
 public:
  explicit Stream(Socket socket) : socket_(std::move(socket)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Socket& socket() { return socket_; }

  // From here on everything goes through the channel, the handshake first.
  void secure(std::unique_ptr<SecureChannel> channel) { secured_.emplace(socket_, std::move(channel)); }
  template <typename Done>
  void async_handshake(Done&& done) {
    secured_->handshake(std::forward<Done>(done));
  }
  // The identity in the peer's certificate; only after a handshake.
  const std::optional<CertifiedIdentity>& peer() const { return secured_->peer(); }
  // The fault of that certificate now; NoReason: none.
  CloseReason peer_now() const { return secured_ ? secured_->peer_now() : CloseReason::NoReason; }
  // The reason why an operation failed, if the channel failed and not the network.
  SecureChannel::Fault fault() const { return secured_ ? secured_->fault() : SecureChannel::Fault{}; }

  template <typename Done>
  void async_read_some(asio::mutable_buffer space, Done&& done) {
    if (secured_) return secured_->read(space, std::forward<Done>(done));
    socket_.async_read_some(space, std::forward<Done>(done));
  }
  template <typename Done>
  void async_write_some(Buffers buffers, Done&& done) {
    if (secured_) return secured_->write(buffers, std::forward<Done>(done));
    socket_.async_write_some(buffers, std::forward<Done>(done));
  }
  // The number of bytes that the kernel takes at once, while no write is in progress. Zero: it took none, or only an
  // operation with a handler can tell; that operation reports errors.
  size_t try_write_some(Buffers buffers) {
    if (secured_) return 0;
    boost::system::error_code error;
    const size_t bytes = socket_.write_some(buffers, error);
    return error ? 0 : bytes;
  }
  // Writes as much as the kernel takes at once, while no write is in progress.
  void write_now(Buffers buffers) {
    if (secured_) return secured_->write_now(buffers);
    boost::system::error_code ignored;
    socket_.write_some(buffers, ignored);
  }
  // The number of bytes that the kernel got for a write of this many bytes. With zero bytes: those that it has of a write
  // under way.
  uint64_t on_wire(size_t bytes) { return secured_ ? secured_->take_sent() : bytes; }
  // Bytes that the peer's kernel has yet to acknowledge.
  uint64_t unacknowledged() {
    int bytes = 0;
    return ioctl(socket_.native_handle(), SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
  }

 private:
  Socket socket_;
  std::optional<SecureStream> secured_;
};

}  // namespace coordkit::tcp
