#include "transport/tcp/address.h"

#include <arpa/inet.h>

#include <charconv>

#include "coordkit/error.h"

namespace coordkit::tcp {
namespace {

// Whether the host is 0.0.0.0 in any notation, ::, or empty.
bool stands_for_every_address(const std::string& host) {
  in_addr four = {};
  in6_addr six = {};
  if (host.empty()) return true;
  if (::inet_aton(host.c_str(), &four) != 0) return four.s_addr == INADDR_ANY;
  return ::inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_UNSPECIFIED(&six);
}

}  // namespace

std::optional<uint16_t> number_of(std::string_view port) {
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size() ? std::optional(number) : std::nullopt;
}

absl::StatusOr<HostPort> split_address(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == address.size()) {
    return make_error(Reason::InvalidArgument,
                      "'" + std::string(address) + "' is not an address: write host:port, for example 10.0.0.1:7400");
  }
  const std::string_view port = address.substr(colon + 1);
  if (port.find_first_not_of("0123456789") == std::string_view::npos && !number_of(port)) {
    return make_error(Reason::InvalidArgument, "'" + std::string(address) + "' has a port above 65535: correct it");
  }
  std::string_view host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]") != std::string_view::npos) {
    return make_error(Reason::InvalidArgument,
                      "'" + std::string(address) +
                          "' does not say where its port begins: write an IPv6 address in brackets, for example [::1]:7400");
  }
  return HostPort{std::string(host), std::string(port)};
}

absl::StatusOr<HostPort> split_alone(std::string_view address) {
  absl::StatusOr<HostPort> parts = split_address(address);
  if (parts.ok() && stands_for_every_address(parts->host)) {
    return make_error(Reason::InvalidArgument,
                      "'" + std::string(address) +
                          "' stands for every address of a machine, so no other member can connect to it: write the name or "
                          "address of this member's machine, and listen at every address with `listen`");
  }
  return parts;
}

absl::StatusOr<HostPort> split_dialled(std::string_view address) {
  absl::StatusOr<HostPort> parts = split_alone(address);
  if (parts.ok() && number_of(parts->port) == 0) {
    return make_error(Reason::InvalidArgument,
                      "'" + std::string(address) + "' has port 0, so no other member can connect to it: choose a port");
  }
  return parts;
}

}  // namespace coordkit::tcp
