// What code of the host's has thrown, in words, for a sentence that names who threw it.
#pragma once

#include <string>

namespace coordkit {

// Within `catch (...)`: what() of the exception that was caught, or that it has none.
std::string what_was_thrown();

}  // namespace coordkit
