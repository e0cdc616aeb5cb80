// A socket under a SecureChannel. Bytes that the socket receives go into the channel, and its output goes to the socket. The
// buffers are here, and bounded: one read of ciphertext, one write of it, and the plaintext gathered for a record.
//
// Threads: the one that runs the io_context. A handler is called once, and never before the call that took it has returned.
// The exception is the handler of a handshake that fails at its first step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "coordkit/transport/secure_channel.h"
#include "transport/tcp/tcp_types.h"

namespace coordkit::tcp {

class SecureStream {
 public:
  using Done = absl::AnyInvocable<void(const boost::system::error_code&, size_t)>;

  // The socket outlives this.
  SecureStream(Socket& socket, std::unique_ptr<SecureChannel> channel);

  void handshake(Done done);
  void read(asio::mutable_buffer space, Done done);
  // Writes as many of the buffers as one write takes, and reports how many bytes that was.
  void write(Buffers buffers, Done done);
  void write_now(Buffers buffers);

  const std::optional<CertifiedIdentity>& peer() const { return channel_->peer(); }
  CloseReason peer_now() const { return channel_->peer_now(); }
  SecureChannel::Fault fault() const { return channel_->fault(); }
  // The bytes that the kernel took since the last call.
  uint64_t take_sent();

 private:
  void receive_handshake(Done done);
  void receive(asio::mutable_buffer space, Done done);
  size_t encrypt(Buffers buffers, size_t bytes_max);
  void send_now();

  Socket& socket_;
  const std::unique_ptr<SecureChannel> channel_;
  std::unique_ptr<char[]> incoming_;  // ciphertext; the channel reads from here
  size_t incoming_bytes_;
  std::string gathered_;  // plaintext, for one record
  std::string outgoing_;  // ciphertext, while a write of it is in progress
  uint64_t sent_ = 0;
};

}  // namespace coordkit::tcp
