#include "tls/credentials.h"

#include <openssl/pem.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "coordkit/error.h"
#include "tls/alpn.h"
#include "tls/names.h"

namespace coordkit::tls {
namespace {

constexpr size_t kFileBytesMax = 1 << 20;
constexpr long kChainBytesMax = 32 << 10;  // of an unknown peer's chain

absl::Status invalid(const std::string& sentence) { return make_error(Reason::InvalidArgument, sentence); }

std::string quoted(const char* what, const std::string& path) { return std::string(what) + " '" + path + "'"; }

// ---- files

absl::StatusOr<std::string> contents(const char* what, const std::string& path) {
  const auto unreadable = [&] {
    if (errno == EMFILE || errno == ENFILE) {
      return make_error(Reason::LimitExceeded, "cannot read the " + quoted(what, path) + ": " + std::strerror(errno) +
                                                   " (raise the limit of open files)");
    }
    return invalid("cannot read the " + quoted(what, path) + ": " + std::strerror(errno) +
                   "; correct the path, or the file's permissions");
  };
  const Descriptor file = open_at(AT_FDCWD, path.c_str(), O_RDONLY);
  if (!file) return unreadable();
  std::string text(kFileBytesMax + 1, '\0');
  size_t have = 0;
  for (ssize_t came = 1; came > 0 && have < text.size(); have += static_cast<size_t>(came)) {
    came = uninterrupted([&] { return ::read(file.get(), text.data() + have, text.size() - have); });
    if (came < 0) return unreadable();
  }
  if (have > kFileBytesMax) return invalid("the " + quoted(what, path) + " is larger than 1 MiB: it is no PEM file");
  text.resize(have);
  return text;
}

absl::StatusOr<std::vector<OwnedCertificate>> certificates_of(const char* what, const std::string& path) {
  absl::StatusOr<std::string> text = contents(what, path);
  if (!text.ok()) return text.status();
  const OwnedBio memory(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
  std::vector<OwnedCertificate> found;
  while (X509* next = PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr)) found.emplace_back(next);
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string words = last_words();
  if (!at_end) return invalid("the " + quoted(what, path) + " is damaged (" + words + "): copy it again");
  if (found.empty()) return invalid("the " + quoted(what, path) + " holds no certificate in PEM: name the right file");
  return found;
}

int no_passphrase(char*, int, int, void*) { return -1; }

absl::StatusOr<OwnedKey> key_of(const std::string& path) {
  absl::StatusOr<std::string> text = contents("key", path);
  if (!text.ok()) return text.status();
  const OwnedBio memory(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
  OwnedKey key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_passphrase, nullptr));
  const bool encrypted = text->find("ENCRYPTED") != std::string::npos;
  OPENSSL_cleanse(text->data(), text->size());
  if (key) return key;
  ERR_clear_error();
  if (encrypted) {
    return invalid("the " + quoted("key", path) + " has a passphrase: give a file without, which only this process may read");
  }
  return invalid("the " + quoted("key", path) + " holds no private key in PEM: name the right file");
}

// ---- contexts

absl::Status use_own(SSL_CTX& context, std::vector<OwnedCertificate> chain, EVP_PKEY& key, const Tls& tls) {
  if (SSL_CTX_use_certificate(&context, chain.front().get()) != 1) {
    return invalid("the " + quoted("certificate", tls.certificate) + " cannot be used: " + last_words());
  }
  if (X509_check_private_key(chain.front().get(), &key) != 1 || SSL_CTX_use_PrivateKey(&context, &key) != 1) {
    ERR_clear_error();
    return invalid("the " + quoted("key", tls.key) + " does not fit the " + quoted("certificate", tls.certificate) +
                   ": give the two that were made together");
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(&context, chain[i].get()) != 1) {
      return invalid("the " + quoted("certificate", tls.certificate) +
                     " has others behind it that cannot be used: " + last_words());
    }
  }
  return absl::OkStatus();
}

absl::Status trust(SSL_CTX& context, const Tls& tls) {
  absl::StatusOr<std::vector<OwnedCertificate>> authorities = certificates_of("authority", tls.authority);
  if (!authorities.ok()) return authorities.status();
  for (const OwnedCertificate& authority : *authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()) != 1) {
      return invalid("the " + quoted("authority", tls.authority) + " cannot be used: " + last_words());
    }
  }
  return absl::OkStatus();
}

