#include "tests/unit/storage/page_sizes.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>

namespace coordkit::testkit {
namespace {

std::atomic<long> pretended_page_bytes{0};  // zero: this machine's

}  // namespace

PagesOf::PagesOf(size_t bytes) { pretended_page_bytes = static_cast<long>(bytes); }
PagesOf::~PagesOf() { pretended_page_bytes = 0; }

}  // namespace coordkit::testkit

extern "C" long sysconf(int name) {
  using coordkit::testkit::pretended_page_bytes;
  const long pretended = pretended_page_bytes;
  if (name == _SC_PAGESIZE && pretended != 0) return pretended;
  static const auto real = reinterpret_cast<long (*)(int)>(::dlsym(RTLD_NEXT, "sysconf"));
  return real(name);
}
