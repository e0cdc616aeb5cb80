// A machine whose memory has pages of another size: what asks for their size is told so.
#pragma once

#include <cstddef>

namespace coordkit::testkit {

// While it lives. LMDB asks when an environment is made. One instance at a time.
class PagesOf {
 public:
  explicit PagesOf(size_t bytes);
  ~PagesOf();
  PagesOf(const PagesOf&) = delete;
  PagesOf& operator=(const PagesOf&) = delete;
};

}  // namespace coordkit::testkit
