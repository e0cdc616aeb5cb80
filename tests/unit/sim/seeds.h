// Every seed that once found a bug is run again.
#pragma once

#include <cstddef>
#include <string>

namespace coordkit::sim {

// For a file in this folder, whose lines are SEED PROFILE SECONDS and what it was: each line whose number is `share` modulo
// `shares`. Expects runs without a violation.
void expect_seeds_hold(const std::string& file, size_t share, size_t shares);

}  // namespace coordkit::sim
