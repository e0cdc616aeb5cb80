#include "tls/alpn.h"

#include <string_view>

namespace coordkit::tls {
namespace {

constexpr std::string_view kProtocol = "coordkit/1";

std::string_view view(const unsigned char* bytes, size_t size) { return {reinterpret_cast<const char*>(bytes), size}; }

// `offered` is a list: each item has a byte of length, then the name.
int select(SSL*, const unsigned char** chosen, unsigned char* length, const unsigned char* offered, unsigned size, void*) {
  for (unsigned at = 0; at < size; at += 1u + offered[at]) {
    if (view(offered + at + 1, offered[at]) != kProtocol) continue;
    *chosen = offered + at + 1;
    *length = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

void speak_only_coordkit(SSL_CTX& context) {
  unsigned char list[1 + kProtocol.size()];
  list[0] = static_cast<unsigned char>(kProtocol.size());
  kProtocol.copy(reinterpret_cast<char*>(list + 1), kProtocol.size());
  SSL_CTX_set_alpn_protos(&context, list, sizeof list);
  SSL_CTX_set_alpn_select_cb(&context, select, nullptr);
}

bool agreed_on_coordkit(const SSL& ssl) {
  const unsigned char* name = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(&ssl, &name, &length);
  return name != nullptr && view(name, length) == kProtocol;
}

}  // namespace coordkit::tls
