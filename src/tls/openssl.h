// OpenSSL's objects as owned values, and its last error as text.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace coordkit::tls {

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
template <typename T, auto kFree>
using Owned = std::unique_ptr<T, Freed<kFree>>;

using OwnedBio = Owned<BIO, BIO_free>;
using OwnedKey = Owned<EVP_PKEY, EVP_PKEY_free>;
using OwnedCertificate = Owned<X509, X509_free>;
using OwnedContext = Owned<SSL_CTX, SSL_CTX_free>;
using OwnedSsl = Owned<SSL, SSL_free>;
using OwnedVerification = Owned<X509_STORE_CTX, X509_STORE_CTX_free>;
using OwnedNames = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;

// Why the last call failed, in OpenSSL's words; empties its queue of errors.
inline std::string last_words() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  std::string words = reason != nullptr ? reason : "no reason given";
  ERR_clear_error();
  return words;
}

}  // namespace coordkit::tls
