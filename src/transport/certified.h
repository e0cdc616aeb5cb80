// Whether the owner of a certificate is who should be at the other end. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "coordkit/transport.h"
#include "coordkit/transport/secure_channel.h"

namespace coordkit {

// What is wrong with it from the view of `self`; NoReason if nothing. `expected`: zero: any replica but ourselves.
CloseReason judge_certificate(const std::optional<CertifiedIdentity>& theirs, const Hello& self, ReplicaId expected);

// Whether a connection ended over a certificate: an invalid one, or a missing one.
bool names_certificate(CloseReason reason);

// Detail to append to the advice about such a certificate: the name in it. Empty: none.
std::string certified_detail(CloseReason reason, const std::optional<CertifiedIdentity>& theirs);

}  // namespace coordkit
