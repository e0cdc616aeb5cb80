#include "tools/demo/parts.h"

namespace coordkit::demo {

Parts parts_of_a_node() { return {}; }  // the built-in ones

}  // namespace coordkit::demo
