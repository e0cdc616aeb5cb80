#include "tests/proof/growth/steps.h"

namespace {

uint64_t taken = 0;

}  // namespace

// The compiler calls this in every basic block (-fsanitize-coverage=trace-pc).
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
extern "C" void __sanitizer_cov_trace_pc();              // NOLINT: its name is the compiler's
extern "C" void __sanitizer_cov_trace_pc() { ++taken; }  // NOLINT

uint64_t coordkit::growth::steps() { return taken; }
