// How a mark names the entries of the batch before it. It names each by itself. In segments of version 2, where that is
// shorter, it names runs of entries that follow each other in one term (docs/format-log.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/types.h"

namespace coordkit::log {

// Names the content of an entry without holding it.
struct Identity {
  Index index;
  Term term;
  uint64_t content_sum = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};
inline constexpr size_t kIdentityBytes = 24;  // of one identity at most

enum class Names : uint32_t { Each = 0, Runs = 1 };  // on disk
Names shorter_names(std::span<const Identity> identities, uint32_t format);

size_t bytes_as(Names names, std::span<const Identity> identities);
void append_as(Names names, std::span<const Identity> identities, std::string& out);
// Whether `bytes` are `count` identities. If so, `identities` gets them.
bool load_as(Names names, std::string_view bytes, size_t count, std::vector<Identity>& identities);

}  // namespace coordkit::log
