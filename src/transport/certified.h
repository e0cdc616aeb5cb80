// Whether the owner of a certificate is who should be at the other end. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "coordkit/transport.h"
#include "coordkit/transport/secure_channel.h"

namespace coordkit {

// What is wrong with it for one who says `self`; None if nothing. `expected`: zero for anybody but ourselves.
CloseReason judge_certificate(const std::optional<CertifiedIdentity>& theirs, const Hello& self, ReplicaId expected);

// Whether a connection ended over a certificate: what was wrong with one, or that there was none.
bool names_certificate(CloseReason reason);

// What stands behind the advice about such a certificate: whom it names. Empty: nothing is to be said.
std::string certified_detail(CloseReason reason, const std::optional<CertifiedIdentity>& theirs);

}  // namespace coordkit
