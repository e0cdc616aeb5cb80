// The other end of a TLS connection, built on OpenSSL alone, so that it can do what ours never does.
#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "tls/alpn.h"
#include "tls/openssl.h"

namespace coordkit::testkit {

class RawTls {
 public:
  // Trusts everyone; has no certificate.
  explicit RawTls(bool dials = true, int version_max = TLS1_3_VERSION, bool speaks_coordkit = true)
      : context_(SSL_CTX_new(TLS_method())) {
    SSL_CTX_set_max_proto_version(context_.get(), version_max);
    if (speaks_coordkit) tls::speak_only_coordkit(*context_);
    dials_ = dials;
  }
  void use(const std::string& certificate, const std::string& key) {
    SSL_CTX_use_certificate_chain_file(context_.get(), certificate.c_str());
    SSL_CTX_use_PrivateKey_file(context_.get(), key.c_str(), SSL_FILETYPE_PEM);
  }

  // Continues as far as the received bytes reach. False: it has failed.
  bool shake() {
    start();
    const int done = SSL_do_handshake(ssl_.get());
    return done == 1 || SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ;
  }
  bool open() { return ssl_ && SSL_is_init_finished(ssl_.get()) == 1; }
  void receive(std::string_view bytes) {
    start();
    BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
  }
  std::string take() {
    start();
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out_, &bytes);
    std::string taken(bytes, static_cast<size_t>(size));
    BIO_reset(out_);
    return taken;
  }
  bool write(std::string_view bytes) {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size());
  }
  std::string read() {
    std::string bytes(64 << 10, '\0');
    const int n = SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return bytes;
  }
  SSL* ssl() { return ssl_.get(); }

 private:
  void start() {
    if (ssl_) return;
    ssl_.reset(SSL_new(context_.get()));
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl_.get(), in_, out_);
    dials_ ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
  }

  tls::OwnedContext context_;
  tls::OwnedSsl ssl_;
  BIO* in_ = nullptr;   // of ssl_
  BIO* out_ = nullptr;  // of ssl_
  bool dials_ = true;
};

}  // namespace coordkit::testkit
