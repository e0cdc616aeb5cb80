// The fields of lists of permissions, for record_codec.h: public types have them here.
#pragma once

#include <tuple>

#include "machine/permissions/permissions.h"
#include "machine/record_codec.h"

namespace coordkit::machine::fields {

template <>
struct FieldsOf<Permission> {
  static constexpr auto list() { return std::tuple(&Permission::prefix, &Permission::right); }
};
template <>
inline constexpr size_t kListKept<Permission> = kPermissionsMax + 1;  // one too many, for validation to refuse
template <>
struct FieldsOf<RemotePermissions> {
  static constexpr auto list() { return std::tuple(&RemotePermissions::remote, &RemotePermissions::list); }
};

}  // namespace coordkit::machine::fields
