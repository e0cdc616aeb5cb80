// The parts of the timeline page, from verify/timeline/page. A file that the build makes defines them (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace coordkit::sim::page {

extern const std::string_view kHead;
extern const std::string_view kStyle;
extern const std::string_view kBody;
// Scripts, in the order in which they run.
extern const std::string_view kTimelineScript;
extern const std::string_view kCausesScript;
extern const std::string_view kSceneScript;
extern const std::string_view kPaintScript;
extern const std::string_view kPageScript;

}  // namespace coordkit::sim::page
