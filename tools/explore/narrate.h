// Moves in words for a reader and in words to type in again.
#pragma once

#include <string>

#include "world.h"

namespace coordkit::explore {

std::string describe(const Space& space, const Move& move);
std::string describe(const Space& space, const World& world);

// "deliver2<1:a0b1c2d3": a trace consists of such words separated by blanks.
std::string word_of(const Space& space, const Move& move);

}  // namespace coordkit::explore
