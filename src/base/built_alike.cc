#include "coordkit/built_alike.h"

namespace coordkit {

void was_built_with_another_std_or_absl_than(std::vector<char>*, std::string*, absl::Status*) {}

}  // namespace coordkit
