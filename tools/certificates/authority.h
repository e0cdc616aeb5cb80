// A certificate authority for trying out TLS: it makes what docs/security.md describes. Its key lies beside the others, so
// do not trust a service to it.
//
// Uses OpenSSL's library and not its command. Tests make a thousand certificates, some of them expired or not valid yet, which
// the command of OpenSSL 3.0 cannot date. And coordkit's build has the library anyway, but not the command. Throws
// std::runtime_error with a sentence.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace coordkit::support {

// From now on.
struct Validity {
  std::chrono::seconds from = -std::chrono::hours(1);  // clocks differ
  std::chrono::seconds until = std::chrono::hours(24 * 365);
};

struct CertificateOrder {
  std::string common_name;
  std::vector<std::string> uris = {};
  std::vector<std::string> dns = {};
  Validity valid = {};
  std::string usages = "serverAuth,clientAuth";  // a replica is both; in OpenSSL's notation
};

struct IssuedCertificate {
  std::string certificate;  // PEM, like the next
  std::string key;
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name, const Validity& valid = {});
  // Throws if the two do not belong together.
  static TestAuthority load(const std::filesystem::path& certificate, const std::filesystem::path& key);

  IssuedCertificate issue(const CertificateOrder& order) const;
  std::string certificate() const;  // PEM
  std::string key() const;

 private:
  TestAuthority(std::shared_ptr<X509> certificate, std::shared_ptr<EVP_PKEY> key);

  std::shared_ptr<X509> certificate_;
  std::shared_ptr<EVP_PKEY> key_;
};

// The first one in a PEM file.
std::shared_ptr<X509> read_certificate(const std::filesystem::path& path);
std::string pem_of(X509* certificate);
bool has_signed(X509* authority, X509* certificate);
// In one step, so that no one reads half of it. Only the owner may read it if `secret`.
void write_file(const std::filesystem::path& path, const std::string& text, bool secret = false);
std::string read_file(const std::filesystem::path& path);

}  // namespace coordkit::support
