// How long a command that may have to wait does so. The log decides the timeout, which counts from the apply of the command.
#pragma once

#include <cstdint>
#include <tuple>

#include "coordkit/types.h"

namespace coordkit::machine {

struct Wait {
  enum class Kind : uint8_t { None = 1, Timed = 2, Forever = 3 };
  Kind kind = Kind::None;
  Duration timeout{};  // above zero if and only if Timed

  static Wait none() { return {}; }
  static Wait timed(Duration timeout) { return {Kind::Timed, timeout}; }
  static Wait forever() { return {Kind::Forever, {}}; }
  static constexpr auto fields() { return std::tuple(&Wait::kind, &Wait::timeout); }
  friend bool operator==(const Wait&, const Wait&) = default;
};

}  // namespace coordkit::machine
