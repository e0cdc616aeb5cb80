// How far the machine has come: the basic blocks it has run through since the program began. The same on every computer, so a
// test can say what an operation costs and never fails because a computer is slow.
#pragma once

#include <cstdint>

namespace coordkit::growth {

uint64_t steps();

}  // namespace coordkit::growth
