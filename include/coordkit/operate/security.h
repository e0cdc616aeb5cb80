// How the two ends of a connection know each other, if not by certificates (tls.h).
#pragma once

#include <string>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// No encryption and no key: for networks that nobody else can reach. A process that was never
// invited is still ignored, because members prove to each other that they know their cluster. But a
// process that can read or change the traffic between members can do anything.
struct PlainText {};

// A secret that all replicas of a cluster were given. A process that does not know it is refused. A
// MAC protects the traffic between replicas that know it, so that it cannot be changed, replayed or
// forged. It is not encrypted: anyone on the path can read it.
struct SharedSecret {
  std::string secret;  // 16 to 1024 random bytes, the same on every replica: openssl rand -hex 32
};

}  // namespace coordkit
