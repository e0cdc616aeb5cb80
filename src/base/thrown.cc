#include "base/thrown.h"

#include <exception>

namespace coordkit {

std::string what_was_thrown() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

}  // namespace coordkit
