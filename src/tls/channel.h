// One connection's TLS, as a machine without a socket. OpenSSL reads the received bytes from a view, and its output is
// gathered in a string.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "coordkit/transport/secure_channel.h"
#include "tls/credentials.h"

namespace coordkit::tls {

class Channel final : public SecureChannel {
 public:
  Channel(std::shared_ptr<const Newest> newest, TcpEvent::Side side);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void received(std::span<const char> bytes) override;
  State advance() override;
  size_t read(std::span<char> space) override;
  void write(std::span<const char> bytes) override;
  void take_outgoing(std::string& into) override;
  State state() const override { return state_; }
  Fault fault() const override { return fault_; }
  const std::optional<CertifiedIdentity>& peer() const override { return peer_; }
  CloseReason peer_now() const override;

 private:
  static BIO_METHOD* wires();
  static int bio_read(BIO* bio, char* into, size_t size, size_t* read);
  static int bio_write(BIO* bio, const char* from, size_t size, size_t* written);
  static long bio_ctrl(BIO* bio, int command, long, void*);

  bool speaks_tls(std::span<const char> first);
  void open();
  void fail(Fault fault);
  Fault fault_of_last_call(int error) const;

  const std::shared_ptr<const Newest> newest_;
  const std::shared_ptr<const Credentials> credentials_;  // the credentials with which the channel was made
  OwnedSsl ssl_;
  std::span<const char> incoming_;  // not yet read by OpenSSL
  std::string outgoing_;
  State state_ = State::Handshaking;
  Fault fault_;
  bool heard_ = false;  // anything at all
  std::optional<CertifiedIdentity> peer_;
};

}  // namespace coordkit::tls
