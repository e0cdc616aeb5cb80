// "host:port" in two: "10.0.0.1:7400", "[::1]:7400", ":7400" for all addresses of both kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace coordkit::tcp {

struct HostPort {
  std::string host;
  std::string port;
};

// A port in digits; a service name gives nothing.
std::optional<uint16_t> number_of(std::string_view port);

// kInvalidArgument names what is missing; an address of IPv6 without its brackets is refused.
absl::StatusOr<HostPort> split_address(std::string_view address);

// Of somebody whom others dial: port 0, at which a listener gets any that is free, is not where they find it.
absl::StatusOr<HostPort> split_dialled(std::string_view address);

}  // namespace coordkit::tcp
