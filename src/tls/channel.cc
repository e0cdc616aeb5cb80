#include "tls/channel.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "tls/alpn.h"
#include "tls/names.h"

namespace coordkit::tls {
namespace {

constexpr std::string_view kFrameMagic = "\xc0KIT";  // of coordkit in plain text (src/transport/frame.h)
constexpr size_t kAnswersBytesMax = 16 << 10;        // of output that reading alone causes: answers to key updates
constexpr int kAlertOffset = SSL_AD_REASON_OFFSET;   // OpenSSL's offset for the peer's alerts among its reasons

CloseReason reason_of_verdict(long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return CloseReason::CertificateExpired;
    case X509_V_ERR_CERT_NOT_YET_VALID: return CloseReason::CertificateNotYetValid;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE: return CloseReason::CertificateUnknownAuthority;
    default: return CloseReason::CertificateRefused;
  }
}

// The peer's complaint about our certificate. TLS has fewer alerts than we have reasons.
CloseReason reason_of_alert(int alert) {
  switch (alert) {
    case SSL_AD_CERTIFICATE_EXPIRED: return CloseReason::CertificateExpired;
    case SSL_AD_UNKNOWN_CA: return CloseReason::CertificateUnknownAuthority;
    case SSL_AD_CERTIFICATE_REQUIRED: return CloseReason::CertificateMissing;
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_CERTIFICATE_REVOKED: return CloseReason::CertificateRefused;
    default: return CloseReason::BadTls;
  }
}

// Also true if it has just failed to read it.
bool reads_certificate(const SSL& ssl) {
  const OSSL_HANDSHAKE_STATE at = SSL_get_state(&ssl);
  return at == TLS_ST_CR_CERT || at == TLS_ST_SR_CERT;
}

Channel& channel_of(BIO* bio) { return *static_cast<Channel*>(BIO_get_data(bio)); }

}  // namespace

// ---- OpenSSL's BIO

BIO_METHOD* Channel::wires() {
  // Never freed: a process may exit while connections are open.
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "coordkit");
    if (made == nullptr) throw std::bad_alloc();
    BIO_meth_set_read_ex(made, bio_read);
    BIO_meth_set_write_ex(made, bio_write);
    BIO_meth_set_ctrl(made, bio_ctrl);
    return made;
  }();
  return method;
}

int Channel::bio_read(BIO* bio, char* into, size_t size, size_t* read) {
  std::span<const char>& incoming = channel_of(bio).incoming_;
  BIO_clear_retry_flags(bio);
  *read = std::min(size, incoming.size());
  if (*read == 0) {
    BIO_set_retry_read(bio);
    return 0;
  }
  std::memcpy(into, incoming.data(), *read);
  incoming = incoming.subspan(*read);
  return 1;
}

// Called from C: no exception may pass through it.
int Channel::bio_write(BIO* bio, const char* from, size_t size, size_t* written) try {
  channel_of(bio).outgoing_.append(from, size);
  *written = size;
  return 1;
} catch (const std::exception&) {
  return 0;
}

long Channel::bio_ctrl(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

// ---- handshake

Channel::Channel(std::shared_ptr<const Newest> newest, TcpEvent::Side side)
    : newest_(std::move(newest)), credentials_(newest_->get()), ssl_(SSL_new(credentials_->context.get())) {
  OwnedBio bio(BIO_new(wires()));
  if (!ssl_ || !bio) throw std::bad_alloc();
  BIO_set_data(bio.get(), this);
  BIO_set_init(bio.get(), 1);
  BIO* both = bio.release();
  SSL_set_bio(ssl_.get(), both, both);
  side == TcpEvent::Side::Dialed ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
}

void Channel::received(std::span<const char> bytes) {
  if (state_ == State::Failed || bytes.empty()) return;
  if (!std::exchange(heard_, true) && !speaks_tls(bytes)) return;
  incoming_ = bytes;
}

// Distinguishes a peer that speaks plain text from noise, so that the peer gets an answer.
bool Channel::speaks_tls(std::span<const char> first) {
  const std::string_view start(first.data(), std::min(first.size(), kFrameMagic.size()));
  const bool plain = kFrameMagic.starts_with(start);
  if (plain) fail({CloseReason::SpeaksPlainText});
  return !plain;
}

SecureChannel::State Channel::advance() {
  if (state_ != State::Handshaking) return state_;
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_.get());
  if (done == 1) {
    open();
  } else if (const int error = SSL_get_error(ssl_.get(), done); error != SSL_ERROR_WANT_READ) {
    fail(fault_of_last_call(error));
  }
  return state_;
}

