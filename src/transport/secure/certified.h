// Judges whether the owner of a certificate is the expected peer. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "coordkit/ports/transport.h"
#include "coordkit/transport/secure_channel.h"

namespace coordkit {

// The fault of the certificate from the view of `self`; NoReason if there is none. `expected`: zero: any replica but
// ourselves.
CloseReason judge_certificate(const std::optional<CertifiedIdentity>& theirs, const Hello& self, ReplicaId expected);

// Whether a connection ended over a certificate: an invalid one, or a missing one.
bool names_certificate(CloseReason reason);

// Detail to append to the advice about such a certificate: the name in it. Empty: it has none.
std::string certified_detail(CloseReason reason, const std::optional<CertifiedIdentity>& theirs);

}  // namespace coordkit
