// Mutual TLS 1.3 between replicas. Each shows a certificate that names its cluster and its id. The
// other end talks to it only if an authority that it trusts has signed the certificate
// (docs/security.md).
//
//   ReplicaOptions options{...,
//                          .security = Tls{.certificate = "me.pem",
//                                          .key = "me.key",
//                                          .authority = "authority.pem"}};
//
// Link coordkit::tls, the only part of coordkit that needs OpenSSL's libssl. Programs that never
// write Tls{} need not link it. Files: PEM. They are read when the replica is opened and by
// Replica::reload_tls(), on the caller's thread.
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

// The names of a certificate's owner that an authority has confirmed.
struct CertificateNames {
  std::string common_name;        // of the subject; empty: it has none
  std::vector<std::string> dns;   // alternative names, exactly as in the certificate
  std::vector<std::string> uris;  // the same
};

struct Tls;
// Reads the files of `tls` and makes channels of them for this replica. kInvalidArgument with a
// sentence that names the file: it is missing, unreadable, no PEM, or has an encrypted key. Or the
// key does not fit, or the certificate has expired, is not valid yet, or names another replica.
absl::StatusOr<std::shared_ptr<SecureChannels>> open_tls(const Tls& tls, const CertifiedIdentity& self);

struct Tls {
  std::string certificate;  // file: this replica's own, followed by any intermediate ones up to the
                            // authority
  std::string key;          // file: the certificate's key, without a passphrase
  std::string authority;    // file: one or more; a certificate signed by one of them belongs to the
                            // family
  // For programs that have certificates already: returns the replica that the names stand for;
  // nullopt: none. Without it the certificate must have one URI that identity_of_uri() understands.
  // Called on the transport's thread, about our own certificate too; must not block.
  std::function<std::optional<CertifiedIdentity>(const CertificateNames&)> identity_of = {};
  // This default brings OpenSSL into a program that says Tls{}, and only into such a program.
  absl::StatusOr<std::shared_ptr<SecureChannels>> (*open)(const Tls&, const CertifiedIdentity&) = &open_tls;
};

// "coordkit://CLUSTER/REPLICA". In the cluster's name, every character except letters, digits and
// -._~ is written as %XX.
std::string certificate_uri(const CertifiedIdentity& identity);
// Nullopt: no such URI.
std::optional<CertifiedIdentity> identity_of_uri(std::string_view uri);

}  // namespace coordkit
