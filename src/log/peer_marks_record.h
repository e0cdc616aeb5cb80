// The payload of a peers record: the replica's memory of its peers' disks (coordkit/ports/peer_mark.h). The newest record that
// verifies is authoritative. The first batch of every segment repeats it, so recycling never loses it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/ports/peer_mark.h"

namespace coordkit::log {

inline constexpr size_t kPeerMarkBytes = 56;

std::string encode(std::span<const PeerMark> marks);
std::optional<std::vector<PeerMark>> decode_peer_marks(std::string_view payload);

}  // namespace coordkit::log
