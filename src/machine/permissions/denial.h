// Whether a remote may do something, by its list and the state (docs/semantics.md S-70 to S-74).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "machine/permissions/needs.h"
#include "machine/state.h"

namespace coordkit::machine {

// A lease with more keys than that needs the right for every name, so that no entry takes long.
inline constexpr size_t kAttachedSeen = 1024;

// Why not: a sentence that names the remote, the name and the right that is missing. nullopt: it may.
std::optional<std::string> denial(const State& state, const RemoteCaller& caller, const Needs& needs);

// The first of [key, end) that no prefix of the list covers with one of the rights; nullopt: there is none.
std::optional<std::string> uncovered(const std::vector<Permission>& list, AnyOf right, std::string_view key,
                                     std::string_view end);

}  // namespace coordkit::machine
