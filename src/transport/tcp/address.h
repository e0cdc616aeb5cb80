// Splits "host:port": "10.0.0.1:7400", "[::1]:7400", ":7400" for all addresses of both kinds.
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

// A port in digits; nullopt for a service name.
std::optional<uint16_t> number_of(std::string_view port);

// kInvalidArgument names the missing part. An address of IPv6 without its brackets is refused.
absl::StatusOr<HostPort> split_address(std::string_view address);

// An address that others dial. It also refuses a host that means every address of a machine (0.0.0.0, [::], none), and port
// 0, for which a listener gets any free port. A listener may have both; a dialer reaches nothing there.
absl::StatusOr<HostPort> split_dialled(std::string_view address);
// The same for the only member of a cluster, which no replica dials: its port may be 0.
absl::StatusOr<HostPort> split_alone(std::string_view address);

}  // namespace coordkit::tcp
