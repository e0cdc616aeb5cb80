// The story of the demo as one still picture (SVG, for a page that runs no scripts). A row per process shows when it led, was
// paused or dead, or held the lock with which token, and which late writes were refused. Below is the story in sentences.
#pragma once

#include <string>

#include "coordkit/sim/timeline.h"

namespace coordkit::demo {

std::string picture(const sim::Timeline& timeline);

}  // namespace coordkit::demo
