// What a certificate says about its owner.
#pragma once

#include <openssl/x509.h>

#include "coordkit/tls.h"

namespace coordkit::tls {

CertificateNames names_of(X509& certificate);

// Whom it stands for: by `tls.identity_of`, or by the one URI of ours among its names. nullopt: no one, or several; or the
// host's function threw.
std::optional<CertifiedIdentity> identity_of(X509& certificate, const Tls& tls);

}  // namespace coordkit::tls
