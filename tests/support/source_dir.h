// The checkout that the tests were built from. One object file knows it, so that a compiler cache serves the others
// to every checkout.
#pragma once

#include <string>

namespace coordkit {

std::string source_dir();

}  // namespace coordkit