void Channel::open() {
  const OwnedCertificate theirs(SSL_get1_peer_certificate(ssl_.get()));
  // OpenSSL has already refused both; a second check costs nothing.
  if (!theirs || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return fail({CloseReason::CertificateMissing});
  if (!agreed_on_coordkit(*ssl_)) return fail({CloseReason::BadTls});
  peer_ = identity_of(*theirs, credentials_->options);
  state_ = State::Open;
}

// Judges the peer as a handshake with the newest credentials would. Without memory for that, the result is unknown.
CloseReason Channel::peer_now() const {
  if (state_ != State::Open) return CloseReason::NoReason;
  const std::shared_ptr<const Credentials> now = newest_->get();
  SSL_CTX* const trusting = now->context.get();
  const OwnedVerification context(X509_STORE_CTX_new());
  const bool able =
      context && X509_STORE_CTX_init(context.get(), SSL_CTX_get_cert_store(trusting), SSL_get0_peer_certificate(ssl_.get()),
                                     SSL_get_peer_cert_chain(ssl_.get())) == 1;
  if (able) {
    X509_STORE_CTX_set_default(context.get(), SSL_is_server(ssl_.get()) ? "ssl_client" : "ssl_server");
    X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(context.get()), SSL_CTX_get_security_level(trusting));
  }
  const bool good = !able || X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  return good ? CloseReason::NoReason : reason_of_verdict(X509_STORE_CTX_get_error(context.get()));
}

void Channel::fail(Fault fault) {
  state_ = State::Failed;
  fault_ = fault;
  incoming_ = {};
  ERR_clear_error();
}

SecureChannel::Fault Channel::fault_of_last_call(int error) const {
  if (error == SSL_ERROR_ZERO_RETURN) return {CloseReason::Ended};
  while (const unsigned long one = ERR_get_error()) {
    const int reason = ERR_GET_REASON(one);
    if (ERR_GET_LIB(one) != ERR_LIB_SSL) continue;
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) return {reason_of_verdict(SSL_get_verify_result(ssl_.get()))};
    if (reason == SSL_R_EXCESSIVE_MESSAGE_SIZE && reads_certificate(*ssl_)) return {CloseReason::CertificateRefused};
    if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) return {CloseReason::CertificateMissing};
    if (reason > kAlertOffset) return {CloseReason::RefusedByPeer, reason_of_alert(reason - kAlertOffset)};
  }
  return {CloseReason::BadTls};
}

// ---- once open

size_t Channel::read(std::span<char> space) {
  if (state_ != State::Open) return 0;
  ERR_clear_error();
  size_t have = 0;
  while (have < space.size()) {
    size_t came = 0;
    const int done = SSL_read_ex(ssl_.get(), space.data() + have, space.size() - have, &came);
    have += came;
    if (done == 1) continue;
    if (const int error = SSL_get_error(ssl_.get(), done); error != SSL_ERROR_WANT_READ) fail(fault_of_last_call(error));
    break;
  }
  if (outgoing_.size() > kAnswersBytesMax) fail({CloseReason::BadTls});
  return have;
}

void Channel::write(std::span<const char> bytes) {
  if (state_ != State::Open || bytes.empty()) return;
  ERR_clear_error();
  size_t written = 0;
  const int done = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
  if (done != 1 || written != bytes.size()) fail({CloseReason::BadTls});
}

void Channel::take_outgoing(std::string& into) {
  into.clear();
  into.swap(outgoing_);
}

}  // namespace coordkit::tls
