// Acts upon a remote or its link, as the items of events.
#pragma once

#include <cstdint>

namespace coordkit::sim {

enum class RemoteAct : uint8_t { Strike, Restart, Resume, Redial, LinkResumes, Mend };

// `detail`: of LinkResumes, the number of the connection.
constexpr uint64_t number_of(RemoteAct act, uint64_t detail = 0) { return detail << 8 | static_cast<uint64_t>(act); }
constexpr RemoteAct act_of(uint64_t item) { return static_cast<RemoteAct>(item & 0xff); }
constexpr uint64_t detail_of(uint64_t item) { return item >> 8; }

}  // namespace coordkit::sim
