#include "tools/demo/parts.h"

namespace coordkit::demo {

Parts parts_of_a_node() { return {}; }  // those in the box

}  // namespace coordkit::demo
