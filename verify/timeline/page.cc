// Puts the page together. Its parts are files of verify/timeline/page, compiled in, and the data goes between them.
#include "coordkit/sim/timeline.h"
#include "timeline/parts.h"

namespace coordkit::sim {

std::string timeline_page(const Timeline& timeline) {
  std::string text(page::kHead);
  text.append("<style>\n").append(page::kStyle).append("</style>\n").append(page::kBody);
  text.append("<script type=\"application/json\" id=\"timeline\">").append(timeline_json(timeline)).append("</script>\n");
  for (const std::string_view script :
       {page::kTimelineScript, page::kCausesScript, page::kSceneScript, page::kPaintScript, page::kPageScript}) {
    text.append("<script>\n").append(script).append("</script>\n");
  }
  return text.append("</body>\n</html>\n");
}

}  // namespace coordkit::sim
