#include "base/last_words.h"

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "base/thrown.h"
#include "coordkit/error.h"

namespace coordkit {

LastWords::LastWords()
    : no_memory_(make_error(Reason::OutOfMemory,
                            "an allocation failed in the middle of a step: give the process more memory or address space, then "
                            "open a replica on this directory again")) {}

absl::Status LastWords::caught() const noexcept try {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return no_memory_;
  } catch (const std::system_error& error) {
    return make_error(Reason::LimitExceeded,
                      std::string("the system refused something that this replica needs: ") + error.what());
  } catch (const std::exception& error) {
    return make_error(Reason::BrokenInvariant, error.what());
  } catch (...) {
    return make_error(Reason::BrokenInvariant, what_was_thrown());
  }
} catch (...) {  // no memory for the sentence
  return no_memory_;
}

}  // namespace coordkit
