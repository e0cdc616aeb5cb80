#include "machine/objection.h"

#include "absl/strings/str_cat.h"
#include "machine/command.h"

namespace coordkit::machine {

Objection check_size(const char* what, size_t size, size_t most) {
  if (size <= most) return {};
  return {ResultCode::LimitExceeded, absl::StrCat("the ", what, " has ", size, " bytes; at most ", most, " are allowed")};
}

Objection check_name(std::string_view name) {
  if (name.empty()) return invalid("the name is empty; give 1 to 1024 bytes");
  return check_size("name", name.size(), kNameBytesMax);
}

Objection check_owner(std::string_view tag) { return check_size("owner tag", tag.size(), kOwnerTagBytesMax); }

Objection check_wait(const Wait& wait) {
  if (wait.kind < Wait::Kind::None || wait.kind > Wait::Kind::Forever) return {ResultCode::Unsupported};
  if (wait.kind != Wait::Kind::Timed) return wait.timeout == Duration::zero() ? Objection() : invalid();
  if (wait.timeout > Duration::zero()) return {};
  return invalid("the time to wait is not above zero; to try once without a wait, use LockWait::none()");
}

Objection check_ttl(Duration ttl) {
  if (ttl <= Duration::zero()) return invalid("the time to live is not above zero; give 50 ms or more");
  if (ttl <= kTtlMax) return {};
  return {ResultCode::TtlTooLarge, "the time to live is above 9,000,000,000 s; give a shorter one"};
}

}  // namespace coordkit::machine
