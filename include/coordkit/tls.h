// Mutual TLS 1.3 between replicas: each shows a certificate that names its cluster and its id, and is spoken to only if an
// authority that the other end trusts has signed it (docs/security.md).
//
//   ReplicaOptions options{...,
//                          .security = Tls{.certificate = "me.pem", .key = "me.key", .authority = "authority.pem"}};
//
// Link coordkit::tls, the only part of coordkit that needs OpenSSL's libssl. Programs that never write Tls{} need not.
// Files: PEM. They are read when the replica is opened and by Replica::reload_tls(), on the caller's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/transport/secure_channel.h"

namespace COORDKIT_EXPORT coordkit {

// What an authority has confirmed about the owner of a certificate.
struct CertificateNames {
  std::string common_name;        // of the subject; empty: it has none
  std::vector<std::string> dns;   // alternative names, as they stand there
  std::vector<std::string> uris;  // the same
};

struct Tls;
// Reads the files of `tls` and makes channels of them for this replica. kInvalidArgument with a sentence that names the file:
// missing, unreadable, no PEM, an encrypted key, a key that does not fit, a certificate that has expired, is not valid yet, or
// names another one.
absl::StatusOr<std::shared_ptr<SecureChannels>> open_tls(const Tls& tls, const CertifiedIdentity& self);

struct Tls {
  std::string certificate;  // file: this replica's own, followed by those between it and the authority, if there are any
  std::string key;          // file: of the certificate, without a passphrase
  std::string authority;    // file: one or more; who is signed by one of them belongs to the family
  // For those who have certificates already: the replica the names stand for; nothing: for none. Without it the certificate
  // must have one URI that identity_of_uri() understands. Asked on the transport's thread, about our own certificate too; must
  // not block.
  std::function<std::optional<CertifiedIdentity>(const CertificateNames&)> identity_of = {};
  // What brings OpenSSL into a program that says Tls{}, and only into that.
  absl::StatusOr<std::shared_ptr<SecureChannels>> (*open)(const Tls&, const CertifiedIdentity&) = &open_tls;
};

// "coordkit://CLUSTER/REPLICA": what is no letter, digit or one of -._~ in the name of the cluster is written as %XX.
std::string certificate_uri(const CertifiedIdentity& identity);
// Nothing: no such URI.
std::optional<CertifiedIdentity> identity_of_uri(std::string_view uri);

}  // namespace coordkit
