// Checks that a program and the coordkit it links lay out std and absl types alike; otherwise the
// program does not link. Some settings change these types but few names of functions:
// _GLIBCXX_DEBUG, _GLIBCXX_USE_CXX11_ABI=0, another standard library, another Abseil. Without the
// check such a program would link and crash. Every source that includes a public header refers to
// the function below. The types of its parameters are part of its name, and the linker prints them:
// std::__debug::vector means _GLIBCXX_DEBUG. The reference costs one pointer for each program or
// shared library. export.h includes this header.
#pragma once

#include <string>
#include <vector>

#include "absl/base/config.h"
#include "coordkit/export.h"

namespace absl {
ABSL_NAMESPACE_BEGIN
class Status;
ABSL_NAMESPACE_END
}  // namespace absl

namespace COORDKIT_EXPORT coordkit {

// Does nothing and is never called.
void was_built_with_another_std_or_absl_than(std::vector<char>*, std::string*, absl::Status*);

namespace built_detail {
#if defined(__GNUC__)
#if __has_cpp_attribute(gnu::retain)  // the linker would drop the pointer with --gc-sections, and
                                      // the reference with it
[[gnu::retain]]
#endif
[[gnu::used]] COORDKIT_HIDDEN inline void (*const kRefers)(std::vector<char>*, std::string*,
                                                           absl::Status*) = was_built_with_another_std_or_absl_than;
#endif
}  // namespace built_detail

}  // namespace coordkit
