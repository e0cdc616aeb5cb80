// Exit statuses of all commands (those of `check`, but for the last, are its own), and how they report errors. Stable: scripts
// depend on them.
#pragma once

#include <cstdio>
#include <string>

#include "absl/status/status.h"

namespace coordkit::coordctl {

inline constexpr int kDone = 0;
inline constexpr int kRefused = 1;      // nothing was done: the replica or the library says why
inline constexpr int kUnreachable = 2;  // no one answers at the socket, or the answer broke off
inline constexpr int kFaulty = 2;       // something is wrong with what was inspected
inline constexpr int kBadArguments = 3;
inline constexpr int kUnwritten = 4;  // done, but the output is not where it should be, or not all of it

inline int refuse(const absl::Status& why) {
  std::fflush(stdout);  // what was said before comes before
  std::fprintf(stderr, "coordctl: %s\n", std::string(why.message()).c_str());
  return kRefused;
}

}  // namespace coordkit::coordctl
