// A member that a hello lists, as a field of it. It is here because both engine and transport say hello, and neither includes
// the other.
#pragma once

#include "base/field_io.h"
#include "coordkit/ports/transport.h"

namespace coordkit {

inline constexpr size_t kListedMembersMax = 64;

template <typename Io>
void describe(Io& io, codec::Describes<ListedMember> auto& member) {
  io.number(1, member.id);
  io.number(2, member.address);
}

}  // namespace coordkit
