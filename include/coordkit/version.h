// The version of coordkit that these headers belong to; the build reads its own version here.
// Before 1.0 a minor version may break programs.
//
//   #if COORDKIT_VERSION >= COORDKIT_MAKE_VERSION(0, 2, 0)
#pragma once

#define COORDKIT_VERSION_MAJOR 0         // 0 until the interface is stable
#define COORDKIT_VERSION_MINOR 1         // below 1,000
#define COORDKIT_VERSION_PATCH 0         // below 1,000
#define COORDKIT_VERSION_STRING "0.1.0"  // the three numbers, as text

// Numbers that compare as versions do. Minor and patch stay below 1000.
#define COORDKIT_MAKE_VERSION(major, minor, patch) ((major)*1'000'000 + (minor)*1'000 + (patch))
#define COORDKIT_VERSION COORDKIT_MAKE_VERSION(COORDKIT_VERSION_MAJOR, COORDKIT_VERSION_MINOR, COORDKIT_VERSION_PATCH)
