// How many objects this program has allocated by operator new and not freed, of all threads together. Unlike bytes in use it
// does not depend on how large buffers and tables have once become.
#pragma once

#include <cstdint>

namespace coordkit::experiment {

int64_t live_objects();

}  // namespace coordkit::experiment
