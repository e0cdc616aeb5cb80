// A description of an exception from the host's code, for a sentence that names the code that threw it.
#pragma once

#include <string>

namespace coordkit {

// Call it within `catch (...)`: what() of the caught exception, or a phrase if it is no std::exception.
std::string what_was_thrown();

}  // namespace coordkit
