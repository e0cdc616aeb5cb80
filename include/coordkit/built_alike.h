// A program and the coordkit that it links lay out std and absl types alike, or the program does not link. Settings such as
// _GLIBCXX_DEBUG and _GLIBCXX_USE_CXX11_ABI=0, another standard library and another Abseil change these types and few names of
// functions, so a program would link and crash. Every source that includes a public header refers to the function below. The
// types of its parameters are part of its name, and the linker prints them: std::__debug::vector means _GLIBCXX_DEBUG.
// The reference costs one pointer for each program or shared library. export.h includes this header.
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
#if __has_cpp_attribute(gnu::retain)  // the linker would drop the pointer with --gc-sections, and the reference with it
[[gnu::retain]]
#endif
[[gnu::used]] COORDKIT_HIDDEN inline void (*const kRefers)(std::vector<char>*, std::string*,
                                                           absl::Status*) = was_built_with_another_std_or_absl_than;
#endif
}  // namespace built_detail

}  // namespace coordkit
