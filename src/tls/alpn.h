// The name of our protocol inside TLS. Both ends insist on it, so a certificate that also serves another protocol cannot be
// used for the wrong one.
#pragma once

#include <openssl/ssl.h>

namespace coordkit::tls {

void speak_only_coordkit(SSL_CTX& context);
// After the handshake: whether the peer has agreed to it.
bool agreed_on_coordkit(const SSL& ssl);

}  // namespace coordkit::tls
