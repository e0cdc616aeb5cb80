// The name of our protocol inside TLS. Both ends insist on it, so a certificate that serves another protocol as well cannot be
// made to serve the wrong one.
#pragma once

#include <openssl/ssl.h>

namespace coordkit::tls {

void speak_only_coordkit(SSL_CTX& context);
// Once the handshake is done: whether the other end has agreed to it.
bool agreed_on_coordkit(const SSL& ssl);

}  // namespace coordkit::tls
