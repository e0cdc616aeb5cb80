#include "engine/peers/hello_check.h"

#include <string>

namespace coordkit::engine {

Disagreement check_hello(const std::optional<Agreement>& mine, uint64_t feature_level, const Hello& theirs) {
  Disagreement found;
  if (mine && theirs.agreement) found = compare(*mine, theirs.from, *theirs.agreement);
  if (theirs.feature_level < feature_level) {
    found.dangerous = "replica " + std::to_string(theirs.from.value()) + " runs a build that speaks feature level " +
                      std::to_string(theirs.feature_level) + ", and the cluster is at " + std::to_string(feature_level) +
                      ": start a newer build there";
  }
  return found;
}

}  // namespace coordkit::engine