// TLS 1.3 and nothing older, a certificate from either side, no tickets: every connection authenticates from the start.
OwnedContext strict_context() {
  const StandardStreamsKept kept;  // at first OpenSSL reads its configuration, and may open a source of random bits for good
  OwnedContext context(SSL_CTX_new(TLS_method()));
  if (!context) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_max_cert_list(context.get(), kChainBytesMax);
#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION  // from OpenSSL 3.2 on; the limit above counts the compressed bytes alone
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RX_CERTIFICATE_COMPRESSION | SSL_OP_NO_TX_CERTIFICATE_COMPRESSION);
#endif
  speak_only_coordkit(*context);
  return context;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Credentials>> read_files(const Tls& tls) {
  ERR_clear_error();
  absl::StatusOr<std::vector<OwnedCertificate>> chain = certificates_of("certificate", tls.certificate);
  if (!chain.ok()) return chain.status();
  const absl::StatusOr<OwnedKey> key = key_of(tls.key);
  if (!key.ok()) return key.status();
  auto made = std::make_shared<Credentials>();
  made->options = tls;
  made->context = strict_context();
  if (absl::Status status = use_own(*made->context, *std::move(chain), **key, tls); !status.ok()) return status;
  if (absl::Status status = trust(*made->context, tls); !status.ok()) return status;
  return made;
}

namespace {

// Members dial each other, so each is the client of some connections and the server of others. The peers check it so.
absl::Status check_uses(X509& own, const std::string& certificate) {
  constexpr int kOfALeaf = 0;
  std::string lacks;
  if (X509_check_purpose(&own, X509_PURPOSE_SSL_SERVER, kOfALeaf) != 1) lacks = "server (serverAuth)";
  if (X509_check_purpose(&own, X509_PURPOSE_SSL_CLIENT, kOfALeaf) != 1)
    lacks += std::string(lacks.empty() ? "" : " and ") + "client (clientAuth)";
  ERR_clear_error();
  if (lacks.empty()) return absl::OkStatus();
  return invalid(certificate + " may not be used by a TLS " + lacks +
                 ": issue it for serverAuth and clientAuth with the key usage digitalSignature, because every replica is both");
}

size_t encoded_bytes(X509& certificate) {
  const int bytes = i2d_X509(&certificate, nullptr);
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

// Checks the size as it is sent: the message has a head, and each certificate in it two lengths.
absl::Status check_size(SSL_CTX& context, X509& own, const std::string& certificate) {
  constexpr size_t kMessageHead = 4, kEachHead = 5;
  size_t bytes = kMessageHead + kEachHead + encoded_bytes(own);
  STACK_OF(X509)* behind = nullptr;
  SSL_CTX_get0_chain_certs(&context, &behind);
  for (int i = 0; i < (behind != nullptr ? sk_X509_num(behind) : 0); ++i)
    bytes += kEachHead + encoded_bytes(*sk_X509_value(behind, i));
  if (bytes <= static_cast<size_t>(kChainBytesMax)) return absl::OkStatus();
  return invalid(certificate + " has " + std::to_string(bytes) +
                 " bytes with the certificates behind it, and the other replicas take " + std::to_string(kChainBytesMax) +
                 " at most: leave out certificates that do not lead to the authority, or issue a smaller one");
}

}  // namespace

absl::Status check_own(const Credentials& credentials, const CertifiedIdentity& self) {
  const Tls& tls = credentials.options;
  X509& own = *SSL_CTX_get0_certificate(credentials.context.get());
  const std::string certificate = "the " + quoted("certificate", tls.certificate);
  if (X509_cmp_current_time(X509_get0_notAfter(&own)) < 0) return invalid(certificate + " has expired: renew it");
  if (X509_cmp_current_time(X509_get0_notBefore(&own)) > 0) {
    return invalid(certificate + " is not valid yet: wait, or correct this machine's clock");
  }
  if (absl::Status uses = check_uses(own, certificate); !uses.ok()) return uses;
  if (absl::Status size = check_size(*credentials.context, own, certificate); !size.ok()) return size;
  const std::optional<CertifiedIdentity> named = identity_of(own, tls);
  const std::string wanted = "replica " + std::to_string(self.replica.value()) + " of cluster '" + self.cluster + "'";
  if (!named) {
    return invalid(certificate + " names no replica: it needs the alternative name URI:" + certificate_uri(self) +
                   ", or identity_of a function that knows its names");
  }
  if (*named == self) return absl::OkStatus();
  return invalid(certificate + " names replica " + std::to_string(named->replica.value()) + " of cluster '" + named->cluster +
                 "', but this is " + wanted + ": give it its own");
}

}  // namespace coordkit::tls
