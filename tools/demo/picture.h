// The story of the demo as one still picture (SVG, for a page that runs no scripts): a row per process showing who led, stood
// still or was dead, who held the lock with which token, and which late writes were refused; below it the story in sentences.
#pragma once

#include <string>

#include "coordkit/sim/timeline.h"

namespace coordkit::demo {

std::string picture(const sim::Timeline& timeline);

}  // namespace coordkit::demo
