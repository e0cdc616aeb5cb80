#include "tests/support/source_dir.h"

namespace coordkit {

std::string source_dir() { return COORDKIT_SOURCE_DIR; }

}  // namespace coordkit
