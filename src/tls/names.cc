#include "tls/names.h"

#include <charconv>

#include "tls/openssl.h"

namespace coordkit {
namespace {

constexpr std::string_view kScheme = "coordkit://";
constexpr size_t kClusterNameBytesMax = 256;

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

// nullopt: malformed, or escaped without need.
std::optional<std::string> unescaped(std::string_view text) {
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    if (plain(text[i])) {
      name += text[i];
      continue;
    }
    if (text[i] != '%' || text.size() - i < 3) return std::nullopt;
    unsigned byte = 0;
    const char* end = text.data() + i + 3;
    if (std::from_chars(end - 2, end, byte, 16).ptr != end || plain(static_cast<char>(byte))) return std::nullopt;
    name += static_cast<char>(byte);
    i += 2;
  }
  return name;
}

}  // namespace

std::string certificate_uri(const CertifiedIdentity& identity) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri(kScheme);
  for (const char c : identity.cluster) {
    if (plain(c)) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri + "/" + std::to_string(identity.replica.value());
}

std::optional<CertifiedIdentity> identity_of_uri(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  const size_t slash = uri.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::optional<std::string> cluster = unescaped(uri.substr(0, slash));
  if (!cluster || cluster->empty() || cluster->size() > kClusterNameBytesMax) return std::nullopt;
  const std::string_view id = uri.substr(slash + 1);
  uint64_t replica = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), replica);
  if (error != std::errc() || end != id.data() + id.size() || replica == 0 || id.front() == '0') return std::nullopt;
  return CertifiedIdentity{*std::move(cluster), ReplicaId(replica)};
}

namespace tls {
namespace {

// As stored, including any zero byte: such a name equals no name that is expected.
std::string text_of(const ASN1_STRING& value) {
  const auto* bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(&value));
  return {bytes, static_cast<size_t>(ASN1_STRING_length(&value))};
}

std::string common_name_of(X509& certificate) {
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return {};
  return text_of(*X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

}  // namespace

CertificateNames names_of(X509& certificate) {
  CertificateNames names{.common_name = common_name_of(certificate), .dns = {}, .uris = {}};
  const OwnedNames all(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < (all ? sk_GENERAL_NAME_num(all.get()) : 0); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all.get(), i);
    if (name->type == GEN_DNS) names.dns.push_back(text_of(*name->d.dNSName));
    if (name->type == GEN_URI) names.uris.push_back(text_of(*name->d.uniformResourceIdentifier));
  }
  ERR_clear_error();  // an unreadable extension names no one
  return names;
}

std::optional<CertifiedIdentity> identity_of(X509& certificate, const Tls& tls) try {
  const CertificateNames names = names_of(certificate);
  if (tls.identity_of) return tls.identity_of(names);
  std::optional<CertifiedIdentity> found;
  for (const std::string& uri : names.uris) {
    if (!uri.starts_with(kScheme)) continue;
    if (found) return std::nullopt;
    found = identity_of_uri(uri);
    if (!found) return std::nullopt;
  }
  return found;
} catch (const std::bad_alloc&) {
  throw;
} catch (...) {
  return std::nullopt;  // a name that the host's function throws on names no one
}

}  // namespace tls
}  // namespace coordkit
