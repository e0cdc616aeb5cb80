// All that wire.cc needs for each family of messages: consensus (wire_raft.cc), calls (wire_calls.cc),
// states (wire_state.cc), members (wire_membership.cc), disks (wire_attestation.cc).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "coordkit/engine/engine_message.h"

namespace coordkit::wire {

// Behind the kind byte.
template <typename M>
void append_body(std::string& body, const M& m);
// An append in two parts: its own fields, and its entries.
void append_head(std::string& body, const raft::AppendRequest& m);
void append_entries(std::string& bytes, const raft::AppendRequest& m);
// `bytes` lie in `of`, and what the message carries are slices of it; null: copies. Throws protozero::exception if the bytes
// are no such message.
template <typename M>
absl::StatusOr<Message> parse_body(std::string_view bytes, const SharedBytes* of);

}  // namespace coordkit::wire
