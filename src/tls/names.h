// The names in a certificate.
#pragma once

#include <openssl/x509.h>

#include "coordkit/operate/tls.h"

namespace coordkit::tls {

CertificateNames names_of(X509& certificate);

// The identity that it names: by `tls.identity_of`, or by the one URI of ours among its names. nullopt: it names none
// or several, or the host's function threw.
std::optional<CertifiedIdentity> identity_of(X509& certificate, const Tls& tls);

}  // namespace coordkit::tls
