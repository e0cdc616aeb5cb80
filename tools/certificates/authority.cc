#include "tools/certificates/authority.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace coordkit::support {
namespace {

using Memory = std::unique_ptr<BIO, decltype([](BIO* bio) { BIO_free(bio); })>;
using Extension = std::unique_ptr<X509_EXTENSION, decltype([](X509_EXTENSION* one) { X509_EXTENSION_free(one); })>;
using Names = std::unique_ptr<GENERAL_NAMES, decltype([](GENERAL_NAMES* names) { GENERAL_NAMES_free(names); })>;

void must(bool done, const char* what) {
  if (done) return;
  const char* why = ERR_reason_error_string(ERR_get_error());
  throw std::runtime_error(std::string("OpenSSL cannot ") + what + ": " + (why != nullptr ? why : "no reason given"));
}

template <typename Write>
std::string pem(Write write) {
  const Memory memory(BIO_new(BIO_s_mem()));
  must(memory != nullptr && write(memory.get()) == 1, "write PEM");
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<size_t>(size)};
}

std::string key_pem_of(EVP_PKEY* key) {
  return pem([&](BIO* out) { return PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

std::shared_ptr<EVP_PKEY> new_key() {
  std::shared_ptr<EVP_PKEY> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  must(key != nullptr, "make a key");
  return key;
}

void extend(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  must(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, "add an extension");
}

void add_name(GENERAL_NAMES* names, int kind, const std::string& text) {
  GENERAL_NAME* name = GENERAL_NAME_new();
  ASN1_IA5STRING* value = ASN1_IA5STRING_new();
  must(name != nullptr && value != nullptr, "make a name");
  must(ASN1_STRING_set(value, text.data(), static_cast<int>(text.size())) == 1, "make a name");
  GENERAL_NAME_set0_value(name, kind, value);
  must(sk_GENERAL_NAME_push(names, name) > 0, "add a name");
}

void add_names(X509* certificate, const CertificateOrder& order) {
  if (order.uris.empty() && order.dns.empty()) return;
  const Names names(GENERAL_NAMES_new());
  for (const std::string& uri : order.uris) add_name(names.get(), GEN_URI, uri);
  for (const std::string& dns : order.dns) add_name(names.get(), GEN_DNS, dns);
  must(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_APPEND) == 1, "add the names");
}

// Without extensions and without a signature.
std::shared_ptr<X509> draft(EVP_PKEY* key, const std::string& common_name, const Validity& valid) {
  std::shared_ptr<X509> certificate(X509_new(), X509_free);
  must(certificate != nullptr && X509_set_version(certificate.get(), X509_VERSION_3) == 1, "make a certificate");
  std::array<unsigned char, 8> serial;
  must(RAND_bytes(serial.data(), serial.size()) == 1, "draw a serial number");
  uint64_t number = 0;
  std::memcpy(&number, serial.data(), serial.size());
  must(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), number >> 1 | 1) == 1, "set the serial number");
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), valid.from.count());
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), valid.until.count());
  const auto* name = reinterpret_cast<const unsigned char*>(common_name.data());
  must(X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, MBSTRING_UTF8, name,
                                  static_cast<int>(common_name.size()), -1, 0) == 1,
       "set the name");
  must(X509_set_pubkey(certificate.get(), key) == 1, "set the key");
  return certificate;
}

}  // namespace

TestAuthority::TestAuthority(std::shared_ptr<X509> certificate, std::shared_ptr<EVP_PKEY> key)
    : certificate_(std::move(certificate)), key_(std::move(key)) {}

TestAuthority::TestAuthority(const std::string& name, const Validity& valid) : certificate_(nullptr), key_(new_key()) {
  certificate_ = draft(key_.get(), name, valid);
  X509* self = certificate_.get();
  must(X509_set_issuer_name(self, X509_get_subject_name(self)) == 1, "set the issuer");
  extend(self, self, NID_basic_constraints, "critical,CA:TRUE");
  extend(self, self, NID_key_usage, "critical,keyCertSign,cRLSign");
  extend(self, self, NID_subject_key_identifier, "hash");
  must(X509_sign(self, key_.get(), EVP_sha256()) > 0, "sign a certificate");
}

TestAuthority TestAuthority::load(const std::filesystem::path& certificate, const std::filesystem::path& key) {
  const std::string text = read_file(key);
  const Memory memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  std::shared_ptr<EVP_PKEY> read_key(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
  must(read_key != nullptr, "read the authority's key");
  std::shared_ptr<X509> read = read_certificate(certificate);
  if (X509_check_private_key(read.get(), read_key.get()) != 1) {
    throw std::runtime_error(key.string() + " is not the key of " + certificate.string() +
                             ", perhaps because a run was interrupted: make another authority with --new-authority");
  }
  return {std::move(read), std::move(read_key)};
}

IssuedCertificate TestAuthority::issue(const CertificateOrder& order) const {
  const std::shared_ptr<EVP_PKEY> key = new_key();
  const std::shared_ptr<X509> made = draft(key.get(), order.common_name, order.valid);
  must(X509_set_issuer_name(made.get(), X509_get_subject_name(certificate_.get())) == 1, "set the issuer");
  extend(made.get(), certificate_.get(), NID_basic_constraints, "critical,CA:FALSE");
  extend(made.get(), certificate_.get(), NID_key_usage, "critical,digitalSignature");
  extend(made.get(), certificate_.get(), NID_ext_key_usage, order.usages.c_str());
  extend(made.get(), certificate_.get(), NID_subject_key_identifier, "hash");
  extend(made.get(), certificate_.get(), NID_authority_key_identifier, "keyid");
  add_names(made.get(), order);
  must(X509_sign(made.get(), key_.get(), EVP_sha256()) > 0, "sign a certificate");
  return {pem_of(made.get()), key_pem_of(key.get())};
}

std::string TestAuthority::certificate() const { return pem_of(certificate_.get()); }
std::string TestAuthority::key() const { return key_pem_of(key_.get()); }

std::shared_ptr<X509> read_certificate(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const Memory memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  std::shared_ptr<X509> certificate(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr), X509_free);
  must(certificate != nullptr, ("read the certificate in " + path.string()).c_str());
  return certificate;
}

std::string pem_of(X509* certificate) {
  return pem([&](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}

bool has_signed(X509* authority, X509* certificate) { return X509_verify(certificate, X509_get0_pubkey(authority)) == 1; }

void write_file(const std::filesystem::path& path, const std::string& text, bool secret) {
  const std::string fresh = path.string() + ".new";
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, secret ? 0600 : 0644);
  bool written = file >= 0;
  for (size_t done = 0; written && done < text.size();) {
    const ssize_t bytes = ::write(file, text.data() + done, text.size() - done);
    written = bytes > 0;
    done += written ? static_cast<size_t>(bytes) : 0;
  }
  const int why = errno;
  if (file >= 0) ::close(file);
  if (!written) throw std::runtime_error("cannot write " + fresh + ": " + std::strerror(why));
  std::filesystem::rename(fresh, path);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace coordkit::support
